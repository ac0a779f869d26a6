"""A policy's pandera schema: what fails, what passes, and that nothing passes silently or shows a cell."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
import polars as pl
import pytest
from pandera.config import CONFIG, ValidationDepth, config_context
from pyarrow import parquet, table as arrow_table

from tcdp_audit import Outcome, PolicyError, Severity, Status, audit

CELL = "zqcellzq"
ATTRIBUTES = {
    "zip": {"role": "quasi_identifier"},
    "n": {"role": "insensitive"},
    "disease": {"role": "sensitive"},
}
FRAME = pd.DataFrame(
    {
        "zip": ["02139", "02139", "10115", "10115"],
        "n": [1, 2, 3, 4],
        "disease": ["flu", "gout", "flu", f"{CELL}1"],
    }
)
SOUND = {
    "zip": pa.Column(str, pa.Check.str_length(5)),
    "n": pa.Column(int),
    "disease": pa.Column(str),
}
Audited = Callable[..., Any]


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Audited:
    """Audit a release with a schema object, which stands in a module of the current folder."""

    def run(schema: Any, release: Any = FRAME, *, attributes: Any = None, **policy: Any) -> Any:
        module = f"schema_{len(list(tmp_path.iterdir()))}"
        (tmp_path / f"{module}.py").write_text("")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(sys.modules, module, type(sys)(module))
        sys.modules[module].Schema = schema
        document = {
            "version": 1,
            "schema": f"{module}:Schema",
            "attributes": attributes or ATTRIBUTES,
            "expect": [{"k_anonymity": {"k": 2}}],
            **policy,
        }
        return audit(release, document)

    return run


def of_schema(result: Any) -> list[Outcome]:
    schema_outcomes = [one for one in result.outcomes if one.check == "pandera_schema"]
    assert CELL not in json.dumps(result.as_json())
    return schema_outcomes


def only(result: Any) -> Outcome:
    schema_outcomes = of_schema(result)
    assert len(schema_outcomes) == 1, [one.message for one in schema_outcomes]
    return schema_outcomes[0]


def test_a_schema_that_holds_gives_one_passed_outcome_that_counts(audited: Audited):
    result = audited(pa.DataFrameSchema(SOUND, strict=True))
    outcome = only(result)
    assert (outcome.status, outcome.records.total, outcome.records.failing) == (Status.PASSED, 4, 0)
    assert dict(outcome.details) == {"columns": 3, "checks": 1}
    assert outcome.message == "All 4 records keep the schema, which describes 3 columns and has 1 checks."
    assert result.status == "passed"
    assert outcome in result.expectations
    assert outcome not in result.structure


def test_a_model_is_a_schema_too(audited: Audited):
    class Model(pa.DataFrameModel):
        zip: str = pa.Field(str_length=5)
        n: int = pa.Field(ge=2)

    outcome = only(audited(Model))
    assert (outcome.status, outcome.attribute, outcome.records.failing) == (Status.FAILED, "n", 1)
    assert outcome.message == "column 'n' does not keep greater_than_or_equal_to(2) in 1 record."


@pytest.mark.parametrize(
    ("column", "schema", "check", "records", "message"),
    [
        (
            "disease",
            pa.Column(str, pa.Check.isin(["flu", "gout"])),
            "isin(['flu', 'gout'])",
            1,
            "column 'disease' does not keep isin(['flu', 'gout']) in 1 record.",
        ),
        (
            "zip",
            pa.Column(str, unique=True),
            "field_uniqueness",
            4,
            "column 'zip' must be unique, and 4 records share a value.",
        ),
        (
            "n",
            pa.Column(float),
            "dtype('float64')",
            None,
            "column 'n' is of type int64, and the schema demands dtype('float64').",
        ),
        ("m", pa.Column(int), "column_in_dataframe", None, "column 'm' is in the schema and not in the release."),
        (
            "m.*",
            pa.Column(int, regex=True),
            "no_regex_column_match('m.*')",
            None,
            "no column of the release matches the schema's column 'm.*'.",
        ),
        (
            "disease",
            pa.Column(int, coerce=True),
            "coerce_dtype('int64')",
            4,
            "4 records of column 'disease' cannot be read as the schema's type: coerce_dtype('int64').",
        ),
        (
            "n",
            pa.Column(int, pa.Check(lambda s: s > 3)),
            "check 0",
            3,
            "column 'n' does not keep check 0 in 3 records.",
        ),
        (
            "n",
            pa.Column(int, pa.Check(lambda s: s > 3, error="large enough")),
            "large enough",
            3,
            "column 'n' does not keep large enough in 3 records.",
        ),
    ],
)
def test_each_kind_of_failure_is_reported_without_a_cell(
    audited: Audited, column: str, schema: Any, check: str, records: int | None, message: str
):
    outcome = only(audited(pa.DataFrameSchema({column: schema})))
    assert (outcome.status, outcome.attribute) == (Status.FAILED, column)
    assert dict(outcome.details) == {"check": check, "column": column}
    assert (outcome.records and outcome.records.failing) == records
    assert outcome.message == message


def test_every_failure_is_an_outcome_of_its_own(audited: Audited):
    schema = pa.DataFrameSchema(
        {"n": pa.Column(int, [pa.Check.gt(1), pa.Check.lt(3)]), "zip": pa.Column(str)},
        checks=pa.Check(lambda frame: frame["n"].sum() > 100, name="enough"),
        strict=True,
        unique=["zip"],
    )
    result = audited(schema)
    assert [
        (one.attribute, one.details["check"], one.records and one.records.failing) for one in of_schema(result)
    ] == [
        ("disease", "column_in_schema", None),
        (None, "multiple_fields_uniqueness", 4),
        ("n", "greater_than(1)", 1),
        ("n", "less_than(3)", 2),
        (None, "enough", None),
    ]
    assert result.status == "failed"
    assert result.exit_code() == 1


def test_a_failed_schema_fails_an_audit_whose_checks_all_pass(audited: Audited):
    result = audited(pa.DataFrameSchema({"n": pa.Column(int, pa.Check.gt(1))}))
    assert [one.status for one in result.expectations] == [Status.PASSED, Status.FAILED]
    assert result.status == "failed"


def test_a_schema_that_holds_does_not_make_a_pass_of_a_policy_without_thresholds(audited: Audited):
    result = audited(pa.DataFrameSchema(SOUND), expect=[{"k_anonymity": {}}])
    assert only(result).status is Status.PASSED
    assert result.status == "measured"
    assert result.exit_code() == 3


# Silent ways out

FAILING = pa.Column(int, pa.Check.gt(3))


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(pa.DataFrameSchema({"n": FAILING}, drop_invalid_rows=True), id="schema drops invalid rows"),
        pytest.param(
            pa.DataFrameSchema({"n": pa.Column(int, pa.Check.gt(3), drop_invalid_rows=True)}),
            id="column drops invalid rows",
        ),
        pytest.param(
            pa.DataFrameSchema({"n": pa.Column(int, pa.Check.gt(3, n_failure_cases=1))}),
            id="only one failure counted",
        ),
        pytest.param(
            pa.DataFrameSchema({"n": FAILING}, parsers=pa.Parser(lambda frame: frame.assign(n=9))),
            id="schema parses",
        ),
        pytest.param(
            pa.DataFrameSchema({"n": pa.Column(int, pa.Check.gt(3), parsers=pa.Parser(lambda s: s + 9))}),
            id="column parses",
        ),
    ],
)
def test_no_way_of_changing_the_release_lets_it_pass(audited: Audited, schema: pa.DataFrameSchema):
    outcome = only(audited(schema))
    assert (outcome.status, outcome.attribute, outcome.records.failing) == (Status.FAILED, "n", 3)


def test_a_filter_is_a_demand(audited: Audited):
    outcome = only(audited(pa.DataFrameSchema({"zip": pa.Column(str), "n": pa.Column(int)}, strict="filter")))
    assert (outcome.status, outcome.attribute) == (Status.FAILED, "disease")


def test_a_missing_column_is_not_added_and_a_missing_value_not_filled_in(audited: Audited):
    schema = pa.DataFrameSchema(
        {"m": pa.Column(int, default=1), "disease": pa.Column(str, default="none")}, add_missing_columns=True
    )
    holed = FRAME.assign(disease=["flu", None, "flu", None])
    missing, null = of_schema(audited(schema, holed))
    assert (missing.attribute, missing.details["check"]) == ("m", "column_in_dataframe")
    assert (null.attribute, null.details["check"], null.records.failing) == ("disease", "not_nullable", 2)
    assert null.message == "column 'disease' has no value in 2 records, and the schema demands one."


def test_a_check_that_only_warns_fails_as_a_warning_and_says_nothing_on_its_own(audited: Audited):
    schema = pa.DataFrameSchema({"disease": pa.Column(str, pa.Check.isin(["flu"], raise_warning=True))})
    result = audited(schema)  # pandera's own warning would be an error here
    outcome = only(result)
    assert (outcome.status, outcome.severity, outcome.records.failing) == (Status.FAILED, Severity.WARNING, 2)
    assert result.status == "passed"
    assert result.exit_code(fail_on_warning=True) == 1


def test_the_schema_of_the_caller_is_left_as_it_is(audited: Audited):
    schema = pa.DataFrameSchema({"n": pa.Column(int, pa.Check.gt(3, raise_warning=True))}, drop_invalid_rows=True)
    before = FRAME.copy(deep=True)
    audited(schema)
    assert schema.drop_invalid_rows is True
    assert schema.columns["n"].checks[0].raise_warning is True
    pd.testing.assert_frame_equal(before, FRAME)


@pytest.mark.parametrize(
    "schema",
    [
        pa.DataFrameSchema(),
        pa.DataFrameSchema({"n": pa.Column(nullable=True, required=False)}),
        pa.DataFrameSchema({}, name="empty", coerce=True),
    ],
)
def test_a_schema_that_demands_nothing_is_a_fault(audited: Audited, schema: pa.DataFrameSchema):
    with pytest.raises(PolicyError, match=r"schema: .*: it demands nothing"):
        audited(schema)


def test_validation_cannot_be_turned_off_from_outside(audited: Audited, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(CONFIG, "validation_enabled", False)
    schema = pa.DataFrameSchema({"n": FAILING})
    with config_context(validation_enabled=False, validation_depth=ValidationDepth.SCHEMA_ONLY):
        assert schema.validate(FRAME) is FRAME
        assert only(audited(schema)).status is Status.FAILED


@pytest.mark.parametrize("looked_at", [0, 1, 3])
def test_a_schema_that_does_not_look_at_every_record_is_an_error(
    audited: Audited, monkeypatch: pytest.MonkeyPatch, looked_at: int
):
    validate = pa.DataFrameSchema.validate

    def hasty(schema: Any, frame: Any, **options: Any) -> Any:
        return validate(schema, frame, **{**options, "head": looked_at}) if looked_at else frame

    monkeypatch.setattr(pa.DataFrameSchema, "validate", hasty)
    result = audited(pa.DataFrameSchema({"n": pa.Column(int)}))
    outcome = only(result)
    assert outcome.status is Status.ERROR
    assert outcome.message == "pandera did not evaluate the schema on every record"
    assert result.exit_code() == 3


def test_a_check_that_raises_is_an_error_without_its_text(audited: Audited):
    def raising(series: Any) -> Any:
        raise LookupError(f"no {series.iloc[3]}")

    result = audited(pa.DataFrameSchema({"disease": pa.Column(str, pa.Check(raising))}))
    outcome = only(result)
    assert outcome.status is Status.ERROR
    assert outcome.message == "raising could not be evaluated on column 'disease': it raised LookupError."
    assert result.exit_code() == 3


def test_a_schema_that_raises_is_an_error_without_its_text(audited: Audited, monkeypatch: pytest.MonkeyPatch):
    def raising(_: Any, frame: Any, **__: Any) -> Any:
        raise OSError(frame["disease"].iloc[3])

    monkeypatch.setattr(pa.DataFrameSchema, "validate", raising)
    result = audited(pa.DataFrameSchema({"n": FAILING}))
    outcome = only(result)
    assert outcome.status is Status.ERROR
    assert outcome.message == "pandera raised OSError; the schema was not evaluated"
    assert result.exit_code() == 3


@pytest.mark.parametrize(
    ("values", "dtype", "changed"),
    [
        ([1.5, 2.0, 3.0, 4.25], "int64", 2),
        (["False", "true", "0", "maybe"], bool, 3),
        (["1", "nan", "3", "4"], float, 1),
        ([2**53 + 1, 1, 2, 3], "float64", 1),
        ([1, 2, 3, 4], "float64", 0),
        (["1", "02", "3", "4"], "int64", 0),
        ([True, False, True, True], "int64", 0),
    ],
)
def test_coercion_that_loses_a_value_is_a_failure(audited: Audited, values: list[Any], dtype: Any, changed: int):
    schema = pa.DataFrameSchema({"n": pa.Column(dtype, coerce=True, nullable=True)})
    outcome = only(audited(schema, FRAME.assign(n=values)))
    assert (outcome.status is Status.FAILED, outcome.records.failing) == (changed > 0, changed)
    if changed:
        assert (outcome.attribute, outcome.details["check"]) == ("n", "coerce")


# What pandera sees


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "release.csv"
    path.write_text("zip,n,disease\n02139,1,flu\n02139,,NA\n10115,3,null\n10115,4,\n")
    return path


def frame_seen(audited: Audited, release: Any, **policy: Any) -> pd.DataFrame:
    seen: dict[str, Any] = {}

    def see(frame: pd.DataFrame) -> bool:
        seen.update(frame=frame.copy())
        return True

    assert only(audited(pa.DataFrameSchema(checks=pa.Check(see)), release, **policy)).status is Status.PASSED
    assert seen["frame"].index.tolist() == [0, 1, 2, 3]
    return seen["frame"]


def test_a_text_file_is_text_with_its_zeros_and_its_missing_values(audited: Audited, csv: Path):
    frame = frame_seen(audited, csv)
    assert frame["zip"].tolist() == ["02139", "02139", "10115", "10115"]
    assert frame["n"].isna().tolist() == [False, True, False, False]
    assert frame["disease"].tolist()[:3] == ["flu", "NA", "null"]
    assert frame["disease"].isna().tolist() == [False, False, False, True]
    frame = frame_seen(audited, csv, conventions={"missing_tokens": ["", "NA", "null"]})
    assert frame["disease"].isna().tolist() == [False, True, True, True]


def test_a_text_file_is_coerced_by_the_schema(audited: Audited, csv: Path):
    numbers = pa.Column("Int64", pa.Check.gt(3), coerce=True, nullable=True)
    outcome = only(audited(pa.DataFrameSchema({"n": numbers, "zip": pa.Column(str)}), csv))
    assert (outcome.attribute, outcome.records.failing) == ("n", 2)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "polars", "lazy"])
def test_typed_tables_keep_their_types_and_whole_numbers_stay_whole(audited: Audited, tmp_path: Path, kind: str):
    large = 2**53 + 1
    table = arrow_table({"zip": FRAME["zip"].tolist(), "n": [large, None, 3, 4], "disease": ["a", "", "b", None]})
    path = tmp_path / "release.parquet"
    parquet.write_table(table, path)
    release = {
        "parquet": path,
        "arrow": table,
        "polars": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
    }
    frame = frame_seen(audited, release[kind])
    assert str(frame["n"].dtype) == "Int64"
    assert frame["n"].tolist()[0] == large
    assert frame["disease"].isna().tolist() == [False, True, False, True]


def test_a_lazy_frame_is_validated_to_its_cells(audited: Audited):
    outcome = only(audited(pa.DataFrameSchema({"n": FAILING}), pl.from_pandas(FRAME).lazy()))
    assert (outcome.status, outcome.records.failing) == (Status.FAILED, 3)


def test_a_pandas_frame_keeps_its_own_types_and_not_its_index(audited: Audited):
    frame = FRAME.assign(disease=FRAME["disease"].astype("category"), n=FRAME["n"].astype("Int16"))
    schema = pa.DataFrameSchema({"disease": pa.Column("category"), "n": pa.Column("Int16", pa.Check.gt(3))})
    outcome = only(audited(schema, frame.set_index(np.array([7, 7, 7, 7]))))
    assert (outcome.attribute, outcome.records.failing) == ("n", 3)
