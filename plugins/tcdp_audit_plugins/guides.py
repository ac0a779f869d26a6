"""Guides of the built-in checks: Markdown files next to the checks, with formulas that were converted from LaTeX."""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.check import Guide

FORMULAS = Path(__file__).parent / "generated" / "formulas.json"  # written by `python -m tools.generate`


def built_in_guide(module: str, name: str) -> Guide:
    """The guide of a built-in check.

    Args:
        module: the `__file__` of the module that defines the check.
        name: the Markdown file in the same folder.
    """
    return Guide.from_file(Path(module).with_name(name), FORMULAS)
