"""Expectations in pandera's schemas: the offending rows and no others, no cell, and one audit for all checks."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pandas as pd
import pandera.pandas as pa
import pandera.polars as ppl
import polars as pl
import pytest
from pandera.config import config_context
from pandera.errors import SchemaErrors, SchemaWarning

from tcdp_audit import PluginError, PolicyError, TcdpAuditError, failing_records
from tcdp_audit.integrations.pandera import (
    STRUCTURE,
    ExpectationCheck,
    checks_of,
    expectation_check,
    register,
    schema_of,
    shared,
)

CELL = "zqcellzq"
WARDS = ["1", "1", "2", "2", "2", "3"]
FRAME = pd.DataFrame(
    {"ward": WARDS, "illness": [f"{CELL}{i}" for i in "aabbcd"], "cost": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]},
    index=[10, 11, 12, 13, 14, 14],
)
POLARS = pl.DataFrame({name: FRAME[name].tolist() for name in FRAME})
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "name": {"role": "identifier"},
        "ward": {"role": "quasi_identifier", "scale": "nominal"},
        "illness": {"role": "sensitive", "scale": "nominal"},
        "cost": {"role": "sensitive", "scale": "numeric"},
    },
    "expect": [
        {"k_anonymity": {"k": 2}},
        {"distinct_l_diversity": {"l": 2, "attribute": "illness"}},
        {"distinct_l_diversity": {"l": 3}},
        {"t_closeness": {"attribute": "cost", "distance": "numeric"}},
        {"reidentification_risk": {"at_most": "1/2"}},
    ],
}
Frame = pd.DataFrame | pl.DataFrame
BOTH = pytest.mark.parametrize(("library", "frame"), [(pa, FRAME), (ppl, POLARS)], ids=["pandas", "polars"])
BOTH_IN_TIME = pytest.mark.parametrize(
    ("library", "frame"),
    [pytest.param(pa, FRAME, id="pandas"), pytest.param(ppl, POLARS, id="polars", marks=pytest.mark.long)],
)


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The policies that are audited."""
    seen: list[Any] = []

    def counted(frame: Any, policy: Any, **options: Any) -> Any:
        seen.append(policy)
        return failing_records(frame, policy, **options)

    monkeypatch.setattr(shared, "failing_records", counted)
    return seen


def k_anonymous(k: int = 2, **given: Any) -> ExpectationCheck:
    return expectation_check("k_anonymity", quasi_identifiers=["ward"], k=k, **given)


def failures(schema: Any, frame: Any) -> SchemaErrors:
    with pytest.raises(SchemaErrors) as caught:
        schema.validate(frame, lazy=True)
    sentences = f"{caught.value} {caught.value.failure_cases} {[str(one) for one in caught.value.schema_errors]}"
    assert CELL not in sentences
    return caught.value


def output(error: Any) -> list[bool]:
    """Whether each record keeps a check, as pandera holds it."""
    passing = error.check_output
    return passing.tolist() if isinstance(passing, pd.Series) else passing["check_output"].to_list()


@BOTH
def test_exactly_the_offending_rows_are_marked(library: Any, frame: Frame):
    schema = library.DataFrameSchema(checks=[k_anonymous(), k_anonymous(3)])
    errors = failures(schema, frame)
    assert [output(one) for one in errors.schema_errors] == [
        [True] * 5 + [False],
        [False, False, True, True, True, False],
    ]
    cases = errors.failure_cases
    assert list(cases["failure_case"]) == ["record 6", "record 1", "record 2", "record 6"]
    assert list(cases["index"]) == ([14, 10, 11, 14] if library is pa else [5, 0, 1, 5])
    assert set(cases["check"]) == {
        "1 of 6 records is in a group of fewer than 2 records with the same 'ward': this record is alone.",
        "3 of 6 records are in 2 groups of fewer than 3 records with the same 'ward'; 1 of them is alone.",
    }


@BOTH_IN_TIME
def test_failure_cases_are_few_and_the_output_is_whole(library: Any, frame: Any):
    large = (pd if library is pa else pl).concat([frame] * 10)
    check = k_anonymous(31)
    for most, named in ((check.n_failure_cases, 20), (2, 2), (None, 20)):
        check.n_failure_cases = most
        (error,) = failures(library.DataFrameSchema(checks=check), large).schema_errors
        assert len(error.failure_cases) == named
        assert output(error) == [False] * 60


@BOTH
def test_what_holds_passes(library: Any, frame: Frame):
    schema = library.DataFrameSchema(checks=[k_anonymous(2)])
    assert len(schema.validate(frame[:5])) == 5


@BOTH
def test_a_failure_of_the_table_marks_no_record(library: Any, frame: Frame):
    checks = [
        expectation_check("reidentification_risk", quasi_identifiers=["ward"], at_most="1/2"),
        k_anonymous(),
    ]
    risk, alone = failures(library.DataFrameSchema(checks=checks), frame).schema_errors
    assert risk.failure_cases == ("" if library is ppl else False)
    assert output(alone) == [True] * 5 + [False]
    cases = failures(library.DataFrameSchema(checks=checks), frame).failure_cases
    rows = cases.to_dicts() if library is ppl else cases.to_dict("records")
    ((index, check),) = [(row["index"], row["check"]) for row in rows if row["failure_case"] in ("", False)]
    assert (index, check[:31]) == (None, "The highest risk of a record is")


@BOTH_IN_TIME
def test_an_expectation_without_attribute_fails_where_any_attribute_does(library: Any, frame: Frame):
    check = expectation_check("distinct_l_diversity", POLICY, l=2)
    (error,) = failures(library.DataFrameSchema(checks=check), frame).schema_errors
    assert output(error) == [False, False, True, True, True, False]  # ward 1 by illness, ward 3 by both


@BOTH_IN_TIME
def test_what_cannot_be_evaluated_fails_with_a_sentence(library: Any, frame: Frame):
    texts = expectation_check("t_closeness", quasi_identifiers=["ward"], attribute="illness", scale="numeric", t=0.5)
    nothing = expectation_check("k_anonymity", quasi_identifiers=["ward"], k=1)
    absent = expectation_check("k_anonymity", quasi_identifiers=["street"], k=2)
    errors = failures(library.DataFrameSchema(checks=[texts, nothing, absent]), frame).schema_errors
    assert [one.reason_code.name for one in errors] == ["CHECK_ERROR"] * 3
    sentences = [str(one.failure_cases) for one in errors]
    assert "does not keep its declared scale" in sentences[0]
    assert "The demand k: 1 is kept however these records are grouped, so this is measured, not judged" in sentences[1]
    assert "column 'street' is not in the release" in sentences[2]


@BOTH_IN_TIME
def test_an_empty_frame_fails(library: Any, frame: Frame):
    (error,) = failures(library.DataFrameSchema(checks=k_anonymous()), frame[:0]).schema_errors
    assert "an empty release cannot be audited" in str(error.failure_cases)


@BOTH_IN_TIME
def test_a_check_beside_a_column_fails(library: Any, frame: Frame):
    schema = library.DataFrameSchema({"ward": library.Column(checks=k_anonymous(1))})
    (error,) = failures(schema, frame).schema_errors
    assert "k_anonymity is about the whole table; put it among the checks of the schema itself" in str(error)


def test_a_lazy_frame_is_judged_where_pandera_looks_at_data_at_all():
    schema = ppl.DataFrameSchema(checks=k_anonymous())
    with config_context(validation_depth="SCHEMA_AND_DATA"):
        (error,) = failures(schema, POLARS.lazy()).schema_errors
    assert output(error) == [True] * 5 + [False]


def test_frames_of_other_kinds_are_refused():
    with pytest.raises(
        TcdpAuditError, match=r"^pandera gave a builtins list; tcdp-audit's checks take frames of pandas"
    ):
        k_anonymous()([1])


@BOTH_IN_TIME
def test_a_warning_is_a_warning_of_panderas(library: Any, frame: Frame):
    schema = library.DataFrameSchema(checks=k_anonymous(severity="warning"))
    with pytest.warns(SchemaWarning, match="1 of 6 records is in a group of fewer than 2 records") as caught:
        schema.validate(frame, lazy=True)
    assert all(CELL not in str(one.message) for one in caught)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "k_anonymity",
            {"quasi_identifiers": ["ward"]},
            "k_anonymity is given no threshold, so that nothing can fail it",
        ),
        ("k_anonymity", {"k": 2}, "k_anonymity: name the columns to group by as a list, `quasi_identifiers`, or the"),
        ("k_anonymity", {"quasi_identifiers": "ward", "k": 2}, "k_anonymity: name the columns to group by as a list"),
        ("k_anonimity", {"quasi_identifiers": ["ward"], "k": 2}, "unknown check 'k_anonimity'"),
        ("k_anonymity", {"quasi_identifiers": ["ward"], "kk": 2}, "kk"),
        ("k_anonymity", {"policy": {"version": 1}, "k": 2}, "attributes"),
        (STRUCTURE, {}, "tcdp_audit_structure: name the `policy` that declares the columns"),
    ],
)
def test_what_judges_nothing_or_is_wrong_is_refused_when_it_is_made(name: str, given: Any, message: str):
    with pytest.raises(PolicyError) as caught:
        expectation_check(name, **given)
    assert message in str(caught.value)


def test_dropping_rows_is_no_way_out():
    schema = pa.DataFrameSchema(checks=k_anonymous(), drop_invalid_rows=True)
    (error,) = failures(schema, FRAME).schema_errors
    assert "k_anonymity: records that are dropped change the classes of the others; drop none" in str(error)


# One audit for all checks of a schema


def alone() -> list[ExpectationCheck]:
    diversity = {"quasi_identifiers": ["ward"], "attribute": "illness"}
    return [
        k_anonymous(),
        k_anonymous(3),
        expectation_check("distinct_l_diversity", **diversity, l=2),
        expectation_check("entropy_l_diversity", **diversity, l=2),
    ]


def test_the_checks_of_a_pandas_schema_share_an_audit_where_they_see_the_same_columns(audits: list[Any]):
    errors = failures(pa.DataFrameSchema(checks=alone()), FRAME)
    assert len(errors.schema_errors) == 4
    assert [len(policy.expectations) for policy in audits] == [2, 2]


@pytest.mark.parametrize("library", ["pandas", pytest.param("polars", marks=pytest.mark.long)])
def test_the_checks_of_a_policy_share_an_audit(library: Any, audits: list[Any]):
    schema = schema_of(POLICY, library)
    failures(schema, FRAME if library == "pandas" else POLARS)
    assert len(audits) == 1
    failures(type(schema).from_yaml(schema.to_yaml()), FRAME if library == "pandas" else POLARS)
    assert len(audits) == 2


def test_a_frame_that_is_changed_in_place_is_audited_again():
    frame, check = FRAME.reset_index(drop=True), k_anonymous()
    schemas = [pa.DataFrameSchema(checks=[check, k_anonymous(3)]), pa.DataFrameSchema(checks=[k_anonymous(3)])]
    with pytest.raises(pa.errors.SchemaError):
        schemas[0].validate(frame, inplace=True)  # stops at the first check; what the second would say waits
    frame["ward"] = "1"
    assert schemas[1].validate(frame, inplace=True) is frame
    assert schemas[0].validate(frame, inplace=True) is frame
    frame.loc[0, "ward"] = "2"
    with pytest.raises(pa.errors.SchemaError):
        schemas[0].validate(frame, inplace=True)


def test_a_frame_that_is_changed_between_checks_called_by_themselves_is_audited_again():
    _, two, three = checks_of({**POLICY, "expect": [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 3}}]})
    frame = FRAME.assign(ward="1")
    assert two(frame).check_passed
    frame["ward"] = FRAME["ward"]
    assert not three(frame).check_passed


def test_no_frame_stays_alive_and_nothing_waits_for_one_that_is_gone():
    frame = FRAME.copy()
    alive = weakref.ref(frame)
    with pytest.raises(pa.errors.SchemaError):
        pa.DataFrameSchema(checks=[k_anonymous(), k_anonymous(3)]).validate(frame, inplace=True)
    assert shared._LAST.pending.answered
    del frame
    gc.collect()
    assert alive() is None
    assert not shared._LAST.pending.answered


def test_a_check_that_is_not_the_policys_own_is_measured_alone(audits: list[Any]):
    check = expectation_check("k_anonymity", POLICY, k=7)
    failures(ppl.DataFrameSchema(checks=check), POLARS)
    assert [policy.document.expect for policy in audits] == [[{"k_anonymity": {"k": 7}}]]


def test_a_check_of_one_intruder_needs_none_of_the_others():
    knows = {"neighbour": {"knows": ["ward"]}, "boss": {"knows": ["cost"]}}
    expect = [{"k_anonymity": {"k": 2, "against": "neighbour"}}, {"k_anonymity": {"k": 2, "against": "boss"}}]
    check = checks_of({**POLICY, "scenarios": knows, "expect": expect})[1]
    (error,) = failures(pa.DataFrameSchema(checks=check), FRAME).schema_errors
    assert output(error) == [True] * 5 + [False]


@pytest.mark.long
def test_a_check_that_occurs_twice_is_measured_twice(audits: list[Any]):
    failures(pa.DataFrameSchema(checks=[k_anonymous(), k_anonymous()]), FRAME)
    assert len(audits) == 2


# Schemas: policies, YAML, models


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_policy_is_a_schema_that_survives_yaml(library: Any):
    schema = schema_of(POLICY, library)
    assert list(schema.columns) == ["ward", "illness", "cost"]
    assert schema.strict is True
    assert all(column.nullable and column.required for column in schema.columns.values())
    assert schema.columns["cost"].description == "sensitive, numeric"
    assert [one.name for one in schema.checks] == [
        STRUCTURE,
        "k_anonymity",
        "distinct_l_diversity",
        "distinct_l_diversity",
        "reidentification_risk",
    ]
    assert schema.description == "policy, exported by tcdp-audit; left out: without threshold, t_closeness"
    failures(schema, FRAME if library == "pandas" else POLARS)
    text = schema.to_yaml()
    assert text.count("illness:") == 2  # the columns, and the policy once for all checks
    assert "records" not in text  # nothing that a validation said
    assert type(schema).from_yaml(text) == schema


def test_the_key_and_the_unit_are_columns_and_locations_are_the_policys(tmp_path: Any):
    (tmp_path / "wards.csv").write_text("1;north\n2;north\n3;south\n")
    file = tmp_path / "release.tcdp.yaml"
    file.write_text(
        "version: 1\nkey: number\nunit: person\noriginal: original.csv\n"
        "attributes:\n  ward: {role: quasi_identifier, hierarchy: wards.csv}\nexpect:\n  - k_anonymity: {k: 2}\n"
    )
    schema = schema_of(file)
    assert {name: column.required for name, column in schema.columns.items()} == {
        "ward": True,
        "person": True,
        "number": False,
    }
    policy = schema.checks[0].statistics["policy"]
    assert policy["original"] == str(tmp_path / "original.csv")
    assert policy["attributes"]["ward"]["hierarchy"] == str(tmp_path / "wards.csv")
    named = expectation_check("k_anonymity", str(file), k=2)
    assert named.demand == schema.checks[1].demand
    assert pa.DataFrameSchema.from_yaml(schema.to_yaml()) == schema


def test_numbers_of_a_policys_file_keep_their_digits(tmp_path: Any):
    file = tmp_path / "release.tcdp.yaml"
    file.write_text(
        "version: 1\nattributes: {ward: {role: quasi_identifier}, illness: {role: sensitive}}\nexpect:\n"
        "  - t_closeness: {t: 0.12345678901234567890, distance: equal}\n  - k_anonymity: {k: 2}\n"
        "  - recursive_cl_diversity: {c: 1/3, l: 2, variant: positive_disclosure, dont_care: [010, 1.10]}\n"
    )
    checks = pa.DataFrameSchema.from_yaml(schema_of(file).to_yaml()).checks
    assert [one.statistics.get("t", one.statistics.get("k", one.statistics.get("c"))) for one in checks[1:]] == [
        "0.12345678901234567890",
        2,
        "1/3",
    ]
    assert checks[3].statistics["dont_care"] == ["010", "1.10"]


def test_what_a_policy_says_of_quality_is_left_out_and_reported():
    schema = schema_of({**POLICY, "expect": POLICY["expect"][:1], "schema": "columns.yaml"})
    assert schema.description == "policy, exported by tcdp-audit; left out: what its `schema` says of quality"
    assert "schema" not in schema.checks[0].statistics["policy"]


def test_a_policy_that_demands_nothing_is_no_schema():
    with pytest.raises(PolicyError, match=r"^no expectation of the policy has a threshold, and a schema only judges"):
        schema_of({**POLICY, "expect": [{"k_anonymity": {}}]})


@BOTH_IN_TIME
def test_columns_are_judged_as_the_auditor_judges_them(library: Any, frame: Any):
    text = ["cheap"] * 6
    wrong = frame.assign(cost=text) if library is pa else frame.with_columns(cost=pl.Series(text))
    check = checks_of({**POLICY, "expect": [{"k_anonymity": {"k": 1}}]})[0]
    (error,) = failures(library.DataFrameSchema(checks=check), wrong).schema_errors
    assert "column 'cost' holds" in error.check.error
    library.DataFrameSchema(checks=check).validate(frame)


def test_yaml_names_checks_once_they_are_registered():
    text = """
        columns: {ward: {nullable: true}}
        checks:
        - {quasi_identifiers: [ward], k: 2, options: {check_name: k_anonymity}}
    """
    register()
    register()
    (error,) = failures(pa.DataFrameSchema.from_yaml(text), FRAME).schema_errors
    assert output(error) == [True] * 5 + [False]


@BOTH_IN_TIME
def test_a_models_config_names_checks(library: Any, frame: Frame):
    register()

    class Release(library.DataFrameModel):
        ward: str

        class Config:
            k_anonymity = {"quasi_identifiers": ["ward"], "k": 2}  # noqa: RUF012 - as pandera asks for it

    (error,) = failures(Release.to_schema(), frame).schema_errors
    assert output(error) == [True] * 5 + [False]


def test_a_name_that_pandera_knows_already_is_not_taken(monkeypatch: pytest.MonkeyPatch):
    register()
    monkeypatch.setitem(pa.Check.REGISTERED_CUSTOM_CHECKS, "k_anonymity", print)
    with pytest.raises(PluginError, match=r"^pandera has a check 'k_anonymity' already, so that schemas cannot name"):
        register()


def test_checks_can_be_copied_pickled_and_compared():
    check = checks_of(POLICY)[1]
    for other in (copy.deepcopy(check), pickle.loads(pickle.dumps(check))):  # noqa: S301
        assert other == check
        assert hash(other) == hash(check)
        (error,) = failures(pa.DataFrameSchema(checks=other), FRAME).schema_errors
        assert output(error) == [True] * 5 + [False]
    assert check != k_anonymous()
    fresh = k_anonymous(4)
    fresh.error = "too few"
    assert (fresh.error, fresh != k_anonymous(4)) == ("too few", True)


def test_a_demand_that_names_a_unit_marks_every_row_of_the_units_that_fail():
    attributes = {**POLICY["attributes"], "home": {"role": "insensitive"}}
    asked = {**POLICY, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2, "unit": "home"}}]}
    homes = FRAME.assign(home=["1", "2", "3", "3", "4", "5"])
    (error,) = failures(pa.DataFrameSchema(checks=checks_of(asked)[1]), homes).schema_errors
    assert output(error) == [True, True, False, False, False, False]
