"""SHA-256 of a table without an audit of it, differences between JSON values, and the points of a verification."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any

from tcdp_audit.api import OpenTables, Options, Plugins, Table, digest_of_tables
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.plugin.engine import UsageError, redact_errors
from tcdp_audit.plugin.sentences import listing

SHOWN = 12  # digits of a digest in a sentence


def digest_of_file(path: Any) -> str | None:
    """SHA-256 of the bytes of a file; None for anything else, such as a folder or an address."""
    if not isinstance(path, str | Path) or not os.path.isfile(path):  # noqa: PTH113 - an address is no path
        return None
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


@redact_errors()
def digest_of(release: Any, plugins: Plugins) -> str | None:
    """SHA-256 as in an audit of a release; None where there is none, as for a database's table.

    Args:
        release: everything that `audit` takes; of several linked tables a mapping of all of them by name.
        plugins: the plugins whose engines may open it.

    Raises:
        UsageError: it does not exist.
        DataError: it cannot be read.
    """
    if isinstance(release, Mapping):
        return digest_of_tables({name: digest_of(one, plugins) for name, one in release.items()})
    direct = digest_of_file(release)
    if direct is not None:
        return direct
    with OpenTables(release, None, None, plugins, Options(), keep=False) as tables:
        engine = tables.release(None)[1]
        if engine.hashes_content is None:
            engine.content_hash()  # of files of which only some columns were fetched, the rest comes
        return engine.sha256()


def files_of_tables(release: Any, tables: Mapping[str, Table]) -> Any:
    """The release of a call; of several linked tables their files by name, where the call names their folder.

    Args:
        release: a path, a table, a mapping of tables, or None for the files with the names that a result has.
        tables: the linked tables of the result; none where it is about one table.

    Raises:
        UsageError: nothing is named, or a mapping does not have the tables of the result.
    """
    if not tables:
        if release is None:
            raise UsageError("no release: name the table as RELEASE")
        return release
    if isinstance(release, Mapping):
        if release.keys() != tables.keys():
            missing = [name for name in tables if name not in release]
            problem = f"lacks {listing(missing)}" if missing else "names tables that the result is not about"
            raise UsageError(
                f"the result is about {listing([*tables])}, and the call {problem}; name each with --table"
            )
        return release
    if release is None:
        if in_memory := [name for name, one in tables.items() if one.in_memory]:
            raise UsageError(
                f"no release: the result is about tables in memory ({', '.join(in_memory)}); give each by its name"
            )
        return {name: one.uri for name, one in tables.items()}
    if not (isinstance(release, str | Path) and Path(release).is_dir()):
        raise UsageError(
            f"{name_of(release)}: the result is about several tables ({', '.join(tables)}); name each with --table "
            "NAME=FILE, or the folder that holds their files"
        )
    return {name: str(Path(release) / one.name) for name, one in tables.items()}


def files_of_release(release: Any, written: WrittenAudit) -> Any:
    """The release of a call with the tables of figures next to its records, as `files_of_tables` has it.

    Tables of figures that the call does not name are those of the policy.

    Raises:
        UsageError: nothing is named, or a mapping does not have the tables of the result.
    """
    figures, tables = written.figures, written.release.tables
    if not written.has_records and not tables:
        return release  # of fitted models alone, which are in the policy and the files that it names
    if not figures:
        return files_of_tables(release, tables)
    is_folder = isinstance(release, str | Path) and Path(release).is_dir()
    if isinstance(release, Mapping):
        own = {name: table for name, table in release.items() if name in figures}
        rest: Any = {name: table for name, table in release.items() if name not in figures}
    else:
        own = {name: str(Path(release) / one.name) for name, one in figures.items()} if is_folder else {}
        rest = release
    if tables:
        return {**files_of_tables(rest, tables), **own}
    if release is None and not written.release.in_memory:
        rest = written.release.uri
    elif is_folder:
        rest = str(Path(str(release)) / written.release.name)
    records = rest if isinstance(rest, Mapping) else {RECORDS: files_of_tables(rest, {})}
    if len(records) != 1:
        raise UsageError("the result is about one table of records; name it with --table, by its name in the policy")
    return {**records, **own}


RECORDS = "release"  # the name of the only table of records, where a call does not give it


def digests_of_tables(written: WrittenAudit) -> list[tuple[str, str | None]]:
    """The file's name and the SHA-256 of every table of a release that has tables of figures next to records."""
    records = written.release.tables or {"": written.release}
    return [(one.name, one.sha256) for one in (*records.values(), *written.figures.values())]


def name_of(release: Any) -> str:
    """The name of a release in a message: its path, and nothing of a table in memory, whose text has cells."""
    return str(release) if isinstance(release, str | Path) else "release"


def shown(digest: str | None) -> str:
    """The beginning of a digest."""
    return "unknown" if digest is None else f"{digest[:SHOWN]}…"


Pointer = tuple[str, ...]


class Absent(Enum):
    """The value of a missing key."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True)
class Difference:
    """A place in two values at which they differ: its keys, and the values there, or `ABSENT`."""

    path: Pointer
    was: Any
    now: Any

    @property
    def is_of_keys(self) -> bool:
        """Whether only one of the two has it."""
        return self.was is ABSENT or self.now is ABSENT


def differences(was: Any, now: Any, path: Pointer = ()) -> Iterator[Difference]:
    """The places where two values differ, key by key; lists are compared as a whole. A truth value is no number."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in {**was, **now}:
            yield from differences(was.get(key, ABSENT), now.get(key, ABSENT), (*path, str(key)))
    elif not _same(was, now):
        yield Difference(path, was, now)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


class State(StrEnum):
    """The state of a comparison: equal, different, not verifiable, or for information."""

    CONFIRMED = "confirmed"
    DIFFERS = "differs"
    UNVERIFIED = "unverified"
    NOTE = "note"


@dataclass(frozen=True)
class Point:
    """One comparison.

    Args:
        subject: its object, in a word: release, policy, figures.
        state: its result.
        sentence: the former and the present state, without a cell, and without text of a report that is not expected.
    """

    subject: str
    state: State
    sentence: str


@dataclass(frozen=True)
class Verification:
    """The result of all comparisons.

    Args:
        points: each of them.
        verdict: that of the verified audit: passed, failed, error or measured.
        title: the same in words.
    """

    points: tuple[Point, ...]
    verdict: str
    title: str = ""

    @property
    def differences(self) -> Sequence[Point]:
        """The comparisons that differ."""
        return [one for one in self.points if one.state is State.DIFFERS]

    @property
    def unverified(self) -> Sequence[Point]:
        """The comparisons that could not be made."""
        return [one for one in self.points if one.state is State.UNVERIFIED]

    @property
    def is_confirmed(self) -> bool:
        """Whether everything was compared, and is unchanged."""
        return not self.differences and not self.unverified and any(one.state is State.CONFIRMED for one in self.points)

    @property
    def exit_code(self) -> int:
        """0 confirmed; 1 something differs, even if something else was not verified; 3 something was not verified."""
        return 1 if self.differences else 0 if self.is_confirmed else 3
