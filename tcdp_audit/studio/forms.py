"""The fields that a page may send: known names, each once unless it is a list, in known ranges, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import parse_qsl

from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.studio.guard import FIELD

LONGEST = 2000  # characters of a text that a person writes
THRESHOLD = re.compile(r"[0-9]{1,7}(\.[0-9]{1,7})?")
MOST_FIELDS = 5000


class FormError(UsageError):
    """A request that no page sends."""


class Form:
    """The fields of one request.

    Args:
        pairs: names and values in their order.
        known: the names that the page sends.
        lists: those of them that it may send several times.

    Raises:
        FormError: another name was sent, or one twice that is no list.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], known: Collection[str], lists: Collection[str] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            if name != FIELD and name not in known and name not in lists:
                raise FormError("the page sent a field that it does not have; load it again")
            self._values.setdefault(name, []).append(value)
        if any(len(values) > 1 and name not in lists for name, values in self._values.items()):
            raise FormError("the page sent a field twice; load it again")

    def __contains__(self, name: str) -> bool:
        """Whether a field was sent."""
        return name in self._values

    def text(self, name: str) -> str:
        """A text that a person wrote, on one line; empty where none was sent."""
        value = " ".join("".join(self._values.get(name, [""])).split())
        if len(value) > LONGEST or not value.isprintable():
            raise FormError(f"{name}: write at most {LONGEST:,} characters, on one line")
        return value

    def texts(self, name: str) -> list[str]:
        """The texts of a list of fields."""
        return list(self._values.get(name, ()))

    def number(self, name: str, least: int, most: int) -> int:
        """A whole number in a range."""
        return self._whole(name, self._values.get(name, [""])[0], least, most)

    def numbers(self, name: str, least: int, most: int) -> list[int]:
        """Whole numbers in a range, as a list of fields sends them."""
        return [self._whole(name, one, least, most) for one in self._values.get(name, [])]

    def threshold(self, name: str, place: int | None = None) -> str:
        """A threshold in plain decimal digits; with a place, one of several with spaces between them."""
        value = self.text(name) if place is None else self.text(name).split(" ")[place]
        if THRESHOLD.fullmatch(value) is None:
            raise FormError("a threshold is a number in plain digits, such as 11 or 0.5; nothing was changed")
        return value

    def choice(self, name: str, known: Collection[str]) -> str:
        """One of the values that the page offers."""
        value = self._values.get(name, [""])[0]
        if value not in known:
            raise FormError("the page sent a choice that it does not have; load it again")
        return value

    @staticmethod
    def _whole(name: str, value: str, least: int, most: int) -> int:
        number = int(value) if value.isascii() and value.isdigit() and len(value) < 10 else -1
        if not least <= number <= most:
            raise FormError(f"{name}: must be a whole number from {least} to {most}; load the page again")
        return number


def pairs_of(body: bytes) -> Sequence[tuple[str, str]]:
    """The fields of a form as browsers send it.

    Raises:
        FormError: it is no such form.
    """
    try:
        text = body.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=MOST_FIELDS)
    except ValueError:
        raise FormError("the page sent no form; load it again") from None


def values(pairs: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """The last value of each field."""
    return dict(pairs)
