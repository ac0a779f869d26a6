"""Very many demands, columns, scenarios, tables and units: short on the terminal and on paper, whole in the file."""

from __future__ import annotations

import io
import re
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from html_page import Page
from many_samples import CASES, many_attributes
from report_samples import made_up
from rich.console import Console

from tcdp_audit import Audit
from tcdp_audit.cli.demand_lines import Line, abridge
from tcdp_audit.cli.terminal import LEAST, MOST, print_audit
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.plugin.report import Rows
from tcdp_audit_reports.charts import matrix
from tcdp_audit_reports.charts.drawing import Drawing
from tcdp_audit_reports.sections.findings import rows
from tcdp_audit_reports.sections.grouped import MANY, by_ranges, demand_rows, groups_of

MANY_DEMANDS = pytest.mark.parametrize("name", ["attributes", "scenarios", "units"])
ANY = pytest.mark.parametrize("name", list(CASES))
GRAVITY = ("failed", "error", "warning", "passed", "measured", "skipped")


@pytest.fixture(scope="module")
def audits() -> dict[str, Audit]:
    return {name: make() for name, make in CASES.items()}


def printed(audit: Audit, *, on_terminal: bool = True, **options: bool) -> list[str]:
    stream = io.StringIO()
    print_audit(Console(file=stream, width=80, force_terminal=on_terminal, color_system=None), audit, (), **options)
    return stream.getvalue().splitlines()


def states_of(lines: list[str]) -> list[str]:
    """The state of each line that has one, without those of members, which are indented."""
    marked = [line for line in lines if re.match(r"[✗✓▲○◇?] \w+ ", line) and line[12:14] != "  "]
    return [line.split()[1] for line in marked]


@ANY
@pytest.mark.parametrize("options", [{}, {"on_terminal": False}, {"brief": True}], ids=["", "in a file", "brief"])
def test_at_most_sixty_lines(name: str, options: dict[str, bool], audits: dict[str, Audit]) -> None:
    lines = printed(audits[name], **options)
    assert sum(max(1, -(-len(line) // 80)) for line in lines) <= MOST


@MANY_DEMANDS
def test_every_demand_is_printed_where_that_is_asked_for(name: str, audits: dict[str, Audit]) -> None:
    lines = printed(audits[name], verbose=True)
    warned = [one for one in audits[name].structure if one.is_warning and one.status is Status.FAILED]
    assert len(lines) > MOST
    first = states_of(lines[: lines.index("")])
    assert len(first) == len(audits[name].expectations) + 1 + len(warned)  # and the schema checks


@MANY_DEMANDS
def test_the_verdict_is_the_same(name: str, audits: dict[str, Audit]) -> None:
    few, all_of_them = printed(audits[name]), printed(audits[name], verbose=True)
    assert few[few.index("") :] == all_of_them[all_of_them.index("") :]


@MANY_DEMANDS
def test_the_gravest_come_first_and_none_is_lost(name: str, audits: dict[str, Audit]) -> None:
    lines = printed(audits[name])
    states = states_of(lines[: lines.index("")])
    assert states == sorted(states, key=GRAVITY.index)
    groups = audits[name].demand_groups
    named = sum(line[12:14] == "  " and line[:1] in "✗✓▲○◇?" for line in lines)
    more = sum(int(one) for one in re.findall(r" (\d+) more[: ]", "\n".join(lines)))
    whole = sum(len(group.outcomes) for group in groups if not group.tally.failed)
    assert named + more + whole == sum(len(group.outcomes) for group in groups)


def test_a_few_demands_are_printed_as_always(salary_audit: Audit) -> None:
    assert printed(salary_audit) == printed(salary_audit, verbose=True)


def test_demands_that_are_no_group_lose_their_sentences_then_their_lines() -> None:
    lines = [Line("passed", f"check {number}", ("1",), number=number) for number in range(1, 31)]
    lines += [Line("failed", f"check {number}", ("1",), "A sentence.", number) for number in range(31, 61)]
    height = lambda line: 1 + len(line.sentence.splitlines())  # noqa: E731 - of one word a line

    assert abridge(lines, [], 90, height) == lines
    shorter = abridge(lines, [], 60, height)
    assert [line.number for line in shorter] == [*range(31, 61), *range(1, 31)]
    assert not any(line.sentence for line in shorter)
    shortest = abridge(lines, [], LEAST, height)
    assert [line.number for line in shortest] == [*range(31, 49)]
    assert shortest[-1].sentence == "42 more: 12 failed, 30 passed; --verbose shows all."
    assert sum(map(height, shortest)) <= LEAST


def test_the_first_line_is_printed_however_high_it_is() -> None:
    lines = [Line("failed", f"check {number}", ("1",), number=number) for number in range(1, 31)]
    (first,) = abridge(lines, [], LEAST, lambda _: LEAST)
    assert first.sentence == "29 more failed; --verbose shows all."


@MANY_DEMANDS
def test_each_demand_has_its_entry_in_the_file_and_every_link_its_target(name: str, audits: dict[str, Audit]) -> None:
    audit = audits[name]
    page = Page(audit.render(".html"))
    ids = Counter(element.attributes["id"] for element in page.elements if "id" in element.attributes)
    assert max(ids.values()) == 1
    assert {f"e{number}" for number in range(1, len(audit.expectations) + 1)} <= ids.keys()
    assert {f"g{number}" for number in range(1, len(audit.demand_groups) + 1)} <= ids.keys()
    links = {element.attributes.get("href") or "" for element in page.named("a")}
    assert {link[1:] for link in links if link.startswith("#")} <= ids.keys()
    for number, one in enumerate(audit.expectations, 1):
        assert one.attribute is None or one.attribute in page.with_id(f"e{number}").text


@MANY_DEMANDS
def test_a_group_says_how_many_hold_the_worst_and_who_is_exposed(name: str, audits: dict[str, Audit]) -> None:
    page = Page(audits[name].render(".html"))
    for number, group in enumerate(audits[name].demand_groups, 1):
        entry = page.with_id(f"g{number}").text
        assert group.sentence in entry
        for _, outcome in group.ranked[: min(3, max(group.tally.failed, 1))]:
            assert group.subject_of(outcome) in entry.partition("one by one")[0]


@MANY_DEMANDS
def test_the_table_of_demands_has_a_row_for_each_group(name: str, audits: dict[str, Audit]) -> None:
    audit = audits[name]
    page = Page(audit.render(".html"))
    grouped = {number for group in audit.demand_groups for number in group.numbers}
    targets = {f"#g{number}" for number in range(1, len(audit.demand_groups) + 1)}
    targets |= {f"#e{number}" for number in range(1, len(audit.expectations) + 1) if number not in grouped}
    table = page.source.partition('<table class="expectations">')[2].partition("</table>")[0]
    assert set(re.findall(r'<th scope="row"><a href="(#\w+)">', table)) == targets


@MANY_DEMANDS
def test_the_picture_has_every_figure_in_its_table(name: str, audits: dict[str, Audit]) -> None:
    groups = groups_of(audits[name])
    chart = matrix.chart(groups)
    assert chart is not None
    assert isinstance(chart.drawing, Drawing)
    cells = [cell for row in chart.data.body for cell in row[1:] if cell != "–"]
    assert len(cells) == sum(len(group.outcomes) for group in groups)
    assert sum(cell[0] in "✗?!" for cell in cells) == len(chart.drawing.areas)
    assert [cell for cell in cells if cell[0] == "✗"]
    assert {row[0] for row in chart.data.body[:10]} <= {label.text for label in chart.drawing.labels}
    for label in chart.drawing.labels:
        low, high = label.extent()
        assert low >= -0.5
        assert high <= 100.5, label.text


def test_rows_of_the_picture_are_scenarios_where_they_have_few_columns_in_common(audits: dict[str, Audit]) -> None:
    charts = {name: matrix.chart(groups_of(audits[name])) for name in ("attributes", "scenarios")}
    heads = {name: chart.data.head for name, chart in charts.items() if chart is not None}
    assert heads["attributes"][0] == "column"
    assert heads["scenarios"][0] == "scenario"
    assert len(heads["attributes"]) == 1 + 3
    assert len(heads["scenarios"]) == 1 + 5


def test_few_demands_have_no_picture_and_no_entry_that_opens(salary_audit: Audit) -> None:
    assert len(salary_audit.expectations) <= MANY
    assert groups_of(salary_audit) == ()
    page = salary_audit.render(".html")
    assert 'class="members"' not in page
    assert "cell-wrong" not in page


@MANY_DEMANDS
def test_the_summary_opens_too(name: str, audits: dict[str, Audit]) -> None:
    summary = audits[name].render(".md")
    groups = audits[name].demand_groups
    assert summary.count("<details><summary>") == summary.count("</details>") >= 2 * len(groups)
    demands = summary.partition("## What the policy demands")[2].partition("<details>")[0]
    assert demands.count("\n| ") - 2 == len(audits[name].expectations) - sum(len(one.numbers) - 1 for one in groups)


def test_columns_of_one_kind_are_a_range(audits: dict[str, Audit]) -> None:
    page = audits["columns"].render(".html")
    assert "measurement_001 to measurement_100" in page
    assert "gone_0 to gone_19" in page
    fold = page.partition('<details class="folded">')[2].partition("</details>")[0]
    assert len(re.findall(r"measurement_\d+", fold)) == 200


def ranges(names: list[str], *others: list[str], counts: int | None = None) -> list[list[str]]:
    table = Rows(("name", *(f"c{at}" for at in range(len(others)))), list(zip(names, *others, strict=True)))
    return [list(row) for row in by_ranges(table, "column", counts)[0].body]  # type: ignore[union-attr]


def test_a_range_is_of_rows_that_are_alike_but_for_a_count() -> None:
    names = [*(f"a{at}" for at in range(20)), "x", *(f"b{at}" for at in range(10))]
    roles = ["secret"] * 31
    assert ranges(names, roles, [str(1000 + at) for at in range(31)], counts=2) == [
        ["a0 to a19\n20 columns", "secret", "1000 to 1019"],
        ["x", "secret", "1020"],
        ["b0 to b9\n10 columns", "secret", "1021 to 1030"],
    ]


def test_rows_without_a_stem_are_joined_by_their_kind() -> None:
    names = [chr(97 + at) * 3 for at in range(26)]
    assert ranges(names, ["secret", "known"] * 13) == [
        ["aaa, ccc, eee and 10 more\n13 columns", "secret"],
        ["bbb, ddd, fff and 10 more\n13 columns", "known"],
    ]


def test_few_rows_are_as_they_are() -> None:
    names = [f"a{at}" for at in range(24)]
    assert ranges(names, ["known"] * 24) == [[name, "known"] for name in names]


@pytest.mark.long
@ANY
def test_at_most_fifteen_pages_before_the_annex(
    name: str, audits: dict[str, Audit], chromium: str, tmp_path: Path
) -> None:
    source, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    annex = 'id="section-coverage"'  # the first of its parts
    page = audits[name].render(".html")
    assert annex in page
    source.write_text(page.replace(annex, f'{annex} style="break-before: page"'), encoding="utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer")
    where = (f"--user-data-dir={tmp_path}/profile", f"--print-to-pdf={paper}")
    subprocess.run([chromium, *flags, *where, source.as_uri()], capture_output=True, timeout=120, check=True)
    whole = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
    source.write_text(re.sub(rf"<section {annex}.*</main>", "</main>", page, flags=re.DOTALL), encoding="utf-8")
    subprocess.run([chromium, *flags, *where, source.as_uri()], capture_output=True, timeout=120, check=True)
    before = len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))
    assert before <= 15
    assert before < whole


def test_a_group_of_warnings_is_no_failure(with_outcomes) -> None:  # type: ignore[no-untyped-def]
    outcomes = [made_up(1, 5, title="Check", attribute=f"a{number}", status=Status.PASSED) for number in range(30)]
    (group,) = with_outcomes(*outcomes).demand_groups
    assert group.state == "passed"
    assert group.sentence == "All 30 hold."


@pytest.mark.parametrize(
    ("status", "result", "exposed"),
    [
        (Status.PASSED, "all 30 hold", "0"),
        (Status.FAILED, "30 of 30 fail", "–"),
        (Status.ERROR, "30 of 30 could not be checked", "–"),
        (Status.MEASURED, "30 measured", "–"),
        (Status.SKIPPED, "30 not examined", "–"),
    ],
)
def test_the_people_exposed_are_not_known_where_no_demand_counts_them(  # type: ignore[no-untyped-def]
    with_outcomes, status: Status, result: str, exposed: str
) -> None:
    made = [made_up(1, 5, title="Check", attribute=f"a{number}", status=status) for number in range(30)]
    audit = with_outcomes(*(replace(one, records=None, classes=None) for one in made))
    (row,) = demand_rows(audit, rows(audit))
    assert row.attribute == f"30 columns: {result}"
    assert (row.at_risk, row.at_risk_of) == (exposed, "")


def test_cells_that_were_asked_for_are_in_the_entries_of_a_group() -> None:
    audit = many_attributes(columns=8, show_values=True)
    assert audit.demand_groups
    page = Page(audit.render(".html"))
    failing = next(number for number, one in enumerate(audit.expectations, 1) if one.worst[0].cells is not None)
    assert "age: " in page.with_id(f"e{failing}").text
