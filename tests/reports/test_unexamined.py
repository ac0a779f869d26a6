"""Risks that were not examined: the three that matter most, tables that no demand used, and open questions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.results.audit import Audit
from tcdp_audit_reports.first_screen import open_questions
from tcdp_audit_reports.sections.coverage import ATTRIBUTE, possible_checks
from tcdp_audit_reports.sections.unexamined import answered, beyond, not_run, relevant, unexamined, unused

TABLE = pa.table({"zip": ["1"] * 4, "pain": ["a", "b"] * 2})
TREE = {"any": ["a", "b"]}


def audited(*expect: Any, given: dict[str, Any] | None = None, **more: Any) -> Audit:
    pain = {"role": "sensitive", "scale": "nominal", **({"hierarchy": TREE} if more.pop("tree", False) else {})}
    attributes = {"zip": {"role": "quasi_identifier", "scale": "nominal"}, "pain": pain}
    policy = {"version": 1, "attributes": attributes, "expect": list(expect), **more}
    return audit(TABLE, policy, **(given or {}))


def text_of(result: Audit) -> str:
    """The section on what was not examined, as text."""
    page = result.render(".md")
    return page[page.index("## What was not examined") : page.index("## What this verdict rests on")]


K, CLOSE = {"k_anonymity": {"k": 2}}, {"t_closeness": {"t": "0.5", "distance": "hierarchical"}}
POPULATION = {"population": TABLE.select(["zip"])}


def test_a_population_that_no_demand_used_is_named_with_a_check_that_would() -> None:
    result = audited(K, given=POPULATION)

    assert unused(result) == {"population"}
    assert "population" in relevant(result)[0].requires
    assert text_of(result).count("The policy names a register of everybody, and no demand uses it.") == 1


def test_a_register_that_the_policy_names_is_unused(tmp_path: Any) -> None:
    result = audited(K, registry=str(tmp_path / "register.csv"))

    assert unused(result) == {"registry"}
    assert relevant(result)[0].name == "joinability"


@pytest.mark.parametrize(
    ("expect", "more"),
    [
        ([K, {"k_map": {"k": 2}}], {"given": POPULATION}),
        ([K], {}),
        ([K, {"t_closeness": {"t": "0.5"}}], {"given": {"original": TABLE}, "conventions": {"reference": "original"}}),
        ([K, CLOSE], {"tree": True}),
    ],
)
def test_nothing_is_said_of_what_a_demand_used(expect: list[Any], more: dict[str, Any]) -> None:
    result = audited(*expect, **more)

    assert unused(result) == frozenset()
    assert "no demand" not in text_of(result)
    assert "by no demand" not in text_of(result)


def test_an_original_and_a_hierarchy_that_no_demand_used() -> None:
    result = audited(K, given={"original": TABLE}, tree=True)

    assert unused(result) == {"original"}
    assert "The hierarchy of pain was used by no demand: similar values count as different." in text_of(result)


def test_three_risks_at_most_are_shown_and_each_has_a_reason() -> None:
    result = audited(K)
    chosen, left = relevant(result), unexamined(result)

    assert 0 < len(chosen) <= 3
    assert len({one.name for one in chosen}) == len(chosen)
    assert {one.name for one in chosen} <= left.keys()
    assert {one.disclosure_type for one in chosen} & set(ATTRIBUTE)  # nothing was asked of what must stay secret
    assert not {"sample_uniqueness", "reidentification_risk"} & left.keys()  # k-anonymity says it, too


@pytest.mark.parametrize("status", [Status.ERROR, Status.SKIPPED])
def test_a_check_without_a_result_answers_nothing(status: Status) -> None:
    result = audited(K)
    changed = [replace(one, status=status) if one.check == "k_anonymity" else one for one in result.outcomes]
    left = unexamined(replace(result, outcomes=tuple(changed)))

    assert {"sample_uniqueness", "reidentification_risk"} <= left.keys()
    assert ("k_anonymity" in left) is (status is Status.SKIPPED)


def test_masking_is_no_risk_of_a_file_without_masked_values() -> None:
    left = unexamined(audited(K, given={"original": TABLE}, rows_aligned=True))

    assert "distance_record_linkage" in left
    assert not {"rank_swap_attack", "pram_attack", "noise_attack", "microaggregation_attack"} & left.keys()


@pytest.mark.parametrize("given", [{}, {"original": TABLE}, POPULATION])
def test_annex_b_names_or_counts_every_check_that_no_result_answers(given: dict[str, Any]) -> None:
    result = audited(K, given=given)
    *lists, kinds = (f"{one.lead} {one.text}".lower() for one in not_run(result))  # type: ignore[union-attr]
    (by_others,) = (one for one in lists if one.startswith("answered by other results:"))
    named = [one for one in lists if one != by_others]
    silent = {
        one
        for name, one in possible_checks(result).items()
        if not any(one.title.lower() in text for text in named) and name not in {each.check for each in result.outcomes}
    }
    by_another = {"sample_uniqueness", "reidentification_risk", "homogeneity", "direct_identifiers"}
    uncounted = {one.name for one in silent} - {one.name for one in beyond(result)}

    assert uncounted <= by_another
    assert uncounted == {one.name for one in answered(result)}
    assert all(one.title.lower() in by_others for one in answered(result))
    assert sum(int(word) for word in kinds.split() if word.isdigit()) == len(silent) - len(uncounted)
    with_original = [one for one in beyond(result) if one.requires == {"original"} and one.concerns != "masked"]
    assert bool(with_original) is ("original" not in given)
    assert (
        f"Annex B names all {len(unexamined(result)) + len(with_original)} checks that fit this data and were not run, "
        f"and {len(answered(result))} more that other results answer." in text_of(result)
    )


def test_a_way_to_use_the_file_that_was_not_counted_names_a_check_of_annex_b() -> None:
    page = audited(K).render(".html")
    annex = page[page.index('id="section-not_run"') : page.index('id="section-glossary"')].lower()
    missing = re.findall(r"Not counted: (.+?) was not run\.", page)

    assert len(missing) > 2
    assert all(one.lower() in annex for one in missing)


def test_open_questions_stand_on_the_first_screen_until_they_are_answered() -> None:
    attributes = {"zip": {"role": "quasi_identifier"}, "pain": {"role": "insensitive"}}
    policy: dict[str, Any] = {"version": 1, "attributes": attributes, "profile": "el_emam_precedents_3@2013"}
    waiting = audit(TABLE, policy)
    answer = {"answer": "yes", "by": "officer", "date": "2026-11-20"}
    keys = [one.key for _, one in waiting.policy.questions]

    assert len(open_questions(waiting)) == len(keys) == 3
    page = waiting.render(".html")
    assert "<h2>Only people can answer</h2>" in page
    assert page.count("<li>Does a precedent of 3 suit this release and its recipients?") == 1
    assert "<h1>Fit as far as a program can tell, but 3 questions wait for an answer</h1>" in page

    some = audit(TABLE, {**policy, "answers": {keys[0]: answer}})
    assert len(open_questions(some)) == 2
    assert "<h1>Fit as far as a program can tell, but 2 questions wait for an answer</h1>" in some.render(".html")

    every = audit(TABLE, {**policy, "answers": dict.fromkeys(keys, answer)})
    assert open_questions(every) == []
    assert "Only people can answer" not in every.render(".html")
    assert "<h1>Fit for release</h1>" in every.render(".html")
    assert (waiting.exit_code(), every.exit_code()) == (0, 0)
