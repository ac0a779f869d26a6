"""Pages of the built-in checks and remedies without loading them: `explain NAME` where no one else has plugins.

A page consists of the guide, a Markdown file, and of the check's declaration in `catalogue.json`, which
`python -m tools.generate` writes. A test compares every page with that of the loaded check.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path

CATALOGUE = Path("generated", "catalogue.json")
PACKAGE = "tcdp_audit_plugins"  # is never imported here
OURS = "tcdp_audit-"  # the beginning of the folder with our metadata
GROUP = "[tcdp_audit]"


def built_in_page(name: str) -> str | None:
    """The pages of a name; None where other distributions may have plugins, which are then asked."""
    folder = _catalogue_folder() if name.isidentifier() and _only_built_in() else None
    if folder is None:
        return None
    import json  # noqa: PLC0415 - only where there is a page to show

    catalogue = json.loads((folder / CATALOGUE).read_text(encoding="utf-8"))
    declared = [{"kind": kind, **one} for kind, entries in catalogue.items() for one in entries if one["name"] == name]
    if not declared:
        return None
    from tcdp_audit.api import guide_parts  # noqa: PLC0415 - only where there is a page to show
    from tcdp_audit.cli.page import SECTIONS, laid_out, page_of  # noqa: PLC0415 - imports textwrap

    formulas = folder / "generated" / "formulas.json"
    guides = [guide_parts(folder / one["guide"], SECTIONS[one["kind"]], formulas) for one in declared]
    pages = [page_of(one, guide, for_terminal=True) for one, guide in zip(declared, guides, strict=True)]
    return "".join(map(laid_out, pages))


def _catalogue_folder() -> Path | None:
    """The folder of the built-in plugins, if their catalogue is there."""
    specification = PathFinder.find_spec(PACKAGE)
    places = (specification and specification.submodule_search_locations) or []
    return next((Path(place) for place in places if (Path(place) / CATALOGUE).is_file()), None)


def _only_built_in() -> bool:
    """Whether this distribution, and no other, is known to have plugins here."""
    if any(hasattr(one, "find_distributions") and one is not PathFinder for one in sys.meta_path):
        return False
    try:
        plugged = {folder.name.startswith(OURS) for place in sys.path for folder in _plugged(Path(place))}
    except OSError:  # an archive, or what may not be read
        return False
    return plugged == {True}


def _plugged(place: Path) -> list[Path]:
    """The metadata folders, in a place that modules come from, of distributions that name plugins of ours."""
    try:
        folders = [path for path in place.iterdir() if path.name.lower().endswith(("dist-info", "egg-info"))]
    except FileNotFoundError:
        return []
    return [path for path in folders if GROUP in _entry_points(path)]


def _entry_points(metadata: Path) -> str:
    try:
        return (metadata / "entry_points.txt").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
