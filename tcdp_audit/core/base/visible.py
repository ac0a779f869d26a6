"""Text as it may be shown: characters that would act on the reader's screen are written out.

Control characters (ESC, CR, backspace, C1), line separators, bidirectional controls and lone surrogates, which stand
for the bytes of a file name that is no UTF-8.
"""

from __future__ import annotations

import re

_ACTING = (
    "\x00-\x1f\x7f-\x9f"  # C0 with line feed and ESC, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # bidirectional controls, and deprecated format characters
    "\u2028\u2029"  # line and paragraph separator
    "\ufeff\ufff9-\ufffb"  # byte order mark, interlinear annotation
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f"  # tags
)
ACTING = re.compile(f"[{_ACTING}]")
ACTING_IN_LINES = re.compile(f"(?!\n)[{_ACTING}]")


def visible(text: str) -> str:
    """A name as it is, except characters that would act on the reader's screen: those are written out."""
    return ACTING.sub(_written_out, text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, which stay lines."""
    return ACTING_IN_LINES.sub(_written_out, text)


def _written_out(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


def visible_json(text: str) -> str:
    """JSON that means the same with such characters as JSON's own escapes; line feeds between its tokens stay."""
    return ACTING_IN_LINES.sub(_escaped, text)


def _escaped(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start : start + 2].hex()}" for start in range(0, len(units), 2))
