"""Charts and formulas of documents: places in points, colours for every style, and nothing of a formula lost."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from figure_samples import figure_audit
from linked_samples import clinic, tree
from test_frontier_reports import sample as frontier_sample

import tcdp_audit_plugins
from tcdp_audit.plugin.report import Chart
from tcdp_audit_reports.documents import document_of_audit, document_of_frontier
from tcdp_audit_reports.documents.shapes import LETTERS, LOOKS, NOT_DRAWN, OF_TEXT, POINTS, WIDTH, shapes_of
from tcdp_audit_reports.documents.word_drawings import drawing_run, office_math
from tcdp_audit_reports.guide_text import formula_trees

FORMULAS = json.loads((Path(tcdp_audit_plugins.__file__).parent / "generated" / "formulas.json").read_text("utf-8"))


def charts_of(document):
    return [one for _, blocks in document.dissolved() for one in blocks if isinstance(one, Chart)]


@pytest.fixture
def charts(salary_audit, repaired_audit):
    audits = (salary_audit, repaired_audit, figure_audit(), clinic(), tree())
    return [
        *(one for audit in audits for one in charts_of(document_of_audit(audit))),
        *charts_of(document_of_frontier(frontier_sample())),
    ]


def test_every_style_of_every_chart_has_a_look_on_paper(charts):
    classes = {
        name for one in charts for group in re.findall(r'class="([^"]*)"', one.drawing.svg) for name in group.split()
    }

    assert len({one.kind for one in charts}) > 4
    assert classes - {*LOOKS, *OF_TEXT, *NOT_DRAWN} == set()


def test_every_shape_lies_on_its_chart(charts):
    for chart in charts:
        shapes = [*shapes_of(chart.drawing.svg)]
        assert shapes
        for shape in shapes:
            assert all(-1 <= x <= WIDTH + 1 and -1 <= y <= chart.drawing.height * POINTS + 1 for x, y in shape.places)
        labels = re.findall(r"<text[^>]*>([^<]*)</text>", chart.drawing.svg)
        assert len([one for one in shapes if one.kind == "text"]) == len(labels)


def test_percent_are_of_the_width_and_pixels_are_points():
    svg = (
        '<rect class="bar" x="10%" width="50%" y="10" height="20"/>'
        '<g class="of-group"><circle cx="50%" cy="10" r="5"/></g>'
        '<svg x="0" y="20" width="50%" height="100" viewBox="0 0 1000 1000">'
        '<path class="curve" d="M0 1000h500v-1000H1000"/></svg><text class="value end" x="100%" y="15">a &amp; b</text>'
    )
    bar, circle, curve, label = shapes_of(svg, 200)

    assert bar.places == ((20, 10 * POINTS), (120, 30 * POINTS))
    assert circle.places == ((100 - 5 * POINTS, 5 * POINTS), (100 + 5 * POINTS, 15 * POINTS))
    assert [*sum(curve.places, ())] == pytest.approx(
        [0, 120 * POINTS, 50, 120 * POINTS, 50, 20 * POINTS, 100, 20 * POINTS]
    )
    assert (label.text, label.anchor, label.places, label.look.is_bold) == ("a & b", "end", ((200, 15 * POINTS),), True)


def test_word_gets_every_shape_and_the_description():
    svg = '<line class="limit" x1="0%" x2="100%" y1="10" y2="0"/><text x="50%" y="10">&lt;b&gt;</text>'
    xml = drawing_run([*shapes_of(svg)], (WIDTH, 50), 'says "so" & <so>', iter(range(1, 9)))
    root = ET.fromstring(xml)  # noqa: S314 - our own
    names = [one.tag.rpartition("}")[2] for one in root.iter()]

    assert names.count("wsp") == 2
    assert {one.get("descr") for one in root.iter() if one.get("descr")} == {'says "so" & <so>'}
    assert "<b>" in "".join(root.itertext())
    assert root.find(".//{*}xfrm[@flipV='1']") is not None
    assert f'<w:sz w:val="{round(LETTERS * 2)}"/>' in xml


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_nothing_of_a_formula_is_lost(name):
    mathml = FORMULAS[name]["mathml"]
    lines = formula_trees(mathml)
    drawn = "".join(office_math(one) for one in lines)
    root = ET.fromstring(f"<all>{drawn}</all>")  # noqa: S314 - our own
    signs = [
        value for one in root.iter() if one.tag.endswith(("begChr", "endChr", "}chr")) for value in one.attrib.values()
    ]
    expected = "".join(ET.fromstring(f"<all>{mathml}</all>").itertext())  # noqa: S314 - generated

    assert lines
    assert sorted("".join(["".join(root.itertext()), *signs]).split()) != []
    assert _letters("".join(["".join(root.itertext()), *signs])) == _letters(expected)


def _letters(text):
    return sorted(one for one in text if not one.isspace())


def test_what_is_no_mathml_is_no_formula():
    assert formula_trees("<math><script>x</script></math>") == ()
    assert formula_trees("a > b") == ()


@pytest.mark.parametrize("element", ["mfrac", "mroot", "msub", "munder", "msubsup", "munderover"])
def test_a_formula_that_lacks_a_part_is_shown_as_text(element):
    assert formula_trees(f"<math><{element}><mi>x</mi></{element}></math>") == ()


def test_no_width_and_no_bracket_of_a_formula_breaks_its_xml():
    (line,) = formula_trees("<math><mspace width='1.5.5em'/><mspace width='nanem'/><mspace width='0.5em'/></math>")
    assert [one.width for one in line.parts] == [0, 0, 0.5]
    bracket = """<mo fence="true" stretchy="true">"</mo>"""
    (line,) = formula_trees(f"<math><mrow>{bracket}<mi>x</mi>{bracket}</mrow></math>")
    assert ET.fromstring(office_math(line)) is not None  # noqa: S314 - our own
