"""YAML as a draft writes it: names in quotes where they need them, comments that break no line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

from tcdp_audit.plugin.sentences import visible

PLAIN = re.compile(r"(?:\.\.?/)*[A-Za-z_/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./][A-Za-z0-9_./-]*)*")
READ_AS_ANOTHER = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
LONGEST_KEY = 1000  # a longer key has to say that it is one
WIDTH = 112
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar(text: str) -> str:
    r"""A text as YAML reads it back.

    Example:
        >>> scalar("age"), scalar("no"), scalar("02139"), scalar('a "b": c'), scalar("\x1b")
        ('age', '"no"', '"02139"', '"a \\"b\\": c"', '"\\x1b"')
    """
    if PLAIN.fullmatch(text) and text.lower() not in READ_AS_ANOTHER:
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable() and visible(character) == character:
        return character
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def flow(entries: Iterable[tuple[str, str | Sequence[str]]]) -> str:
    """A mapping on one line; its values are texts or lists of texts."""
    return (
        "{"
        + ", ".join(f"{name}: {value if isinstance(value, str) else listed(value)}" for name, value in entries)
        + "}"
    )


def listed(texts: Iterable[str]) -> str:
    """A list of texts on one line."""
    return f"[{', '.join(map(scalar, texts))}]"


def entry(name: str, value: str, indent: str) -> list[str]:
    """A name with its value, in the form that its length asks for."""
    key = scalar(name)
    if len(key) <= LONGEST_KEY:
        return [f"{indent}{key}: {value}"]
    return [f"{indent}? {key}", f"{indent}: {value}"]


def comment(text: str, indent: str = "") -> list[str]:
    """A text as lines that YAML leaves alone."""
    shown = " ".join(visible(text).split())
    return wrap(shown, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ", break_on_hyphens=False)
