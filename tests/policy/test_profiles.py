"""Profiles: demands with their sources, held at their thresholds and on both sides, and questions that never pass."""

from __future__ import annotations

import random
from datetime import date
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.outcome import PROFILE, Status
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.policy import CAVEAT, profiles
from tcdp_audit.core.results.tally import status_of
from tcdp_audit.core.results.verdict import exposed_sentence, verdict_sentence, verdict_title
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
PAGE = Path(__file__).parents[2] / "docs" / "profiles.md"
GROUPS = {  # the risk that a source names, its group, and what the risk means exactly
    "ema_policy_0070@2017-09": ("0.09", 11, 12),
    "health_canada_prci@2019-03": ("0.09", 11, 12),
    "ipc_ontario_2025_low@2025-10": ("0.09", 11, 12),
    "ipc_ontario_2025_medium@2025-10": ("0.075", 15, 14),
    "ipc_ontario_2025_high@2025-10": ("0.05", 20, 20),
    "el_emam_precedents_3@2013": ("0.33", 3, 4),
    "el_emam_precedents_5@2013": ("0.2", 5, 5),
    "el_emam_precedents_11@2013": ("0.09", 11, 12),
    "el_emam_precedents_20@2013": ("0.05", 20, 20),
    "cms_cell_size@2024-01": ("", 11, 11),
}
ATTRIBUTES = {"zip": {"role": "quasi_identifier"}}


def groups_of(*sizes: int) -> pa.Table:
    return pa.table({"zip": [str(number) for number, size in enumerate(sizes) for _ in range(size)]})


def under(profile: Any, table: pa.Table, expect: list[Any] | None = None, **document: Any) -> Any:
    policy = {"version": 1, "attributes": ATTRIBUTES, "profile": profile, **document}
    return audit(table, policy if expect is None else {**policy, "expect": expect})


@pytest.mark.parametrize("key", GROUPS)
def test_a_profile_demands_the_group_that_its_source_names(key: str) -> None:
    _, k, _ = GROUPS[key]
    assert [(one.check, dict(one.parameters)) for one in profiles()[key].demands] == [("k_anonymity", {"k": k})]


@pytest.mark.long
@pytest.mark.parametrize("key", GROUPS)
def test_a_group_is_held_at_its_threshold_and_on_both_sides(key: str) -> None:
    _, k, _ = GROUPS[key]
    for size, status in ((k - 1, "failed"), (k, "passed"), (k + 1, "passed")):
        judged = under(key, groups_of(size, 60))
        assert (judged.status, judged.expectations[0].threshold) == (status, k)


@pytest.mark.long
@pytest.mark.parametrize("key", [key for key, (risk, _, _) in GROUPS.items() if risk])
def test_the_outcome_says_what_the_risk_means_exactly(key: str) -> None:
    risk, k, exactly = GROUPS[key]
    assert ceil(1 / Fraction(risk)) == exactly
    (outcome, *_) = under(key, groups_of(60)).expectations
    assert f"Asked by the profile {key}: " in outcome.message
    assert f"{risk} taken exactly means groups of {exactly}" in outcome.message or (
        f"{risk} is groups of {exactly}, exactly" in outcome.message and exactly == k
    )


def test_what_was_said_of_perturbed_microdata_is_ours() -> None:
    attributes = {"zip": {"role": "quasi_identifier", "scale": "nominal"}}
    sizes = {"version": 1, "attributes": attributes, "rows_aligned": True, "profile": "perturbed_microdata@2026-11"}
    for size, state in ((2, "failed"), (3, "passed")):
        table = groups_of(size, 60)
        result = audit(table, sizes, original=table)
        assert [one.status.value for one in result.expectations if one.check == "k_anonymity"] == [state]
    (linkage,) = [one for one in result.expectations if one.check == "distance_record_linkage"]
    assert (linkage.threshold, linkage.severity.value) == (Fraction("0.05"), "error")
    assert "no published norm" in linkage.message


@pytest.mark.long
def test_one_record_in_twenty_is_the_most_that_perturbed_microdata_may_give_away() -> None:
    attributes = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
    policy = {"version": 1, "attributes": attributes, "rows_aligned": True, "profile": "perturbed_microdata@2026-11"}
    for groups, status in ((4, "passed"), (5, "passed"), (6, "failed")):  # of 100 records: one in each group is right
        ages = pa.table({"age": [number % groups for number in range(100)]})
        result = audit(ages, policy, original=ages)
        (linkage,) = [one for one in result.expectations if one.check == "distance_record_linkage"]
        assert (linkage.observed, linkage.status.value) == (groups / 100, status)


def frequencies(key: str, people: int, columns: int) -> list[tuple[str, Any, str]]:
    """What a profile says of a release of one record, of whose every value so many people of the population are."""
    names = [f"c{number}" for number in range(columns)]
    attributes = {name: {"role": "quasi_identifier"} for name in names}
    release = pa.table({name: ["x"] for name in names})
    register = pa.table({name: pa.array(["x"] * people).dictionary_encode() for name in names})
    policy = {"version": 1, "attributes": attributes, "profile": key}
    actual = audit(release, policy, population=register).expectations
    return [(one.check, one.threshold, one.status.value) for one in actual if one.threshold is not None]


@pytest.mark.long
@pytest.mark.parametrize(("people", "status"), [(99, "failed"), (100, "passed"), (101, "passed")])
def test_a_hundred_people_for_each_triple_in_research(people: int, status: str) -> None:
    reported = frequencies("statistics_netherlands_research@eef4a18", people, 3)
    assert reported == [("category_frequency", 100, status)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("people", "single", "pair"),
    [
        (999, "failed", "failed"),
        (1000, "failed", "passed"),
        (1001, "failed", "passed"),
        (199_999, "failed", "passed"),
        (200_000, "passed", "passed"),
        (200_001, "passed", "passed"),
    ],
)
def test_people_for_each_category_and_each_pair_in_public_files(people: int, single: str, pair: str) -> None:
    assert frequencies("statistics_netherlands_puf@eef4a18", people, 2)[:2] == [
        ("category_frequency", 200_000, single),
        ("category_frequency", 1000, pair),
    ]


@pytest.mark.long
@pytest.mark.parametrize(("columns", "status"), [(14, "passed"), (15, "passed"), (16, "failed")])
def test_fifteen_identifying_columns_in_public_files(columns: int, status: str) -> None:
    reported = frequencies("statistics_netherlands_puf@eef4a18", 1, columns)
    assert reported[2] == ("identifying_attribute_count", 15, status)


@pytest.mark.parametrize(
    ("demand", "fewer"),
    [
        ({"age_cap": {"column": "age", "at": 89, "at_most": 0}}, 1),
        ({"age_cap": {"column": "age", "at_most": 0}}, 1),
        ({"age_cap": {"column": "age", "at_most": 1}}, 0),
        ({"age_cap": {"column": "age", "at": 90, "at_most": 0}}, 0),
        ({"age_cap": {"column": "age"}}, 0),
        ({"age_cap": {"column": "age", "at_most": 0, "severity": "warning"}}, 0),
        ({"region_population": {"column": "zip", "at_least": 20_001}}, 1),
        ({"region_population": {"column": "zip", "at_least": 20_000}}, 0),
        ({"k_anonymity": {"k": 20}}, 0),
    ],
)
def test_a_question_goes_away_where_a_demand_as_strict_answers_it(demand: dict[str, Any], fewer: int) -> None:
    key = "hipaa_safe_harbor@164.514-b-2"
    attributes = {**ATTRIBUTES, "age": {"role": "insensitive", "scale": "numeric"}}
    policy = read_policy({"version": 1, "attributes": attributes, "profile": key, "expect": [demand]}, PLUGINS)
    assert len(policy.questions) == len(profiles()[key].questions) - fewer


@pytest.mark.parametrize("key", profiles())
def test_every_profile_has_sources_with_dates_and_questions(key: str) -> None:
    profile = profiles()[key]
    assert profile.sources
    assert all(one.title and one.date and len(one.read) > 5 for one in profile.sources)
    assert all(one.says.endswith(".") for one in profile.demands)
    assert profile.questions


@pytest.mark.parametrize("key", profiles())
def test_the_page_says_all_that_a_profile_says(key: str) -> None:
    page, profile = " ".join(PAGE.read_text(encoding="utf-8").split()), profiles()[key]
    assert f"profile: {key} " in page
    for source in profile.sources:
        assert f"Source: {source.title}. Date: {source.date}. Read: {source.read}" in page
    for demand in profile.demands:
        parameters = ", ".join(f"{name}: {value}" for name, value in demand.parameters.items())
        assert f"- `{demand.check}: {{{parameters}}}`. {demand.says}" in page
    for question in profile.questions:
        assert f"- `{question.key}`: {question.question} Fit: {question.fit}." in page


def test_questions_are_skipped_and_make_nothing_pass() -> None:
    judged = under("hipaa_safe_harbor@164.514-b-2", groups_of(9), [{"k_anonymity": {}}])
    questions = [one for one in judged.expectations if one.source == PROFILE]
    assert len(questions) == len(profiles()["hipaa_safe_harbor@164.514-b-2"].questions) == judged.summary["skipped"]
    assert {one.status for one in questions} == {Status.SKIPPED}
    assert all(one.message.endswith(CAVEAT) for one in questions)
    assert judged.tally.demands.met == 1  # no identifier was detected
    assert status_of(questions) == "error"  # of these alone nothing follows


@pytest.mark.parametrize(("column", "status"), [("mail", "failed"), ("note", "passed")])
def test_safe_harbor_leaves_no_column_of_identifiers(column: str, status: str) -> None:
    values = [f"p{number}@example.org" if column == "mail" else "none" for number in range(40)]
    table = groups_of(40).append_column(column, pa.array(values))
    attributes = {**ATTRIBUTES, column: {"role": "insensitive"}}
    policy = {"version": 1, "attributes": attributes, "profile": "hipaa_safe_harbor@164.514-b-2"}
    (actual,) = [one for one in audit(table, policy).expectations if one.check == "safe_harbor"]
    assert (actual.threshold, actual.status.value) == (0, status)


@pytest.mark.long
@pytest.mark.parametrize(("ordered", "status"), [(True, "failed"), (False, "passed")])
def test_public_files_are_in_no_order_that_a_column_reveals(ordered: bool, status: str) -> None:
    ages = list(range(400))
    if not ordered:
        random.Random(1).shuffle(ages)  # noqa: S311 - no secret
    table = pa.table({"age": ages})
    attributes = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
    policy = {"version": 1, "attributes": attributes, "profile": "statistics_netherlands_puf@eef4a18"}
    (actual,) = [one for one in audit(table, policy, population=table).expectations if one.check == "record_order"]
    assert (actual.threshold, actual.status.value) == (0, status)


def test_a_profiles_demands_stand_after_the_policys_own() -> None:
    judged = under(["cms_cell_size@2024-01", "el_emam_precedents_5@2013"], groups_of(7), [{"k_anonymity": {"k": 2}}])
    assert [(one.threshold, one.status.value) for one in judged.expectations if one.threshold] == [
        (2, "passed"),
        (11, "failed"),
        (5, "passed"),
    ]
    assert "Asked by" not in judged.expectations[0].message


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("ema_policy_0070", "unknown profile 'ema_policy_0070'; write ema_policy_0070@2017-09"),
        ("ema_policy_0070@2016-01", "unknown profile 'ema_policy_0070@2016-01'; write ema_policy_0070@2017-09"),
        ("cms_cell_sise@2024-01", "did you mean 'cms_cell_size@2024-01'?"),
        ("gdpr", "unknown profile 'gdpr'; `tcdp-audit profiles` lists them"),
        (7, "unknown profile '7'"),
        (["cms_cell_size@2024-01", "gdpr"], "unknown profile 'gdpr'"),
    ],
)
def test_an_unknown_profile_is_a_fault(named: Any, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        under(named, groups_of(9), [{"k_anonymity": {"k": 2}}])
    assert message in str(caught.value)


def test_a_demand_of_a_profile_that_cannot_be_judged_is_reported_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.tcdp.yaml"
    path.write_text("version: 1\nprofile: cms_cell_size@2024-01\nattributes:\n  zip: {role: insensitive}\n")
    with pytest.raises(PolicyError, match=r"p\.tcdp\.yaml:2:10: expect\[0\]\.k_anonymity: no attribute has the role"):
        audit(groups_of(9), path)


def test_an_outcome_is_at_the_line_of_its_profile(tmp_path: Path) -> None:
    path = tmp_path / "p.tcdp.yaml"
    path.write_text("version: 1\nprofile: cms_cell_size@2024-01\nattributes:\n  zip: {role: quasi_identifier}\n")
    assert {one.line for one in audit(groups_of(9), path).expectations} == {2}


EMA = "ema_policy_0070@2017-09"


def answers_of(key: str, **other: str) -> dict[str, dict[str, str]]:
    """Every question of a profile answered as a release needs it, but for some."""
    given = {one.key: one.fit for one in profiles()[key].questions} | other
    return {
        name: {"answer": answer, "by": "data protection officer", "date": "2026-11-20"}
        for name, answer in given.items()
    }


@pytest.mark.parametrize("key", GROUPS)
def test_a_release_is_fit_once_every_question_is_answered(key: str) -> None:
    _, k, _ = GROUPS[key]
    waiting = len(profiles()[key].questions)
    judged = under(key, groups_of(k, k))
    assert (judged.exit_code(), verdict_title(judged)) == (
        0,
        f"Fit as far as a program can tell, but {waiting} questions wait for an answer",
    )
    assert f"{waiting} questions wait for an answer." in verdict_sentence(judged)
    answered = under(key, groups_of(k, k), answers=answers_of(key))
    assert (answered.exit_code(), verdict_title(answered)) == (0, "Fit for release")
    assert answered.tally.demands.met == waiting + 1
    (first, *_) = [one for one in answered.expectations if one.is_question]
    assert "by data protection officer on 2026-11-20." in first.message
    assert first.details["by"] == "data protection officer"


def test_an_answer_against_the_release_fails_it_whatever_else_holds() -> None:
    judged = under(EMA, groups_of(11), answers=answers_of(EMA, free_text="no"))
    assert (judged.status, judged.exit_code(), verdict_title(judged)) == ("failed", 1, "Not fit for release")
    (failed,) = [one for one in judged.expectations if one.status is Status.FAILED]
    assert failed.message.endswith(f"on 2026-11-20, where only yes is fit for release. {CAVEAT}")
    assert failed.details["question"] == "free_text"
    assert "What a person answers is not counted." in exposed_sentence(judged)


def test_answers_alone_pass_no_audit() -> None:
    """A policy that demands nothing of the data is measured, whatever people say."""
    key = "hipaa_safe_harbor@164.514-b-2"
    judged = under(key, groups_of(9), [{"k_anonymity": {}}], answers=answers_of(key))
    assert status_of([one for one in judged.outcomes if one.is_question]) == "error"
    retained = [one for one in judged.outcomes if one.check != "safe_harbor"]
    assert status_of(retained) == "measured"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": None}, "answers.free_text.by: must be text"),
        ({"by": " "}, "answers.free_text.by: must be one line"),
        ({"date": "2999-01-01"}, "answers.free_text.date: must not be in the future"),
        ({"date": "20.11.2026"}, "answers.free_text.date: must be a day, written as 2026-11-20"),
        ({"date": "2026-02-30"}, "answers.free_text.date: must be a day, written as 2026-11-20"),
        ({"answer": "maybe"}, "answers.free_text.answer: must be one of 'yes' or 'no'"),
        ({"note": "x"}, "answers.free_text.note: unknown name"),
    ],
)
def test_an_answer_says_yes_or_no_and_who_and_when(changed: dict[str, Any], message: str) -> None:
    answer = {"answer": "yes", "by": "officer", "date": "2026-11-20"} | changed
    with pytest.raises(PolicyError, match=message):
        under(EMA, groups_of(11), answers={"free_text": answer})


@pytest.mark.parametrize("missing", ["answer", "by", "date"])
def test_nothing_of_an_answer_may_be_left_out(missing: str) -> None:
    answer = {"answer": "yes", "by": "officer", "date": "2026-11-20"}
    del answer[missing]
    with pytest.raises(PolicyError, match=f"answers.free_text.{missing}: is required"):
        under(EMA, groups_of(11), answers={"free_text": answer})


def test_an_answer_belongs_to_a_question_that_is_asked() -> None:
    given = {"free_txt": {"answer": "yes", "by": "officer", "date": "2026-11-20"}}
    with pytest.raises(PolicyError, match="asks a question 'free_txt'; did you mean 'free_text'"):
        under(EMA, groups_of(11), answers=given)
    with pytest.raises(PolicyError, match="the policy names no profile that asks a question 'free_txt'"):
        audit(groups_of(2), {"version": 1, "attributes": ATTRIBUTES, "answers": given, "expect": [{"k_anonymity": {}}]})


def test_yes_and_no_may_be_typed_as_yaml_reads_them() -> None:
    given = {"free_text": {"answer": True, "by": 1, "date": date(2026, 11, 20)}}
    judged = under(EMA, groups_of(11), answers=given)
    (one,) = [one for one in judged.expectations if one.details.get("answer")]
    assert (one.details["answer"], one.details["by"], one.details["date"]) == ("yes", "1", "2026-11-20")


def test_a_question_has_one_key_wherever_it_is_asked() -> None:
    asked = {(one.key, one.question, one.fit) for profile in profiles().values() for one in profile.questions}
    assert len({key for key, _, _ in asked}) == len(asked)
    for profile in profiles().values():
        assert len({one.key for one in profile.questions}) == len(profile.questions)


def test_who_answers_is_shown_and_never_run() -> None:
    given = answers_of(EMA)
    given["free_text"]["by"] = "<script>x</script> \u202e [bold]"
    judged = under(EMA, groups_of(11), answers=given)
    for suffix in (".html", ".md"):
        page = judged.render(suffix)
        assert "<script>x" not in page
        assert "\u202e" not in page
        assert "2026-11-20" in page


@pytest.mark.parametrize(
    ("key", "smallest", "status"),
    [
        ("uk_llc@2026-11", 10, "passed"),
        ("uk_llc@2026-11", 9, "failed"),
        ("uk_llc@2026-11", 0, "failed"),
        ("cms_cell_size_tables@2024-01", 11, "passed"),
        ("cms_cell_size_tables@2024-01", 10, "failed"),
        ("cms_cell_size_tables@2024-01", 0, "passed"),
        ("abs_datalab@2021-11", 9, "failed"),
        ("acro_default@1.0.2", 0, "failed"),
        ("opensafely@2026-11", 7, "failed"),
        ("opensafely@2026-11", 0, "passed"),
        ("essnet_output@2010", 9, "failed"),
        ("ons_lrs@2026-11", 10, "measured"),
        ("ons_lrs@2026-11", 9, "measured"),
    ],
)
def test_a_profile_of_figures_judges_counts(key: str, smallest: int, status: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"ward,n\nAll,{smallest + 70}\nA,{smallest}\nB,30\nC,40\n", encoding="utf-8")
    table = {"file": str(tmp_path / "t.csv"), "dimensions": {"ward": {"total": "All"}}}
    table["measures"] = {"n": {"counts": "people"}}
    judged = audit(None, {"version": 1, "profile": key, "tables": {"t": table}})
    needs_records = key.partition("@")[0] in ("abs_datalab", "acro_default", "essnet_output")
    assert judged.status == ("error" if needs_records else status)
    (outcome,) = [one for one in judged.outcomes if one.check == "cell_frequency"]
    of_rule_of_thumb = "passed" if smallest == 10 else "failed"
    assert outcome.status == (of_rule_of_thumb if "ons" in key else status)


def test_a_profile_of_figures_is_no_profile_of_records() -> None:
    with pytest.raises(PolicyError, match="judges tables of figures, and the policy has none"):
        under("uk_llc@2026-11", groups_of(9))
