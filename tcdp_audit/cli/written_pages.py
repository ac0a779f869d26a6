"""Pages of the built-in checks and remedies, written ahead: `explain NAME` loads no plugin where nobody else has any.

`python -m tcdp_audit.cli.guide_page` writes them from the checks themselves, and a test compares every one with what
its check says when it is loaded.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path

PAGES = Path(__file__).with_name("pages")
KINDS = ("checks", "remedies")
OURS = "tcdp_audit-"  # how the folder with our metadata begins
GROUP = "[tcdp_audit]"


def written_page(name: str) -> str | None:
    """The pages of all that has a name, or None where plugins have to be asked: other distributions may have some."""
    if not name.isidentifier():
        return None
    paths = [path for kind in KINDS if (path := PAGES / kind / f"{name}.md").is_file()]
    if not paths or not _only_built_in():
        return None
    from tcdp_audit.cli.guide import for_terminal  # noqa: PLC0415 - imports textwrap

    return "".join(for_terminal(path.read_text(encoding="utf-8")) for path in paths)


def _only_built_in() -> bool:
    """Whether this distribution has plugins here and no other has. Where that cannot be seen, another may have some."""
    if any(hasattr(one, "find_distributions") and one is not PathFinder for one in sys.meta_path):
        return False
    try:
        plugged = {folder.name.startswith(OURS) for place in sys.path for folder in _plugged(Path(place))}
    except OSError:  # an archive, or what may not be read
        return False
    return plugged == {True}


def _plugged(place: Path) -> list[Path]:
    """The folders of distributions' metadata in a place that modules come from, as far as they name plugins of ours."""
    try:
        found = [path for path in place.iterdir() if path.name.lower().endswith(("dist-info", "egg-info"))]
    except FileNotFoundError:
        return []
    return [path for path in found if GROUP in _entry_points(path)]


def _entry_points(metadata: Path) -> str:
    try:
        return (metadata / "entry_points.txt").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
