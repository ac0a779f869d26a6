"""`python -m tcdp_audit_plugins.formulas` writes `formulas.json`: every formula of a guide as MathML and as text."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

from tcdp_audit_plugins.checks import FAMILIES, __name__ as package
from tcdp_audit_plugins.formulas import WRITTEN
from tcdp_audit_plugins.formulas.conversion import mathml_of, text_of, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def lines() -> Iterator[str]:
    """Every line of every formula, as LaTeX, in the order of checks."""
    for family in FAMILIES:
        for check in import_module(f"{package}.{family}").CHECKS:
            yield from check.guide.latex.splitlines()


def converted() -> str:
    """All of them as JSON: by their LaTeX, the MathML and the text."""
    trees = {line: tree_of(line) for line in lines()}
    forms = {line: {"text": text_of(tree), "mathml": mathml_of(tree)} for line, tree in trees.items()}
    return json.dumps(forms, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    WRITTEN.write_text(converted(), encoding="utf-8", newline="\n")
