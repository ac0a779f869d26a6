"""The HTML report: one inert, balanced file, whatever the names are and however much there is to show."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from math import inf

import pytest
from html_page import Page
from report_samples import HOSTILE, made_up, named_policy, named_table

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Comparison, Status
from tcdp_audit.core.results.strict_json import unpacked
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit_reports.guide_text import is_mathml
from tcdp_audit_reports.sections.unexamined import left, relevant, unexamined

NO_CELL = "This report contains no cell of the release."
CELLS = "This report contains cells of the release."


def test_the_policy_allows_exactly_the_stylesheet(salary_audit):
    page = Page(salary_audit.render(".html"))
    digest = base64.b64encode(hashlib.sha256(page.named("style")[0].text.encode()).digest()).decode()
    policies = [one.attributes["content"] for one in page.named("meta") if "http-equiv" in one.attributes]
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    ]


@pytest.mark.parametrize("which", ["salary_audit", "hostile_audit"])
def test_the_page_is_balanced_and_asks_for_nothing(which, request):
    page = Page(request.getfixturevalue(which).render(".html"))
    assert page.open == []
    forbidden = {
        "script",
        "iframe",
        "img",
        "object",
        "embed",
        "base",
        "form",
        "audio",
        "video",
        "foreignobject",
    }
    assert forbidden.isdisjoint(element.name for element in page.elements)
    for element in page.elements:
        for name, value in element.attributes.items():
            assert not name.startswith("on"), element
            assert name not in {"src", "style", "srcset"}, element
            if name in {"href", "xlink:href"}:
                assert value.startswith("#") or value == "data:,", element
    assert not re.search(r"url\((?!\"#)|@import", page.named("style")[0].text)


def test_every_link_has_its_target_once(salary_audit):
    page = Page(salary_audit.render(".html"))
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {one.attributes["href"][1:] for one in page.named("a")} <= set(ids)


def test_hostile_names_are_text(hostile_audit):
    text = hostile_audit.render(".html")
    assert "<script" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "{{7*7}}" in text
    assert "\n49" not in Page(text).with_id("e2").text


def test_the_result_is_embedded_to_the_letter(hostile_audit):
    page = Page(hostile_audit.render(".html"))
    result = unpacked(page.with_id("tcdp-audit-result").text, "the result")
    assert json.loads(result) == hostile_audit.as_json()


def test_the_same_audit_gives_the_same_bytes(salary_audit):
    assert salary_audit.render(".html") == salary_audit.render(".html")


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_no_cell_is_shown_unless_asked_for(suffix):
    table = named_table(HOSTILE, lambda name, group: f"planted{HOSTILE.index(name)}x{group}")
    assert "planted" not in audit(table, named_policy(HOSTILE)).render(suffix)
    assert "planted0x0" in audit(table, named_policy(HOSTILE), show_values=True).render(suffix)


def test_declared_orders_are_counted_not_shown():
    names = ("zip", "severity")
    policy = named_policy(names)
    policy["attributes"]["severity"] |= {
        "scale": "ordinal",
        "order": [f"planted{group}" for group in range(4)],
    }
    text = audit(named_table(names, lambda _, group: f"planted{group}"), policy).render(".html")
    assert "planted" not in text
    assert "[4 values not shown]" in Page(text).with_id("section-appendix").text


def test_the_footer_and_a_banner_say_whether_there_are_cells():
    table = named_table(("a", "b"), lambda _, group: f"v{group}")
    without = Page(audit(table, named_policy(("a", "b"))).render(".html"))
    shown = Page(audit(table, named_policy(("a", "b")), show_values=True).render(".html"))
    assert NO_CELL in without.named("footer")[0].text
    assert CELLS not in without.named("body")[0].text
    assert CELLS in shown.named("footer")[0].text
    assert [CELLS in one.text for one in shown.named("p") if one.attributes.get("class") == "banner"] == [True]
    assert "a: v0" in shown.with_id("e1").text


def test_a_finding_has_sentence_chart_data_classes_and_definition(salary_audit):
    text = Page(salary_audit.render(".html")).with_id("e4").text
    assert "6 of 9 records are in 2 groups" in text
    assert "66.7% of records are in groups that go beyond 0.2" in text
    assert "Worst groups" not in text  # all three would be no worst ones
    assert "For one person:" not in text  # the first screen has it
    assert "An intruder who knows" in Page(salary_audit.render(".html")).with_id("verdict").text


def test_a_check_is_explained_once(salary_audit):
    page = Page(salary_audit.render(".html"))
    assert "Li, Li, Venkatasubramanian" in page.with_id("glossary-t_closeness").text
    assert page.source.count("Li, Li, Venkatasubramanian, t-Closeness, ICDE 2007, definition 1") < 5  # and in the JSON
    links = [one.attributes["href"] for one in page.named("a")]
    assert links.count("#glossary-t_closeness") == 3


def test_coverage_names_what_was_not_checked():
    policy = {
        "version": 1,
        "attributes": {"a": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    result = audit(named_table(("a",), lambda _, group: f"{group}"), policy)
    cells = [one.text for one in Page(result.render(".html")).named("td")]
    disclosure_types = [text for text in cells if " were not run." in text or "No check" in text]
    assert len(disclosure_types) == 4
    assert "'a', passed" in disclosure_types[0]
    here = sum(one.disclosure_type is DisclosureType.ATTRIBUTE_MODEL for one in unexamined(result).values())
    shown = [int(number) for text in cells for number in re.findall(r"(\d+) more checks? w", text)]
    assert sum(shown) == len(left(result))  # as the section on what was not examined counts them
    assert disclosure_types[2] == f"{here} more checks were not run."


def test_every_check_that_was_not_run_is_named_once_if_it_could_say_more(salary_audit):
    page = Page(salary_audit.render(".html"))
    first, rest = page.with_id("section-unexamined").text, page.with_id("section-not_run").text
    left = unexamined(salary_audit)
    assert not {one.check for one in salary_audit.expectations} & left.keys()
    assert {"k_map", "release_differencing"} < left.keys()
    assert not {"distance_record_linkage", "exact_match_rate", "rank_swap_attack"} & left.keys()
    for name, check in left.items():
        assert (f"{check.title}. {check.risk}" in first) is (check in relevant(salary_audit)), name
        assert check.title.lower() in rest.lower(), name  # also those of which the section says more


@pytest.mark.long
def test_five_hundred_expectations_with_long_names(with_outcomes):
    sizes = [[size, 1, size] for size in range(1, 21)]
    outcome = made_up(1, 5, distribution=sizes, failing=(4, 10), title="x" * 300, attribute="y" * 300)
    page = Page(with_outcomes(*[outcome] * 500).render(".html"))
    assert len(page.named("article")) == 500 + 1  # and that of the group
    assert len([one for one in page.named("article") if one.attributes["class"] == "finding"]) == 40
    assert len(page.source) < 3_000_000
    assert "500 demands: 500 of 500 fail" in page.with_id("section-coverage").text


def test_five_thousand_sizes_make_a_short_section(with_outcomes):
    sizes = [[size, 1, size] for size in range(1, 5001)]
    text = with_outcomes(made_up(1, 5, distribution=sizes, failing=(4, 10))).render(".html")
    assert len(text[text.index('<article class="finding" id="e1"') : text.index("</article>")]) < 20_000


def test_every_audit_of_errors_and_odd_figures_renders(with_outcomes):
    outcomes = [
        made_up(None, 5, status=Status.ERROR, message="the check raised ValueError"),
        made_up(None, None, status=Status.SKIPPED),
        made_up(
            inf,
            2,
            Comparison.AT_MOST,
            check="t_closeness",
            distribution=[[0.5, 1, 3], [inf, 1, 6]],
            failing=(1, 6),
        ),
        made_up(0, 0, Comparison.BELOW, check="unknown_check"),
        made_up(0.3, "1/5", Comparison.AT_MOST, check="unknown_check", distribution=[[0, 1, 1]]),
    ]
    page = Page(with_outcomes(*outcomes).render(".html"))
    assert page.open == []
    assert page.named("h1")[0].text == "Not fit for release"
    assert "could not be run" in page.with_id("section-demands").text
    assert "66.7%" in page.with_id("e3").text


def test_an_audit_without_expectations_renders_as_incomplete(with_outcomes):
    page = Page(with_outcomes().render(".html"))
    assert page.named("h1")[0].text == "Audit incomplete"
    assert "gave no outcome" in page.with_id("section-findings").text


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("<math display='block'><mi>k</mi><mo>&gt;</mo></math>", True),
        ("<math><mspace width='1em'/></math> <math><mn>1</mn></math>", True),
        ("", False),
        ("k", False),
        ("<mi>k</mi>", False),
        ("<math><mi>k</math>", False),
        ("<math><mi>k</mi>", False),
        ("<math><script>1</script></math>", False),
        ("<math onclick='x()'></math>", False),
        ("<math><mi style='x'>k</mi></math>", False),
        ("<math><mi><!-- --></mi></math>", False),
        ("<math href='javascript:1'></math>", False),
    ],
)
def test_only_mathml_is_let_into_the_page(text, sound):
    assert is_mathml(text) is sound


def test_registered_formulas_are_mathml_or_absent(salary_audit):
    assert [
        name
        for name, one in salary_audit.plugins.checks.items()
        if one.guide.mathml and not is_mathml(one.guide.mathml)
    ] == []
