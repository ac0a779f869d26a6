"""Finding policies: the one that is meant where none is named, and those that folders and patterns stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path

from tcdp_audit.errors import UsageError

SUFFIXES = (".tcdp.yaml", ".tcdp.yml")


def discover(folder: Path) -> Path:
    """The single policy file of a folder, or else of the nearest folder above it that has one.

    The search ends at the root of a repository (a folder with `.git`), as that of pytest and ruff does.

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
        "no policy: name one with --policy, or put one `*.tcdp.yaml` file into this folder or one above it"
    )


def with_parents(folder: Path) -> Iterator[Path]:
    """A folder and those above it, up to the root of the repository that it is in, or of the file system."""
    for climbed in range(len(folder.resolve().parents) + 1):
        place = folder.joinpath(*[".."] * climbed)
        yield place
        if (place / ".git").exists():
            return


def policies_in(folder: Path) -> list[Path]:
    """The policy files of a folder by name; none where it cannot be read."""
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES) and path.is_file())
    except OSError:
        return []


def named_policies(names: Iterable[str], folder: Path = Path()) -> list[Path]:
    """The policies that files, folders and patterns name, each once, in the order of the names.

    Args:
        names: a folder stands for every policy in it and below, a pattern such as `data/**/*.tcdp.yaml` for what it
            matches.
        folder: where relative names start.

    Raises:
        UsageError: a folder or a pattern stands for no policy.
    """
    found: dict[Path, Path] = {}  # by the file that it is
    for name in names:
        for path in _named(name, folder / name):
            found.setdefault(path.resolve(), path)
    return list(found.values())


def _named(name: str, path: Path) -> list[Path]:
    if path.is_dir():
        below = sorted(one for one in path.rglob("*") if one.name.endswith(SUFFIXES) and not _is_hidden(one, path))
        return _some([one for one in below if one.is_file()], f"{name}: no policy (`*.tcdp.yaml`) in this folder")
    if path.exists() or not has_magic(name):
        return [path]  # one that is not there is told when it is read
    matches = sorted(Path(one) for one in glob(str(path), recursive=True))  # noqa: PTH207 - of an absolute one too
    return _some([one for one in matches if one.is_file()], f"{name}: no file matches this pattern")


def _is_hidden(path: Path, folder: Path) -> bool:
    """Whether it is in a folder that tools keep for themselves, such as `.venv`."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts[:-1])


def _some(paths: list[Path], otherwise: str) -> list[Path]:
    if not paths:
        raise UsageError(otherwise)
    return paths
