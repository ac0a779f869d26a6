"""Our own way into pandera: the same outcomes as `audit`, and nothing that was not evaluated passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pandera.polars as ppl
import polars as pl
import pytest
from pandera.config import CONFIG, config_context
from same_everywhere import EXPECT, frame as release, judged, native, policy

from tcdp_audit import CheckError, DataError, PolicyError, UsageError, audit
from tcdp_audit.core.base.errors import ExpectationsFailedError
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.integrations import pandera as ours
from tcdp_audit.integrations.pandera import ExpectationCheck, check, expectation_check, schema_of, validate

CELL = "zqcellzq"
FRAME = pd.DataFrame({"ward": ["1", "1", "2", "2", "2"], "illness": ["flu", "gout", "flu", f"{CELL}", "flu"]})
POLARS = pl.DataFrame({name: FRAME[name].tolist() for name in FRAME})
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"ward": {"role": "quasi_identifier"}, "illness": {"role": "sensitive", "scale": "nominal"}},
    "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}],
}
BOTH = pytest.mark.parametrize(("library", "frame"), [(pa, FRAME), (ppl, POLARS)], ids=["pandas", "polars"])
BOTH_IN_TIME = pytest.mark.parametrize(
    ("library", "frame"),
    [pytest.param(pa, FRAME, id="pandas"), pytest.param(ppl, POLARS, id="polars", marks=pytest.mark.long)],
)


def k_anonymous(k: int = 2, **given: Any) -> ExpectationCheck:
    return expectation_check("k_anonymity", quasi_identifiers=["ward"], k=k, **given)


def schema(library: Any, *checks: Any, **given: Any) -> Any:
    return library.DataFrameSchema(checks=list(checks) or [k_anonymous()], **given)


@BOTH
def test_a_frame_that_keeps_its_policy_passes(library: Any, frame: Any):
    validation = validate(frame, schema_of(POLICY, library.__name__.rpartition(".")[2]))
    assert (validation.status, validation.passed, len(validation.audits)) == ("passed", True, 1)
    assert validation.schema == ()
    native = audit(frame, POLICY)
    assert validation.outcomes == (*native.structure, *native.expectations)
    assert validation.audits[0].release.sha256 == native.release.sha256
    validation.raise_for_failures()


@BOTH
def test_a_failure_is_reported_with_its_records_and_no_cell(library: Any, frame: Any):
    validation = validate(frame, schema(library, k_anonymous(3), k_anonymous()))
    ((failed, mask), (passed, none)) = validation
    assert (failed.status, passed.status) == (Status.FAILED, Status.PASSED)
    assert mask is not None
    assert mask.tolist() == [True, True, False, False, False]
    assert none is not None
    assert none.tolist() == [False] * 5
    with pytest.raises(ExpectationsFailedError) as caught:
        validation.raise_for_failures()
    assert str(caught.value) == f"the validation's status is failed\nk_anonymity: {failed.message}"


@BOTH
def test_what_else_a_schema_says_counts_and_shows_no_cell(library: Any, frame: Any):
    columns = {
        "illness": library.Column(checks=library.Check.isin(["flu", "gout"]), unique=True),
        "ward": library.Column(int),
    }
    validation = validate(frame, schema(library, columns=columns))
    assert [one.check for one in validation.outcomes] == ["k_anonymity", *["pandera_schema"] * 3]
    sentences = sorted(one.message for one in validation.schema)
    assert sentences[0] == "column 'illness' does not keep isin(['flu', 'gout']) in 1 record."
    assert sentences[1] == "column 'illness' must be unique, and 3 records share a value."
    assert sentences[2].startswith("column 'ward' is of type ")
    assert not validation.passed
    assert CELL not in str(validation.outcomes)


@BOTH_IN_TIME
def test_a_warning_alone_judges_nothing(library: Any, frame: Any):
    validation = validate(frame, schema(library, k_anonymous(3, severity="warning")))
    assert (validation.status, validation.passed) == ("measured", False)
    assert [one.is_warning for one in validation.outcomes] == [True]


@BOTH_IN_TIME
def test_a_demand_that_nothing_can_fail_judges_nothing(library: Any, frame: Any):
    assert validate(frame, schema(library, k_anonymous(1))).status == "measured"
    assert validate(frame, schema(library, k_anonymous(1), k_anonymous(2))).status == "passed"


@BOTH_IN_TIME
def test_what_cannot_be_evaluated_is_an_error(library: Any, frame: Any):
    absent = expectation_check("k_anonymity", quasi_identifiers=["street"], k=2)
    beside = {"ward": library.Column(checks=k_anonymous(2))}
    assert validate(frame, schema(library, absent)).status == "error"
    validation = validate(frame, schema(library, columns=beside))
    assert validation.status == "error"
    assert [one.status for one in validation.schema] == [Status.ERROR]


@BOTH_IN_TIME
def test_ways_out_of_a_schema_are_closed(library: Any, frame: Any):
    dropping = schema(library, k_anonymous(3), drop_invalid_rows=True)
    filtering = schema(library, columns={"ward": library.Column()}, strict="filter")
    softened = schema(library, k_anonymous(3))
    softened.checks[0].raise_warning = True
    for one in (dropping, filtering, softened):
        assert validate(frame, one).status == "failed"


@BOTH_IN_TIME
def test_a_model_is_a_schema(library: Any, frame: Any):
    ours.register()

    class Release(library.DataFrameModel):
        ward: str
        illness: str

        class Config:
            k_anonymity = {"quasi_identifiers": ["ward"], "k": 3}  # noqa: RUF012 - as pandera asks for it
            strict = True

    assert [one.message for one in validate(frame, Release).outcomes] == [
        "2 of 5 records are in a group of fewer than 3 records with the same 'ward'; the smallest has 2 records."
    ]


# What is refused: nothing of it may pass


@BOTH
def test_a_disabled_pandera_is_refused(library: Any, frame: Any):
    with config_context(validation_enabled=False), pytest.raises(UsageError, match=r"^pandera is disabled"):
        validate(frame, schema(library))
    with config_context(validation_depth="SCHEMA_ONLY"), pytest.raises(UsageError, match=r"is SCHEMA_ONLY \(PANDERA"):
        validate(frame, schema(library))
    with config_context(validation_depth="DATA_ONLY"), pytest.raises(UsageError, match=r"is DATA_ONLY \(PANDERA"):
        validate(frame, schema(library))
    assert CONFIG.validation_enabled
    assert validate(frame, schema(library)).passed


@pytest.mark.long
@pytest.mark.parametrize("variable", ["PANDERA_VALIDATION_ENABLED=False", "PANDERA_VALIDATION_DEPTH=SCHEMA_ONLY"])
def test_a_variable_that_disables_pandera_is_noticed(variable: str):
    import os
    import subprocess
    import sys

    program = (
        "import pandas as pd; from tcdp_audit.integrations.pandera import schema_of, validate\n"
        f"validate(pd.DataFrame({{'ward': ['1', '2'], 'illness': ['a', 'b']}}), schema_of({POLICY!r}))"
    )
    name, _, value = variable.partition("=")
    run = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, name: value}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "tcdp_audit.core.base.errors.UsageError: pandera" in run.stderr


@pytest.mark.parametrize(
    ("frame", "asked", "kind", "message"),
    [
        (
            POLARS.lazy(),
            schema(ppl),
            UsageError,
            "the frame is lazy: what pandera would look at is not there yet; coll",
        ),
        (FRAME[:0], schema(pa), DataError, "the frame has no records; an empty release cannot be audited"),
        (pd.concat([FRAME, FRAME], axis=1), schema(pa), DataError, "two columns of the frame have the same name"),
        (POLARS[:0], schema(ppl), DataError, "the frame has no records; an empty release cannot be audited"),
        (
            FRAME,
            schema(ppl),
            UsageError,
            "the frame is of pandas; the schema must be a DataFrameSchema or a DataFrameMod",
        ),
        (
            POLARS,
            schema(pa),
            UsageError,
            "the frame is of polars; the schema must be a DataFrameSchema or a DataFrameMod",
        ),
        (FRAME, POLICY, UsageError, "the frame is of pandas; the schema must be a DataFrameSchema or a DataFrameMode"),
        (FRAME["ward"], schema(pa), UsageError, "a pandas Series is no frame of pandas or polars"),
        ({"ward": ["1"]}, schema(pa), UsageError, "a builtins dict is no frame of pandas or polars"),
        (
            FRAME,
            pa.DataFrameSchema({"ward": pa.Column()}),
            UsageError,
            "no check of the schema is an expectation, so not",
        ),
        (
            POLARS,
            schema(ppl, coerce=True),
            UsageError,
            "the schema coerces, so that other values than the frame's would",
        ),
    ],
)
def test_what_would_be_judged_in_part_is_refused(frame: Any, asked: Any, kind: type[Exception], message: str):
    with pytest.raises(kind) as caught:
        validate(frame, asked)
    assert str(caught.value).startswith(message)


def test_a_check_that_pandera_does_not_run_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ExpectationCheck, "__call__", lambda _, frame, *__: check.passed_by_all(frame))
    with pytest.raises(CheckError, match=r"^pandera did not run 'k_anonymity', so that nothing is known about it$"):
        validate(FRAME, schema(pa))


def test_records_that_pandera_does_not_show_are_noticed(monkeypatch: pytest.MonkeyPatch):
    call = ExpectationCheck.__call__
    monkeypatch.setattr(ExpectationCheck, "__call__", lambda check, frame, *_: call(check, frame.head(4)))
    with pytest.raises(CheckError, match=r"^pandera showed 4 of the frame's 5 records$"):
        validate(FRAME, schema(pa))


def test_what_keeps_an_audit_from_running_is_raised_as_audit_raises_it():
    lost = {
        **POLICY,
        "attributes": {**POLICY["attributes"], "ward": {"role": "quasi_identifier", "hierarchy": "no.csv"}},
    }
    with pytest.raises(PolicyError, match=r"no\.csv"):
        validate(FRAME, schema_of(lost))


# Parity


@pytest.mark.long
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_outcomes_are_those_of_audit(library: Any):
    frame = release() if library == "pandas" else pl.from_pandas(release())
    validation = validate(frame, schema_of(policy(), library))
    results = [(judged(one), mask) for one, mask in validation if not one.is_structural]
    with_threshold = [one for one in native() if one.threshold is not None]
    assert [one for one, _ in results] == [judged(one) for one in with_threshold]
    assert len(results) >= 20 == len(EXPECT) - 4  # four of the list only measure, and no schema can hold them
    for one, (_, mask) in zip(with_threshold, results, strict=True):
        if mask is not None and one.records is not None:
            assert int(mask.sum()) == (one.records.failing or 0)
    assert len(validation.audits) == 1
    assert isinstance(validation.results[-1][1], np.ndarray)
