"""The best combination of levels: against every combination of the lattice, tried in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import inf, isclose, log
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, reject, settings, strategies as st

from tcdp_audit import fix, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION

PLUGINS = Plugins.load(external=False)
TOWNS = {"*": {"north": ["a", "b"], "south": ["c", "d"]}}
ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "sex": {"role": "quasi_identifier", "scale": "nominal"},
    "town": {"role": "quasi_identifier", "scale": "nominal", "hierarchy": TOWNS},
    "answer": {"role": "sensitive", "scale": "nominal"},
}
BINS = {"age": [10, 20]}
Row = tuple[int, str, str | None, str]  # age, sex, town, answer
Label = tuple[str, float]  # and its certainty penalty
Keeps = Callable[[Sequence[str], Sequence[str]], bool]  # the answers of a class, and those of all records

rows = st.lists(
    st.tuples(
        st.sampled_from([1, 5, 12, 19, 25, 40]),
        st.sampled_from("fm"),
        st.sampled_from([*"abcd", None]),
        st.sampled_from("xyz"),
    ),
    min_size=1,
    max_size=16,
)


# The slow way


def _age(level: int, age: int, ages: Sequence[int]) -> Label:
    if level == 0:
        return str(age), 0.0
    if level == 3:
        return "*", 1.0
    width, least, largest = (10, 20)[level - 1], min(ages), max(ages)
    last = max(-(-largest // width) - 1, least // width)
    begin = min(age // width, last) * width
    covered = min(begin + width, largest) - max(begin, least)
    return f"bin {begin}", covered / (largest - least) if largest > least else 0.0


def _town(level: int, town: str | None) -> Label:
    if level == 2 or town is None:
        return "*", 1.0
    return (town, 0.0) if level == 0 else ("north" if town in "ab" else "south", 0.5)


def _labels(drawn: Sequence[Row], levels: Sequence[int]) -> list[tuple[Label, Label, Label]]:
    age, sex, town = levels
    ages = [row[0] for row in drawn]
    return [(_age(age, a, ages), (s, 0.0) if sex == 0 else ("*", 1.0), _town(town, t)) for a, s, t, _ in drawn]


def _classes(labels: Sequence[tuple[Label, ...]], retained: Sequence[int]) -> list[list[int]]:
    actual: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in retained:
        actual[tuple(label for label, _ in labels[number])].append(number)
    return list(actual.values())


def _grouped(drawn: Sequence[Row], labels: Any, keeps: Keeps, allowed: int) -> Any:
    """The labels once what fails shows nothing, if that keeps the policy with few enough of them; else None."""
    everyone, answers = list(range(len(drawn))), [row[3] for row in drawn]
    failing = {n for c in _classes(labels, everyone) if not keeps([answers[n] for n in c], answers) for n in c}
    after = [(("*", 1.0),) * 3 if n in failing else own for n, own in enumerate(labels)]
    retained = all(keeps([answers[n] for n in c], answers) for c in _classes(after, everyone))
    return after if retained and len(failing) <= allowed else None


def _left(drawn: Sequence[Row], labels: Any, keeps: Keeps, allowed: int) -> list[int] | None:
    """The records that stay once what fails is dropped, until nothing fails; None where too many go."""
    retained = list(range(len(drawn)))
    while True:
        everyone = [drawn[number][3] for number in retained]
        passing = [c for c in _classes(labels, retained) if keeps([drawn[number][3] for number in c], everyone)]
        left = sorted(number for one in passing for number in one)
        if len(drawn) - len(left) > allowed:
            return None
        if left == retained:
            return retained
        retained = left


def _loss(measure: str, labels: Any, retained: Sequence[int]) -> float:
    records, gone = len(labels), len(labels) - len(retained)
    sizes = [len(one) for one in _classes(labels, retained)]
    if measure == "discernibility":
        return sum(size**2 for size in sizes) + records * gone
    if measure == "average_class_size":
        return len(retained) / len(sizes)
    return (sum(penalty for number in retained for _, penalty in labels[number]) / 3 + gone) / records


def _losses(drawn: Sequence[Row], keeps: Keeps, measure: str, allowed: int) -> Iterator[float]:
    for levels in product(range(4), range(2), range(3)):
        labels = _labels(drawn, levels)
        grouped = _grouped(drawn, labels, keeps, allowed)
        retained = list(range(len(drawn))) if grouped else _left(drawn, labels, keeps, allowed)
        labels = grouped or labels
        if retained is not None and any(label != "*" for number in retained for label, _ in labels[number]):
            yield _loss(measure, labels, retained)


def at_least(k: int) -> Keeps:
    return lambda own, _: len(own) >= k


def diverse(least: int) -> Keeps:
    return lambda own, _: len(set(own)) >= least


def close(t: str) -> Keeps:
    def keeps(own: Sequence[str], everyone: Sequence[str]) -> bool:
        p, q = Counter(own), Counter(everyone)
        far = sum(abs(Fraction(p[value], len(own)) - Fraction(q[value], len(everyone))) for value in q) / 2
        return far <= Fraction(t)

    return keeps


def disclosing(delta: float) -> Keeps:
    def keeps(own: Sequence[str], everyone: Sequence[str]) -> bool:
        p, q = Counter(own), Counter(everyone)
        return all(abs(log(p[v] * len(everyone) / (q[v] * len(own)))) < delta for v in p)

    return keeps


POLICIES: list[tuple[dict[str, Any], Keeps]] = [
    ({"k_anonymity": {"k": 2}}, at_least(2)),
    ({"k_anonymity": {"k": 4}}, at_least(4)),
    ({"distinct_l_diversity": {"l": 2}}, diverse(2)),
    ({"t_closeness": {"t": 0.3}}, close("0.3")),
    ({"t_closeness": {"t": 0.5}}, close("0.5")),
    ({"delta_disclosure": {"delta": 0.7, "absent_values": "ignored"}}, disclosing(0.7)),  # not monotone
]


# The quick way


def _policy(*expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ATTRIBUTES, "expect": list(expect), **more}


def _table(drawn: Sequence[Row]) -> pa.Table:
    age, sex, town, answer = zip(*drawn, strict=True)
    return pa.table({"age": list(age), "sex": list(sex), "town": pa.array(town, pa.string()), "answer": list(answer)})


def _treatment(drawn: Sequence[Row], *expect: dict[str, Any], **parameters: Any) -> Treatment:
    policy = load_policy(_policy(*expect), PLUGINS)
    with open_engine(_table(drawn), 2**28) as engine:
        view = RemedyView(Release(engine, policy), (), 0, lambda _: ())
        return GENERALIZATION.apply(view, GENERALIZATION.parameters.model_validate({"bins": BINS, **parameters}))


measures = st.sampled_from(["ncp", "discernibility", "average_class_size"])
limits = st.sampled_from(["0", "0.15", "0.4"])


@pytest.mark.long
@settings(max_examples=60)
@given(
    drawn=rows,
    chosen=st.lists(st.sampled_from(POLICIES), min_size=1, max_size=2, unique_by=str),
    measure=measures,
    limit=limits,
)
def test_no_combination_of_levels_loses_less(
    drawn: list[Row], chosen: list[tuple[dict[str, Any], Keeps]], measure: str, limit: str
) -> None:
    def keeps(own: Sequence[str], everyone: Sequence[str]) -> bool:
        return all(one(own, everyone) for _, one in chosen)

    least = min(_losses(drawn, keeps, measure, int(Fraction(limit) * len(drawn))), default=inf)
    asked = [one for one, _ in chosen]
    if least == inf:
        with pytest.raises(RemedyError, match="combinations of levels keeps the policy"):
            _treatment(drawn, *asked, loss=measure, suppression=limit)
        reject()
    treatment = _treatment(drawn, *asked, loss=measure, suppression=limit)
    assert isclose(treatment.notes["loss"], least, rel_tol=1e-12, abs_tol=1e-12)
    gone = 0 if treatment.retained is None else int((~treatment.retained).sum())
    suppressed, grouped = treatment.notes["suppressed"], treatment.notes["grouped"]
    assert suppressed <= Fraction(limit) * len(drawn)
    assert gone == (0 if grouped else suppressed)


@pytest.mark.long
@settings(max_examples=10)
@given(drawn=rows, expectation=st.sampled_from(POLICIES), measure=measures, limit=limits)
def test_what_is_released_passes_and_has_lost_what_the_notes_say(
    drawn: list[Row], expectation: tuple[dict[str, Any], Keeps], measure: str, limit: str
) -> None:
    remedy = {"generalization": {"bins": BINS, "loss": measure, "suppression": limit}}
    done = fix(_table(drawn), _policy(expectation[0], remedy=[remedy]), plugins=PLUGINS)
    assume(done.passed and not done.log.is_unchanged)
    step = done.log.steps[0]
    after = {
        "ncp": done.log.loss["certainty_penalty"]["after"],
        "discernibility": done.log.loss["discernibility"]["after"],
        "average_class_size": done.log.loss["average_class_size"]["after"]
        * (done.log.loss["average_class_size"]["k"] or 1),
    }
    assert isclose(step.notes["loss"], after[measure], rel_tol=1e-12)
    assert done.released.num_rows == len(drawn) - step.suppressed


def test_the_example_by_hand() -> None:
    drawn: list[Row] = [(1, "f", "a", "x"), (5, "f", "b", "y"), (25, "m", "c", "x"), (40, "m", "d", "y")]
    treatment = _treatment(drawn, {"k_anonymity": {"k": 2}})
    assert {name: level for name, (level, _) in treatment.notes["levels"].items()} == {"age": 2, "sex": 0, "town": 1}
    assert treatment.notes["loss"] == pytest.approx((2 * 19 / 39 + 2 * 20 / 39 + 4 * 0.5) / 12)
    assert treatment.columns["age"].cells[treatment.columns["age"].codes].tolist() == ["[0, 20)"] * 2 + ["[20, 40]"] * 2
    assert treatment.columns["town"].cells[treatment.columns["town"].codes].tolist() == ["north"] * 2 + ["south"] * 2
    assert "sex" not in treatment.columns
    assert treatment.retained is None
