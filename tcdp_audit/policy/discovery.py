"""Finding the policy when none is named."""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.errors import UsageError

SUFFIXES = (".tcdp.yaml", ".tcdp.yml")


def discover(folder: Path) -> Path:
    """The single policy file of a folder.

    Raises:
        UsageError: there is none, or more than one.
    """
    candidates = sorted(path for path in folder.iterdir() if path.name.endswith(SUFFIXES) and path.is_file())
    if not candidates:
        raise UsageError("no policy: name one with --policy, or put one `*.tcdp.yaml` file into this folder")
    if len(candidates) > 1:
        names = ", ".join(path.name for path in candidates)
        raise UsageError(f"{len(candidates)} policies in this folder ({names}): choose one with --policy")
    return candidates[0]
