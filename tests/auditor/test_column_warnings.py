"""What no demand looks at: hidden people, undeclared identifiers, secrets of which nothing is demanded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.cli.demand_lines import lines_of
from tcdp_audit.core.auditor.evaluation import evaluate
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS, Outcome, Severity, Status
from tcdp_audit.core.check.vacuous import undemanded
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.verdict import title_of, verdict_of, verdict_sentence, verdict_title
from tcdp_audit.core.results.written_verdict import contradictions, title_in
from tcdp_audit.core.session.inputs import describe_table
from tcdp_audit.core.session.registry import Plugins

PEOPLE = 300
FITS = {"version": 1, "expect": [{"k_anonymity": {"k": 2}}]}
QI, SECRET, HARMLESS = {"role": "quasi_identifier"}, {"role": "sensitive"}, {"role": "insensitive"}
EMA = "ema_policy_0070@2017-09"
UNDEMANDED = "nothing is demanded of "


def outcome_of(outcome: Any, check: str) -> Outcome:
    return next(one for one in outcome.structure if one.check == check)


# hidden people

CODES = ["1"] * 25 + ["2"] * 25 + ["3", "4"]


def hiding(codes: list[Any], conventions: dict[str, Any], declared: dict[str, Any] | None = None, **more: Any) -> Any:
    table = pa.table({"q": codes, "s": more.pop("secrets", codes)})
    attributes = {"q": {**QI, **(declared or {})}, "s": SECRET}
    return audit(table, {**FITS, "attributes": attributes, "conventions": conventions, **more})


def hidden_title(result: Any) -> str:
    """The verdict's title but for the secret, of which these policies demand nothing."""
    return title_of(verdict_of(result), (), [one for one in result.conditions if UNDEMANDED not in one.words])


def test_records_that_are_left_out_are_in_the_title() -> None:
    codes = [*["1"] * 25, *["2"] * 25, "3", "3"]
    result = hiding(codes, {"suppressed": "exempt", "suppressed_tokens": ["1", "2"]})
    assert verdict_title(result) == "Fit, but 50 of 52 records are left out and nothing is demanded of 's'"
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)
    assert verdict_sentence(result) == f"The only demand is met; 2 of {len(COLUMN_DEMANDS)} schema checks warn."
    outcome = outcome_of(result, "hidden_people")
    assert outcome.details["left_out"] == 50
    assert "leaves 50 of 52 records (96.2%) out of every demand" in outcome.message
    assert title_in(json.loads(json.dumps(result.as_json()))) == verdict_title(result)


@pytest.mark.parametrize(("stars", "title"), [(26, "Fit for release"), (27, "Fit, but 27 of 52 records are left out")])
def test_suppressed_records_are_reported_where_they_are_most(stars: int, title: str) -> None:
    codes = [*["*"] * stars, *["1"] * (52 - stars)]
    assert hidden_title(hiding(codes, {"suppressed": "exempt"})) == title


@pytest.mark.parametrize(
    ("token", "is_reported"), [("*", False), ("NA", False), ("?", False), ("flu", True), ("2", True)]
)
def test_a_few_suppressed_records_are_reported_where_they_are_written_like_values(
    token: str, is_reported: bool
) -> None:
    result = hiding([*["1"] * 40, *["3"] * 40, token, token], {"suppressed": "exempt", "suppressed_tokens": [token]})
    assert hidden_title(result) == ("Fit, but 2 of 82 records are left out" if is_reported else "Fit for release")
    assert outcome_of(result, "hidden_people").details["left_out"] == (2 if is_reported else 0)


LONELY = [str(number) for number in range(20)]


@pytest.mark.parametrize(
    ("codes", "conventions", "is_reported"),
    [
        (CODES, {"missing_tokens": ["1", "2", "3", "4"]}, True),  # k is 52, where 1 is true
        (CODES, {"missing_tokens": ["3", "4"]}, True),  # two lonely people are one class of two
        (CODES, {"missing_tokens": ["3"], "missing_quasi_identifier": "wildcard"}, True),
        ([*["a"] * 80, *LONELY], {"missing_tokens": LONELY}, True),
        ([*["a"] * 80, "Refused", "Refused", "", ""], {"missing_tokens": ["", "Refused"]}, False),
        ([*["a"] * 80, "?", "?", "n/a", "n/a"], {"missing_tokens": ["?", "n/a"]}, False),
        (["30"] * 40 + ["40"] * 40 + ["-9"] * 5 + ["-8"] * 5, {"missing_tokens": ["-9", "-8"]}, False),
        (["30"] * 40 + ["50"] * 40 + ["40"] * 5 + ["41"] * 5, {"missing_tokens": ["40", "41"]}, True),
        (["30"] * 40 + ["50"] * 40 + ["99"], {"missing_tokens": ["99"], "missing_quasi_identifier": "wildcard"}, True),
        (["F"] * 40 + ["M"] * 40 + ["X"], {"missing_tokens": ["X"], "missing_quasi_identifier": "wildcard"}, True),
        (["AL"] * 40 + ["NY"] * 40 + ["ND"], {"missing_tokens": ["ND"], "missing_quasi_identifier": "wildcard"}, True),
        (["AL"] * 40 + ["NY"] * 40 + ["NA"], {"missing_tokens": ["NA"], "missing_quasi_identifier": "wildcard"}, False),
        (["30"] * 40 + ["50"] * 40 + ["99"] * 2, {"missing_tokens": ["99"]}, False),  # a category by itself
        (["a"] * 5 + [""] * 6, {"missing_quasi_identifier": "wildcard"}, True),
        (["a"] * 6 + [""] * 6, {"missing_quasi_identifier": "wildcard"}, False),
        (["a"] * 5 + [""] * 60, {}, False),  # empty cells are alike for everybody
        (["a"] * 5 + ["?"] * 60, {"missing_tokens": ["?"]}, False),
        (["a"] * 5 + ["?"] * 30 + ["-"] * 30, {"missing_tokens": ["?", "-"]}, True),
    ],
)
def test_values_that_count_as_missing_are_reported(
    codes: list[str], conventions: dict[str, Any], is_reported: bool
) -> None:
    result = hiding(codes, conventions, secrets=["x", "y"] * (len(codes) // 2) + ["x"] * (len(codes) % 2))
    outcome = outcome_of(result, "hidden_people")
    assert (outcome.status is Status.FAILED) == is_reported
    assert [*outcome.details["columns"]] == (["q"] if is_reported else [])
    if result.passed:
        assert (hidden_title(result) == "Fit for release") == (not is_reported)


def test_a_secret_that_counts_as_missing_is_reported() -> None:
    secrets = ["HIV"] * 10 + ["flu"] * 10 + ["gout"] * 10
    result = hiding(["1"] * 30, {"missing_tokens": ["HIV"]}, secrets=secrets)
    assert hidden_title(result) == "Fit, but written values of 's' count as missing"
    counted = hiding(["1"] * 30, {"missing_tokens": ["HIV"], "missing_sensitive": "own_category"}, secrets=secrets)
    assert hidden_title(counted) == "Fit for release"


def test_what_an_order_declares_is_a_value() -> None:
    declared = {"scale": "ordinal", "order": ["none", "some"]}
    codes = ["none"] * 5 + [""] * 5 + ["some"] * 30
    result = hiding(codes, {"missing_tokens": ["", "none"]}, declared, secrets=["x"] * 40)
    assert outcome_of(result, "hidden_people").status is Status.FAILED


def test_no_cell_is_in_what_is_reported() -> None:
    marked = ["MRK1"] * 30 + ["MRK2"] * 20 + ["b"] * 2
    result = hiding(marked, {"missing_tokens": ["MRK1", "MRK2"]})
    assert "MRK" not in json.dumps([one.as_json() for one in result.outcomes]) + verdict_title(result)


# undeclared identifiers


def people(**columns: list[Any]) -> pa.Table:
    return pa.table({"city": [f"c{number % 3}" for number in range(PEOPLE)], **columns})


def looked_at(role: dict[str, Any], **columns: list[Any]) -> Any:
    attributes = {"city": QI, **dict.fromkeys(columns, role)}
    return audit(people(**columns), {**FITS, "attributes": attributes})


MAILS = [f"p{number}@example.org" for number in range(PEOPLE)]
NAMES = [f"{chr(65 + number % 26)}nn{chr(97 + number // 26)}" for number in range(PEOPLE)]
BIRTHS = [f"19{10 + number % 90}-{1 + number % 12:02d}-{1 + number % 28:02d}" for number in range(PEOPLE)]


@pytest.mark.parametrize(
    ("column", "cells", "kind"),
    [
        ("contact", MAILS, "e-mail addresses"),
        ("contact", [*MAILS[:19], *["none"] * 281], "e-mail addresses"),
        ("contact", [MAILS[number % 15] for number in range(PEOPLE)], "e-mail addresses"),
        ("first_name", NAMES, "names of people"),
        ("dob", BIRTHS, "dates of birth"),
        ("x", [f"{100 + number}-45-{1000 + number}" for number in range(PEOPLE)], "US social security numbers"),
    ],
)
def test_what_looks_like_an_identifier_is_in_the_title(column: str, cells: list[str], kind: str) -> None:
    """At d867cb5: `Fit for release`, and `No identifier in the release: Met`."""
    result = looked_at(HARMLESS, **{column: cells})
    assert verdict_title(result) == f"Fit, but {column!r} looks like {kind}"
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)
    outcome = outcome_of(result, "undeclared_identifiers")
    assert outcome.severity is Severity.WARNING
    assert outcome.details["kinds"] == {column: kind}
    assert f"column {column!r} looks like {kind} and is declared insensitive" in outcome.message
    assert title_in(json.loads(json.dumps(result.as_json()))) == verdict_title(result)


def test_several_kinds_are_identifiers() -> None:
    result = looked_at(HARMLESS, contact=MAILS, dob=BIRTHS)
    assert verdict_title(result) == "Fit, but 'contact' and 'dob' look like identifiers"


@pytest.mark.parametrize(
    ("role", "column", "cells", "is_reported"),
    [
        (SECRET, "contact", MAILS, True),
        (SECRET, "first_name", NAMES, False),  # only a name says so, and the policy says what the column is
        (SECRET, "dob", BIRTHS, False),
        (HARMLESS, "visit", [BIRTHS[number // 2] for number in range(PEOPLE)], False),  # exact dates: other checks
        (HARMLESS, "n", [number // 2 for number in range(PEOPLE)], False),
        (HARMLESS, "place", [f"52.{1000 + number}, 13.{2000 + number}" for number in range(PEOPLE)], True),
        (SECRET, "place", [f"52.{1000 + number}, 13.{2000 + number}" for number in range(PEOPLE)], False),
        ({**HARMLESS, "scale": "numeric"}, "n", [*range(PEOPLE)], True),  # numbers that count the records
        ({**HARMLESS, "scale": "numeric"}, "income", [10_000_000 + 37 * number for number in range(PEOPLE)], False),
        (HARMLESS, "level", [f"{number / 7:.4f}" for number in range(PEOPLE)], False),  # a measurement
        (HARMLESS, "code", [f"A {number}" for number in range(PEOPLE)], True),
        (HARMLESS, "code", [f"A {max(number, PEOPLE // 20)}" for number in range(PEOPLE)], True),  # nearly all
        (HARMLESS, "code", [f"A {max(number, PEOPLE // 10)}" for number in range(PEOPLE)], False),
        (SECRET, "code", [f"A {number}" for number in range(PEOPLE)], False),
        (HARMLESS, "note", [f"seen twice in ward {number % 9}" for number in range(PEOPLE)], False),
        (HARMLESS, "note", [f"Dr. Jones saw him in {number % 99}" for number in range(PEOPLE)], True),
    ],
)
def test_which_columns_are_looked_at_for_what(role: Any, column: str, cells: list[Any], is_reported: bool) -> None:
    result = looked_at(role, **{column: cells})
    assert (outcome_of(result, "undeclared_identifiers").status is Status.FAILED) == is_reported


def test_a_column_that_differs_in_every_record_is_in_the_title() -> None:
    result = looked_at(HARMLESS, case_no=[f"A {number}" for number in range(PEOPLE)], contact=MAILS)
    title = "Fit, but 'contact' looks like e-mail addresses and 'case_no' differs in nearly every record"
    assert verdict_title(result) == title_in(json.loads(json.dumps(result.as_json()))) == title
    outcome = outcome_of(result, "undeclared_identifiers")
    assert outcome.details["differing"] == {"case_no": [PEOPLE, PEOPLE]}
    assert "column 'case_no' has 300 different values in 300 records and is declared insensitive" in outcome.message
    assert "or say under `acknowledged` why they are none" in outcome.message


def test_the_values_of_few_records_may_all_differ() -> None:
    few = pa.table({"city": ["c"] * 49, "code": [f"A {number}" for number in range(49)]})
    assert verdict_title(audit(few, {**FITS, "attributes": {"city": QI, "code": HARMLESS}})) == "Fit for release"


def test_a_minority_of_identifiers_has_its_share() -> None:
    notes = [f"call {name} about it" if number < 6 else f"nothing in {number}" for number, name in enumerate(MAILS)]
    result = looked_at(SECRET, note=notes)
    assert "Fit, but 'note' has e-mail addresses" in verdict_title(result)
    message = outcome_of(result, "undeclared_identifiers").message
    assert "column 'note' has e-mail addresses among its 300 distinct values (2%)" in message


def test_a_sample_is_in_the_sentence() -> None:
    table = pa.table({"city": ["c"] * 20_000, "who": [f"p{number}@example.org" for number in range(20_000)]})
    outcome = outcome_of(audit(table, {**FITS, "attributes": {"city": QI, "who": HARMLESS}}), "undeclared_identifiers")
    assert outcome.details["sampled"] == {"who": [10_000, 20_000]}
    sentence = "looks like e-mail addresses, as a sample of 10,000 of its 20,000 distinct values does"
    assert sentence in outcome.message


WHY = "a number drawn for this release"


def test_a_reason_silences_the_warning_and_is_shown() -> None:
    known = {**HARMLESS, "acknowledged": WHY}
    result = looked_at(known, code=[f"A {number}" for number in range(PEOPLE)], contact=MAILS)
    assert verdict_title(result) == title_in(json.loads(json.dumps(result.as_json()))) == "Fit for release"
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 0)
    outcome = outcome_of(result, "undeclared_identifiers")
    assert (outcome.status, outcome.observed, outcome.details["columns"]) == (Status.PASSED, 0, [])
    assert outcome.details["acknowledged"]["code"]["reason"] == WHY
    assert list(contradictions(result.as_json())) == []
    (line,) = [one for one in lines_of(result) if "acknowledged" in one.sentence]
    assert f"column 'contact' looks like e-mail addresses; acknowledged: {WHY}" in line.sentence
    assert f"No identifier, says the policy: {WHY}" in " ".join(result.render(".md").split())
    assert [one["acknowledged"] for one in result.as_json()["columns"] if one["name"] == "code"] == [WHY]


def test_an_identifier_is_not_acknowledged() -> None:
    with pytest.raises(PolicyError, match="acknowledged says why a column is no identifier"):
        looked_at({"role": "identifier", "acknowledged": WHY}, contact=MAILS)


def test_a_quasi_identifier_of_addresses_is_reported() -> None:
    table = pa.table({"who": [MAILS[number % 100] for number in range(PEOPLE)]})
    result = audit(table, {**FITS, "attributes": {"who": QI}})
    assert verdict_title(result) == "Fit, but 'who' looks like e-mail addresses"


@pytest.mark.parametrize("purpose", ["unit", "household"])
def test_a_column_that_links_records_may_differ_but_is_no_address(purpose: str) -> None:
    attributes = {"city": QI, "patient_id": HARMLESS}
    codes = [f"A {number % 100}" for number in range(PEOPLE)]
    result = audit(people(patient_id=codes), {**FITS, "attributes": attributes, purpose: "patient_id"})
    assert outcome_of(result, "undeclared_identifiers").status is Status.PASSED
    addresses = [MAILS[number % 100] for number in range(PEOPLE)]
    policy = {**FITS, "attributes": {"city": QI}, purpose: "patient_id"}
    result = audit(people(patient_id=addresses), policy)
    assert outcome_of(result, "undeclared_identifiers").details["columns"] == ["patient_id"]
    assert f"is the {purpose}" in outcome_of(result, "undeclared_identifiers").message
    assert "'patient_id' looks like e-mail addresses" in verdict_title(result)
    assert "p7@" not in result.to_json()
    for suffix in (".html", ".md"):
        assert "p7@" not in result.render(suffix)
    acknowledged = {**policy, "attributes": {"city": QI, "patient_id": {**HARMLESS, "acknowledged": WHY}}}
    assert "e-mail" not in verdict_title(audit(people(patient_id=addresses), acknowledged))


def test_a_unit_that_is_dropped_is_not_looked_at() -> None:
    addresses = [MAILS[number % 100] for number in range(PEOPLE)]
    policy = {**FITS, "attributes": {"city": QI}, "unit": "patient_id", "unit_released": False}
    result = audit(people(patient_id=addresses), policy)
    assert outcome_of(result, "undeclared_identifiers").status is Status.PASSED
    assert "once patient_id is dropped" in verdict_title(result)


def test_without_a_detector_the_title_says_so() -> None:
    plugins = Plugins.load(external=False)
    policy = read_policy({**FITS, "attributes": {"city": QI}}, plugins)
    with open_engine(people(), 2**28) as engine:
        outcomes = evaluate(policy, engine, Options())
        result = Audit(outcomes=outcomes, release=describe_table(engine), policy=policy, plugins=plugins)
    assert outcome_of(result, "undeclared_identifiers").status is Status.SKIPPED
    assert (result.exit_code(), verdict_title(result)) == (0, "Fit, but no column was looked at for identifiers")


def test_no_address_is_in_a_result() -> None:
    result = looked_at(HARMLESS, contact=MAILS)
    assert "p7@" not in json.dumps(result.as_json())


# secrets of which nothing is demanded


def secrets(expect: list[Any], **further: Any) -> Any:
    table = people(illness=[["flu", "gout", "pox"][number // 100] for number in range(PEOPLE)])
    attributes = {"city": QI, "illness": SECRET}
    return audit(table, {"version": 1, "attributes": attributes, "expect": expect, **further})


@pytest.mark.parametrize(
    ("demand", "is_reported"),
    [
        ({"k_anonymity": {"k": 20}}, True),
        ({"distinct_l_diversity": {"l": 2}}, False),
        ({"distinct_l_diversity": {"l": 2, "severity": "warning"}}, True),
        ({"distinct_l_diversity": {"l": 1}}, True),
        ({"t_closeness": {}}, True),
        ({"t_closeness": {"t": "0.9", "attribute": "illness"}}, False),
        ({"homogeneity": {"at_most": "0.5"}}, False),
    ],
)
def test_a_profile_that_leaves_a_secret_without_a_demand_is_reported(demand: dict[str, Any], is_reported: bool) -> None:
    result = secrets([demand], profile=EMA)
    waiting = "4 questions wait for an answer"
    nothing = "nothing that can stop publication" if "severity" in next(iter(demand.values())) else "nothing"
    known = "Fit as far as a program can tell, but "
    message = f"{known}{nothing} is demanded of 'illness' and {waiting}"
    assert verdict_title(result) == (message if is_reported else f"{known}{waiting}")


def of_secrets(names: Sequence[str], *expect: Any) -> Any:
    """The audit of as many sensitive columns, each with three values in every group."""
    table = people(**{name: [str(number % 3) for number in range(PEOPLE)] for name in names})
    attributes = {"city": QI, **dict.fromkeys(names, SECRET)}
    return audit(table, {"version": 1, "attributes": attributes, "expect": [*expect]})


NONE_OF_FOUR = "nothing is demanded of 4 columns that must stay secret"


@pytest.mark.parametrize(
    ("number", "named"),
    [(1, "nothing is demanded of 'a'"), (3, "nothing is demanded of 'a', 'b' and 'c'"), (4, NONE_OF_FOUR)],
)
def test_the_verdict_names_what_nothing_is_demanded_of(number: int, named: str) -> None:
    result = of_secrets("abcd"[:number], {"k_anonymity": {"k": 20}})
    assert verdict_title(result) == f"Fit, but {named}"
    assert result.passed
    assert result.exit_code(fail_on_warning=True) == 1
    written = json.loads(json.dumps(result.as_json()))
    assert title_in(written) == written["verdict"]["title"] == verdict_title(result)
    assert list(contradictions(written)) == []
    outcome = outcome_of(result, "undemanded_sensitive")
    assert outcome.details["columns"] == [*"abcd"[:number]]
    assert (
        "no demand would notice if all members of a group had the same value; demand l-diversity or t-closeness as well"
        in outcome.message
    )


def test_a_verdict_that_fails_says_it_in_its_sentences() -> None:
    failed = {"k_anonymity": {"k": 2000}}
    assert verdict_sentence(of_secrets("a", failed)).endswith(" Nothing is demanded of 'a', which must stay secret.")
    assert verdict_sentence(of_secrets("abcd", failed)).endswith(f" {NONE_OF_FOUR[0].upper()}{NONE_OF_FOUR[1:]}.")
    assert "Nothing is demanded" not in verdict_sentence(of_secrets("a", failed, {"distinct_l_diversity": {"l": 2}}))


def test_a_policy_that_judges_nothing_says_only_that() -> None:
    result = of_secrets("a", {"k_anonymity": {}}, {"distinct_l_diversity": {"l": 2, "severity": "warning"}})
    assert outcome_of(result, "undemanded_sensitive").status is Status.PASSED
    assert (result.status, verdict_title(result)) == ("measured", "Measured, not judged")


NUMERIC, UNIT = {"role": "sensitive", "scale": "numeric"}, {"unit": "id"}


@pytest.mark.parametrize(
    ("demand", "further", "left"),
    [
        ({"alpha_k_anonymity": {"k": 5}}, {}, "ab"),  # a size, whatever its members share
        ({"p_sensitive_k_anonymity": {"k": 5, "attribute": "a"}}, {}, "ab"),
        ({"alpha_k_anonymity": {"alpha": "0.9", "attribute": "a"}}, {}, "b"),
        ({"lkc_privacy": {"K": 5, "L": 1}}, {}, "ab"),
        ({"lkc_privacy": {"K": 5, "L": 1, "C": "0.9", "attribute": "b"}}, {}, "a"),
        ({"known_events": {"k": 2, "m": 1}}, UNIT, "ab"),
        ({"known_events": {"C": "0.9", "m": 1, "attribute": "a"}}, UNIT, "b"),
        ({"known_events": {"C": 1, "m": 1, "attribute": "a"}}, UNIT, "ab"),
        ({"rank_interval_disclosure": {"p": 10, "at_most": "0.9", "attributes": ["age"]}}, {}, "ab"),
        ({"rank_interval_disclosure": {"p": 10, "at_most": "0.9"}}, {}, "b"),  # which has no ranks
        ({"t_closeness": {"t": "0.9", "severity": "warning"}}, {}, "ab"),
        ({"expected_t_closeness": {"epsilon": 1, "at_most": "1.5"}}, {}, ""),
        ({"m_invariance": {"m": 2, "sensitive": "a"}}, {"previous": "x.csv"}, "b"),
        ({"attribute_inference": {"target": "a", "at_most": "0.1", "attributes": ["age"]}}, {"holdout": "x.csv"}, "b"),
    ],
)
def test_a_demand_on_a_secret_is_one_that_limits_what_is_learned_of_it(
    demand: dict[str, Any], further: dict[str, Any], left: str
) -> None:
    attributes = {"city": QI, "age": {**QI, "scale": "numeric"}, "a": NUMERIC, "b": SECRET}
    document = {"version": 1, "key": "no", "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}, demand]}
    assert undemanded(read_policy({**document, **further}, Plugins.load(external=False))) == [*left]


def test_every_audit_has_the_column_checks_in_their_order() -> None:
    assert tuple(one.check for one in secrets([{"k_anonymity": {}}]).structure) == COLUMN_DEMANDS


def test_a_demand_that_only_warns_is_no_demand_that_counts() -> None:
    warns = {"distinct_l_diversity": {"l": 2, "attribute": "a", "severity": "warning"}}
    result = of_secrets("ab", {"k_anonymity": {"k": 20}}, warns)
    assert verdict_title(result) == "Fit, but nothing that can stop publication is demanded of 'a' and 'b'"
    assert outcome_of(result, "undemanded_sensitive").details["only_warned"] == ["a"]
    written = result.as_json()
    assert title_in(written) == written["verdict"]["title"]
    failed = of_secrets("ab", {"k_anonymity": {"k": 2000}}, warns)
    assert verdict_sentence(failed).endswith(
        " Nothing that can stop publication is demanded of 'a' and 'b', which must stay secret."
    )
    other = of_secrets("ab", {"k_anonymity": {"k": 20}}, {"k_anonymity": {"k": 30, "severity": "warning"}})
    assert "only_warned" not in outcome_of(other, "undemanded_sensitive").details


@pytest.mark.parametrize(("form", "columns"), [("v{}", []), ("name{}@mail.example.org", ["visits.visit"])])
def test_a_column_that_links_tables_may_differ_in_every_record_but_hold_no_addresses(form: str, columns: list[str]):
    people, visits = [f"p{one}" for one in range(40)], [form.format(one) for one in range(40)]
    tables = {
        "patients": pa.table({"patient": people, "sex": ["f", "m"] * 20}),
        "visits": pa.table({"visit": visits, "patient": people, "month": ["1", "2"] * 20}),
        "drugs": pa.table({"visit": visits, "drug": ["q", "r"] * 20}),
    }
    known = {"role": "quasi_identifier", "scale": "nominal"}
    policy = {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"patient": {"role": "insensitive"}, "sex": known}},
            "visits": {"belongs_to": "patients", "attributes": {"visit": {"role": "insensitive"}, "month": known}},
            "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": known}},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    outcomes = audit(tables, policy).outcomes
    assert next(one.details["columns"] for one in outcomes if one.check == "undeclared_identifiers") == columns
