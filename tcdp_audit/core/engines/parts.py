"""A table in several files: those of a folder, or those that a pattern names. Folders named `key=value` are columns.

A pattern has `*`, `?`, `[...]` or `**`, which matches any number of folders. Files whose names begin with a dot or an
underscore do not belong to a table unless the pattern names them. No message has the value of a key.

Folders of Delta Lake, Iceberg, Hudi and similar formats keep files of every version; only a log lists the current
ones. Read as plain Parquet, such a folder gives the rows of all versions: a table of unique people that was overwritten
three times has k = 4. A file belongs to such a table if any folder above it holds the table's log. It is therefore
refused by whatever path, pattern, link or partition it is named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from tcdp_audit.core.base.errors import DataError, UsageError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.engines.digest import digest_of_list
from tcdp_audit.core.engines.source import file_extension

KINDS = (".csv", ".parquet", ".tsv")
ALL = ("**", "*")
MISSING = "__HIVE_DEFAULT_PARTITION__"
_UNFINISHED = "_temporary"  # a folder of files that a writer has not moved to their place
_MAGIC = re.compile(r"[*?\[]")
Pattern = Sequence[str]
Keys = tuple[tuple[str, str | None], ...]
_SEVEN = "[0-9]" * 7
_VERSIONS = {  # formats of which a version can be audited, and how it is named
    "Delta Lake": "delta:PATH@3",
    "Apache Iceberg": "iceberg:CATALOGUE.NAMESPACE.TABLE@SNAPSHOT",
}
_LOGS = (  # the logs of each format, as patterns below a folder
    ("Delta Lake", ("_delta_log",)),
    ("Apache Iceberg", ("metadata/*.metadata.json*", "metadata/version-hint.text")),
    ("Apache Hudi", (".hoodie",)),
    ("Apache Paimon", ("snapshot/snapshot-*",)),
    ("DuckLake", ("ducklake-*.parquet",)),
    ("Hive with transactions", (f"base_{_SEVEN}*", f"delta_{_SEVEN}_{_SEVEN}*")),
)
_ALL = tuple(log for _, logs in _LOGS for log in logs)
_KINDS = (".parquet", ".orc", ".avro")  # extensions of the files of such tables
Holds = Callable[[str, Sequence[str]], bool]


@dataclass(frozen=True)
class TableParts:
    """The files of one table.

    Args:
        location: the path or pattern of the caller.
        folder: the folder that `names` are relative to.
        names: the files' paths below it, sorted; at least one.
    """

    location: Path
    folder: Path
    names: tuple[str, ...]

    @property
    def paths(self) -> list[Path]:
        """The files."""
        return [self.folder / name for name in self.names]

    @property
    def kind(self) -> str:
        """The extension of all files."""
        return file_extension(Path(self.names[0]))

    def shown(self, position: int) -> str:
        """A file's name in messages, without the values of its keys, which are cells."""
        folders = [f"{part.partition('=')[0]}=*" if "=" in part else part for part in self._folders(position)]
        name = "/".join([*folders, Path(self.names[position]).name])
        return f"{self.location}: file {position + 1} of {len(self.names)} ({name})"

    def _folders(self, position: int) -> Sequence[str]:
        return self.names[position].split("/")[:-1]

    @cached_property
    def keys(self) -> tuple[Keys, ...]:
        """The keys of each file with their values, None for a missing one.

        Raises:
            DataError: files have different keys, or one has a key twice or without a value.
        """
        keys = tuple(self._keys(position) for position in range(len(self.names)))
        for position, own in enumerate(keys):
            if [key for key, _ in own] != [key for key, _ in keys[0]]:
                raise DataError(
                    f"{self.shown(position)} is in folders of other keys than the first file; "
                    "give all files the same keys in the same order"
                )
        return keys

    def _keys(self, position: int) -> Keys:
        pairs = [part.partition("=") for part in self._folders(position) if _is_key(part)]
        try:
            keys = tuple((_decoded(key), _decoded(value)) for key, _, value in pairs)
        except UnicodeError:
            raise DataError(f"{self.shown(position)} is in a folder whose name is not UTF-8; rename it") from None
        for key, value in keys:
            if sum(key == other for other, _ in keys) > 1:
                raise DataError(f"{self.shown(position)} is in two folders of the key {key!r}; leave one out")
            if not value:
                raise DataError(
                    f"{self.shown(position)} is in a folder that gives the key {key!r} no value; "
                    f"a missing one is {MISSING}"
                )
        return tuple((key, None if value == MISSING else value) for key, value in keys)


def digest_of_files(location: Path) -> str | None:
    """The digest of the files that a folder or a pattern has now; None where they are no table any more."""
    try:
        parts = find_parts(location)
        digests = [content_digest(path) or "" for path in parts.paths]
    except (OSError, DataError, UsageError):
        return None
    return digest_of_list(parts.names, digests)


def is_several(path: Path) -> bool:
    """Whether a path is a folder, or no file and a pattern."""
    return path.is_dir() or is_pattern(path)


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern; the path of an existing file is none."""
    return bool(_MAGIC.search(str(path))) and not os.path.lexists(path)


def find_parts(location: Path) -> TableParts:
    """The files of a folder or a pattern.

    Raises:
        UsageError: there is none, or one that cannot belong to such a table.
        OSError: a folder cannot be read.
    """
    folder, pattern = split(location) if is_pattern(location) else (location, ALL)
    if not folder.is_dir():
        raise UsageError(f"{location}: no such file")
    _require_finished(str(location), is_unfinished=(folder / _UNFINISHED).exists())
    names = ["/".join(parts) for parts in _walk(folder, pattern)]
    require_plain_files(str(location), [folder / name for name in names])
    names = _alike(str(location), names)
    parts = TableParts(location, folder, tuple(names))
    _require_different(parts)
    return parts


def split(location: Path) -> tuple[Path, Pattern]:
    """Split a pattern into its fixed folder and the rest; an existing folder is never a pattern."""
    folder, rest = Path(location.anchor), list(location.relative_to(location.anchor).parts)
    while len(rest) > 1 and (not _MAGIC.search(rest[0]) or (folder / rest[0]).exists()):
        folder /= rest.pop(0)
    return folder, rest


def split_pattern(location: str) -> tuple[str, Pattern]:
    """Split the path of a remote table; without a pattern, all files of the folder belong to it."""
    parts = location.split("/")
    magic = next((place for place, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    return "/".join(parts[:magic]), parts[magic:] or ALL


def chosen_parts(location: str, base: str, names: Sequence[str], pattern: Pattern, holds: Holds) -> list[str]:
    """Select the files of a remote table among all those of a folder, sorted.

    Args:
        location: the table's name in messages.
        base: the folder.
        names: the paths of the files below the folder.
        pattern: see `split_pattern`.
        holds: see `require_one_version`.

    Raises:
        UsageError: there is none, or they cannot be one table.
    """
    _require_finished(location, is_unfinished=any(name.startswith(f"{_UNFINISHED}/") for name in names))
    if any({"", ".", ".."} & set(name.split("/")) for name in names):
        raise UsageError(f"{location}: a file's name has a part that is no name of a folder; rename it")
    chosen = [name for name in names if belongs(name.split("/"), pattern)]
    require_one_version(location, [f"{base}/{name}" for name in chosen], holds)
    return _alike(location, chosen)


def belongs(parts: Sequence[str], pattern: Pattern) -> bool:
    """Whether a file matches a pattern, or is in a folder that does; both are split into their parts."""
    return _matches(parts, pattern) or _matches(parts, (*pattern, *ALL))


def _matches(parts: Sequence[str], pattern: Pattern) -> bool:
    if not pattern:
        return not parts
    if pattern[0] != "**":
        return bool(parts) and _fits(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
    return _matches(parts, pattern[1:]) or (bool(parts) and _fits(parts[0], "*") and _matches(parts[1:], pattern))


def _leads(folders: Sequence[str], pattern: Pattern) -> bool:
    """Whether a path below a folder may match a pattern."""
    if not folders or not pattern:
        return not folders
    if pattern[0] == "**":
        return all(_fits(folder, "*") for folder in folders)
    return _fits(folders[0], pattern[0]) and _leads(folders[1:], pattern[1:])


def _fits(name: str, pattern: str) -> bool:
    ignored = name.startswith(".") or (name.startswith("_") and "=" not in name)
    return fnmatchcase(name, pattern) and (not ignored or pattern[0] == name[0])


def _walk(folder: Path, pattern: Pattern, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The files that match a pattern, as paths relative to its fixed folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            here = (*above, entry.name)
            if not entry.is_dir():
                if belongs(here, pattern):
                    yield here
            elif _leads(here, (*pattern, *ALL)):
                if entry.is_symlink():
                    raise UsageError(f"{folder}: a link in it leads to a folder; name that folder itself")
                yield from _walk(folder / entry.name, pattern, here)


def _require_finished(location: str, *, is_unfinished: bool) -> None:
    """Raise `UsageError` for a folder that is not complete."""
    if is_unfinished:
        raise UsageError(f"{location}: is still being written, or was never finished; audit it when it is complete")


def _alike(location: str, names: Sequence[str]) -> list[str]:
    """Sort the files by name; raise `UsageError` unless they are of one kind that is read in several files."""
    if not names:
        raise UsageError(f"{location}: no file of a table is there; name a folder or a pattern that has one")
    kinds = sorted({file_extension(Path(name)) for name in names})
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or len(kinds) > 1:
        others = ", ".join(kind or "files without an extension" for kind in kinds)
        raise UsageError(
            f"{location}: the files of one table are all of one kind, {', '.join(KINDS)}; there are {others}. "
            "Name those that belong to it by a pattern such as *.parquet"
        )
    return sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape"))


def _require_different(parts: TableParts) -> None:
    """Raise `UsageError` if two names lead to one file, whose records would be read twice."""
    known: dict[tuple[int, int], int] = {}
    for position, path in enumerate(parts.paths):
        state = path.stat()
        if not path.is_file():
            raise UsageError(f"{parts.shown(position)} is a device or a pipe; copy it to a file first")
        if known.setdefault((state.st_dev, state.st_ino), position) != position:
            raise UsageError(f"{parts.shown(position)} is another name of an earlier one; remove the link")


def is_within(path: Path, location: Path) -> bool:
    """Whether a file, existing or to be written, belongs to a folder or a pattern."""
    folder, pattern = split(location) if is_pattern(location) else (location, ALL)
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return real.is_relative_to(root) and belongs(real.relative_to(root).parts, pattern)


def _is_key(folder: str) -> bool:
    return folder.find("=") > 0


def _decoded(text: str) -> str:
    """Decode a key or a value from the name of a folder."""
    decoded = unquote(text, errors="strict")
    decoded.encode()
    return decoded


def require_one_version(location: str, files: Iterable[str], holds: Holds) -> None:
    """Refuse files that a table format manages.

    Args:
        location: the table's name in messages.
        files: the paths of its files, separated by `/`. Files of other kinds, such as CSV, are never refused.
        holds: whether a folder has a file that matches one of some patterns of `/`, `*` and `[0-9]`.

    Raises:
        UsageError: a folder above a file, at any distance, is that of such a table.

    Cost: one look-up for each folder.
    """
    nearest = dict.fromkeys(PurePosixPath(file).parent for file in files if file.lower().endswith(_KINDS))
    folders = dict.fromkeys(str(above) for one in nearest for above in (one, *one.parents))
    managed = next((folder for folder in folders if folder != "." and holds(folder, _ALL)), None)
    if managed is not None:
        name = next((name for name, logs in _LOGS if holds(managed, logs)), "some format")
        written = (
            "read the version to publish with a library of that format, write it as plain Parquet into a folder of its "
            "own, and audit that"
        )
        named = f"audit a version of it as {_VERSIONS[name]}, or " if name in _VERSIONS else ""
        raise UsageError(
            f"{location}: holds files of a table of {name}, which keeps the rows of earlier versions too; "
            f"{named}{written}"
        )


def require_plain_files(location: str, paths: Sequence[Path]) -> None:
    """Refuse local files that a table format manages; for links, both the link and its target are checked.

    Raises:
        UsageError: one belongs to such a table.
    """
    real = {folder: os.path.realpath(folder) for folder in {path.parent for path in paths}}
    places = [
        *(os.path.abspath(path) for path in paths),  # noqa: PTH100 - `resolve` would follow links
        *(f"{real[path.parent]}/{path.name}" for path in paths),
        *(os.path.realpath(path) for path in paths if path.is_symlink()),
    ]
    require_one_version(location, places, _holds)


def _holds(folder: str, logs: Sequence[str]) -> bool:
    return any(True for log in logs for _ in Path(folder).glob(log))
