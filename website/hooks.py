"""Additions of the site to the pages in `docs/`: files of the project that they link to, and formulas as MathML.

Links in `docs/` are those of a checkout, so that they lead somewhere in an editor and where the repository is browsed.
On the site, a file outside of `docs/` becomes a page below `project/`: Markdown as it is, everything else as its text.
The guide of a check or a remedy becomes its page, below `checks/` or `remedies/`. A folder in the navigation stands for
its pages.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils.meta import get_data

from tcdp_audit.api import Plugins
from tcdp_audit.cli.declarations import registered_page
from tcdp_audit.plugin.check import DisclosureType
from tools.generate import guides
from tools.generate.formulas import mathml_of, tree_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
KINDS = ("checks", "remedies")
GUIDES = {ROOT / path: f"{kind}/{name}.md" for kind in KINDS for name, path in guides(kind).items()}
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
FORMULA = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
IN_FOLDERS = {".py": "python", ".sh": "sh", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".csv": "text"}
LANGUAGES = {**IN_FOLDERS, ".json": "json", ".R": "r", ".cff": "yaml"}


def on_config(config: Any) -> Any:
    """Replace a folder in the navigation by its pages, its README first; checks are grouped by what they are about."""
    config.nav = [_with_folders(entry) for entry in config.nav]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add the files of the project that pages link to, and those that they link to in turn."""
    pending = [DOCS / file.src_uri for file in files.documentation_pages()]
    seen = set(pending)
    while pending:
        source = pending.pop()
        if not source.is_relative_to(DOCS):
            files.append(File.generated(config, _address(source), content=_text(source)))
        for target in _targets(source) - seen:
            seen.add(target)
            if not target.is_relative_to(DOCS):
                pending.append(target)
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Convert formulas and links to those of the site."""
    source = _source(page.file.src_uri)
    with_formulas = FORMULA.sub(lambda one: f'<div class="formula">{mathml_of(tree_of(one[1]))}</div>', markdown)
    return _outside_fences(with_formulas, lambda text: LINK.sub(lambda link: _link(link, source), text))


def _with_folders(entry: Any) -> Any:
    [(title, value)] = entry.items() if isinstance(entry, dict) else [("", entry)]
    if isinstance(value, list):
        return {title: [_with_folders(one) for one in value]}
    if not value.endswith("/"):
        return entry
    pages = [path.relative_to(DOCS).as_posix() for path in (DOCS / value).glob("*.md")]
    pages.sort(key=lambda address: (not address.endswith("README.md"), address))
    return {title: [*pages, *_guides(value.rstrip("/"))]}


def _guides(kind: str) -> list[Any]:
    """The pages of all checks or remedies by their titles; those of checks in the four kinds of disclosure."""
    titled = [(_registered(name), f"{kind}/{name}.md") for name in guides(kind)] if kind in KINDS else []
    titled.sort(key=lambda one: _order(one[0].title))
    if kind != "checks":
        return [{one.title: address} for one, address in titled]
    by_disclosure: dict[DisclosureType, list[Any]] = {disclosure: [] for disclosure in DisclosureType}
    for one, address in titled:
        by_disclosure[one.disclosure_type].append({one.title: address})
    return [{disclosure.value.capitalize(): pages} for disclosure, pages in by_disclosure.items()]


def _order(title: str) -> str:
    """The title as an index sorts it: without signs, in lower case."""
    return re.sub(r"[^\w ]", "", title).lower()


def _targets(source: Path) -> set[Path]:
    """The files and folders that a page links to."""
    if source.suffix != ".md" or not source.is_file():
        return set()
    text = FENCED.sub("", get_data(source.read_text(encoding="utf-8"))[0])
    paths = {_resolved(source, match[1]) for match in LINK.finditer(text)}
    return {path for path in paths if path.exists()}


def _resolved(source: Path, link: str) -> Path:
    return Path(os.path.normpath(source.parent / link))


def _address(path: Path) -> str:
    """Where the site has a file of the project."""
    if path in GUIDES:
        return GUIDES[path]
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    return f"project/{name}" if path.suffix == ".md" else f"project/{name}.md"


def _source(address: str) -> Path:
    """The file of the project at an address of the site."""
    if address in GUIDES.values():
        return next(path for path, page in GUIDES.items() if page == address)
    if not address.startswith("project/"):
        return DOCS / address
    path = ROOT / address.removeprefix("project/")
    return path if path.exists() else path.with_name(path.name.removesuffix(".md"))


def _text(path: Path) -> str:
    """A file of the project as Markdown."""
    if path in GUIDES:
        return registered_page(_registered(path.stem))
    name = path.relative_to(ROOT).as_posix()
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return _notebook(json.loads(path.read_text(encoding="utf-8")))
    inside = sorted(one for one in path.iterdir() if one.suffix in {".md", *IN_FOLDERS}) if path.is_dir() else [path]
    return f"# {name}\n\n" + "\n".join(f"## {one.name}\n\n{_block(one)}" for one in inside)


def _notebook(notebook: Any) -> str:
    """The cells of a notebook with what they display."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"````python\n{source}\n````")
        for output in cell.get("outputs", ()):
            shown = output.get("data") or {"text/plain": output["text"]}
            plain = "".join(shown["text/plain"]).rstrip()
            parts.append("".join(shown.get("text/html", ())) or f"````text\n{plain}\n````")
    return "\n\n".join(parts) + "\n"


@cache
def _plugins() -> Plugins:
    return Plugins.load(external=False)


def _registered(name: str) -> Any:
    """The check or the remedy of a name."""
    return (_plugins().checks if name in _plugins().checks else _plugins().remedies)[name]


def _block(path: Path) -> str:
    return f"````{LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8').rstrip()}\n````\n"


def _link(match: re.Match[str], source: Path) -> str:
    target = _resolved(source, match[1])
    if not target.exists() or (target.suffix not in {".md", ".ipynb", *LANGUAGES} and not target.is_dir()):
        return match[0]
    here = PurePosixPath(_address(source)).parent
    return os.path.relpath(_address(target), here) + (match[2] or "")


def _outside_fences(markdown: str, change: Any) -> str:
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else change(part) for part in parts)
