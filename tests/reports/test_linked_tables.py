"""What a report says of a release of several tables: the picture, the verdict, and whose figures are whose."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from browser import asked
from edition_samples import of_linked_tables
from linked_samples import KNOWN, TREE, clinic, tree
from rich.console import Console
from test_chromium import opened

from tcdp_audit import audit
from tcdp_audit.cli.terminal import print_audit
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.linked_tables import TablesOverview
from tcdp_audit.core.results.verdict import verdict_sentence
from tcdp_audit_reports.charts.drawing import Drawing, Label, Line
from tcdp_audit_reports.charts.pictures import BOX, tables_picture
from tcdp_audit_reports.first_screen import particulars
from tcdp_audit_reports.people_exposed import known_facts, relation
from tcdp_audit_reports.reasons import reasons
from tcdp_audit_reports.sections.findings import findings
from tcdp_audit_reports.sections.next_steps import steps

UP, DOWN = 10, 4  # pixels that a text takes above and below its baseline


@pytest.fixture(scope="module")
def three() -> Audit:
    return clinic()


@pytest.fixture(scope="module")
def eight() -> Audit:
    return tree()


def overview(result: Audit) -> TablesOverview:
    assert result.linked_tables is not None
    return result.linked_tables


def drawing_of(result: Audit) -> Drawing:
    drawing = tables_picture(overview(result)).drawing
    assert isinstance(drawing, Drawing)
    return drawing


def random_tree(seed: int) -> Audit:
    """Two to eight tables, each below any earlier one; names short and long."""
    draw = random.Random(seed)  # noqa: S311 - a table to test on
    names = [f"{'a_table_with_a_rather_long_name_' * draw.randrange(3)}{number}" for number in range(2 + seed % 7)]
    return tree({name: draw.choice(names[:at]) if at else None for at, name in enumerate(names)}, rows=6)


def crossings(drawing: Drawing) -> Iterator[str]:
    """The texts that a line runs through, or that are outside the picture, as wide as they are on a phone."""
    for label in drawing.labels:
        left, right = label.extent()
        top, bottom = label.y - UP, label.y + DOWN
        if left < 0 or right > 100 or top < 0 or bottom > drawing.height + DOWN:
            yield f"{label.text} is outside"
        for line in drawing.lines:
            across = max(left, min(line.x1, line.x2)) < min(right, max(line.x1, line.x2)) or left < line.x1 < right
            if across and max(top, min(line.y1, line.y2)) <= min(bottom, max(line.y1, line.y2)):
                yield f"{label.text} is crossed"
        for other in drawing.labels:
            (start, end), apart = other.extent(), abs(other.y - label.y) >= UP + DOWN - 2
            if other is not label and not apart and max(left, start) < min(right, end):
                yield f"{label.text} and {other.text} overlap"


@pytest.mark.parametrize("seed", range(14))
def test_no_text_is_crossed_or_outside(seed: int) -> None:
    assert [*crossings(drawing_of(random_tree(seed)))] == []


def test_a_crossed_text_would_be_noticed() -> None:
    drawing = Drawing(
        60, (), (Line("axis", 4, 4, 0, 40),), (Label("a text", 2, 30, anchor="start"), Label("out", 99, 50))
    )
    assert [*crossings(drawing)] == ["a text is crossed", "out is outside"]


def test_the_eight_tables_fit_as_well(eight: Audit) -> None:
    assert [*crossings(drawing_of(eight))] == []
    boxes = [one for one in drawing_of(eight).areas if one.style == "box"]
    assert len(boxes) == len(TREE)
    assert all(below.y - above.y > BOX for above, below in pairwise(boxes))


def test_an_arrow_leads_from_each_parent_to_its_table(eight: Audit) -> None:
    tables, drawing = overview(eight).tables, drawing_of(eight)
    boxes = dict(zip((one.name for one in tables), (one for one in drawing.areas if one.style == "box"), strict=True))
    arrows = [one for one in drawing.lines if "arrow" in one.style]
    assert len(arrows) == len(tables) - 1
    for child, arrow in zip([one for one in tables if one.parent], arrows, strict=True):
        assert (arrow.x2, arrow.y2) == (boxes[child.name].x, boxes[child.name].y + BOX / 2)
        assert boxes[child.parent].x < arrow.x1 < arrow.x2
    assert [one.name for one in tables] == [*TREE]  # each below its parent
    assert [one.depth for one in tables] == [0, 1, 2, 3, 4, 1, 2, 1]


def test_the_picture_has_all_figures_in_words(three: Audit) -> None:
    actual, chart = overview(three), tables_picture(overview(three))
    assert actual.sentence == f"Three tables: {actual.alone[-1]} of 200 patients are alone with their visits and drugs."
    assert chart.title == actual.sentence.rstrip(".")
    assert "visits belongs to patients by patient; drugs belongs to visits by visit" in chart.description
    first, second, third = actual.alone
    assert f"patients: {first}; with visits: {second}; with visits and drugs: {third}" in chart.description
    assert first <= second <= third


def test_a_name_is_shortened_in_the_picture_and_whole_in_the_table(eight: Audit) -> None:
    html = eight.render(".html")
    assert re.search(r">prescriptions_dispensed_by_p\w+…<", html)
    assert "<b>batches" not in html
    assert [row[0] for row in overview(eight).rows.body] == [*TREE]


def test_the_verdict_begins_with_who_is_alone(three: Audit, eight: Audit) -> None:
    assert verdict_sentence(three).startswith(overview(three).sentence)
    assert f"<p>{overview(three).sentence}" in three.render(".html").replace(' class="standfirst"', "")
    assert "alone with their visits, jobs and rows of five more tables." in verdict_sentence(eight)


def test_markdown_and_terminal_have_the_tables(three: Audit) -> None:
    console = Console(file=io.StringIO(), width=80, highlight=False)
    print_audit(console, three, [])
    terminal = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, terminal.splitlines())) <= 80
    last = f"{overview(three).alone[-1]}"
    assert re.search(rf"^drugs +visits +visit +\d+ +{last}$", terminal, re.MULTILINE)
    assert re.search(rf"^\| drugs \| visits \| visit \| \d+ \| {last} \|$", three.render(".md"), re.MULTILINE)


def test_figures_of_records_say_whose(three: Audit) -> None:
    by_check = {one.check: one for one in three.expectations}
    assert "records of visits are in" in by_check["entropy_l_diversity"].message
    assert "patients are in" in by_check["k_anonymity"].message
    page, text = three.render(".html"), three.render(".md")
    assert '<span class="about">patients, 307 records of visits</span>' in page
    assert re.search(r"\| 139; patients, 307 records of visits \|$", text, re.MULTILINE)
    assert '<th scope="col">table</th>' in page  # of the figures of single rows
    shares = [float(one) for one in re.findall(r"\((\d+\.\d)%\)", " ".join(one.text for one in steps(three)))]
    assert shares
    assert max(shares) <= 100


def test_every_number_of_people_says_whether_it_is_of_patients_or_of_visits(three: Audit) -> None:
    """And that those are exposed who have visits, which a share of all patients hides."""
    said = relation(three)
    assert "These are all 147 patients with rows in visits; the other 53 patients have none." in said
    assert "Of the 147, demand 1 exposes 147 patients, demand 3 exposes 145 patients (313 records of visits)" in said
    assert "several demands can expose the same patients." in said
    assert "the 'visits.diagnosis' of 145 patients" in " ".join(one.head for one in reasons(three))
    assert "They are of 145 of 147 patients with rows in visits." in [*findings(three)][2].message
    sizes = dict(particulars(three))["Release"]
    assert "visits: 315 records of 147 patients" in sizes
    assert {one.check: one.details.get("victim_units") for one in three.expectations} == {
        "k_anonymity": None,
        "homogeneity": 139,
        "entropy_l_diversity": 145,
    }


def test_the_first_screen_says_that_all_rows_are_taken_to_be_known(three: Audit) -> None:
    assert "in all rows of a patient, in every table, and which rows belong together" in known_facts(three)[1]
    assert "and to 1.45 patients on average; a guess is right with certainty there, and with a chance of 69%" in (
        three.render(".html")
    )


def test_where_no_column_was_measured_the_table_is_named_with_which_most_are_alone(three: Audit) -> None:
    coarsen = next(one for one in steps(three) if one.lead == "Coarsen the known columns of drugs first.")
    assert coarsen.text.startswith("Without it 12 patients are alone, with it 127.")
    assert "An audit that is asked for column risks measures it" in three.render(".html")


def test_the_column_is_named_that_adds_most() -> None:
    """The figures of a real run from files: whole patients are counted, and links are explained."""
    made = of_linked_tables()
    assert [(one.column, one.unique_without) for one in made.column_risks] == [
        ("visits.quarter", 53),
        ("drugs.drug", 98),
        ("patients.sex", 110),
    ]
    text = made.render(".md")
    assert (
        "Among the known facts, quarter of the visit adds most to the risk (60%): with it 127 patients are unique, "
        "without it 53." in text
    )
    assert "Whoever knows the number of a patient in a column that links the tables" in text
    assert "the policy does not say whether" not in text
    assert made.warnings == []  # a link that is declared to be harmless is no identifier


def test_riddles_are_sentences(three: Audit) -> None:
    page = three.render(".html")
    for riddle in ("largest gain in belief", "If single rows were judged", "would state it", "nobody is named"):
        assert riddle not in page
    assert "of these the rows of visits with quarter 0" in page
    assert "is 36.05 percentage points more common than among all." in page
    assert (
        "the policy does not say whether the numbers in drugs.visit, patients.patient, visits.patient and visits.visit"
        in page
    )


def test_links_are_no_columns_to_take_out_and_the_call_is_one_for_tables_in_memory(three: Audit) -> None:
    text = "\n".join(f"{one.lead} {one.text} {one.code}" for one in steps(three))
    call = (
        'tcdp_audit.audit({"patients": patients, "visits": visits, "drugs": drugs}, "POLICY.json", try_remedies=True)'
    )
    assert call in text
    assert "FOLDER" not in text
    assert "out of the copy that is published" not in text
    assert "| visits.visit | – | links the tables |" in three.render(".md")


def test_each_table_is_verified(three: Audit) -> None:
    text = three.render(".md")
    assert "How to verify it, in five steps" in text
    names = ("patients", "visits", "drugs")
    assert all(f"{name} was in memory. The SHA-256 of its content was" in text for name in names)
    assert 'tcdp_audit.verify("REPORT.html", {"patients": patients, "visits": visits, "drugs": drugs}' in text
    assert "…" not in " ".join(dict(particulars(three))["Release"])  # no digest that stands nowhere whole


def test_the_first_screen_has_the_sizes_of_at_most_eight_tables(eight: Audit) -> None:
    lines = dict(particulars(eight))["Release"]
    assert lines[:2] == ["8 tables", "people: 40 records"]
    many = tree({f"t{number}": "t0" if number else None for number in range(11)}, rows=2)
    assert "3 more" in dict(particulars(many))["Release"]


def test_faulty_links_leave_the_tree_without_bars() -> None:
    declared = {"people": {"attributes": {"sex": KNOWN}}, "visits": {"belongs_to": "people", "attributes": {}}}
    tables = {"people": pa.table({"id": [1], "sex": ["f"]}), "visits": pa.table({"id": [2]})}
    broken = audit(tables, {"version": 1, "unit": "id", "tables": declared, "expect": [{"k_anonymity": {"k": 2}}]})
    chart = tables_picture(overview(broken))
    assert chart.title == "Two tables and their links"
    assert [one.style for one in chart.drawing.areas] == ["box", "box"]  # type: ignore[attr-defined]
    assert overview(broken).rows.head == ("table", "belongs to", "by", "records")
    assert "alone" not in verdict_sentence(broken)
    assert replace(overview(broken), tables=overview(broken).tables[:1]).size == "one table"


SIDES = """
document.querySelectorAll('details').forEach(one => one.open = true);
const page = document.documentElement, texts = [...document.querySelectorAll('.tree .plot text')];
const plot = document.querySelector('.tree .plot').getBoundingClientRect();
return {over: page.scrollWidth - page.clientWidth, texts: texts.length,
        out: texts.filter(one => one.getBoundingClientRect().right > plot.right + 1).map(one => one.textContent)};
"""


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("which", ["three", "eight"])
def test_the_picture_fits_its_page(
    which: str, width: int, request: pytest.FixtureRequest, chromium: str, tmp_path: Path
) -> None:
    page = request.getfixturevalue(which).render(".html")
    result = asked(page, SIDES, chromium, tmp_path, width=width)
    assert result["texts"] > 10
    assert (result["over"], result["out"]) == (0, [])


@pytest.mark.long
def test_no_console_message_and_no_request(eight: Audit, chromium: str, tmp_path: Path) -> None:
    opened(eight.render(".html"), "Disclosure audit report", chromium, tmp_path)
