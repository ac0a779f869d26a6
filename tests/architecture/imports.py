"""Who imports whom: read from the source, whenever an import would run, or only a type checker would follow it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {"tcdp_audit": ROOT, "tcdp_audit_plugins": ROOT / "plugins", "tcdp_audit_reports": ROOT / "reports"}


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another of this repository."""

    importer: str
    module: str
    name: str
    line: int


@cache
def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    paths = {path: folder for top, folder in SOURCES.items() for path in sorted((folder / top).rglob("*.py"))}
    return {_dotted(path, folder): path for path, folder in paths.items()}


def _dotted(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(top: str) -> list[Import]:
    """Every import of a module of ours under a top package: at the start, in functions, and for type checkers."""
    return [
        use
        for importer, path in modules().items()
        if importer.split(".")[0] == top
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for use in _imported(importer, node)
    ]


def _imported(importer: str, node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in SOURCES:
        assert not node.level
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield Import(importer, inner if inner in modules() else node.module, alias.name, node.lineno)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] in SOURCES:
                yield Import(importer, alias.name, "", node.lineno)
