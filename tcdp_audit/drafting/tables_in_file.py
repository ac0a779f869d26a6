"""The table that is meant among those that a file describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import listing

FEW = 6


def chosen_table(tables: Sequence[tuple[Sequence[str], Any]], file: str, wanted: str) -> Any:
    """The one table whose names have the wanted one among them, or the only one.

    Args:
        tables: the names of each, and what is described of it.
        file: where they stand.
        wanted: a name; capitals do not count.

    Raises:
        UsageError: there is none, or there are several.
    """
    named = [one for names, one in tables if wanted.lower() in (name.lower() for name in names)]
    if len(named) == 1 or (len(tables) == 1 and not named):
        return named[0] if named else tables[0][1]
    if not tables:
        raise UsageError(f"--roles-from {file}: it describes no table")
    names = sorted({names[0] for names, _ in tables if names})
    listed = listing([repr(one) for one in names[:FEW]]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
    problem = f"{len(named)} tables are called {wanted!r}" if named else f"no table is called {wanted!r}"
    raise UsageError(f"--roles-from {file}: {problem}; name one of {listed} as --roles-from '{file}#TABLE'")
