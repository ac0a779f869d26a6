"""The grammar of a flat JSON object (RFC 8259), as regular expressions that Python and DuckDB read alike.

A string with half of a surrogate pair stands for no text and is left out; so are `NaN` and `Infinity`, which are not
JSON.
"""

from __future__ import annotations

from typing import Final

ABSENT, NULL, STRING, BARE = range(4)  # the kinds of token that a cell is read from; numbers and booleans stand bare

_SPACE: Final = r"[ \t\r\n]*"
_UNICODE: Final = (
    r"\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    r"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_STRING: Final = rf'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|{_UNICODE})*"'
NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
PLAIN: Final = rf"{NUMBER}|true|false"
_PAIR: Final = rf"{_STRING}{_SPACE}:{_SPACE}(?:{_STRING}|{PLAIN}|null)"

_RECORD: Final = rf"\{{{_SPACE}(?:{_PAIR}{_SPACE}(?:,{_SPACE}{_PAIR}{_SPACE})*)?\}}"
LINE: Final = rf"{_SPACE}(?:{_RECORD}{_SPACE})?"  # a record, or nothing
VALUE: Final = r'"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*("(?:[^"\\]|\\.)*"|[^", \t\r\n}]+)'  # of a line that is a record
