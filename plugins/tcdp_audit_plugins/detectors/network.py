"""Addresses and numbers of devices.

Names and paths of files: photographs, images, recordings, documents.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from math import expm1, lgamma, log

import numpy as np

from tcdp_audit.plugin._internal import Integers
from tcdp_audit.plugin.detector import (
    ColumnDetector,
    Detector,
    DetectorColumn,
    Evidence,
    ValueDetector,
    binomial_evidence,
)
from tcdp_audit_plugins.detectors._shared import base58check, bech32, characters, formed, iban, luhn, phrases

ENDINGS = "jpe?g|png|gif|bmp|tiff?|heic|webp|dcm|dicom|nii(\\.gz)?|mp[34]|wav|m4a|mov|avi|pdf|docx?"
FILES: tuple[Detector, ...] = (
    ValueDetector(
        name="file_path",
        noun="path of a file",
        nouns="paths of files",
        words=phrases(
            "photo, =picture, =image, =portrait, =file, file name, filename, =path, =scan, =recording, =foto, =bild, "
            "datei, pfad, fichier, =imagen, =archivo, =bestand, afbeelding"
        ),
        layout=rf"(?i:([a-z]:)?[^\n:*?<>|]*[^\s.:*?<>|]\.({ENDINGS})|[a-z]:\\[^\n]+|~?(/[^/\n]+)+/?)",
        base_rate=0.05,
        random_value=characters("abcdefghijklmnopqrstuvwxyz./", 5, 20),
        safe_harbor="Q",
        source="45 CFR 164.514(b)(2)(i)(Q); names of files often hold those of people",
        examples=("ada.jpg", "scans/0001.dcm", "/home/ada/photo", "C:\\photos\\ada.png"),
        counterexamples=("ada", "ada.xyz", "2.5"),
    ),
)


def is_ip_address(text: str) -> bool:
    """Whether a text is an address of the Internet Protocol, version 4 or 6."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


DETECTORS: tuple[Detector, ...] = (
    ValueDetector(
        name="ip_address",
        noun="IP address",
        words=phrases("=ip, ip address, ipv4, ipv6, ip adresse, adresse ip, direccion ip, ip adres"),
        layout=r"\d{1,3}(\.\d{1,3}){3}|(?=.*:.*:)[0-9A-Fa-f:.]{3,45}",
        accepts=is_ip_address,
        base_rate=0.005,
        random_value=characters("0123456789.", 7, 15),
        safe_harbor="O",
        source="RFC 791; RFC 4291",
        examples=("192.0.2.17", "2001:db8::17"),
        counterexamples=("192.0.2", "300.0.2.17", "12:30:15"),
    ),
    ValueDetector(
        name="mac_address",
        noun="MAC address",
        words=phrases("=mac, mac address, mac adresse, hardware address, adresse mac"),
        layout=r"[0-9A-Fa-f]{2}([:-])([0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}",
        base_rate=0.0001,
        random_value=characters("0123456789abcdef:", 17),
        safe_harbor="M",
        source="IEEE 802-2014, section 8",
        examples=("00:00:5e:00:53:af", "00-00-5E-00-53-AF", "0000.5e00.53af"),
        counterexamples=("00:00:5e:00:53", "00005e0053af"),
    ),
    ValueDetector(
        name="uuid",
        noun="UUID",
        words=phrases("uuid, guid"),
        layout=r"[{]?[0-9A-Fa-f]{8}-?([0-9A-Fa-f]{4}-?){3}[0-9A-Fa-f]{12}[}]?",
        base_rate=0.0001,
        random_value=characters("0123456789abcdef-", 36),
        safe_harbor="R",
        source="RFC 9562, section 4",
        examples=("f81d4fae-7dec-11d0-a765-00a0c91e6bf6",),
        counterexamples=("f81d4fae-7dec-11d0-a765", "f81d4fae"),
    ),
    ValueDetector(
        name="imei",
        noun="IMEI of a mobile device",
        nouns="IMEIs of mobile devices",
        words=phrases("imei, device id, device identifier, handset"),
        layout=r"\d{15}",
        accepts=luhn,
        base_rate=0.1,
        random_value=formed("999999999999999"),
        safe_harbor="M",
        source="3GPP TS 23.003, section 6.2",
        examples=("490154203237518",),
        counterexamples=("490154203237519", "49015420323751"),
    ),
)


def is_payment_card(text: str) -> bool:
    """Whether digits, in groups or not, have the check digit of a payment card."""
    return luhn(re.sub("[ -]", "", text))


def is_bitcoin_address(text: str) -> bool:
    """Whether the checksum of an address is right."""
    return bech32(text) if text[:3].lower() == "bc1" else base58check(text)


ACCOUNTS: tuple[Detector, ...] = (
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
            "card number, credit card, card no, =pan, kreditkarte, kreditkartennummer, kartennummer, carte bancaire, "
            "tarjeta, tarjeta de credito, creditcard, kaartnummer"
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


DENSE = 0.9  # of a range of numbers that is taken
ONE_IN_MANY = 0.99  # of records whose value no other has
CODE = re.compile(r"(?=.*\d)[^\W_][\w./#*-]{3,63}")
NUMBER = re.compile(r"[+-]?\d*[.,]?\d+([eE][+-]?\d+)?|[+-]?\d[\d.,]*")
DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}.*")
REPEATED = -expm1(-1)  # the share of different ones among n draws from n codes


def record_number(column: DetectorColumn) -> Evidence | None:
    """Integers of which no two are equal, and which count the records or ascend (or descend) with them.

    In a random column of n integers from a range of m all differ with a chance of m! / ((m - n)! m^n), and they are
    in order with a chance of 2 / n!.

    Cost: O(values); where they do not fill a range, one pass over the column.
    """
    numbers = column.integers if not column.repeats else None
    if numbers is None or len(numbers) < 2:
        return None
    span = int(numbers[-1]) - int(numbers[0]) + 1
    if len(numbers) >= DENSE * span:
        chance = lgamma(span + 1) - lgamma(span - len(numbers) + 1) - len(numbers) * log(span)
        return Evidence(len(numbers), len(numbers), REPEATED, float(np.exp(chance)))
    steps = column.in_order()
    if steps is None or not (_ascends(steps) or _ascends(-steps)):
        return None
    return Evidence(len(numbers), len(numbers), 0.5, float(np.exp(log(2) - lgamma(len(numbers) + 1))))


def _ascends(numbers: Integers) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def record_code(column: DetectorColumn) -> Evidence | None:
    """Codes with letters and digits of which almost none occurs in two records.

    Of n codes drawn at random from n, 63 % are different.

    Cost: O(10,000).
    """
    if not column.records or column.values < ONE_IN_MANY * column.records or not all(map(_is_code, column.texts)):
        return None
    lengths = {len(text) for text in column.texts}
    if all(map(NUMBER.fullmatch, column.texts)) and (len(lengths) > 1 or min(lengths) < 6):  # a measurement
        return None
    return binomial_evidence(column.values, column.records, REPEATED)


def _is_code(text: str) -> bool:
    return bool(CODE.fullmatch(text)) and not DATE.fullmatch(text)


RECORDS: tuple[Detector, ...] = (
    ColumnDetector(
        name="record_number",
        noun="number of a record",
        nouns="numbers of records",
        words=phrases(
            "=row, row number, row id, =line, =index, id, =nr, =no, =number, nummer, lfd nr, seq, sequence, =record, "
            "record number, unnamed 0, rownum, numero, volgnummer"
        ),
        examine=record_number,
        safe_harbor="R",
        source="45 CFR 164.514(b)(2)(i)(R); ours: integers that count the records, or ascend with them",
    ),
    ColumnDetector(
        name="record_code",
        noun="code of a record",
        nouns="codes of records",
        words=phrases("id, rec id, record id, =key, =code, identifier, kennung, schlussel, identifiant, clave"),
        examine=record_code,
        safe_harbor="R",
        source="45 CFR 164.514(b)(2)(i)(R); ours: codes with a digit, almost each in a record of its own",
    ),
)
