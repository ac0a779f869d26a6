"""Copies of what URLs name, made piece by piece in a private folder, and read from there.

A file is one that was not changed meanwhile and whose size is as it was said to be. Nothing else is downloaded.

A URL as messages and provenance name it: without credentials, and without its query, which may be a signature.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from tcdp_audit.plugin._internal import (
    chosen_parts,
    open_copy,
    require_known_kind,
    require_one_version,
    scheme_of,
    split_pattern,
    writing_temporarily,
)
from tcdp_audit.plugin.engine import DataError, Engine, EngineOpener, TcdpAuditError, UsageError, open_file
from tcdp_audit_plugins.engines import OF_FILES, SCHEMES

PIECE = 2**20
SILENCE = 60  # seconds without a byte before a server is given up
_STATE = "size ETag etag generation LastModified last_modified modified mtime updated created"  # as stores call it
WEB = ("http", "https")
_CONTAINERS = ("abfs", "abfss")  # a name before @ is that of a container


def open_copied(url: str, memory: int) -> Engine:
    """The engine over a copy of what a URL names.

    Raises:
        UsageError: nothing is there, access is denied, there is no room for the copy, or a package is missing.
        DataError: what is there is no table, or changed while it was copied.
    """
    url, sheet = EngineOpener.split_sheet(url)
    shown = without_credentials(url)
    with _spoken(shown):
        store = _Store.of(url, shown)

    def copy(folder: Path) -> Path:
        with _spoken(shown):
            return store.copied(folder)

    uri = f"{shown}#{sheet}" if sheet else shown
    return open_copy(copy, uri, memory, lambda path, budget: _open_local(path, budget, sheet))


def _open_local(path: Path, memory: int, sheet: str) -> Engine:
    opener = _opener(path)
    if opener is None:
        return open_file(path, memory, EngineOpener.text_form())
    return opener.open(f"{path}#{sheet}" if sheet else path, "", memory)


def _opener(path: Path) -> EngineOpener | None:
    """The opener of files of a kind that the embedded engine does not read."""
    return next((one for one in OF_FILES if one.accepts(path)), None)


@contextmanager
def _spoken(shown: str) -> Iterator[None]:
    """Turn what libraries raise into sentences: their texts have URLs, keys and answers of servers."""
    sentence = ""
    try:
        yield
    except TcdpAuditError:
        raise
    except FileNotFoundError:
        sentence = "no such file, or no answer from the server" if scheme_of(shown) in WEB else "no such file"
    except PermissionError:
        sentence = "access is denied; check the credentials that the environment gives"
    except Exception as error:  # noqa: BLE001 - every store has errors of its own
        sentence = (
            f"cannot be read ({type(error).__name__}); check the address, the connection, and the credentials that the "
            "environment gives"
        )
    if sentence:
        raise UsageError(f"{shown}: {sentence}")


@dataclass(frozen=True)
class _Store:
    """A place of files, and what of it is wanted."""

    files: Any  # the file system of fsspec
    url: str  # what the caller named
    shown: str  # the same without credentials
    path: str  # the path in the file system

    @classmethod
    def of(cls, url: str, shown: str) -> _Store:
        """The store of a URL; a UsageError where a package is missing."""
        scheme = scheme_of(url)
        url = scheme + url[len(scheme) :]  # in lower case, as the libraries want it
        try:
            kind = import_module("fsspec").get_filesystem_class(scheme)
            if scheme in WEB:
                import_module("aiohttp")
        except ImportError:
            kind = None
        if kind is None:
            package = " ".join(f'"{one}"' for one in ("tcdp-audit[remote]", SCHEMES[scheme]) if one)
            raise UsageError(f"{shown}: needs fsspec and what it takes for {scheme}://; pip install {package}")
        options = {} if scheme == "memory" else {"skip_instance_cache": True, "use_listings_cache": False}
        files = kind(**_patience(scheme), **options, **kind._get_kwargs_from_urls(url))  # noqa: SLF001 - as fsspec's own
        return cls(files, url, shown, str(kind._strip_protocol(url)))  # noqa: SLF001

    def copied(self, folder: Path) -> Path:
        """Copy the file, or the files of the folder or pattern, and return where they are."""
        entry = self._named_file()
        if entry is not None:
            target = folder / "copy" / file_name(self.url, self.path)
            if _opener(target) is None:
                require_known_kind(target, self.shown)
            if scheme_of(self.url) not in WEB:  # whose folders cannot be listed
                require_one_version(self.shown, [self.path], self._holds)
            self._require_room([entry.get("size")], folder)
            self._copy(self.path, target)
            return target
        base, files = self._parts()
        self._require_room([one.get("size") for one in files.values()], folder)
        for name in files:
            self._copy(f"{base}/{name}", folder / "copy" / name)
        return folder / "copy"

    def _named_file(self) -> Mapping[str, Any] | None:
        """What is known of the file of that very name; None for a folder or a pattern."""
        try:
            entry = self.files.info(self.path)
        except FileNotFoundError:
            if scheme_of(self.url) in WEB or not set("*?[") & set(self.path):
                raise
            return None
        return entry if entry.get("type") != "directory" else None

    def _parts(self) -> tuple[str, dict[str, Mapping[str, Any]]]:
        """The prefix of the names of a table's files, and the files by their names below it, sorted.

        Raises:
            UsageError: there is none, or they cannot be one table.
        """
        base, pattern = split_pattern(self.path)
        root = base.rstrip("/")
        entries = self.files.find(base, detail=True).items()
        known = {name.removeprefix(root).removeprefix("/"): one for name, one in entries if not name.endswith("/")}
        names = chosen_parts(self.shown, root, list(known), pattern, self._holds)
        return root, {name: known[name] for name in names}

    def _holds(self, folder: str, logs: Sequence[str]) -> bool:
        """Whether a folder has something that fits a pattern; not where access is denied, as it may be further up."""
        try:
            return any(self.files.glob(f"{escape(folder.rstrip('/'))}/{log}") for log in logs)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return False

    def _require_room(self, sizes: Sequence[int | None], folder: Path) -> None:
        wanted, free = sum(size or 0 for size in sizes), shutil.disk_usage(folder).free
        if wanted > free:
            raise UsageError(
                f"{self.shown}: has {wanted / 2**30:,.1f} GiB, and the folder for temporary files has room for "
                f"{free / 2**30:,.1f} GiB; free some, or name another folder in TMPDIR"
            )

    def _copy(self, path: str, target: Path) -> None:
        """Copy one file; raise a DataError where it changed meanwhile, or broke off."""
        before = self.files.info(path)  # again: a list of files writes it in other ways
        options = {"block_size": 0} if scheme_of(self.url) in WEB else {}  # one request, not one for each piece
        with self.files.open(path, "rb", **options) as source, _created(target) as file:
            size = 0
            while piece := source.read(PIECE):
                with writing_temporarily():
                    size += file.write(piece)
        if before.get("size") not in (None, size):
            raise DataError(f"{self.shown}: broke off, or changed, while it was copied; start again")
        self.files.invalidate_cache()
        if _is_changed(before, self.files.info(path)):
            raise DataError(f"{self.shown}: changed while it was copied; start again when it is complete")


@contextmanager
def _created(target: Path) -> Iterator[IO[bytes]]:
    with writing_temporarily():
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("xb")
    with file:
        yield file


def _is_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return any(before.get(name) != after.get(name) for name in _STATE.split())


def _patience(scheme: str) -> dict[str, Any]:
    """No limit to how long a copy takes, but one to how long a web server is silent."""
    if scheme not in WEB:
        return {}
    timeout = import_module("aiohttp").ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
    return {"client_kwargs": {"timeout": timeout}}


def without_credentials(url: str) -> str:
    """A URL that says where a table is and not how to get in.

    Example:
        >>> without_credentials("https://ann:secret@example.org/r.csv?sig=abc")
        'https://example.org/r.csv'
        >>> without_credentials("abfs://people@office.dfs.core.windows.net/r.parquet")
        'abfs://people@office.dfs.core.windows.net/r.parquet'
    """
    scheme, rest = scheme_of(url), url.split("://", 1)[1]
    rest = rest.split("#")[0].split("?")[0] if scheme in WEB or "=" in rest.partition("?")[2] else rest
    user, at, place = rest.rpartition("@")
    if at and scheme in _CONTAINERS and not {":", "/"} & set(user):
        return f"{scheme}://{rest}"
    return f"{scheme}://{place}"


def file_name(url: str, path: str) -> str:
    """The name of a file at a URL, from its path; a query is no part of it."""
    name = urlsplit(url).path if scheme_of(url) in WEB else path
    return PurePosixPath(unquote(name) if scheme_of(url) in WEB else name).name
