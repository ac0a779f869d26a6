"""Formulas come from plugins: what is not plainly MathML is not let into the page."""

from __future__ import annotations

import re

ELEMENTS = (
    "math|mrow|mi|mo|mn|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|"
    "mtable|mtr|mtd|mstyle|mpadded|mphantom"
)
ATTRIBUTES = (
    "display|displaystyle|movablelimits|mathvariant|stretchy|symmetric|largeop|accent|accentunder|form|fence|"
    "separator|lspace|rspace|minsize|maxsize|linethickness|scriptlevel|width|columnalign|columnspacing"
)
VALUE = r"'[\w .%-]*'|\"[\w .%-]*\""
TOKEN = re.compile(rf"<(?P<close>/?)(?P<name>{ELEMENTS})(?:\s+(?:{ATTRIBUTES})=(?:{VALUE}))*\s*(?P<empty>/?)>|[^<>]+")


def is_mathml(text: str) -> bool:
    """True for balanced MathML elements with harmless attributes and nothing else. Cost: O(length)."""
    opened: list[str] = []
    position = 0
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None or not _fits(token, opened):
            return False
        position = token.end()
    return bool(text) and not opened


def _fits(token: re.Match[str], opened: list[str]) -> bool:
    """Whether a token may stand here; keeps the stack of open elements."""
    name = token["name"]
    if name is None:
        return bool(opened) or token[0].isspace()
    if token["close"]:
        return bool(opened) and opened.pop() == name
    if not opened and name != "math":
        return False
    if not token["empty"]:
        opened.append(name)
    return True
