"""Files that were cut off where pyreadstat does not notice it."""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin import DataError

CARD = 80  # bytes: a transport file of SAS is made of such pieces
STATA, STATA_END = b"<stata_dta>", b"</stata_dta>"


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
