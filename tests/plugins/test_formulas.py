"""Formulas are written once, as LaTeX; their MathML and their text are what the library makes of it today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_reports.guide_text import is_mathml
from tools.generate.formulas import mathml_of, text_of, tree_of

CHECKS = Plugins.load(external=False).checks
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_every_check_has_its_formula_in_three_forms(name: str) -> None:
    guide = CHECKS[name].guide
    lines = guide.latex.splitlines()
    assert lines
    assert len(guide.formula.split(";  ")) == guide.mathml.count("<math ") == len(lines)
    assert is_mathml(guide.mathml)
    assert not re.search(r"[\\\x00∑∏−\N{NO-BREAK SPACE}]", guide.formula)


def test_no_plugin_has_a_formula_typed_as_markup() -> None:
    sources = [path.read_text(encoding="utf-8") for kind in ("*.py", "*.md") for path in (ROOT / "plugins").rglob(kind)]
    assert len(sources) > 100
    assert [text for text in sources if "<math " in text] == []


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\max_{E, i : p_i > q_i} \frac{p_i - q_i}{q_i} \le \beta", "max_{E, i: p_i > q_i} (p_i - q_i)/q_i ≤ β"),
        (r"\frac{\#\{E : n_E = 1\}}{n}", "#{E: n_E = 1}/n"),
        (r"\frac{(a + b) c}{f(x, y)}", "((a + b) c)/f(x, y)"),
        (r"\min(\beta, -\ln q_i)", "min(β, -ln q_i)"),
        (r"c\, (r_l - r_m)", "c (r_l - r_m)"),
        (r"\exp\left(-\sum_i x_i\right) = e^{-n}", "exp(-Σ_i x_i) = e^{-n}"),
        (r"\left|v_i - v'_i\right|^2 \cdot \ln \frac{1}{p}", "|v_i - v'_i|² · ln(1/p)"),
        (r"s_i^Q (m - \left|M\right|)!", "s_i^Q(m - |M|)!"),
        (r"P(1 \mid i) \text{ is at\_most } \left\lfloor \frac{p N}{2} \right\rfloor", "P(1|i) is at_most ⌊(p N)/2⌋"),
    ],
)
def test_text_means_what_the_formula_means(latex: str, text: str) -> None:
    assert text_of(tree_of(latex)) == text
    assert is_mathml(mathml_of(tree_of(latex)))
