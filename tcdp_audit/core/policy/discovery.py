"""Find policies: the default one where none is named, and those that folders and patterns match."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path

from tcdp_audit.core.base.errors import UsageError

SUFFIXES = (".tcdp.yaml", ".tcdp.yml")


def discover(folder: Path, release: str = "TABLE") -> Path:
    """The single policy file of a folder, or else of the nearest folder above it that has one.

    The search ends at the root of a repository (a folder with `.git`), as that of pytest and ruff does.

    Args:
        folder: where to begin.
        release: the table, as the call names it, for what to do where there is no policy.

    Raises:
        UsageError: there is none, or more than one in the nearest folder that has any.
    """
    for place in with_parents(folder):
        candidates = policies_in(place)
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            where = "this folder" if place == folder else str(place)
            names = ", ".join(path.name for path in candidates)
            raise UsageError(f"{len(candidates)} policies in {where} ({names}): choose one with --policy")
    raise UsageError(
        "no policy: name one with --policy, or put one `*.tcdp.yaml` file into this folder or one above it; "
        f"one is drafted by `tcdp-audit init {release}`"
    )


def with_parents(folder: Path) -> Iterator[Path]:
    """A folder and those above it, up to the root of the repository that it is in, or of the file system."""
    for climbed in range(len(folder.resolve().parents) + 1):
        place = folder.joinpath(*[".."] * climbed)
        yield place
        if os.path.exists(place / ".git"):  # noqa: PTH110 - no error where the folder cannot be entered
            return


def policies_in(folder: Path) -> list[Path]:
    """The policy files of a folder by name; none where it cannot be read. A link that leads nowhere is one."""
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES) and not path.is_dir())
    except OSError:
        return []


def named_policies(names: Iterable[str], folder: Path = Path()) -> list[Path]:
    """The policies that files, folders and patterns name, each once, in the order of the names.

    A file that links lead to from several folders is a policy in each: the paths in it start there.

    Args:
        names: a folder names every policy in it and below, a pattern such as `data/**/*.tcdp.yaml` the files that it
            matches and the policies in the folders that it matches.
        folder: where relative names start.

    Raises:
        UsageError: a name is empty, a folder or a pattern matches no policy, or a folder cannot be read.
    """
    policies: dict[tuple[Path, Path], Path] = {}  # by the file that it is, and where its paths start
    for name in names:
        for path in _named(name, folder / name):
            policies.setdefault((path.parent.resolve(), path.resolve()), path)
    return list(policies.values())


def _named(name: str, path: Path) -> list[Path]:
    if not name:
        raise UsageError("the name of a policy is empty; name a file, a folder or a pattern")
    if path.is_dir():
        return _some(sorted(_below(path)), f"{name}: no policy (`*.tcdp.yaml`) in this folder")
    if path.exists() or not has_magic(name):
        return [path]  # one that is not there is reported when it is read
    matches = sorted(Path(one) for one in glob(str(path), recursive=True))  # noqa: PTH207 - of an absolute one too
    policies = [path for one in matches for path in (sorted(_below(one)) if one.is_dir() else [one])]
    return _some(policies, f"{name}: no file matches this pattern")


def _below(folder: Path) -> Iterator[Path]:
    """The policies in a folder and below, through links too, but not in what tools keep for themselves (`.venv`)."""
    entered: set[str] = set()
    for place, folders, files in os.walk(folder, followlinks=True, onerror=_refuse):
        entered.add(os.path.realpath(place))
        visible = [one for one in folders if one[0] != "."]
        folders[:] = sorted(one for one in visible if os.path.realpath(Path(place, one)) not in entered)
        yield from (Path(place, one) for one in files if one.endswith(SUFFIXES))


def _refuse(error: OSError) -> None:
    raise UsageError(f"{error.filename}: cannot be read: {error.strerror}; a policy may be in it") from None


def _some(paths: list[Path], otherwise: str) -> list[Path]:
    if not paths:
        raise UsageError(otherwise)
    return paths
