"""SHA-256 of exactly what was audited: bytes hashed while they are read, or a file that must not change meanwhile."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

from tcdp_audit.core.base.errors import DataError

PIECE = 2**20
FOLDER = b"\xfftcdp-audit folder\0"  # what the digest of a folder is of begins with this
CLOCK = 2 * 10**9  # nanoseconds: file systems' clocks are not finer than this


class Digest(ABC):
    """The digest of what an engine reads."""

    @abstractmethod
    def hexdigest(self) -> str:
        """The SHA-256.

        Raises:
            DataError: it cannot be told, because what was read has changed.
        """

    def require_unchanged(self) -> None:  # noqa: B027 - what is not read again cannot change
        """Insist that all was read in the state that the digest is of; cheap, asked for after every scan.

        Raises:
            DataError: it was not.
        """

    def close(self) -> None:  # noqa: B027 - a digest may hold nothing
        """Give back what the digest holds."""


class KnownDigest(Digest):
    """The digest of what is not read again.

    Args:
        value: the SHA-256.
    """

    def __init__(self, value: str) -> None:
        self._value = value

    def hexdigest(self) -> str:
        """The SHA-256."""
        return self._value


class HashedBytes(io.RawIOBase):
    """A file that hashes its bytes while they are read, in their order.

    Args:
        file: the file, open for reading bytes.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._hash = file, hashlib.sha256()

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or as much of it as the file still has."""
        size = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._hash.update(memoryview(buffer)[:size])
        return int(size)

    def rest(self) -> str:
        """The SHA-256 of the whole file; what has not been read yet is read now."""
        while self.read(PIECE):
            pass
        return self._hash.hexdigest()


class FilesDigest(Digest):
    """The digest of files that others read while the audit lasts; a thread computes it from the start.

    A file that changes gets another time of change, number or size. One that had just changed when it was opened could
    change again within the same tick of the clock, so its bytes are hashed once more when the digest is asked for.

    Args:
        files: the files, by what messages call each.
        whole: the digest of all from that of each, in their order.
    """

    def __init__(self, files: Mapping[str, Path], whole: Callable[[Sequence[str]], str]) -> None:
        self._files, self._whole, self._stop = files, whole, Event()
        self._states = self._states_now()
        self._fresh = any(abs(time.time_ns() - path.stat().st_ctime_ns) < CLOCK for path in files.values())
        self._value: str | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _states_now(self) -> dict[str, tuple[int, ...] | None]:
        return {name: _state(path) for name, path in self._files.items()}

    def _run(self) -> None:
        try:
            self._value = self._hashed()
        except OSError:
            self._value = None  # the file has gone: `require_unchanged` says so

    def _hashed(self) -> str | None:
        digests = []
        for path in self._files.values():
            digest = hashlib.sha256()
            with path.open("rb") as file:
                while piece := file.read(PIECE):
                    if self._stop.is_set():
                        return None
                    digest.update(piece)
            digests.append(digest.hexdigest())
        return self._whole(digests)

    def hexdigest(self) -> str:
        """The SHA-256 of the files, which are what they were when they were opened."""
        self._thread.join()
        self.require_unchanged()
        try:
            again = self._hashed() if self._fresh else self._value
        except OSError:
            again = None
        if self._value is None or again != self._value:
            raise _changed(next(iter(self._files)))
        self.require_unchanged()
        return self._value

    def require_unchanged(self) -> None:
        """Insist that the files are what they were when they were opened."""
        now = self._states_now()
        changed = next((name for name, state in self._states.items() if state is None or now[name] != state), None)
        if changed is not None:
            raise _changed(changed)

    def close(self) -> None:
        """Stop the thread."""
        self._stop.set()
        self._thread.join()


class FileDigest(FilesDigest):
    """The digest of one file; see `FilesDigest`.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__({str(path): path}, lambda digests: digests[0])


def digest_of_list(names: Sequence[str], digests: Sequence[str]) -> str:
    """The digest of several files: SHA-256 of a mark, and of the list that `sha256sum -z` prints of them.

    An entry is a file's SHA-256 in hexadecimal digits, two spaces, its path below the folder, and a NUL, which no name
    has; the entries are sorted by the names' bytes. The mark begins with a byte that no text in UTF-8 and no other
    format of tables begins with, so no file that can be audited has the digest of a folder.
    """
    entries = "".join(f"{digest}  {name}\0" for name, digest in zip(names, digests, strict=True))
    return hashlib.sha256(FOLDER + entries.encode("utf-8", "surrogateescape")).hexdigest()


def _changed(name: str) -> DataError:
    return DataError(f"{name}: the file changed while it was audited; audit it again when it is complete")


def _state(path: Path) -> tuple[int, ...] | None:
    """A file's number, size and times; None where it is gone."""
    try:
        state = os.stat(path)  # noqa: PTH116 - follows links, as reading does
    except OSError:
        return None
    return (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)


def copy_of_stream(stream: Path, folder: Path) -> Path:
    """Copy what can be read only once (a pipe) to a file of the same extensions, in a private folder."""
    copy = folder / f"stream{''.join(stream.suffixes)}"
    with stream.open("rb") as source, copy.open("xb") as file:
        shutil.copyfileobj(source, file, PIECE)
    return copy
