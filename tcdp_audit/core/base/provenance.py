"""The origin of a result: the tables that were read, the plugins that took part, this program, and the time."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from shlex import join
from typing import Any

from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.words import count, listing, visible

BUILT_IN = "tcdp-audit"  # the distribution whose entry points are the built-in plugins
LIBRARIES = ("numpy", "duckdb", "pyarrow")
_recorded: ContextVar[dict[str, Any] | None] = ContextVar("recorded", default=None)


@dataclass(frozen=True)
class TableVersion:
    """The version of a table that keeps several, such as a table of Delta Lake or Iceberg.

    Args:
        format: the format's name for readers.
        table: the identifier that the format gave the table, such as a UUID.
        version: the number of the version or snapshot.
        time: when it was written, in UTC as `2026-11-29T05:00:00.123Z`; empty where the format does not say.
        is_newest: whether it was read because it was the newest, and the caller named none.
        part: what was read of it, as a noun phrase; empty for all its rows and columns.
    """

    format: str
    table: str
    version: str
    time: str = ""
    is_newest: bool = False
    part: str = ""

    @property
    def identity(self) -> tuple[str, ...]:
        """The fields that are equal whenever the same records are read."""
        return (self.format, self.table, self.version, self.time, self.part)

    @property
    def sentence(self) -> str:
        """The version in words."""
        written = f", written {self.time}" if self.time else ""
        newest = ", the newest when it was read" if self.is_newest else ""
        part = f", {self.part}" if self.part else ""
        return f"version {self.version} of the {self.format} table {self.table}{written}{newest}{part}"

    def as_json(self) -> dict[str, str | bool]:
        """The entry in the JSON result."""
        part = {"part": self.part} if self.part else {}
        own = {"format": self.format, "table": self.table, "version": self.version, "time": self.time}
        return {**own, "newest": self.is_newest, **part}

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> TableVersion:
        """The version of an entry."""
        own = (entry["format"], entry["table"], entry["version"], entry["time"])
        return cls(*own, is_newest=entry["newest"], part=entry.get("part", ""))


@dataclass(frozen=True)
class TableState:
    """The state in which a table of a database was read.

    Args:
        snapshot: the database's own identifier of the moment, which no later audit can see again; empty where it has
            none.
        content: SHA-256 over the names of the columns and the hashes of the rows, whatever their order; empty where it
            was not asked for. See `Engine.content_hash`.
    """

    snapshot: str = ""
    content: str = ""

    @property
    def sentence(self) -> str:
        """The hash in words; empty where there is none."""
        return f"content hash {self.content}" if self.content else ""

    def as_json(self) -> dict[str, str]:
        """The entry in the JSON result."""
        named = {"snapshot": self.snapshot, "content": self.content}
        return {name: value for name, value in named.items() if value}

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> TableState:
        """The state of an entry."""
        return cls(entry.get("snapshot", ""), entry.get("content", ""))


@dataclass(frozen=True)
class Table:
    """A table that was read: its name, place, size and digest.

    Args:
        uri: where it came from.
        sha256: digest of its file as it was read, or of the content of a table in memory; None where there is neither.
        records: how many it has; of several tables how many units.
        columns: how many it has.
        tables: the linked tables that it consists of, by name; none where it is one table.
        shared: of a table with a schema of its own, the attributes of the release that it has; else None.
        lacking: the quasi-identifiers of the release that such a table has no column for.
        row_name: what a row of it is, in the singular; that of a table of figures is no record.
        encoding: that of a text file which is not UTF-8, with "detected" where only its bytes say so; else empty.
        version: of a table that keeps several versions, the one that was read; None for others.
        state: of a table in a database, the state in which it was read; None where nothing identifies it.
    """

    uri: str
    sha256: str | None
    records: int
    columns: int
    tables: Mapping[str, Table] = FrozenDict()
    shared: tuple[str, ...] | None = None
    lacking: tuple[str, ...] = ()
    row_name: str = "record"
    encoding: str = ""
    version: TableVersion | None = None
    state: TableState | None = None

    @property
    def in_memory(self) -> bool:
        """Whether the digest is of content and not of a file."""
        return any(one.in_memory for one in self.tables.values()) or self.uri.startswith("memory:")

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        tables = {"tables": {name: one.as_json() for name, one in self.tables.items()}} if self.tables else {}
        compared = {} if self.shared is None else {"shared": list(self.shared), "lacking": list(self.lacking)}
        own = {"uri": self.uri, "sha256": self.sha256, "records": self.records, "columns": self.columns}
        encoding = {"encoding": self.encoding} if self.encoding else {}
        version = {} if self.version is None else {"version": self.version.as_json()}
        state = {} if self.state is None else {"state": self.state.as_json()}
        return {**own, **encoding, **version, **state, **tables, **compared}

    @property
    def content(self) -> str:
        """The content hash of its rows; empty where it was not asked for."""
        return "" if self.state is None else self.state.content

    @property
    def comparison(self) -> str:
        """The attributes that a table with a schema of its own shares with the release, and those that it lacks."""
        if self.shared is None:
            return ""
        lacking = f"; no column for {listing(list(map(visible, self.lacking)))}" if self.lacking else ""
        return f"shares {listing(list(map(visible, self.shared))) or 'no column'}{lacking}"

    @property
    def size(self) -> str:
        """Its numbers of records and columns, in words; of several tables the number of records of each."""
        if self.tables:
            sizes = (f"{visible(name)} {count(one.records, one.row_name)}" for name, one in self.tables.items())
            return f"{count(len(self.tables), 'table')}: {', '.join(sizes)}"
        encoding = f", read as {self.encoding}" if self.encoding else ""
        version = "" if self.version is None else f", {visible(self.version.sentence)}"
        hashed = f", {self.state.sentence}" if self.state is not None and self.content else ""
        return f"{count(self.records, self.row_name)}, {count(self.columns, 'column')}{encoding}{version}{hashed}"

    @property
    def name(self) -> str:
        """Its file name, its name in memory, or the name of a database's table; of several tables all of them."""
        if self.tables:
            return ", ".join(one.name for one in self.tables.values())
        if "://" in self.uri and "=" in self.uri:
            return self.uri.partition("=")[2]
        name = self.uri.removeprefix("memory:").replace("\\", "/").rsplit("/", 1)[-1]
        return name if self.version is None else name.replace('"', "")


@dataclass(frozen=True)
class NamedFile:
    """A file that a policy names in addition to its tables.

    Args:
        kind: what it is: hierarchy, schema, suite, or what a check calls it.
        attribute: whose hierarchy or matrix it is; None for the others.
        uri: where it came from.
        sha256: digest of its bytes.
    """

    kind: str
    attribute: str | None
    uri: str
    sha256: str

    @property
    def title(self) -> str:
        """What a person calls it."""
        return self.kind if self.attribute is None else f"{self.kind} of {self.attribute!r}"

    def as_json(self) -> dict[str, str | None]:
        """The entry in the JSON result."""
        return {"kind": self.kind, "attribute": self.attribute, "uri": self.uri, "sha256": self.sha256}


@dataclass(frozen=True)
class PluginInfo:
    """One plugin as `tcdp-audit plugins` lists it; `error` says why it is not in use."""

    name: str
    distribution: str
    version: str
    hooks: tuple[str, ...] = ()
    error: str = ""

    @property
    def is_external(self) -> bool:
        """True for every plugin that tcdp-audit does not bring itself."""
        return self.distribution != BUILT_IN

    def as_json(self) -> dict[str, str | list[str]]:
        """The entry in the JSON result."""
        plain: dict[str, str | list[str]] = {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "hooks": list(self.hooks),
        }
        return {**plain, "error": self.error} if self.error else plain


@dataclass(frozen=True)
class Run:
    """The person and the command of an audit. A login name is personal data, so none is recorded unasked.

    Args:
        by: the person, as the caller names them; None where none is named.
        command: the command line, its addresses without what may be secret; None where there was none.
        configuration: the pyproject.toml that set options of the command, as `file`, and these, as `set`; None where
            none did.
    """

    by: str | None = None
    command: str | None = None
    configuration: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        configured = {} if self.configuration is None else {"configuration": dict(self.configuration)}
        return {"by": self.by, "command": self.command, **configured}

    @property
    def configured(self) -> str:
        """The settings of a pyproject.toml, in words; nothing where none did."""
        if self.configuration is None:
            return ""
        settings = self.configuration["set"].items()
        return f"{self.configuration['file']}: {', '.join(f'{key} = {json.dumps(one)}' for key, one in settings)}"


def command_line(arguments: Iterable[str]) -> str:
    """A command that can be typed again, without the users, passwords and queries of addresses.

    Example:
        >>> command_line(["check", "postgresql://jo:secret@office/people?table=t", "--report", "a b.html"])
        "tcdp-audit check 'postgresql://office/people?…' --report 'a b.html'"
    """
    return join(["tcdp-audit", *map(_without_secrets, arguments)])


def _without_secrets(argument: str) -> str:
    if "://" not in argument:
        return argument
    address, mark, _ = argument.partition("?")
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}{'?…' if mark else ''}"


def digest_of_tables(digests: Mapping[str, str | None]) -> str | None:
    """SHA-256 over the names and the digests of linked tables; None where one has no digest.

    The text that is digested has a line for each table, in the order of the names: its name, a blank, its digest.
    """
    if None in digests.values():
        return None
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def now() -> datetime:
    """The time of the audit, to the second; SOURCE_DATE_EPOCH makes it reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit():
        return datetime.fromtimestamp(int(epoch), UTC)
    return datetime.now(UTC).replace(microsecond=0)


def tool() -> dict[str, Any]:
    """The auditor's own name and version, and what it computed with; while an old report is written again, its own."""
    return _recorded.get() or {
        "name": "tcdp-audit",
        "version": _version("tcdp-audit"),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
    }


@contextmanager
def recorded_tool(recorded: Mapping[str, Any]) -> Iterator[None]:
    """For a while, have `tool` answer what a written result says, so that its report can be written again."""
    token = _recorded.set(dict(recorded))
    try:
        yield
    finally:
        _recorded.reset(token)


@cache  # each time, the standard library would parse a description of pages
def _version(distribution: str) -> str:
    return version(distribution)


@dataclass(frozen=True)
class Proof:
    """Counts and exact fractions behind one outcome, for `tcdp-audit verifier`.

    Args:
        classes: the number of equivalence classes.
        records: the number of records in them.
        observed: the observed figure as an exact fraction; infinite, or None for a logarithm, which is none.
        threshold: the threshold as an exact fraction; None where nothing is demanded of the figure.
        counts: the counts of the sensitive values in the worst class in descending order, or its size for a check of
            class sizes; empty where no member has a value. None where no class is the worst: of an attack and a risk.
        sizes: how many classes there are of each size; None where the outcome is not of classes.
    """

    classes: int
    records: int
    observed: Fraction | float | None
    threshold: Fraction | None
    counts: tuple[int, ...] | None
    sizes: Mapping[int, int] | None

    def as_json(self) -> dict[str, Any]:
        """The `proof` of an outcome in the JSON contract: fractions as texts such as `3/8`, sizes as their digest."""
        return {
            "classes": self.classes,
            "records": self.records,
            "observed": _fraction_text(self.observed),
            "threshold": _fraction_text(self.threshold),
            "counts": None if self.counts is None else list(self.counts),
            "sizes_sha256": None if self.sizes is None else digest_of_sizes(self.sizes),
        }


def digest_of_sizes(sizes: Mapping[int, int]) -> str:
    r"""SHA-256 of a line for each class size, ascending: the size, a blank, and how many classes have it.

    Example:
        >>> digest_of_sizes({3: 2}) == hashlib.sha256(b"3 2\n").hexdigest()
        True
    """
    return hashlib.sha256("".join(f"{size} {sizes[size]}\n" for size in sorted(sizes)).encode()).hexdigest()


def _fraction_text(figure: Fraction | float | None) -> str | None:
    if figure is None:
        return None
    return str(figure) if isinstance(figure, Fraction) else "infinity"
