"""Copies of what URLs name, made piece by piece in a private folder, and read from there.

A file is one that was not changed meanwhile and whose size is as it was said to be. Nothing else is downloaded.

Of Parquet files that are not small only the footers are copied at first, and then the columns that are asked for, by
requests for ranges of bytes. The copy of a file is as long as the file, and takes no room where nothing was written.

A URL as messages and provenance name it: without credentials, and without its query, which may be a signature.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from glob import escape
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from tcdp_audit.plugin._internal import (
    TableVersion,
    checkpoint,
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
_MOMENTS = (
    "LastModified",
    "last_modified",
    "modified",
    "mtime",
    "updated",
    "created",
    "Last-Modified",
    "modificationTime",
)
_STATE = ("size", "ETag", "etag", "generation", "Content-MD5", "Digest", *_MOMENTS)  # as stores call it
SMALL = 2**22  # bytes of a table up to which it is copied whole: requests for parts of it would take as long
TAIL = 2**15  # bytes at the end of a file that are fetched first: most footers fit
PADDING = 100  # bytes that old writers left out of the size of a column's chunk (PARQUET-816)
REQUESTS = 8  # at a time
AT_ONCE = 2**22  # bytes of a request
EXCESS = 2**9  # bytes that some of fsspec's files read in addition to those that are asked for
NO_RANGES = "the server answers no requests for a range of bytes, so all of it has to be copied; "
WEB = ("http", "https")
Partial = tuple[Path, Callable[[Sequence[str] | None], None], TableVersion]  # a copy whose columns come later
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

    def copy(folder: Path) -> Path | Partial:
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
    except PermissionError:
        sentence = "access is denied; check the credentials that the environment gives"
    except Exception as error:  # noqa: BLE001 - every store has errors of its own
        sentence = _sentence(error, is_web=scheme_of(shown) in WEB)
    if sentence:
        raise UsageError(f"{shown}: {sentence}")


def _sentence(error: Exception, *, is_web: bool) -> str:
    """A fixed sentence; of a server's answer its number is quoted, and nothing else."""
    answers = [getattr(one, "status", None) for one in (error, error.__cause__)]
    status = next((one for one in answers if isinstance(one, int)), 0)
    if status in (401, 403):
        return f"the server denies access ({status}); check the credentials, or whether a signed address has expired"
    if status in (404, 410) or (isinstance(error, FileNotFoundError) and not is_web):
        return "no such file"
    if status:
        return f"the server answers with the error {status}; check the address, and try again later"
    if isinstance(error, FileNotFoundError):
        return "no answer from the server; check the address and the connection"
    return (
        f"cannot be read ({type(error).__name__}); check the address, the connection, and the credentials that the "
        "environment gives"
    )


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

    def copied(self, folder: Path) -> Path | Partial:
        """Copy the file, or the files of the folder or pattern, and return where they are."""
        entry = self._named_file()
        if entry is not None:
            own = file_name(self.url, self.path)
            if _opener(Path(own)) is None:
                require_known_kind(Path(own), self.shown)
            if scheme_of(self.url) not in WEB:  # whose folders cannot be listed
                require_one_version(self.shown, [self.path], self._holds)
            places, sizes = {own: self.path}, [entry.get("size")]
        else:
            own = ""
            base, files = self._parts()
            places = {name: f"{base}/{name}" for name in files}
            sizes = [one.get("size") for one in files.values()]
        reason = ""
        if all(name.lower().endswith(".parquet") for name in places) and sum(size or 0 for size in sizes) > SMALL:
            ranged = _Ranges.begun(self, places, folder / "columns")
            if isinstance(ranged, _Ranges):
                return folder / "columns" / own, ranged.fetch, ranged.version
            reason = ranged
        self.require_room(sum(size or 0 for size in sizes), folder, reason)
        for name, place in places.items():
            self._copy(place, folder / "copy" / name)
        return folder / "copy" / own

    @property
    def is_concurrent(self) -> bool:
        """Support for several requests at a time."""
        return bool(getattr(self.files, "async_impl", False))

    def read(self, path: str, start: int, end: int, size: int) -> bytes:
        """A range of a file's bytes.

        Raises:
            ValueError: a web server gives the whole file instead.
        """
        if self.is_concurrent and scheme_of(self.url) not in WEB:
            return bytes(self.files.cat_file(path, start=start, end=end))
        known = {"size": size} if scheme_of(self.url) in WEB else {}  # or each request would ask for it first
        with self.files.open(path, "rb", block_size=EXCESS, cache_type="none", **known) as source:
            source.seek(start)
            return bytes(source.read(end - start))

    def _named_file(self) -> Mapping[str, Any] | None:
        """The store's entry of the file of that very name; None for a folder or a pattern."""
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

    def require_room(self, wanted: int, folder: Path, reason: str = "") -> None:
        """Raise `UsageError` where a folder has no room for so many bytes; `reason` is why so many are needed."""
        free = shutil.disk_usage(folder).free
        if wanted > free:
            raise UsageError(
                f"{self.shown}: {reason}{wanted / 2**30:,.1f} GiB are needed, and the folder for temporary files has "
                f"room for {free / 2**30:,.1f} GiB; free some, or name another folder in TMPDIR"
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
    return any(before.get(name) != after.get(name) for name in _STATE)


Span = tuple[int, int]  # of bytes, from the first to before the last


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Spans without those that touch or overlap, in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        elif start < end:
            merged.append((start, end))
    return merged


def _without(spans: Iterable[Span], known: Iterable[Span]) -> list[Span]:
    """The parts of spans that are not in those that are known."""
    rest = _merged(spans)
    for low, high in known:
        rest = [part for start, end in rest for part in ((start, min(end, low)), (max(start, high), end))]
        rest = [(start, end) for start, end in rest if start < end]
    return rest


@dataclass
class _RangedFile:
    """A Parquet file of which some spans are in a copy."""

    place: str
    path: Path
    size: int
    state: Mapping[str, Any]
    known: list[Span] = field(default_factory=list)
    chunks: list[tuple[str, Span]] = field(default_factory=list)  # each with the path of its column in the schema

    def wanted(self, names: Sequence[str] | None) -> list[Span]:
        """The spans of columns, and what belongs to no column, such as indexes; with None everything."""
        if names is None:
            return [(0, self.size)]
        outside = _without([(0, self.size)], [span for _, span in self.chunks])
        roots = tuple(f"{name}." for name in names)  # a nested column has a chunk for each of its leaves
        own = [
            (start, min(end + PADDING, self.size)) for path, (start, end) in self.chunks if f"{path}.".startswith(roots)
        ]
        return [*outside, *own]

    def write(self, start: int, data: bytes) -> None:
        """Write bytes where they are in the file."""
        with writing_temporarily(), self.path.open("r+b") as file:
            file.seek(start)
            file.write(data)

    def read_footer(self) -> None:
        """Find the chunks of columns, by the footer."""
        from pyarrow.parquet import read_metadata  # noqa: PLC0415 - imports much

        footer = read_metadata(self.path)
        for group in range(footer.num_row_groups):
            for column in range(footer.num_columns):
                chunk = footer.row_group(group).column(column)
                dictionary = chunk.dictionary_page_offset or chunk.data_page_offset
                start = min(dictionary, chunk.data_page_offset)
                self.chunks.append((chunk.path_in_schema, (start, start + chunk.total_compressed_size)))


class _Ranges:
    """Copies of Parquet files in a store, which have the spans that were asked for."""

    def __init__(self, store: _Store, folder: Path, files: Mapping[str, _RangedFile]) -> None:
        self._store, self._folder, self._files, self._lock = store, folder, files, Lock()

    @classmethod
    def begun(cls, store: _Store, places: Mapping[str, str], folder: Path) -> _Ranges | str:
        """The copies with their footers; where whole files have to be copied the reason, which may be empty.

        Files are copied whole where the store does not say what would change if they changed, and where a file is not
        as a Parquet file is: the reader of the copy says so.
        """
        files = {}
        for name, place in places.items():
            state = store.files.info(place)
            if not state.get("size") or not any(state.get(one) for one in _STATE[1:]):
                return ""
            if state.get("partial") is False:
                return NO_RANGES
            files[name] = _RangedFile(place, folder / name, int(state["size"]), state)
        ranges = cls(store, folder, files)
        for file in files.values():
            with _created(file.path) as copy:
                copy.truncate(file.size)
        try:
            ranges._fetch([(file, max(file.size - TAIL, 0), file.size) for file in files.values()])
        except (ValueError, NotImplementedError):
            return NO_RANGES
        except (UsageError, KeyboardInterrupt):
            raise
        except Exception:  # noqa: BLE001 - every store has errors of its own, and the copy has sentences for them
            return ""
        return ranges if ranges._read_footers() else ""

    def _read_footers(self) -> bool:
        """Fetch and read what is left of the footers; False for a file that is not as a Parquet file is."""
        for file in self._files.values():
            with file.path.open("rb") as copy:
                copy.seek(max(file.size - 8, 0))
                end = copy.read()
            start = file.size - 8 - int.from_bytes(end[:4], "little")
            if end[4:] != b"PAR1" or start < 4:
                return False
            self._fetch([(file, *span) for span in _without([(start, file.size)], file.known)])
            try:
                file.read_footer()
            except Exception:  # noqa: BLE001 - Arrow has several; the reader of the whole copy has a sentence
                return False
        return True

    def fetch(self, names: Sequence[str] | None) -> None:
        """Complete columns, or everything.

        Raises:
            UsageError: access is denied, or there is no room.
            DataError: a file is another by now.
        """
        with self._lock, _spoken(self._store.shown):
            missing = [
                (file, *span) for file in self._files.values() for span in _without(file.wanted(names), file.known)
            ]
            self._store.require_room(sum(end - start for _, start, end in missing), self._folder)
            self._fetch(missing)
            for file in {id(one): one for one, _, _ in missing}.values():
                self._store.files.invalidate_cache()
                if _is_changed(file.state, self._store.files.info(file.place)):
                    raise DataError(
                        f"{self._store.shown}: changed while it was audited; start again when it is complete"
                    )

    def _fetch(self, spans: Sequence[tuple[_RangedFile, int, int]]) -> None:
        """Copy spans, several at a time where the store's library can."""
        pieces = [(file, at, min(at + AT_ONCE, end)) for file, start, end in spans for at in range(start, end, AT_ONCE)]
        if self._store.is_concurrent:
            with ThreadPoolExecutor(REQUESTS) as threads:
                work = [threads.submit(partial(self._copy, *piece)) for piece in pieces]
                try:
                    for one in work:
                        checkpoint()
                        one.result()
                except BaseException:
                    threads.shutdown(cancel_futures=True)
                    raise
        else:
            for piece in pieces:
                checkpoint()
                self._copy(*piece)
        for file, start, end in spans:
            file.known = _merged([*file.known, (start, end)])

    def _copy(self, file: _RangedFile, start: int, end: int) -> None:
        data = self._store.read(file.place, start, end, file.size)
        if len(data) != end - start:
            raise DataError(f"{self._store.shown}: broke off, or changed, while it was read; start again")
        file.write(start, data)

    @property
    def version(self) -> TableVersion:
        """The files by their names, sizes and what the store says of their state."""
        states = {name: [str(file.state.get(one)) for one in _STATE] for name, file in self._files.items()}
        digest = sha256(json.dumps(states, sort_keys=True).encode("utf-8", "surrogateescape")).hexdigest()
        moments = [_moment(file.state) for file in self._files.values()]
        return TableVersion("remote Parquet", self._store.shown, digest[:32], max(moments) if all(moments) else "")


def _moment(state: Mapping[str, Any]) -> str:
    """The time at which a file was written, in UTC; empty where the store does not say."""
    moment = next((state[name] for name in _MOMENTS if state.get(name)), None)
    try:
        if isinstance(moment, int | float):
            moment = datetime.fromtimestamp(moment / 1000 if moment > 1e11 else moment, UTC)  # some in milliseconds
        elif isinstance(moment, str):
            moment = datetime.fromisoformat(moment) if moment[:1].isdigit() else parsedate_to_datetime(moment)
    except (ValueError, OverflowError, OSError):
        return ""
    if not isinstance(moment, datetime):
        return ""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
