"""Generated files: `python -m tools.generate` writes all of them, and a test reports stale ones.

formulas     LaTeX to MathML and text
catalogue    the declarations of built-in checks and remedies, for use before one is loaded
lists        the lists of checks and remedies in README.md and docs/
signatures   signatures of `measure` for type checkers
topics       sections of the documentation that `explain` prints
manuals      pages for `man`, from the help of the commands
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.generate.public_names import public_names

ROOT = Path(__file__).parents[2]
PACKAGE = "plugins/tcdp_audit_plugins"
TOPICS = "tcdp_audit/cli/generated"
MANUALS = "man"


def generated() -> Iterator[tuple[str, str]]:
    """The path and the text of every generated file.

    A file comes before those that depend on it, and these are imported only then. A caller that writes each immediately
    can therefore repair any content of any of them: markers of a merge conflict, or outdated names.
    """
    yield "tcdp_audit/core/base/public_names.json", public_names()
    from tools.generate.formulas import formula_table  # noqa: PLC0415 - needs public_names.json

    checks, remedies = guides("checks"), guides("remedies")
    yield f"{PACKAGE}/generated/formulas.json", formula_table(ROOT / path for path in checks.values())
    from tools.generate.catalogue import catalogue  # noqa: PLC0415 - needs formulas.json

    yield f"{PACKAGE}/generated/catalogue.json", catalogue({**checks, **remedies})
    from tcdp_audit.api import Plugins  # noqa: PLC0415 - needs catalogue.json
    from tcdp_audit.integrations.great_expectations.stub import stub_of  # noqa: PLC0415
    from tools.generate.lists import lists  # noqa: PLC0415
    from tools.generate.manuals import manuals  # noqa: PLC0415
    from tools.generate.signatures import signatures  # noqa: PLC0415
    from tools.generate.topics import topic_pages  # noqa: PLC0415

    plugins = Plugins.load(external=False)
    yield from lists(plugins, checks, remedies).items()
    yield "tcdp_audit/core/repair/typed.pyi", signatures(plugins.checks)
    yield "tcdp_audit/integrations/great_expectations/__init__.pyi", stub_of(plugins.checks)
    for name, text in topic_pages(ROOT / "docs").items():
        yield f"{TOPICS}/{name}.txt", text
    for name, text in manuals().items():
        yield f"{MANUALS}/{name}", text


def guides(kind: str) -> dict[str, str]:
    """The path of the guide of every built-in check or remedy, by its name; `kind` is "checks" or "remedies"."""
    paths = sorted((ROOT / PACKAGE / kind).rglob("*.md"))
    return {path.stem: path.relative_to(ROOT).as_posix() for path in paths}


def leftovers() -> list[Path]:
    """Topics and pages for `man` that are no longer generated."""
    paths = {path for path, _ in generated()}
    there = [path for folder in (TOPICS, MANUALS) for path in sorted((ROOT / folder).iterdir())]
    return [path for path in there if path.relative_to(ROOT).as_posix() not in paths]
