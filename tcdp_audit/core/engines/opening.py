"""Engines from what a caller passes: the embedded one, or registered openers of databases and their URLs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import get_ident
from typing import Any

from tcdp_audit.core.base.declared_types import type_of
from tcdp_audit.core.base.errors import PluginError, UsageError, is_wrong_call, redact_errors, sentence_about
from tcdp_audit.core.base.files import scheme_of, split_sheet
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.parts import find_parts, is_several, require_plain_files
from tcdp_audit.core.engines.source import TEXTS, file_extension, readable, require_kind
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm


@redact_errors()
def open_engine(release: Any, memory: int, name: str = "release", form: TextForm = PLAIN_FORM) -> Engine:
    """An engine for a path, a pandas, polars or pyarrow table, or a DuckDB relation.

    Args:
        release: the table.
        memory: budget in bytes.
        name: the table's name in messages, if it has no path.
        form: how the policy says that a text file is written.

    Raises:
        UsageError: the file does not exist, or the object is no table.
        DataError: it exists and cannot be read as a table.
    """
    if isinstance(release, str | Path):
        return open_file(Path(release), memory, form)
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    return DuckDBEngine.from_frame(release, name, memory)


def open_file(path: Path, memory: int, form: TextForm = PLAIN_FORM) -> Engine:
    """The embedded engine over a file, the files of a folder, or those of a pattern; see `open_engine`."""
    with readable(path):
        parts = find_parts(path) if is_several(path) else None
        if parts is None:
            require_kind(path)
            require_plain_files(str(path), [path])
    if parts is not None:
        from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

        return DuckDBEngine.from_parts(parts, memory, form)
    if file_extension(path) in TEXTS:
        from tcdp_audit.core.engines.text import open_text  # noqa: PLC0415 - only for text files

        return open_text(path, memory, form)
    from tcdp_audit.core.engines.duckdb import DuckDBEngine  # noqa: PLC0415 - takes longer to import than a small audit

    return DuckDBEngine.from_path(path, memory)


_READER: ContextVar[Hashable | None] = ContextVar("_READER", default=None)
_FORM: ContextVar[TextForm] = ContextVar("_FORM", default=PLAIN_FORM)


def _write_nothing(*_: Any) -> None:
    """The writer of an opener that only reads; it is never called."""


@dataclass(frozen=True, kw_only=True)
class EngineOpener:
    """A kind of table that can be audited where it is stored.

    Args:
        name: snake_case name, unique among all plugins.
        title: its name for readers.
        summary: what it opens, in a sentence that begins with a capital letter.
        accepts: whether it opens an argument of the caller: unparsed text, a path, or an object. It is called for
            every table, so it is fast, imports no library, and checks only a URL's scheme or a type's module.
        open: returns the engine, from the table, its name in messages and the budget in bytes. Its errors are shown
            unchanged, so they hold neither cells nor credentials.
        writes: the extensions, in lower case and each with its full stop, of the files that it writes.
        write: writes an Arrow table to a new file of such a kind. A missing value is an empty cell.
        instead: what to do where a file is to be written that this only reads: a clause such as "write .csv".
        require: refuses a table that such a file cannot hold exactly, with a `UsageError` that begins with the text
            passed to it; called before the work.
    """

    name: str
    title: str
    summary: str
    accepts: Callable[[Any], bool]
    open: Callable[[Any, str, int], Engine]
    writes: tuple[str, ...] = ()
    write: Callable[[Any, Path], None] = _write_nothing
    require: Callable[[Any, str], None] = _write_nothing
    instead: str = ""

    @staticmethod
    def reader() -> Hashable:
        """What the table that is being opened belongs to: an audit or a session; without one, the thread.

        Tables of one reader may share a connection, to be read at one moment; those of others may not.
        """
        reader = _READER.get()
        return get_ident() if reader is None else reader

    @staticmethod
    def text_form() -> TextForm:
        """The form that the policy declares for the text of the table that is being opened or written."""
        return _FORM.get()

    @staticmethod
    def split_sheet(location: str) -> tuple[str, str]:
        """The path of a file, and the sheet of a workbook that `people.xlsx#Sheet` names; empty where none is named."""
        return split_sheet(location)


@contextmanager
def written_in(form: TextForm) -> Iterator[None]:
    """Let tables that are opened or written here have a form; see `EngineOpener.text_form`."""
    token = _FORM.set(form)
    try:
        yield
    finally:
        _FORM.reset(token)


@contextmanager
def opening_for(reader: Hashable) -> Iterator[None]:
    """Let tables that are opened here belong together, as those of an audit or a session; see `EngineOpener.reader`."""
    token = _READER.set(reader)
    try:
        yield
    finally:
        _READER.reset(token)


def unwrapped(table: Any) -> Any:
    """The frame that a lazy frame of narwhals wraps; anything else as it is."""
    if type(table).__name__ == "LazyFrame" and type(table).__module__.startswith("narwhals."):
        return table.to_native()
    return table


def opener_of(table: Any, openers: Iterable[EngineOpener]) -> EngineOpener | None:
    """The opener that accepts a table; None if the embedded engine opens it.

    Raises:
        PluginError: two openers accept it, or one fails to answer.
    """
    table = unwrapped(table)
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
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; the text may hold a URL
        kind = type(error).__name__
    raise PluginError(f"the engine {opener.name!r} cannot say what it opens ({kind})")


def open_any(
    table: Any, name: str, memory: int, openers: Iterable[EngineOpener], form: TextForm = PLAIN_FORM
) -> Engine:
    """The engine of the opener that accepts a table; otherwise the embedded one. See `open_engine`."""
    table = unwrapped(table)
    opener = opener_of(table, openers)
    if opener is None:
        engine = open_engine(table, memory, name, form)
    else:
        with written_in(form):
            engine = open_with(opener, table, name, memory)
    engine.text_form = form
    return engine


def writer_of(path: Path, openers: Iterable[EngineOpener]) -> EngineOpener | None:
    """The opener that writes files with an extension; None where the core writes them, or nothing does."""
    return next((one for one in openers if path.suffix.lower() in one.writes), None)


def open_with(opener: EngineOpener, table: Any, name: str, memory: int) -> Engine:
    """The engine that an opener makes of a table.

    Raises:
        PluginError: it takes other arguments, or makes no engine, or one without a name or an address.
        Exception: whatever the opener raises, as it is.
    """
    try:
        engine = opener.open(table, name, memory)
    except TypeError as error:
        if not is_wrong_call(error):
            raise
        raise PluginError(sentence_about(error, f"`open` of the engine {opener.name!r}")) from None
    if not isinstance(engine, Engine):
        raise PluginError(f"`open` of the engine {opener.name!r} gave {type_of(engine)} and not an Engine")
    for attribute in ("name", "uri"):
        if not isinstance(getattr(engine, attribute, None), str):
            raise PluginError(
                f"`open` of the engine {opener.name!r} gave an Engine whose `{attribute}` is not set to a text"
            )
    return engine


def require_no_url(table: Any, broken: Iterable[str]) -> None:
    """Refuse a URL that no opener accepts, without repeating it: it may hold a password.

    Args:
        table: the caller's argument.
        broken: the plugins that do not work; one of them might open it.

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
    """A table, view or statement of a database to which the program already has a connection.

    Args:
        engine: an `sqlalchemy.Engine`. The audit holds one of its connections.
        table: an `sqlalchemy.Table`, an `sqlalchemy.Select`, or the name of a table or view.
    """

    engine: Any
    table: Any
