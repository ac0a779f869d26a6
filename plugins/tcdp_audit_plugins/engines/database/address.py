"""The address of a table: an SQLAlchemy URL whose query also names the table, or a file with a query, and a timeout."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from tcdp_audit.plugin.engine import UsageError

OWN = ("table", "query_file", "timeout")  # what the query of a URL says to us; the rest goes to the driver
PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
NAME = re.compile(rf"(?:{PART.pattern})(?:\.(?:{PART.pattern}))*")
_DRIVERS = {  # those that the extras bring
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
FORM = "write DIALECT://USER@HOST/DATABASE?table=SCHEMA.TABLE"


@dataclass(frozen=True)
class TableName:
    """A table or a view, in the schema that is named or else in the database's own default."""

    table: str
    schema: str | None = None

    def __str__(self) -> str:
        """As a message calls it."""
        return self.table if self.schema is None else f"{self.schema}.{self.table}"

    @property
    def in_address(self) -> str:
        """As an address has it: odd names quoted, so that no other table has the same."""
        names = [self.table] if self.schema is None else [self.schema, self.table]
        return ".".join('"' + name.replace('"', '""') + '"' if {'"', "."} & set(name) else name for name in names)


@dataclass(frozen=True)
class Address:
    """The address of a table."""

    url: URL  # the database, as SQLAlchemy connects to it
    place: TableName | Path  # the table; or the file of the query
    timeout: float | None = None  # seconds that a statement may take; None for as many as it needs

    @property
    def name(self) -> str:
        """The name of the table in messages."""
        return str(self.place)

    @property
    def uri(self) -> str:
        """The address without user, password and what else is for the driver."""
        return f"{database_uri(self.url)}?{'query_file' if isinstance(self.place, Path) else 'table'}={self.place}"


def database_uri(url: URL) -> str:
    """A database without user, password and options: `postgresql://host/db`."""
    port = f":{url.port}" if url.port else ""
    return f"{url.get_backend_name()}://{url.host or ''}{port}/{url.database or ''}"


def parse(location: str) -> Address:
    """Read an address.

    Raises:
        UsageError: it is no URL, or names no table, or both a table and a query, or a timeout that is no number. The
            message quotes nothing of a URL, which may hold a password.
    """
    url = _url(location)
    own = {name: _single(name, url) for name in OWN if name in url.query}
    if ("table" in own) == ("query_file" in own):
        raise UsageError(f"{database_uri(url)}: give `?table=SCHEMA.TABLE`, or `?query_file=FILE.sql`, and not both")
    place = _table(own["table"], url) if "table" in own else Path(own["query_file"])
    return Address(url.difference_update_query(OWN), place, _timeout(own.get("timeout"), url))


def _url(location: str) -> URL:
    scheme, _, rest = location.partition("://")
    text = f"{_DRIVERS[scheme]}://{rest}" if scheme in _DRIVERS else location
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        pass
    raise UsageError(f"{scheme}://…: cannot be read as the address of a database; {FORM}")


def _single(name: str, url: URL) -> str:
    value = url.query[name]
    if not isinstance(value, str) or not value:
        raise UsageError(f"{database_uri(url)}: give `{name}=` once, and with a value")
    return value


def _table(text: str, url: URL) -> TableName:
    name = table_name(text)
    if name is None:
        raise UsageError(f"{database_uri(url)}: `table=` is no name of a table; write SCHEMA.TABLE, odd names quoted")
    return name


def table_name(text: str) -> TableName | None:
    """`table`, `schema.table`, or `"quoted.name"`; the part before the last dot is the schema. None for no name."""
    if not NAME.fullmatch(text):
        return None
    parts = [plain or quoted.replace('""', '"') for quoted, plain in PART.findall(text)]
    return TableName(parts[-1], ".".join(parts[:-1]) or None)


def _timeout(text: str | None, url: URL) -> float | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,7}(\.\d{1,3})?", text) or not float(text):
        raise UsageError(f"{database_uri(url)}: `timeout=` is a number of seconds, such as 600")
    return float(text)
