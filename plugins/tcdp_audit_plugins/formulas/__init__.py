r"""Formulas of guides: written once, as LaTeX, and looked up as MathML and as text.

`python -m tcdp_audit_plugins.formulas` writes `formulas.json` from the guides; it needs latex2mathml, and nothing else
does.

>>> formula(r"\min_E n_E \ge k")["formula"]
'min_E n_E ≥ k'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypedDict

WRITTEN = Path(__file__).parents[1] / "generated" / "formulas.json"
SEPARATOR = ";  "  # between the lines of a formula as text


class Formula(TypedDict):
    """A formula in the three forms that a guide has."""

    formula: str
    latex: str
    mathml: str


def formula(*lines: str) -> Formula:
    """A formula of a guide.

    Args:
        *lines: its lines as LaTeX. One that was not converted yet stands for itself, so that it can be.
    """
    forms = [_written().get(line, {"text": line, "mathml": ""}) for line in lines]
    return {
        "formula": SEPARATOR.join(one["text"] for one in forms),
        "latex": "\n".join(lines),
        "mathml": "".join(one["mathml"] for one in forms),
    }


@cache
def _written() -> Mapping[str, Mapping[str, str]]:
    written: Mapping[str, Mapping[str, str]] = json.loads(WRITTEN.read_text(encoding="utf-8"))
    return written
