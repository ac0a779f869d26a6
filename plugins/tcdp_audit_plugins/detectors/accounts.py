"""Accounts: banks, payment cards, currencies without a bank."""

from __future__ import annotations

import re

from tcdp_audit.plugin.detector import Detector, ValueDetector
from tcdp_audit_plugins.detectors._shared import base58check, bech32, characters, formed, iban, luhn, phrases


def is_payment_card(text: str) -> bool:
    """Whether digits, in groups or not, have the check digit of a payment card."""
    return luhn(re.sub("[ -]", "", text))


def is_bitcoin_address(text: str) -> bool:
    """Whether the checksum of an address is right."""
    return bech32(text) if text[:3].lower() == "bc1" else base58check(text)


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="iban",
        noun="IBAN",
        words=phrases("iban, bank account, bankverbindung, compte bancaire, cuenta bancaria, bankrekening"),
        layout=r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?",
        accepts=iban,
        base_rate=0.0104,
        random_value=formed("GB99AAAA99999999999999"),
        safe_harbor="J",
        source="ISO 13616-1:2020",
        examples=("GB82WEST12345698765432", "GB82 WEST 1234 5698 7654 32"),
        counterexamples=("GB82WEST12345698765433", "GB82"),
    ),
    ValueDetector(
        name="payment_card",
        noun="payment card number",
        words=phrases(
            """
            card number, credit card, card no, =pan, kreditkarte, kreditkartennummer, kartennummer, carte bancaire,
            tarjeta, tarjeta de credito, creditcard, kaartnummer
            """
        ),
        layout=(
            r"3[47]\d{2}[ -]?\d{6}[ -]?\d{5}|3[0689]\d{2}[ -]?\d{6}[ -]?\d{4}|[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{4}"
            r"|(2131|1800)\d{11}|[56]\d{11,14}|[2-6]\d{12}|[2-6]\d{16,18}"
        ),
        accepts=is_payment_card,
        base_rate=0.1,
        random_value=formed("4999999999999999"),
        safe_harbor="J",
        source="ISO/IEC 7812-1:2017",
        examples=("4111111111111111", "4111 1111 1111 1111", "378282246310005"),
        counterexamples=("4111111111111112", "1111"),
    ),
    ValueDetector(
        name="bitcoin_address",
        noun="Bitcoin address",
        words=phrases("bitcoin, btc, =wallet, wallet address"),
        layout=r"[13][1-9A-HJ-NP-Za-km-z]{25,34}|(bc1[02-9ac-hj-np-z]{11,71})|(BC1[02-9AC-HJ-NP-Z]{11,71})",
        accepts=is_bitcoin_address,
        base_rate=0.0001,
        random_value=characters("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 34),
        safe_harbor="J",
        source="BIP 13, BIP 173, BIP 350",
        examples=("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
        counterexamples=("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"),
    ),
    ValueDetector(
        name="ethereum_address",
        noun="Ethereum address",
        words=phrases("ethereum, =eth, =wallet, wallet address"),
        layout=r"0x[0-9a-fA-F]{40}",
        base_rate=0.001,
        random_value=characters("0123456789abcdefx", 42),
        safe_harbor="J",
        source="ERC-55",
        examples=("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",),
        counterexamples=("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe",),
    ),
)
