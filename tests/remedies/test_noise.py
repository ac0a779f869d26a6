"""Noise as a remedy: its parameters, what it tells, how its mechanism is audited, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pydantic import ValidationError

import tcdp_audit
from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.noise import NOISE
from tcdp_audit_plugins.remedies.noise.apply import retention_of

PLUGINS = Plugins.load(external=False)
SALARIES = [10, 20, 20, 30, 40, 50, 50, 50, 60, None]
JOBS = ["clerk", "clerk", "nurse", "guard", "nurse", "clerk", "clerk", "nurse", "guard", None]
ROLES: Mapping[str, Any] = {
    "q": {"role": "quasi_identifier"},
    "salary": {"role": "sensitive", "scale": "numeric"},
    "job": {"role": "sensitive", "scale": "nominal"},
    "name": {"role": "identifier"},
}
LAPLACE: Mapping[str, Any] = {"attribute": "salary", "mechanism": "laplace", "epsilon": 2, "bounds": [0, 100]}
GEOMETRIC = {**LAPLACE, "mechanism": "geometric"}
RESPONSE: Mapping[str, Any] = {"attribute": "job", "mechanism": "randomised_response", "epsilon": 1}


def _table(salaries: Sequence[Any] = SALARIES, jobs: Sequence[Any] = JOBS, classes: int = 2) -> pa.Table:
    groups = [str(place % classes) for place in range(len(salaries))]
    return pa.table({"q": groups, "salary": salaries, "job": jobs})


def _policy(**more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ROLES, "expect": [{"k_anonymity": {"k": 2}}], **more}


@contextmanager
def _view(table: pa.Table, policy: Mapping[str, Any]) -> Iterator[RemedyView]:
    with open_engine(table, 2**28) as engine:
        yield RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())


def _masked(given: Mapping[str, Any], table: pa.Table | None = None, **more: Any) -> tuple[pa.Table, Treatment]:
    table = _table() if table is None else table
    with _view(table, _policy(**more)) as view:
        treatment = NOISE.apply(view, NOISE.parameters.model_validate(given))
        return apply_treatment(table, view, treatment), treatment


def test_it_says_how_the_noise_was_drawn() -> None:
    table, treatment = _masked(LAPLACE)
    assert table.schema.field("salary").type == pa.float64()
    assert table["salary"].null_count == 1
    assert len(set(table["salary"].to_pylist())) == 10
    assert treatment.notes == {
        "epsilon": 2.0,
        "conditioned": False,
        "mechanism": "laplace",
        "scale": 50.0,
        "clamped": 0,
        "records": 9,
        "missing": 1,
    }
    assert treatment.retained is None


def test_geometric_noise_keeps_a_column_whole() -> None:
    table, treatment = _masked(GEOMETRIC)
    assert table.schema.field("salary").type == pa.int64()
    assert treatment.notes["scale"] == 50.0
    assert treatment.notes["records"] == sum(
        new != old for new, old in zip(table["salary"].to_pylist(), SALARIES, strict=True)
    )


def test_answers_are_values_of_the_domain() -> None:
    table, treatment = _masked(RESPONSE)
    assert set(table["job"].to_pylist()) <= set(JOBS)
    assert table["job"].to_pylist()[-1] is None
    assert treatment.notes["answers"] == 3
    assert treatment.notes["retention"] == pytest.approx((2.718281828 - 1) / (2.718281828 + 2), abs=2e-9)
    assert treatment.notes["epsilon"] == 1.0


@pytest.mark.parametrize(
    ("epsilon", "values", "retention"),
    [
        (Fraction(1), 2, "0.462117157"),  # tanh(1/2)
        (Fraction(1), 4, "0.300489181"),  # (e - 1) / (e + 3)
        (Fraction(100), 2, "0.999999999"),
        (Fraction(5000), 2, "0.999999999"),
        (Fraction(1, 10**10), 3, "0"),
    ],
)
def test_the_probability_of_keeping_a_value(epsilon: Fraction, values: int, retention: str) -> None:
    assert retention_of(epsilon, values) == Fraction(retention)


# The line that is given is what an audit of the table before the noise takes


@pytest.mark.parametrize("given", [LAPLACE, GEOMETRIC, RESPONSE])
def test_its_lines_audit_the_table_before_the_noise(given: Mapping[str, Any]) -> None:
    _, treatment = _masked(given)
    expect = yaml.safe_load("\n".join(treatment.lines))
    outcome = tcdp_audit.audit(_table(), _policy(expect=expect)).outcomes[-1]
    assert outcome.check == "stochastic_t_closeness"
    assert outcome.attribute == given["attribute"]
    assert outcome.observed is not None
    assert 1 < outcome.observed <= 2.718281828459045 ** float(given["epsilon"])


def test_its_scale_is_exactly_what_is_declared_and_never_too_little() -> None:
    """50 / 3 is no float64: the next one above is drawn with, and declared."""
    _, treatment = _masked({**LAPLACE, "bounds": [0, 50], "epsilon": 3})
    (declared,) = yaml.safe_load("\n".join(treatment.lines))
    scale = declared["stochastic_t_closeness"]["noise_scale"]
    assert scale == treatment.notes["scale"] == 16.666666666666668
    assert Fraction(scale) >= Fraction(50, 3)
    _, treatment = _masked({**LAPLACE, "bounds": [0, 50], "epsilon": 0.1})
    assert treatment.notes["scale"] == 500.0


def test_an_attribute_of_any_name_can_be_declared() -> None:
    table = pa.table({"q": ["a", "a"], "net: pay, 'k'": [1, 2]})
    roles = {"q": ROLES["q"], "net: pay, 'k'": ROLES["salary"]}
    _, treatment = _masked({**LAPLACE, "attribute": "net: pay, 'k'"}, table, attributes=roles)
    (declared,) = yaml.safe_load("\n".join(treatment.lines))
    assert declared["stochastic_t_closeness"]["attribute"] == "net: pay, 'k'"


# Drawing until a draw is close

EVEN = ["a", "a", "b", "b"] * 50


def _distance(table: pa.Table) -> float:
    """The multiplicative distance of the classes from the table, by counting."""
    rows = list(zip(table["q"].to_pylist(), table["job"].to_pylist(), strict=True))
    whole, result = Counter(job for _, job in rows), 1.0
    for q in {q for q, _ in rows}:
        own = Counter(job for one, job in rows if one == q)
        for job, n in whole.items():
            p, r = own[job] / sum(own.values()), n / len(rows)
            result = max(result, p / r, r / p if p else float("inf"))
    return result


def test_a_draw_that_was_chosen_claims_no_epsilon() -> None:
    """Two classes of 100, half of each value, answers at random: nearly every draw is close within a factor of 2."""
    table = _table([1] * 200, EVEN, classes=2)
    masked, treatment = _masked({**RESPONSE, "epsilon": 0.1, "until_close": 2}, table)
    assert _distance(masked) <= 2
    assert treatment.notes["epsilon"] is None
    assert treatment.notes["conditioned"] is True
    assert treatment.notes["draws"] >= 1
    assert "no epsilon holds" in treatment.notes["warning"]
    assert treatment.lines == ()


def test_what_no_draw_reaches_is_refused() -> None:
    """A class of one record lacks a value, unless all records answer alike."""
    table = _table([1] * 200, EVEN, classes=200)
    with pytest.raises(RemedyError, match=r"none of 3 draws .* factor of 2 of the table; some class always lacked"):
        _masked({**RESPONSE, "until_close": 2, "draws": 3}, table)
    with pytest.raises(RemedyError, match=r"factor of 1 of the table; the closest was within a factor of 1\.\d+"):
        _masked({**RESPONSE, "until_close": 1, "draws": 1}, _table([1] * 1001, EVEN * 5 + ["a"], classes=2))


# What is refused


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({**LAPLACE, "bounds": None}, "takes `bounds: \\[low, high\\]`"),
        ({**LAPLACE, "bounds": [5, 5]}, "lower bound must be less"),
        ({**LAPLACE, "bounds": [1]}, "at least 2"),
        ({**LAPLACE, "epsilon": 0}, "greater than 0"),
        ({**LAPLACE, "epsilon": "1e-120"}, "beyond what can be computed with"),
        ({**LAPLACE, "until_close": 2}, "no class is ever close"),
        ({**GEOMETRIC, "bounds": [0, 1.5]}, "must be whole"),
        ({**GEOMETRIC, "bounds": [0, 10**17]}, "beyond what can be computed with"),
        ({**RESPONSE, "bounds": [0, 1]}, "takes no bounds"),
        ({**RESPONSE, "draws": 5}, "draws belongs to until_close"),
        ({**RESPONSE, "until_close": 0.5}, "greater than or equal to 1"),
        ({**RESPONSE, "seed": 1}, "Extra inputs"),
    ],
)
def test_parameters_that_do_not_belong_together(given: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        NOISE.parameters.model_validate(dict(given))


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (LAPLACE, ""),
        (RESPONSE, ""),
        ({**LAPLACE, "attribute": "pay"}, "attribute"),
        ({**RESPONSE, "attribute": "name"}, "attribute"),
        ({**LAPLACE, "attribute": "job"}, "mechanism"),
        ({**RESPONSE, "attribute": "q", "until_close": 2}, "until_close"),
    ],
)
def test_faults_of_a_policy(given: Mapping[str, Any], fault: str) -> None:
    document = load_policy(_policy(), PLUGINS).document
    actual = [name for name, _ in NOISE.validate(NOISE.parameters.model_validate(dict(given)), document)]
    assert actual == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("given", "salaries", "jobs", "sentence"),
    [
        (LAPLACE, ["[1, 5]", "7"], ["a", "b"], "generalised or suppressed cells"),
        (RESPONSE, [1, 2], ["*", "b"], "generalised or suppressed cells"),
        (LAPLACE, pa.array([None, None], pa.int64()), ["a", "b"], "no value in any record"),
        (GEOMETRIC, [1.0, 2.5], ["a", "b"], "for whole numbers"),
        (RESPONSE, [1, 2], ["a", "a"], "one value only"),
        ({**RESPONSE, "epsilon": "1e-11"}, [1, 2], ["a", "b"], "no record would keep its value among 2"),
    ],
)
def test_columns_that_noise_is_not_for(given: Mapping[str, Any], salaries: Any, jobs: Any, sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        _masked(given, _table(salaries, jobs))


@pytest.mark.parametrize("given", [LAPLACE, RESPONSE])
def test_without_opendp_it_says_what_to_install(given: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(RemedyError, match=r'^noise: needs OpenDP; pip install "tcdp-audit\[dp\]"$'):
        _masked(given)


def test_opendp_is_imported_only_to_draw() -> None:
    program = "import sys, tcdp_audit_plugins.remedies.noise; sys.exit('opendp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_it_is_never_chosen_without_being_asked_for() -> None:
    with _view(_table(), _policy(expect=[{"k_anonymity": {"k": 9}}])) as view:
        assert list(NOISE.suggest_parameters(view, ())) == []
    assert NOISE.random


def test_fixing_with_noise() -> None:
    """Noise of a thousand times the range: an original value is hardly ever between its record's neighbours."""
    original = pa.table({"id": range(400), "q": ["a"] * 400, "x": [place % 20 for place in range(400)]})
    policy = {
        "version": 1,
        "key": "id",
        "attributes": {"id": {"role": "insensitive"}, "q": ROLES["q"], "x": ROLES["salary"]},
        "expect": [{"rank_interval_disclosure": {"p": 10, "at_most": 0.9, "attributes": ["x"]}}],
        "remedy": [{"noise": {"attribute": "x", "mechanism": "laplace", "epsilon": 0.001, "bounds": [0, 19]}}],
    }
    result = tcdp_audit.fix(original, policy, original)
    assert not result.before.passed
    assert result.passed
    assert result.log.cells == {"q": 0, "x": 400}
    assert "noise_scale: 19000.0" in result.log.lines
