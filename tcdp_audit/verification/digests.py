"""SHA-256 of a table without an audit of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tcdp_audit.api import Plugins, budget, open_engine, opener_of, require_no_url
from tcdp_audit.plugin.engine import UsageError, redact_errors

SHOWN = 12  # digits of a digest that a sentence gives


def digest_of_file(path: Any) -> str | None:
    """SHA-256 of the bytes of a file; None for what is not one file, such as a folder or an address."""
    if not isinstance(path, str | Path) or not os.path.isfile(path):  # noqa: PTH113 - an address is no path
        return None
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


@redact_errors()
def digest_of(release: Any, plugins: Plugins) -> str | None:
    """SHA-256 as an audit of a release would give it; None where it has none, as a database's table.

    Args:
        release: everything that `audit` takes.
        plugins: those whose engines may open it.

    Raises:
        UsageError: it does not exist.
        DataError: it cannot be read.
    """
    direct = digest_of_file(release)
    if direct is not None:
        return direct
    opener = opener_of(release, plugins.engines.values())
    if opener is None:
        require_no_url(release, (info.name for info in plugins.infos if info.error))
    memory = budget(None)
    with open_engine(release, memory) if opener is None else opener.open(release, "release", memory) as engine:
        return engine.sha256()


def shown(digest: str | None) -> str:
    """The beginning of a digest."""
    return "unknown" if digest is None else f"{digest[:SHOWN]}…"


Pointer = tuple[str, ...]


class Absent(Enum):
    """The value of a key that is not there."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True)
class Difference:
    """A place in two values at which they differ.

    Args:
        path: the keys that lead there.
        was: the value in the first, or `ABSENT`.
        now: the value in the second, or `ABSENT`.
    """

    path: Pointer
    was: Any
    now: Any

    @property
    def is_of_keys(self) -> bool:
        """Whether only one of the two has it at all."""
        return self.was is ABSENT or self.now is ABSENT


def differences(was: Any, now: Any, path: Pointer = ()) -> Iterator[Difference]:
    """Where two values differ, key by key; lists are compared as a whole. A truth value is no number."""
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
