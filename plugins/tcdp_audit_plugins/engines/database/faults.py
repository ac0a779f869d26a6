"""Errors of drivers and servers as sentences. Their own texts hold statements, cells, passwords: never passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import NoSuchModuleError

from tcdp_audit.plugin.engine import DataError, UsageError, redact_errors

LOST = "the connection to the database broke while the table was read; nothing was judged, start again"
TIMEOUT = "the database took longer than a statement may; give more with `?timeout=SECONDS`"
CANCELLED = "the server's administrator, or the server itself, ended the statement; nothing was judged, start again"
ROWS_HIDDEN = (
    "row-level security hides records of {table} from this user, and nothing was judged; read it as a user with "
    "BYPASSRLS, or as the owner of {table} where the policies are not forced on owners"
)
TOO_WIDE = "the database's limits are too low for so many columns; audit fewer of them, in a view"
NOT_UTF8 = "a cell holds text that is not UTF-8; correct it, or leave its column out"
ABSENT = "the database has no such table or view, or its user may not see it; correct the name, with its schema"
COMPUTED = "the server cannot compute the table: a cast, a function or a view of it fails; read it there to see why"
FORBIDDEN = "the database's user may not read it; grant SELECT"
QUERY = "the query is not one SELECT statement that the database understands; correct it"
OPENING = (
    "the database cannot be opened: no server answers there, or it refuses; check host, port, database, user and "
    "password, and the driver's options"
)

FILE = "the file is no intact database of this kind, or another program has locked it"

USER = "the server refuses the user or the password; correct them, in the address or where the driver looks"

# by SQLSTATE or its class, which PostgreSQL and others give
_STATES = {
    "57014": TIMEOUT,
    "57P": LOST,
    "08": LOST,
    "22": COMPUTED,
    "P0": COMPUTED,
    "40": CANCELLED,
    "28": USER,
    "3D": "the server has no such database; correct the address",
    "42501": FORBIDDEN,
    "42P01": ABSENT,
    "42": QUERY,
    "53": "the database has too little memory, disk or connections for it; try again when it has",
    "54": TOO_WIDE,
}
# by the numbers of MySQL and MariaDB, whose SQLSTATEs say little
_NUMBERS = {
    **dict.fromkeys((1044, 1142, 1143, 1370), FORBIDDEN),
    **dict.fromkeys((1045, 1698), USER),
    **dict.fromkeys((1969, 3024), TIMEOUT),
    **dict.fromkeys((1205, 1213, 1317, 1412), CANCELLED),
    **dict.fromkeys((2006, 2013, 2055), LOST),
    1040: "the server has too many connections; try again when it has fewer",
    1049: "the server has no such database; correct the address",
    1117: TOO_WIDE,
    1146: ABSENT,
    1356: COMPUTED,
}
# by what a text that has no SQLSTATE contains; the first that fits
_SIGNS = (
    ("statement timeout", TIMEOUT),
    ("user request", CANCELLED),
    ("conflict with recovery", CANCELLED),
    ("interrupt", TIMEOUT),
    ("utf-8", NOT_UTF8),
    ('encoding "utf8"', NOT_UTF8),
    ("surrogates not allowed", NOT_UTF8),
    ("permission denied", FORBIDDEN),
    ("not a database", "the file is no database of this kind"),
    ("malformed", "the database file is damaged"),
    ("locked", "the database is locked by another program; try again when it has finished"),
    ("conflicting lock", "the database is locked by another program; try again when it has finished"),
    ("no such table", ABSENT),
    ("no such column", QUERY),
    ("syntax error", QUERY),
    ("unrecognized token", QUERY),
    ("too many columns", TOO_WIDE),
    ("lost connection", LOST),
    ("[pgres_fatal_error]: error:", COMPUTED),
    ("[libpq]", LOST),
)
_REFUSALS = (
    ("password", USER),
    ("is not a mariadb variant", "the server is MySQL; write mysql://"),
    ("authentication", "the server refuses the user or the password; correct them"),
    ("connection refused", "no server answers at this host and port; start it, or correct them"),
    ("could not translate host", "there is no such host; correct its name"),
    ("no such file or directory", "no server listens on this socket; start it, or correct where it is"),
    ("timeout", "the server does not answer in time; is it reachable from here?"),
    ("does not exist", "the server has no such database or user; correct the address"),
)
# what brings a driver, or a dialect that SQLAlchemy does not have itself
_PACKAGES = {
    "psycopg": '"tcdp-audit[postgresql]"',
    "pymysql": '"tcdp-audit[mysql]"',
    "MySQLdb": "mysqlclient",
    "snowflake": "snowflake-sqlalchemy",
    "bigquery": "sqlalchemy-bigquery",
    "databricks": "databricks-sqlalchemy",
}
_OF_CONNECTIONS = ("OperationalError", "InterfaceError")


class Refused(Exception):  # noqa: N818 - a sentence on its way, which `opening` or `reading` puts a name before
    """The fault of a table, without its name."""


@contextmanager
def opening(name: str, otherwise: str = OPENING) -> Iterator[None]:
    """Turn what a driver raises before any row is read into a sentence; into `otherwise` where it is unknown."""
    with redact_errors():
        try:
            yield
        except (UsageError, DataError):
            raise
        except Refused as refused:
            raise UsageError(f"{name}: {refused}") from None
        except ImportError as error:
            module = (error.name or "a driver").split(".")[0]
            package = _PACKAGES.get(module, f"what brings {module}")
            raise UsageError(f"{name}: needs the driver {module}; pip install {package}") from None
        except NoSuchModuleError:
            dialect = name.partition("://")[0]
            package = _PACKAGES.get(dialect, f"the dialect of SQLAlchemy for {dialect}")
            raise UsageError(f"{name}: needs SQLAlchemy's dialect {dialect}; pip install {package}") from None
        except Exception as error:  # noqa: BLE001 - drivers raise anything, and their texts hold what was given
            sentence = _by_state(error) or _by_sign(error, (*_REFUSALS, *_SIGNS)) or otherwise
            raise UsageError(f"{name}: {sentence}") from None


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what a driver raises while it reads into a sentence."""
    with redact_errors():
        try:
            yield
        except (UsageError, DataError):
            raise
        except Refused as refused:
            raise DataError(f"{name}: {refused}") from None
        except Exception as error:  # noqa: BLE001 - drivers raise anything, and their texts hold cells
            raise DataError(f"{name}: {_sentence(error)}") from None


def _sentence(error: Exception) -> str:
    cause = _cause(error)
    known = LOST if getattr(error, "connection_invalidated", False) else _by_state(error) or _by_sign(error, _SIGNS)
    connected = not type(cause).__module__.startswith("sqlite3")  # a file has no connection that could break
    if not known and connected and (isinstance(cause, OSError) or type(cause).__name__ in _OF_CONNECTIONS):
        return LOST
    return known or f"the table cannot be read ({type(cause).__name__})"


def _cause(error: Exception) -> Any:
    """The driver's own error, where SQLAlchemy has put one of its own around it."""
    return getattr(error, "orig", None) or error


def _by_state(error: Exception) -> str:
    """The sentence for an SQLSTATE, or a number of MySQL's; nothing where there is none, or it is not known."""
    cause = _cause(error)
    number = cause.args[0] if cause.args and type(cause).__module__.startswith("pymysql") else None
    if isinstance(number, int):
        return _NUMBERS.get(number, "" if 2000 <= number < 3000 else COMPUTED)  # the driver's own between these
    state = str(getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None) or "")
    if state == "57014" and "user request" in str(cause):
        return CANCELLED
    if state == "42501" and (hidden := _rows_hidden(cause)):
        return hidden
    return next((_STATES[state[:size]] for size in (5, 3, 2) if state[:size] in _STATES), "")


def _by_sign(error: Exception, signs: tuple[tuple[str, str], ...]) -> str:
    cause = _cause(error)
    text = str(cause).lower()
    return _rows_hidden(cause) or next((sentence for sign, sentence in signs if sign in text), "")


def _rows_hidden(cause: Any) -> str:
    """The sentence for rows that a policy of PostgreSQL hides, by the function that says so in any language."""
    text = str(cause)
    function = getattr(getattr(cause, "diag", None), "source_function", None)
    if function != "check_enable_rls" and "row-level security policy for table" not in text:
        return ""
    table = re.search(r'for table "([^"]+)"', text)
    return ROWS_HIDDEN.format(table="the table" if table is None else repr(table[1]))
