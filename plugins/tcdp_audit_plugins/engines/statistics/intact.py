"""What pyreadstat does not notice: files that were cut off, special missing values in a transport file of SAS."""

from __future__ import annotations

import re
from pathlib import Path

from tcdp_audit.plugin.engine import DataError

CARD = 80  # bytes: a transport file of SAS is made of such pieces
STATA, STATA_END = b"<stata_dta>", b"</stata_dta>"
_SPECIAL = re.compile(rb"[A-Z_]\x00{7}")  # a number whose first byte is a letter and whose others are 0 is none
_PIECE = 2**24  # bytes


def has_special_missing(path: Path) -> bool:
    """Whether a transport file of SAS may hold `.A` to `.Z` or `._`; other bytes may look like one. One pass."""
    rest = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            if _SPECIAL.search(rest + piece):
                return True
            rest = piece[-7:]
    return False


def require_intact(path: Path) -> None:
    """Insist on the end of a file whose records do not tell how many they are.

    Raises:
        DataError: it is not there.
    """
    if not _is_whole(path):
        raise DataError(f"{path}: the file is cut off; write it again")


def _is_whole(path: Path) -> bool:
    suffix, size = path.suffix.lower(), path.stat().st_size
    if suffix == ".xpt":
        return size % CARD == 0
    if suffix != ".dta":
        return True
    with path.open("rb") as file:
        if file.read(len(STATA)) != STATA:
            return True
        file.seek(max(0, size - len(STATA_END)))
        return file.read() == STATA_END
