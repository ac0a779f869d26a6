"""The text of a report beside the one that the audit made again gives: a report may say what its result does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

from tcdp_audit.api import with_plain_result
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.plugin.sentences import visible
from tcdp_audit.verification.again import as_then
from tcdp_audit.verification.points import Point, State

HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
UNSEEN = frozenset({"style", "script", "template", "title"})
PIECE = re.compile(r"<(?P<end>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9]*)?[^<>]*>|(?P<text>[^<]+|<)")
LONGEST = 80  # letters that a sentence quotes of what should stand in the report


def page_point(written: WrittenAudit, again: Audit) -> Point:
    """Whether a report says what its result says, and nothing else.

    Another version, or other plugins, may write another report.

    Args:
        written: the report; its result has been confirmed.
        again: the audit, made again.
    """
    with as_then(again, written) as then:
        expected = then.render(".html").encode("utf-8", "backslashreplace").decode()
    page = "" if written.page is None else with_plain_result(written.page, str(written.path))
    expected = with_plain_result(expected, str(written.path))
    if expected == page:
        return Point(
            "report", State.CONFIRMED, "it says what its result says, and nothing else; what is not checked is in both"
        )
    others = _other_writers(written, again)
    if others:
        sentence = f"its text can be verified with what wrote it: {_short(', '.join(others))}"
        return Point("report", State.UNVERIFIED, sentence)
    return Point("report", State.DIFFERS, _where(expected, page, quote=not written.names_cells))


def _other_writers(written: WrittenAudit, again: Audit) -> list[str]:
    """What took part in the written audit in another version than now, or not at all now."""
    now = {f"plugin {one.name}": one.version for one in again.plugins.infos} | {"tcdp-audit": _version(again.as_json())}
    then = {f"plugin {one['name']}": one["version"] for one in written.result["plugins"]}
    return [
        f"{name} {version}"
        for name, version in {"tcdp-audit": written.version, **then}.items()
        if now.get(name) != version
    ]


def _version(result: Mapping[str, Any]) -> str:
    return str(result["tool"]["version"])


def _where(expected: str, page: str, *, quote: bool) -> str:
    """Where a report begins to differ, by the heading; what should stand there, but never what does."""
    right, wrong = (list(_texts(one)) for one in (expected, page))
    for (heading, text), other in zip(right, [*wrong, ("", "")], strict=False):
        if (heading, text) != other:
            should = f'; it should read "{_short(text)}"' if quote else ""
            return f'its text is not what its result says, first under "{_short(heading)}"{should}'
    if len(wrong) > len(right):
        return "it has more text than its result gives, after the end of the page"
    line = next(number for number, (one, other) in enumerate(_lines(expected, page), 1) if one != other)
    return f"its text is what its result says, but its markup is not, first in line {line:,}"


def _lines(expected: str, page: str) -> Iterator[tuple[str, str]]:
    yield from zip([*expected.split("\n"), ""], [*page.split("\n"), ""], strict=False)


def _short(text: str) -> str:
    whole = visible(" ".join(text.split()))
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"


def _texts(page: str) -> Iterator[tuple[str, str]]:
    """The texts of a page that are seen, each with the heading that it is under.

    A tag ends at the next angle bracket, whatever stands in quotes: so a page that somebody made for it costs no more
    than its length, where a parser of HTML may need its square.
    """
    heading, within, unseen = "", False, 0
    for piece in PIECE.finditer(page):
        if piece["text"] is None:
            ends, tag = bool(piece["end"]), (piece["tag"] or "").lower()
            if tag in HEADINGS:
                heading, within = (heading if ends else ""), not ends
            unseen += 0 if tag not in UNSEEN else -(unseen > 0) if ends else 1
        elif text := unescape(piece["text"]).strip():
            heading = f"{heading} {text}".strip()[: 2 * LONGEST] if within else heading
            if not unseen:
                yield heading, text
