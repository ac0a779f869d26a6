"""The files that an audit reads or its policy names, which no output may overwrite."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.files import destination, split_sheet
from tcdp_audit.core.engines.parts import is_several, is_within
from tcdp_audit.core.policy.model import StoredSuite
from tcdp_audit.core.policy.policy import Policy


def files_of(policy: Policy, **given: Any) -> Mapping[str, Path]:
    """Every file of an audit, opened or not, by its name in messages.

    Args:
        policy: the policy, with its file and the files that it names.
        **given: the tables of the call: release, original, population; a table in memory has no file, and a mapping
            holds several linked ones by name.
    """
    tables = dict(_of_the_call(policy, given))
    return {name: Path(split_sheet(str(one))[0]) for name, one in (*_named(policy), *tables.items()) if _is_file(one)}


def _named(policy: Policy) -> Iterator[tuple[str, Any]]:
    yield "the policy", policy.path
    yield "the policy's release", _resolved(policy, policy.document.release)
    for name, declared in (policy.document.tables or {}).items():
        yield f"the policy's table {name!r}", _resolved(policy, declared.file)
    for name, table in (policy.document.aggregates or {}).items():
        yield f"the policy's table {name!r}", _resolved(policy, table.file)
    for kind, of, file in policy.document.figure_files:
        yield f"the {kind} of {of!r}" if of else f"the {kind} {file!r}", _resolved(policy, file)
    for name, location in policy.document.companions.items():
        if policy.document.tables is None and isinstance(location, str):
            yield f"the policy's {name}", policy.resolve(location)
        else:
            one = (
                location
                if isinstance(location, str)
                else {part: policy.resolve(file) for part, file in location.items()}
            )
            yield from _of_the_call(policy, {name: policy.resolve(one) if isinstance(one, str) else one})
    yield "the schema", _resolved(policy, policy.document.schema_)
    suite = policy.document.suite
    yield "the suite", _resolved(policy, suite.context if isinstance(suite, StoredSuite) else suite)
    for name, attribute in policy.attributes.items():
        if isinstance(attribute.hierarchy, str):
            yield f"the hierarchy of {name!r}", _resolved(policy, attribute.hierarchy)


def _of_the_call(policy: Policy, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    document = policy.document
    declared: list[tuple[str, Any]] = [*(document.tables or {}).items(), *(document.aggregates or {}).items()]
    for name, table in given.items():
        if isinstance(table, Mapping):
            of = "" if name == "release" else f" of the {name}"
            yield from ((f"the table {part!r}{of}", one) for part, one in table.items())
        elif declared and _is_file(table):  # the folder, with other files as well
            files = {part: one.file for part, one in declared if one.file is not None}
            of = "" if name == "release" else f" of the {name}"
            yield from ((f"the table {part!r}{of}", Path(table) / Path(file).name) for part, file in files.items())
        else:
            yield f"the {name}", table


def _resolved(policy: Policy, location: str | None) -> str | None:
    return None if location is None else policy.resolve(location)


def _is_file(location: Any) -> bool:
    return isinstance(location, Path) or (isinstance(location, str) and "://" not in location)


def require_own_files(written: Sequence[tuple[str, Path]], read: Mapping[str, Path]) -> None:
    """Check that outputs are distinct files that are not read, also by other names and links.

    Args:
        written: the outputs, by their names in messages.
        read: the files to protect, likewise.

    Raises:
        UsageError: an output is a file that is read, or two outputs are the same file.
    """
    for position, (name, path) in enumerate(written):
        for other, source in read.items():
            if is_same_file(path, source):
                raise UsageError(f"{path}: {name} must be a file of its own; this is {other}")
            if is_several(source) and is_within(path, source):
                raise UsageError(f"{path}: {name} must be a file of its own; here it would be a part of {other}")
        for other, earlier in written[:position]:
            if is_same_file(path, earlier):
                raise UsageError(f"{path}: {other} and {name} name the same file")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, or would be after writing."""
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist
        return not (one.exists() or other.exists()) and _would_be_same(destination(one), destination(other))


def _would_be_same(one: Path, other: Path) -> bool:
    if not (one.parent.is_dir() and other.parent.is_dir() and one.parent.samefile(other.parent)):
        return os.path.realpath(one) == os.path.realpath(other)
    return one.name == other.name or (_plain(one) == _plain(other) and _ignores_case(one.parent))


def _plain(path: Path) -> str:
    """A name without differences that some file systems ignore."""
    return unicodedata.normalize("NFC", path.name).casefold()


def _ignores_case(folder: Path) -> bool:
    """Whether a folder ignores case, tested by writing a file."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".case") as file:
            return Path(file.name).with_name(Path(file.name).name.upper()).exists()
    except OSError:
        return False  # the folder cannot be written
