"""Parts of several families of detectors: names of columns, random texts, and checksums of identifying numbers."""

from __future__ import annotations

import string
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

DIGITS = string.digits
ANYTHING = string.ascii_letters + string.digits + string.punctuation + " "
RandomText = Callable[["np.random.Generator"], str]  # its library takes longer to load than most columns to look at
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
BECH32_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
VIN_VALUES = dict(zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "012345678912345678123457923456789"), strict=True))
VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def phrases(listed: str) -> tuple[str, ...]:
    """The phrases of a text, separated by commas.

    Example:
        >>> phrases("phone, phone number")
        ('phone', 'phone number')
    """
    return tuple(" ".join(one.split()) for one in listed.split(","))


def characters(alphabet: str, least: int, most: int | None = None) -> RandomText:
    """Texts of so many characters of an alphabet, all equally likely."""

    def random_text(generator: np.random.Generator) -> str:
        length = least if most is None else int(generator.integers(least, most + 1))
        return "".join(alphabet[place] for place in generator.integers(0, len(alphabet), length).tolist())

    return random_text


def formed(form: str) -> RandomText:
    """Texts of a form: `9` is any digit, `A` any capital letter, all else itself.

    Example:
        >>> import numpy as np
        >>> formed("GB99 AAAA")(np.random.default_rng(1))
        'GB19 LVKO'
    """
    kinds = {"9": string.digits, "A": string.ascii_uppercase}

    def random_text(generator: np.random.Generator) -> str:
        parts = zip((kinds.get(one, one) for one in form), generator.random(len(form)).tolist(), strict=True)
        return "".join(choices[int(part * len(choices))] for choices, part in parts)

    return random_text


anything = characters(ANYTHING, 4, 20)  # a column of texts that mean nothing


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B: modulus 10 with every second digit doubled, as payment cards have.

    Example:
        >>> luhn("79927398713"), luhn("79927398710")
        (True, False)
    """
    doubled = [sum(divmod(2 * int(one), 10)) for one in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0


def iban(text: str) -> bool:
    """ISO 13616-1: the remainder of the rearranged number by 97 is 1.

    Example:
        >>> iban("GB82WEST12345698765432"), iban("GB82WEST12345698765433")
        (True, False)
    """
    plain = text.replace(" ", "").upper()
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def nhs(text: str) -> bool:
    """NHS Data Dictionary, NHS number: modulus 11 of nine digits.

    Example:
        >>> nhs("9434765870"), nhs("943 476 5871")
        (True, False)
    """
    digits = [int(one) for one in text if one.isdigit()]
    return (sum(weight * one for weight, one in zip(range(10, 1, -1), digits, strict=False)) + digits[9]) % 11 == 0


def vin(text: str) -> bool:
    """49 CFR 565.15(c): the ninth character is the weighted sum modulo 11, X for 10.

    Example:
        >>> vin("1M8GDM9AXKP042788"), vin("1M8GDM9AXKP042789")
        (True, False)
    """
    total = sum(weight * VIN_VALUES[one] for weight, one in zip(VIN_WEIGHTS, text.upper(), strict=True)) % 11
    return text[8].upper() == ("X" if total == 10 else str(total))


def base58check(text: str) -> bool:
    """Base58Check, as addresses of Bitcoin: the last four of 25 bytes begin the double SHA-256 of the others.

    Example:
        >>> base58check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), base58check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb")
        (True, False)
    """
    number = 0
    for one in text:
        number = 58 * number + BASE58.index(one)
    if number >= 2**200:
        return False
    payload = number.to_bytes(25, "big")
    return sha256(sha256(payload[:21]).digest()).digest()[:4] == payload[21:]


def bech32(text: str) -> bool:
    """BIP 173 and BIP 350: the checksum of a segregated-witness address.

    Example:
        >>> bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), bech32("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5")
        (True, False)
    """
    prefix, _, data = text.lower().rpartition("1")
    values = [*(ord(one) >> 5 for one in prefix), 0, *(ord(one) & 31 for one in prefix), *map(BECH32.index, data)]
    state = 1
    for value in values:
        top, state = state >> 25, (state & 0x1FFFFFF) << 5 ^ value
        for place, step in enumerate(BECH32_STEPS):
            state ^= step if top >> place & 1 else 0
    return state in (1, 0x2BC830A3)
