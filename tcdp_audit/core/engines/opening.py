"""What makes an engine of what a caller gave: the embedded one, or registered code that opens a database's URL.

A table that a program has already: of a database that it is connected to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.addresses import scheme_of
from tcdp_audit.core.base.errors import PluginError, UsageError, redact_errors
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.parts import find_parts, is_several, require_plain_files
from tcdp_audit.core.engines.source import TEXTS, file_extension, readable, require_kind


@redact_errors()
def open_engine(release: Any, memory: int, name: str = "release") -> Engine:
    """An engine for a path, a pandas, polars or pyarrow table, or a DuckDB relation.

    Args:
        release: the table.
        memory: budget in bytes.
        name: what the table is called in messages where it has no path.

    Raises:
        UsageError: the file does not exist, or the object is no table.
        DataError: it exists and cannot be read as a table.
    """
    if isinstance(release, str | Path):
        return open_file(Path(release), memory)
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    return DuckDBEngine.from_frame(release, name, memory)


def open_file(path: Path, memory: int) -> Engine:
    """The embedded engine over a file, the files of a folder, or those of a pattern; see `open_engine`."""
    with readable(path):
        parts = find_parts(path) if is_several(path) else None
        if parts is None:
            require_kind(path)
            require_plain_files(str(path), [path])
    if parts is not None:
        from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

        return DuckDBEngine.from_parts(parts, memory)
    if file_extension(path) in TEXTS:
        from tcdp_audit.core.engines.text import open_text  # noqa: PLC0415 - only for text files

        return open_text(path, memory)
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    return DuckDBEngine.from_path(path, memory)


@dataclass(frozen=True, kw_only=True)
class EngineOpener:
    """A kind of table that can be audited where it lives.

    Args:
        name: snake_case name, unique among all plugins.
        title: what a person calls it.
        summary: what it opens, in a sentence that begins with a capital letter.
        accepts: whether it opens what the caller gave: text as it stands, a path, or an object. It is asked of
            everything, so it is quick, imports no library, and looks at a URL's scheme or a type's module.
        open: the engine over it, given what messages call the table and the budget in bytes. What it raises is told
            as it is, so it holds neither cells nor credentials.
    """

    name: str
    title: str
    summary: str
    accepts: Callable[[Any], bool]
    open: Callable[[Any, str, int], Engine]


def opener_of(table: Any, openers: Iterable[EngineOpener]) -> EngineOpener | None:
    """The one opener that accepts a table; None where the embedded engine is to open it.

    Raises:
        PluginError: two openers accept it, or one cannot say.
    """
    accepting = [opener for opener in openers if _accepts(opener, table)]
    if len(accepting) > 1:
        names = " and ".join(repr(opener.name) for opener in accepting)
        raise PluginError(f"{names} both open this release; leave one out with `-p no:NAME`")
    return accepting[0] if accepting else None


def _accepts(opener: EngineOpener, table: Any) -> bool:
    try:
        return bool(opener.accepts(table))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises; the text may hold a URL
        kind = type(error).__name__
    raise PluginError(f"the engine {opener.name!r} cannot say what it opens ({kind})")


def require_no_url(table: Any, broken: Iterable[str]) -> None:
    """Refuse a URL that nothing opens, without repeating it: it may hold a password.

    Args:
        table: what the caller gave.
        broken: the plugins that do not work, one of which may have opened it.

    Raises:
        UsageError: it is a URL.
    """
    scheme = scheme_of(table)
    if scheme and f"{scheme}://" == str(table)[: len(scheme) + 3].lower():
        listed = ", ".join(broken)
        hint = f"; these plugins do not work: {listed}" if listed else "; `tcdp-audit plugins` lists what can be opened"
        raise UsageError(f"nothing opens a release at {scheme}://{hint}")


@dataclass(frozen=True)
class DatabaseTable:
    """A table, view or statement of a database that a program is connected to already.

    Args:
        engine: an `sqlalchemy.Engine`. A connection of it is held for the time of the audit.
        table: an `sqlalchemy.Table`, an `sqlalchemy.Select`, or the name of a table or view.
    """

    engine: Any
    table: Any
