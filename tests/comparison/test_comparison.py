"""What became better, what worse, and what was asked otherwise; and that every form of it is inert."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st
from written_samples import MARK, Pair

from tcdp_audit.cli.displays import print_comparison
from tcdp_audit.cli.printing import streams
from tcdp_audit.core.results.change import (
    DemandChange,
    Direction,
    demand_changed,
    figure_moved,
    matched,
    status_moved,
)
from tcdp_audit.core.results.comparison import AuditComparison, compare
from tcdp_audit.core.results.written import WrittenAudit, read_audit
from tcdp_audit.core.session.registry import Plugins

REPORTERS = Plugins.load(external=False).reporters
TITLES = {"k_anonymity": "k-anonymity"}
HOSTILE = ("<script>alert(1)</script>", "{{7*7}}", "[x](javascript:1)|*_#", "\x1b[31m\u202eevil", "=HYPERLINK(1)")
Changed = Callable[[dict[str, Any]], object]


def entry(**changed: Any) -> dict[str, Any]:
    """An outcome of k-anonymity that fails for 3 of 10 records."""
    plain = {
        "check": "k_anonymity",
        "attribute": None,
        "parameters": {"k": 3},
        "severity": "error",
        "status": "failed",
        "observed": 2,
        "threshold": 3,
        "comparison": ">=",
        "classes": {"total": 4, "failing": 1},
        "records": {"total": 10, "failing": 3},
        "source": "",
    }
    return {**plain, **changed}


def demanding(k: int | None, **changed: Any) -> dict[str, Any]:
    return entry(parameters={} if k is None else {"k": k}, threshold=k, **changed)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (demanding(3), demanding(3), "same"),
        (demanding(3), demanding(5), "stricter"),
        (demanding(3), demanding(2), "looser"),
        (demanding(None), demanding(2), "stricter"),
        (demanding(2), demanding(None), "looser"),
        (demanding(3), demanding(3, severity="warning"), "looser"),
        (demanding(3, severity="warning"), demanding(3), "stricter"),
        (demanding(3), demanding(5, severity="warning"), "different"),
        (demanding(3), demanding(3, comparison=">"), "different"),
        (entry(parameters={"k": 3, "p": 0.1}), entry(parameters={"k": 3, "p": 0.2}), "different"),
        (entry(parameters={"k": 3, "p": 0.1}), entry(parameters={"k": 4, "p": 0.2}, threshold=4), "different"),
        (entry(parameters={"k": 3, "of": "a"}), entry(parameters={"k": 3, "of": "b"}), "different"),
        (entry(comparison="<="), entry(comparison="<=", parameters={"k": 4}, threshold=4), "looser"),
        (entry(comparison="<="), entry(comparison="<=", parameters={"k": 2}, threshold=2), "stricter"),
    ],
)
def test_how_a_demand_was_changed(old: dict[str, Any], new: dict[str, Any], change: str):
    assert demand_changed(old, new) == DemandChange(change)


@pytest.mark.parametrize(
    ("old", "new", "direction"),
    [
        ({"observed": 2}, {"observed": 3}, "better"),
        ({"observed": 2}, {"observed": 1.5}, "worse"),
        ({"observed": 2, "comparison": "<="}, {"observed": 3, "comparison": "<="}, "worse"),
        ({"observed": 2, "comparison": "<"}, {"observed": "infinity", "comparison": "<"}, "worse"),
        ({"observed": "infinity"}, {"observed": "infinity"}, "same"),
        ({"observed": None}, {"observed": 1}, "different"),
        ({"observed": None}, {"observed": None}, "same"),
        ({"observed": 2, "comparison": None}, {"observed": 3, "comparison": None}, "different"),
        ({"observed": 2, "comparison": "<"}, {"observed": 3, "comparison": "<="}, "different"),
        ({}, {"records": {"total": 10, "failing": 2}}, "better"),
        ({}, {"records": {"total": 10, "failing": 4}}, "worse"),
        ({}, {"records": None}, "better"),
        ({}, {"records": {"total": 10, "failing": 4}, "threshold": 4}, "same"),
    ],
)
def test_where_a_figure_moved(old: dict[str, Any], new: dict[str, Any], direction: str):
    assert figure_moved(entry(**old), entry(**new)) == Direction(direction)


def test_where_a_status_moved():
    assert status_moved("failed", "passed") == "better"
    assert status_moved("passed", "error") == "worse"
    assert status_moved("measured", "failed") == "worse"
    assert status_moved("passed", "passed") == "same"
    assert status_moved("failed", "error") == "same"  # as bad; that they differ is said by `kind`


def test_counterparts_are_detected_by_what_is_nearest():
    old = [demanding(3), demanding(5), entry(attribute="a"), entry(check="suda")]
    new = [demanding(5), demanding(4), entry(attribute="b"), demanding(9)]
    assert matched(old, new) == [
        (old[1], new[0]),  # the very same demand
        (old[0], new[1]),  # another threshold
        (None, new[2]),
        (None, new[3]),
        (old[2], None),
        (old[3], None),
    ]


demands = st.builds(demanding, st.integers(1, 4), attribute=st.sampled_from(["a", "b", None]))


@given(st.lists(demands, max_size=8), st.lists(demands, max_size=8))
def test_everything_has_its_place_once(old: list[dict[str, Any]], new: list[dict[str, Any]]):
    pairs = matched(old, new)
    assert [id(two) for _, two in pairs if two is not None] == [id(one) for one in new]
    assert sorted(id(one) for one, _ in pairs if one is not None) == sorted(map(id, old))
    assert all(one is None or two is None or one["attribute"] == two["attribute"] for one, two in pairs)


@given(st.lists(demands, min_size=1, max_size=8))
def test_an_audit_beside_itself_is_the_same(entries: list[dict[str, Any]]):
    assert matched(entries, list(entries)) == [(one, one) for one in entries]


@given(demands, demands, st.integers(0, 9), st.integers(0, 9))
def test_backwards_better_is_worse_and_stricter_is_looser(old: Any, new: Any, was: int, now: int):
    assume(was != now)
    old, new = {**old, "observed": was}, {**new, "observed": now}
    opposite = {"better": "worse", "worse": "better", "stricter": "looser", "looser": "stricter"}
    assert figure_moved(new, old) == opposite.get(figure_moved(old, new), figure_moved(old, new))
    assert demand_changed(new, old) == opposite.get(demand_changed(old, new), demand_changed(old, new))


def audits(pair: Pair, change: Changed) -> AuditComparison:
    """The audit of a pair beside the same with something changed."""
    old = read_audit(pair.json)
    result = copy.deepcopy(pair.result)
    change(result)
    return compare(old, WrittenAudit(pair.html, result), TITLES)


def expectation(result: dict[str, Any], number: int = 0) -> dict[str, Any]:
    own = [one for one in result["outcomes"] if one["source"] != "tcdp-audit: structure"]
    one: dict[str, Any] = own[number]
    return one


def kinds(comparison: AuditComparison) -> list[str]:
    return [one.kind for one in comparison.expectations]


def test_nothing_changed(pair: Pair):
    comparison = audits(pair, lambda result: result.update(audited_at="2030-01-01T00:00:00Z"))
    assert comparison.is_same
    assert not comparison.is_worse
    assert set(kinds(comparison)) == {"same"}
    assert [one.name for one in comparison.changed_facts] == ["audited"]
    assert comparison.changed_columns == []
    assert comparison.sentence == "Of 5 expectations, 5 are as they were. The same release under the same policy."


@pytest.mark.parametrize(
    ("change", "kind", "worse"),
    [
        (lambda result: expectation(result).update(observed=1), "worse", True),
        (lambda result: expectation(result).update(observed=9), "better", False),
        (lambda result: expectation(result).update(status="error"), "worse", True),
        (lambda result: expectation(result).update(parameters={"k": 2}, threshold=2), "demand", True),
        (lambda result: expectation(result).update(parameters={"k": 4}, threshold=4), "demand", False),
        (lambda result: expectation(result).update(severity="warning"), "demand", True),
        (lambda result: result["outcomes"].remove(expectation(result)), "gone", True),
        (lambda result: expectation(result).update(check="made_up"), "new", True),
        (lambda result: result.update(status="measured"), "same", False),
        (lambda result: expectation(result, 4).update(observed=None), "different", False),
    ],
)
def test_what_changed_is_reported_and_worse_is_worse(change: Changed, kind: str, worse: bool, pair: Pair):
    comparison = audits(pair, change)
    assert kind in kinds(comparison)
    assert comparison.is_worse is worse
    assert not comparison.is_same


def test_a_worse_verdict_is_worse_whatever_the_figures_say(pair: Pair):
    old, new = read_audit(pair.json), copy.deepcopy(pair.result)
    new["status"] = "passed"
    assert compare(WrittenAudit(pair.html, new), old, {}).is_worse
    assert compare(WrittenAudit(pair.html, new), old, {}).verdict == "worse"
    assert compare(old, WrittenAudit(pair.html, new), {}).verdict == "better"


def test_release_policy_people_and_columns_are_compared(pair: Pair):
    def change(result: dict[str, Any]) -> None:
        result["release"].update(sha256="0" * 64, records=12, uri="other/new.csv")
        result["policy"].update(sha256="1" * 64)
        result["companions"]["original"] = {**result["release"]}
        result["columns"][0].update(role="sensitive")
        result["columns"].append({**result["columns"][0], "name": "added"})
        result["conventions"]["reference"] = "original"
        result["exposed"] = None
        structural = next(one for one in result["outcomes"] if one["check"] == "undeclared_columns")
        structural["details"]["columns"] = ["extra"]

    comparison = audits(pair, change)
    facts = {one.name: (one.old, one.new) for one in comparison.changed_facts}
    assert facts["records"] == ("10", "12")
    assert facts["release"] == ("release.csv", "new.csv")
    assert facts["SHA-256 of the original"] == ("not compared", "000000000000…")
    assert facts["SHA-256 of the policy"][1] == "111111111111…"
    assert facts["convention: what closeness is measured against"] == ("release", "original")
    assert facts["people at risk"][1] == "none"
    assert {one.name: (one.old, one.new) for one in comparison.changed_columns} == {
        "age": ("role: quasi-identifier", "role: sensitive"),
        "added": ("not there", "there"),
        "undeclared columns": ("passed", "extra"),
    }
    assert comparison.sentence.endswith("Another release under another policy.")


def test_columns_conventions_and_dates_are_written_in_words(pair: Pair):
    def change(result: dict[str, Any]) -> None:
        result["columns"][0].update(values=1, missing=1200, present=False)
        result["conventions"]["multiple_sensitive"] = "others_as_quasi_identifiers"
        result["audited_at"] = "2026-11-23T08:33:00Z"

    comparison = audits(pair, change)
    facts = {one.name: one.new for one in comparison.changed_facts}
    assert facts["convention: several sensitive columns"] == "others as quasi identifiers"
    assert facts["audited"] == "23 November 2026, 08:33 UTC"
    (column,) = comparison.changed_columns
    assert column.old.startswith("in the file, ")
    assert column.new == "not in the file, 1 value, 1,200 missing cells"


@pytest.mark.parametrize(
    ("unit_name", "unit", "said"), [("person", "row", "failed, 3 people"), ("person", "household", "failed, 3 records")]
)
def test_what_fails_is_counted_by_the_noun_of_its_audit(unit_name: str, unit: str, said: str, pair: Pair):
    def change(result: dict[str, Any]) -> None:
        result["unit_name"] = unit_name
        expectation(result)["conventions"]["unit"] = unit
        expectation(result).update(status="failed", records={"total": 10, "failing": 3})

    first = audits(pair, change).expectations[0]
    assert first.state(first.new) == said
    assert not first.state(first.old).endswith(("people", "person"))


def test_people_of_a_result_that_does_not_agree_on_a_number(pair: Pair):
    def older(result: dict[str, Any]) -> None:
        del result["exposed"]
        expectation(result).update(status="failed", records={"total": 10, "failing": 9})

    (people,) = [one for one in audits(pair, older).facts if one.name == "people at risk"]
    assert people.new == "at least 9 records"


def hostile(result: dict[str, Any]) -> None:
    """Every name in a result is one that would do harm where it is not escaped."""
    result["release"]["uri"] = f"folder/{HOSTILE[3]}|<b>.csv"
    result["policy"]["uri"] = HOSTILE[2]
    result["tool"]["version"] = HOSTILE[0]
    result["companions"] = {HOSTILE[1]: {**result["release"]}}
    for number, name in enumerate(HOSTILE):
        one = expectation(result, number % 5)
        one.update(check=HOSTILE[0], attribute=name, parameters={name: name, "n": number}, message=MARK)
    result["columns"] = [{**result["columns"][0], "name": name, "role": name, "label": name} for name in HOSTILE]
    result["conventions"] = dict.fromkeys(HOSTILE, HOSTILE[2])
    for one in result["outcomes"]:
        one["details"]["columns"] = list(HOSTILE)


class Page(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href" and tag == "a"]
        assert not any(name.startswith("on") or (value or "").startswith("javascript:") for name, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(comparison: AuditComparison, suffix: str) -> str:
    (reporter,) = [one for one in REPORTERS.values() if one.suffix == suffix]
    assert reporter.render_comparison is not None
    return reporter.render_comparison(comparison)


def test_every_form_of_hostile_names_is_inert(pair: Pair, monkeypatch: pytest.MonkeyPatch):
    comparison = audits(pair, hostile)
    html, markdown = rendered(comparison, ".html"), rendered(comparison, ".md")
    page = Page(html)
    assert not {"script", "img", "b", "iframe"} & set(page.tags)
    assert set(page.links) == {"#top", *(f"#s{number}" for number in range(1, 5))}
    assert "{{7*7}}" in page.text
    assert "<script>alert(1)</script>" in page.text
    assert not any(text in markdown for text in ("<script>", "<b>", "](javascript", "|*_#"))
    assert json.loads(rendered(comparison, ".json")) == comparison.as_json()

    out = StringIO()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout", out)
    with streams():
        print_comparison(comparison, [HOSTILE[3]])
    for text in (html, markdown, rendered(comparison, ".json"), out.getvalue()):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert MARK not in text


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_the_same_comparison_gives_the_same_bytes(suffix: str, pair: Pair):
    one = compare(read_audit(pair.json), read_audit(pair.html), TITLES)
    assert rendered(one, suffix) == rendered(compare(read_audit(pair.json), read_audit(pair.html), TITLES), suffix)
    assert MARK not in rendered(one, suffix)


def test_an_audit_without_expectations_has_a_form(pair: Pair):
    empty: Changed = lambda result: result.update(outcomes=[])  # noqa: E731
    old = copy.deepcopy(pair.result)
    empty(old)
    written = WrittenAudit(Path("a.json"), old)
    comparison = compare(written, written, TITLES)
    assert comparison.sentence == "No expectations. The same release under the same policy."
    assert "Neither audit has an expectation." in rendered(comparison, ".html")
    assert "## Expectations" not in rendered(comparison, ".md")
