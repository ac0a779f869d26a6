"""Formulas of guides: LaTeX to MathML by latex2mathml, and the MathML on one line as text, for terminals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring, tostring

from latex2mathml.converter import convert

from tcdp_audit.api import formula_lines

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
UNDER = frozenset({"min", "max", "sup", "argmin"})  # their range is written below them
OPENING, CLOSING = frozenset("([{⌊#"), frozenset(")]}⌋,!:")
TIGHT = frozenset("|/")
BEFORE_A_SIGN = (*"([{⌊|/,=≤≥<>", "")  # followed by a minus that belongs to one number
SUMS = ("Σ", "Π")
PLAIN = str.maketrans({"∑": "Σ", "∏": "Π", "−": "-", "∣": "|", "\N{NO-BREAK SPACE}": " "})  # as fonts of terminals have
IN_BRACKETS = re.compile(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]")
POWERS = {"2": "²", "3": "³"}
GLUE = "\0"  # no blank here
NO_BLANK = re.compile(f" ?{GLUE}(?: ?{GLUE})* ?")


def formula_table(guides: Iterable[Path]) -> str:
    """The `text` and the `mathml` of every formula of Markdown guides by its LaTeX, as JSON."""
    lines = (line for path in guides for line in formula_lines(path.read_text(encoding="utf-8")))
    trees = {line: tree_of(line) for line in lines}
    forms = {line: {"text": text_of(tree), "mathml": mathml_of(tree)} for line, tree in trees.items()}
    return json.dumps(forms, indent=1, ensure_ascii=False) + "\n"


def tree_of(latex: str) -> Element:
    """A line of a formula as MathML without a namespace, as HTML has it."""
    tree = fromstring(convert(latex, display="block"))  # noqa: S314 - our own formulas
    for node in tree.iter():
        node.tag = node.tag.removeprefix(NAMESPACE)
        if node.tag == "msub" and node[0].text in UNDER:
            node.tag = "munder"
        if node.tag == "mi" and node.text == "ln":  # otherwise it touches its argument
            node.tag, node.attrib = "mo", {"lspace": "0.167em", "rspace": "0.167em"}
        if node.tag == "mtext":
            node.text = (node.text or "").replace("\\_", "_")
    return tree


def mathml_of(tree: Element) -> str:
    """The markup."""
    return tostring(tree, encoding="unicode").replace(" />", "/>")


def text_of(tree: Element) -> str:
    """The same on one line: `max_E (p_i - q_i)/q_i ≤ β`."""
    return " ".join(NO_BLANK.sub("", _row(tree)).split())


def _row(nodes: Iterable[Element]) -> str:
    """Parts next to each other, with blanks between them except where brackets, signs and names refuse them."""
    parts: list[str] = []
    for node in nodes:
        last = parts[-1] if parts else ""
        part = _sign(node, last) if node.tag == "mo" else FORMS[node.tag](node)
        if last == "ln" and node.tag == "mfrac":
            part = f"{GLUE}({part})"
        elif node.tag == "mrow" and part.startswith("(") and _is_name(last):
            part = f"{GLUE}{part}"
        parts.append(part)
    return " ".join(parts)


def _is_name(last: str) -> bool:
    """Whether a bracket after it holds the argument of a function."""
    return (last[-1:].isalnum() or last.endswith("}")) and not last.startswith(SUMS)


def _sign(node: Element, last: str) -> str:
    """A bracket, a comma, a relation or the name of a function."""
    text, form = _plain(node), node.get("form")
    if text == "-" and last.strip(GLUE)[-1:] in BEFORE_A_SIGN:
        return f"{text}{GLUE}"
    if form == "postfix" or text in CLOSING:
        return f"{GLUE}{text}"
    if form == "prefix" or text in OPENING:
        return f"{GLUE if _is_name(last) else ''}{text}{GLUE}"
    return f"{GLUE}{text}{GLUE}" if text in TIGHT else text


def _plain(node: Element) -> str:
    return (node.text or "").translate(PLAIN)


def _leaf(node: Element) -> str:
    text = _plain(node)
    return f"{GLUE}{text}" if text == ":" else f"{text}{GLUE}" if text == "#" else text


def _below(node: Element) -> str:
    return f"{_whole(node[0])}_{_index(node[1])}"


def _above(node: Element) -> str:
    power = _index(node[1])
    return f"{_whole(node[0])}{GLUE}{POWERS.get(power, f'^{power}')}"


def _both(node: Element) -> str:
    base, low, high = _whole(node[0]), _index(node[1]), _index(node[2])
    return f"{base}'_{low}" if high == "′" else f"{base}_{low}^{high}"


def _fraction(node: Element) -> str:
    parts = [_whole(one) for one in node]
    if node.get("linethickness") == "0":
        return f"{parts[0]} choose {parts[1]}"
    over, under = (f"({part})" if _has_parts(NO_BLANK.sub("", part)) else part for part in parts)
    return f"{over}/{under}"


def _has_parts(text: str) -> bool:
    """Whether there is a blank outside brackets."""
    while (shorter := IN_BRACKETS.sub("", text)) != text:
        text = shorter
    return " " in text


def _index(node: Element) -> str:
    """A subscript or a superscript, in braces where it has several parts."""
    text = NO_BLANK.sub("", _whole(node))
    return text if re.fullmatch(r"\w+|′", text) else f"{{{text}}}"


def _whole(node: Element) -> str:
    return _sign(node, "") if node.tag == "mo" else FORMS[node.tag](node)


def _blank(_: Element) -> str:
    return ""


FORMS: Mapping[str, Callable[[Element], str]] = {
    "mrow": _row,
    "mi": _leaf,
    "mn": _leaf,
    "mtext": _leaf,
    "mspace": _blank,
    "msub": _below,
    "munder": _below,
    "msup": _above,
    "msubsup": _both,
    "mfrac": _fraction,
}
