"""The attack on added noise against exact fractions pair by pair, and the figures of the Census file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import exp
from pathlib import Path
from statistics import NormalDist, variance
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, strategies as st

import tcdp_audit
from tcdp_audit import Outcome, PolicyError, Status
from tcdp_audit.core.check.table_view import TableView
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.checks.masking_attacks.likelihood_attacks import candidates_under_noise
from tcdp_audit_plugins.checks.masking_attacks.noise import NoiseParameters

PLUGINS = Plugins.load(external=False)
Row = tuple[int | None, int | None]
Squared = Callable[[Row, Row], Fraction]
WAYS = ("masked_to_original", "original_to_masked")
NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}
number = st.integers(0, 5)
whole = st.lists(st.tuples(number, number), min_size=2, max_size=7)
gappy = st.lists(st.tuples(number | st.none(), number), min_size=2, max_size=7)


def table(rows: Sequence[Row], keys: Sequence[int]) -> pa.Table:
    columns = {name: pa.array([one[place] for one in rows], pa.int64()) for place, name in enumerate(("age", "pay"))}
    return pa.table({**columns, "id": pa.array(keys, pa.int64())})


def policy(names: Sequence[str], parameters: Mapping[str, Any], **pairing: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = dict.fromkeys(names, NUMERIC)
    if not pairing:
        attributes, pairing = {**attributes, "id": {"role": "insensitive"}}, {"key": "id"}
    return {"version": 1, **pairing, "attributes": attributes, "expect": [{"noise_attack": dict(parameters)}]}


def attacked(released: Sequence[Row], original: Sequence[Row], parameters: Mapping[str, Any]) -> Outcome:
    tables = [table(rows, range(len(rows))) for rows in (released, original)]
    (outcome,) = tcdp_audit.audit(
        tables[0], policy(["age", "pay"], parameters), tables[1], plugins=PLUGINS
    ).expectations
    return outcome


def require(outcome: Outcome, released: Sequence[Row], original: Sequence[Row], squared: Squared) -> None:
    """Hold an outcome against all pairs of records; record i of one is person i of the other."""
    matched = range(min(len(released), len(original)))
    distances = [[squared(record, person) for person in original] for record in released]
    links = dict.fromkeys(WAYS, Fraction(0))
    truths, tops = [], []
    for i in matched:
        for way, row in zip(WAYS, (distances[i], [one[i] for one in distances]), strict=True):
            links[way] += Fraction(row[i] == min(row), row.count(min(row)))
        weights = [exp(float(min(distances[i]) - one) / 2) for one in distances[i]]
        truths.append(weights[i] / sum(weights))
        tops.append(1 / sum(weights))
    assert {way: outcome.details[way]["expected_correct"] for way in WAYS} == links
    assert outcome.details["mean_posterior_of_truth"] == pytest.approx(sum(truths) / len(truths), abs=1e-9)
    assert outcome.details["mean_top_posterior"] == pytest.approx(sum(tops) / len(tops), abs=1e-9)


def spread(original: Sequence[Row], place: int) -> Fraction:
    cells = [Fraction(one[place]) for one in original if one[place] is not None]  # type: ignore[arg-type]
    return Fraction(variance(cells)) if len(cells) > 1 else Fraction(0)


@pytest.mark.long
@given(gappy, gappy, st.sampled_from([Fraction(50), Fraction(10), Fraction(200)]))
def test_independent_noise_is_that_of_every_pair(released: list[Row], original: list[Row], percent: Fraction):
    assume(all(variances_of(original, percent)))
    compare_independent(released, original, percent)


def test_missing_cells_and_people_in_one_table_only():
    compare_independent([(1, 2), (None, 3), (4, 0)], [(1, 1), (2, 3), (None, 0), (4, 1)], Fraction(50))


def variances_of(original: Sequence[Row], percent: Fraction) -> list[Fraction]:
    return [spread(original, place) * (percent / 100) ** 2 for place in range(2)]


def compare_independent(released: list[Row], original: list[Row], percent: Fraction) -> None:
    variances = variances_of(original, percent)

    def squared(record: Row, person: Row) -> Fraction:
        return sum(
            (
                2 * (100 / percent) ** 2 if y is None or x is None else Fraction((y - x) ** 2) / one
                for y, x, one in zip(record, person, variances, strict=True)
            ),
            Fraction(0),
        )

    require(attacked(released, original, {"sd": percent}), released, original, squared)


@pytest.mark.long
@given(whole, st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=7, max_size=7))
def test_an_estimated_covariance_is_that_of_every_pair(original: list[Row], noise: list[tuple[int, int]]):
    a, b, c = products(noise[: len(original)])
    assume(b and a * c - b * b > Fraction(1, 100))
    compare_estimated(original, noise)


def test_noise_with_a_covariance_and_with_one_axis_only():
    original: list[Row] = [(0, 0), (1, 5), (2, 2), (4, 1)]
    compare_estimated(original, [(1, 1), (-1, 0), (0, 2), (2, 1)])
    # along (1, 1) only: what is across it says nothing
    released = [(age + one, pay + one) for (age, pay), one in zip(original, (1, -1, 1, -1), strict=True)]  # type: ignore[operator]
    attack_outcome = attacked(released, original, {})
    assert attack_outcome.details["axes"] == 1
    require(attack_outcome, released, original, lambda y, x: Fraction((y[0] - x[0] + y[1] - x[1]) ** 2, 4))  # type: ignore[operator]


def products(added: Sequence[tuple[int, int]]) -> list[Fraction]:
    return [Fraction(sum(one[i] * one[j] for one in added), len(added)) for i, j in ((0, 0), (0, 1), (1, 1))]


def compare_estimated(original: list[Row], noise: Sequence[tuple[int, int]]) -> None:
    added = noise[: len(original)]
    a, b, c = products(added)
    released: list[Row] = [(x[0] + e[0], x[1] + e[1]) for x, e in zip(original, added, strict=True)]  # type: ignore[operator]

    def squared(record: Row, person: Row) -> Fraction:
        u, v = record[0] - person[0], record[1] - person[1]  # type: ignore[operator]
        return Fraction(c * u * u - 2 * b * u * v + a * v * v) / (a * c - b * b)

    attack_outcome = attacked(released, original, {})
    assert attack_outcome.details["estimated"] == ["age", "pay"]
    require(attack_outcome, released, original, squared)


@pytest.mark.long
@given(whole, st.permutations(range(7)))
def test_the_order_of_rows_changes_nothing(rows: list[Row], order: list[int]):
    original, released = table(rows, range(len(rows))), table(rows[1:] + rows[:1], range(len(rows)))
    document = policy(["age", "pay"], {})
    one = tcdp_audit.audit(released, document, original, plugins=PLUGINS).expectations
    shuffled = released.take([place for place in order if place < len(rows)])
    assert tcdp_audit.audit(shuffled, document, original, plugins=PLUGINS).expectations == one


@pytest.mark.parametrize(("far", "posterior"), [(2, 0.8670), (1, 0.5927)])
def test_two_people_at_so_many_standard_deviations(far: int, posterior: float):
    pair = pa.table({"age": [0.0, 10.0], "id": [1, 2]})
    # the sd of 0 and 10 is 10 / sqrt 2, and the noise is to have 10 / (far + 1/2): the first record lies between them
    percent = Fraction(round(10**9 * 100 * 2**0.5 / (far + 0.5)), 10**9)
    middle = pa.table({"age": [10 * 0.5 / (far + 0.5), 10.0], "id": [1, 2]})
    (one,) = tcdp_audit.audit(middle, policy(["age"], {"sd": percent}), pair).expectations
    certain = 1 / (1 + exp(-((far + 0.5) ** 2) / 2))
    assert one.details["mean_posterior_of_truth"] * 2 - certain == pytest.approx(posterior, abs=5e-5)


def test_what_got_no_noise_must_agree():
    rows: list[Row] = [(0, 0), (1, 5), (2, 2), (4, 1)]
    released: list[Row] = [(age, 3) for age, _ in rows]
    attack_outcome = attacked(released, rows, {"sd": {"age": 0, "pay": 100}})
    assert (
        attack_outcome.observed,
        attack_outcome.details["mean_posterior_of_truth"],
        attack_outcome.details["axes"],
    ) == (1, 1, 2)
    changed = attacked([(9, 0), *rows[1:]], rows, {"sd": {"age": 0, "pay": 100}})
    assert changed.status is Status.ERROR
    assert (
        "no noise is declared for column 'age', or it does not vary, and its value changed in 1 record"
        in changed.message
    )
    untouched = attacked(rows, rows, {})
    assert (untouched.observed, untouched.details["above_half"]) == (1, 4)


def test_a_column_of_one_value_distinguishes_no_record():
    attack_outcome = attacked([(1, 1), (1, 1)], [(1, 1), (1, 1)], {})
    assert (
        attack_outcome.observed,
        attack_outcome.details["without_knowledge"],
        attack_outcome.details["above_half"],
    ) == (0.5, {}, 0)


def test_candidates_are_those_above_the_probability():
    rows: list[Row] = [(0, 0), (1, 5), (2, 2), (40, 1)]
    tables = [table(rows, range(4)) for _ in range(2)]
    document, parameters = policy(["age", "pay"], {}), NoiseParameters.model_validate({"sd": 1, "probability": "0.9"})
    with open_engine(tables[0], 2**28) as engine, open_engine(tables[1], 2**28) as other:
        view = TableView(tcdp_audit.load_policy(document), engine, {"original": other})
        assert candidates_under_noise(view, parameters).tolist() == [1, 1, 1, 1]


def test_cells_that_are_missing_need_independent_noise():
    rows: list[Row] = [(0, 0), (1, 5), (None, 2), (4, 1)]
    attack_outcome = attacked([(1, 1), (0, 5), (2, 3), (5, 2)], rows, {})
    assert attack_outcome.status is Status.ERROR
    assert "cells are missing" in attack_outcome.message
    withheld = attacked([(1, 1), (0, 5), (4, 3)], [(0, 0), (1, 5), (3, 2), (None, 1)], {})
    assert "cells are missing" in withheld.message
    nothing = attacked([(None, 1), (None, 5)], [(1, 1), (2, 5)], {})
    assert "column 'age' has no pair of cells" in nothing.message
    variances = attacked([(1, 1), (0, 5), (2, 3), (5, 2)], rows, {"estimate": "variances"})
    assert (variances.status, variances.details["estimated"]) == (Status.MEASURED, ["age", "pay"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x,age\nage,1\n", "no line and column for column 'pay'"),
        ("x,age,pay\nage,1,2\npay,1,1\n", "it must be symmetric"),
        ("x,age,pay\nage,-1,0\npay,0,1\n", "no negative number on its diagonal"),
        ("x,age,pay\nage,1,2\npay,2,1\n", "a negative variance"),
        ("x,age,pay\nage,0,1\npay,1,1\n", "a negative variance"),
    ],
    ids=["absent", "askew", "negative", "indefinite", "nothing"],
)
def test_a_matrix_that_is_no_covariance_is_reported(tmp_path: Path, text: str, reason: str):
    file = tmp_path / "noise.csv"
    file.write_text(text)
    attack_outcome = attacked([(1, 1), (0, 5)], [(0, 0), (1, 5)], {"covariance": str(file)})
    assert attack_outcome.status is Status.ERROR
    assert reason in attack_outcome.message


PEOPLE: list[Row] = [(20, 1), (24, 5), (31, 2), (40, 9), (43, 7), (58, 8)]
NOISY: list[Row] = [(23, 2), (20, 3), (37, 4), (38, 8), (49, 9), (52, 7)]


def test_correlated_noise_is_that_of_the_covariance_of_the_original():
    numbers = np.array(PEOPLE, dtype=float)
    (a, b), (_, c) = (np.cov(numbers.T) / 4).tolist()
    covariance = {"age": {"age": f"{a:.12f}", "pay": f"{b:.12f}"}, "pay": {"pay": f"{c:.12f}"}}
    declared = attacked(NOISY, PEOPLE, {"covariance": covariance})
    correlated = attacked(NOISY, PEOPLE, {"sd": 50, "shape": "correlated"})
    inverse = np.linalg.inv([[a, b], [b, c]])

    def squared(record: Row, person: Row) -> Fraction:
        apart = np.array(record, dtype=float) - np.array(person, dtype=float)
        return Fraction(float(apart @ inverse @ apart))

    for match in (declared, correlated):
        require(match, NOISY, PEOPLE, squared)
    assert correlated.details["expected_correct"] != attacked(NOISY, PEOPLE, {"sd": 50}).details["expected_correct"]
    gappy = attacked([(None, 2), *NOISY[1:]], [(None, 1), *PEOPLE[1:]], {"sd": 50, "shape": "correlated"})
    assert (gappy.status, "cells are missing" in gappy.message) == (Status.ERROR, True)


def test_knowing_that_numbers_were_drawn_back_gives_what_is_detected_without():
    factor = 1 / np.sqrt(1 + 0.25)
    mean = np.array(PEOPLE, dtype=float).mean(axis=0)
    drawn = [tuple(one) for one in (mean + factor * (np.array(NOISY) - mean)).tolist()]
    tables = [pa.table({"age": [one[0] for one in rows], "pay": [one[1] for one in rows]}) for rows in (drawn, PEOPLE)]

    def actual(parameters: dict[str, Any]) -> Outcome:
        document = policy(["age", "pay"], parameters, rows_aligned=True)
        (outcome,) = tcdp_audit.audit(tables[0], document, tables[1], plugins=PLUGINS).expectations
        return outcome

    plain = attacked(NOISY, PEOPLE, {"sd": 50})
    back = actual({"sd": 50, "rescaled": True})
    assert back.observed == plain.observed
    assert back.details["mean_posterior_of_truth"] == pytest.approx(plain.details["mean_posterior_of_truth"])
    assert actual({"sd": 50}).details["mean_posterior_of_truth"] != back.details["mean_posterior_of_truth"]


def by_ranks(rows: Sequence[Row], place: int, *, normal: bool) -> list[float]:
    """The mean rank of each cell among its own column's, or its normal score."""
    cells = [one[place] for one in rows]
    ranks = [sum(other < one for other in cells) + (cells.count(one) + 1) / 2 for one in cells]  # type: ignore[operator]
    return [NormalDist().inv_cdf(one / (len(cells) + 1)) for one in ranks] if normal else ranks


@pytest.mark.parametrize("scores", ["ranks", "normal"])
def test_by_ranks_it_is_the_attack_on_each_table_s_own_ranks(scores: str):
    sides = [[*NOISY, (37, 9)], [*PEOPLE, (24, 9)]]
    numbers = [
        pa.table({name: by_ranks(rows, place, normal=scores == "normal") for place, name in enumerate(("age", "pay"))})
        for rows in sides
    ]
    for parameters in ({}, {"sd": 60}, {"sd": 60, "shape": "correlated", "rescaled": True}):
        document = policy(["age", "pay"], parameters, rows_aligned=True)
        (plain,) = tcdp_audit.audit(numbers[0], document, numbers[1], plugins=PLUGINS).expectations
        attack_outcome = attacked(sides[0], sides[1], {**parameters, "scores": scores})
        assert attack_outcome.observed == plain.observed
        for name in ("mean_posterior_of_truth", "mean_top_posterior"):
            assert attack_outcome.details[name] == pytest.approx(plain.details[name])
        assert "how far values tend to be moved among the ranks" in attack_outcome.message


def test_ordinal_values_have_ranks_and_suppressed_cells_none():
    document = policy(["age"], {"scores": "ranks"}, rows_aligned=True)
    order = ["low", "middle", "high"]
    document["attributes"] = {"age": {"role": "quasi_identifier", "scale": "ordinal", "order": order}}
    released, original = ["low", "high", "*", "middle"], ["low", "middle", "low", "high"]
    (actual,) = tcdp_audit.audit(pa.table({"age": released}), document, pa.table({"age": original})).expectations
    assert actual.status is Status.ERROR
    assert "cells are missing" in actual.message
    document["expect"] = [{"noise_attack": {"scores": "ranks", "estimate": "variances"}}]
    (actual,) = tcdp_audit.audit(pa.table({"age": released}), document, pa.table({"age": original})).expectations
    assert (actual.status, actual.details["attributes"]) == (Status.MEASURED, ["age"])


def test_generalised_values_that_overlap_have_no_ranks():
    document = policy(["age"], {"scores": "ranks"}, rows_aligned=True)
    cells = pa.table({"age": ["[1, 5]", "[3, 8]", "[9, 12]"]})
    (actual,) = tcdp_audit.audit(cells, document, cells).expectations
    assert "overlap" in actual.message


@pytest.mark.parametrize(
    ("covariance", "reason"),
    [
        ({"age": {"age": 1}}, "no line and column for column 'pay'"),
        ({"age": {"age": 1, "pay": 2}, "pay": {"pay": 1}}, "negative variance"),
    ],
)
def test_a_covariance_in_the_policy_that_is_none_is_reported(covariance: dict[str, Any], reason: str):
    assert reason in attacked(NOISY, PEOPLE, {"covariance": covariance}).message


def test_a_declared_covariance(tmp_path: Path):
    file = tmp_path / "noise.csv"
    file.write_text("noise;pay;age\npay;4;1\nage;1;2\n")
    original: list[Row] = [(0, 0), (1, 5), (2, 2), (4, 1)]
    released: list[Row] = [(1, 1), (0, 5), (2, 4), (5, 2)]

    def squared(record: Row, person: Row) -> Fraction:
        u, v = record[0] - person[0], record[1] - person[1]  # type: ignore[operator]
        return Fraction(4 * u * u - 2 * u * v + 2 * v * v, 7)

    document = policy(["age", "pay"], {"covariance": str(file)})
    result = tcdp_audit.audit(table(released, range(4)), document, table(original, range(4)))
    require(result.expectations[0], released, original, squared)
    assert [(one.kind, one.attribute) for one in result.files] == [("covariance", None)]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"sd": 1, "covariance": "noise.csv"}, "declared twice"),
        ({"shape": "correlated"}, "whose `sd` is declared"),
        ({"rescaled": True, "covariance": "noise.csv"}, "whose `sd` is declared"),
        ({"sd": {"age": 1}}, "'pay' has no standard deviation"),
        ({"sd": {"age": 1, "pay": 1, "size": 1}}, "'size' has a standard deviation"),
        ({"attributes": ["id"]}, "is the key"),
        ({"attributes": ["size"]}, "declares no attribute"),
    ],
)
def test_what_cannot_hold_is_reported_before(parameters: dict[str, Any], reason: str):
    with pytest.raises(PolicyError, match=reason):
        tcdp_audit.load_policy(policy(["age", "pay"], parameters))


def test_only_numbers_have_noise():
    document = policy(["age"], {})
    document["attributes"]["age"] = {"role": "quasi_identifier", "scale": "nominal"}
    with pytest.raises(PolicyError, match="no quasi-identifier is numeric"):
        tcdp_audit.load_policy(document)
    document["expect"] = [{"noise_attack": {"attributes": ["age"], "scores": "ranks"}}]
    with pytest.raises(PolicyError, match="'age' has no order"):
        tcdp_audit.load_policy(document)
    document["expect"] = [{"noise_attack": {"attributes": ["age"]}}]
    with pytest.raises(PolicyError, match="'age' is not numeric"):
        tcdp_audit.load_policy(document)


@pytest.mark.parametrize(
    ("attributes", "links", "posterior", "above_half"),
    [(13, [966, 969, 973, 965], 0.857, 1020), (3, [276, 276, 273, 272], 0.167, 126)],
)
def test_the_census_file(data: Path, attributes: int, links: list[int], posterior: float, above_half: int):
    casc = data / "casc"
    original, released = (
        pd.read_csv(path).iloc[:, :attributes]
        for path in (casc / "census.csv", casc / "census_masked" / "addnoise_additive_20.csv")
    )
    document = policy(list(original.columns), {"sd": 20}, rows_aligned=True)
    document["expect"] += [{"noise_attack": {"estimate": "variances"}}, {"noise_attack": {}}]
    known, variances, full = (one.details for one in tcdp_audit.audit(released, document, original).expectations)
    actual = [one["expected_correct"] for one in (known["without_knowledge"][WAYS[0]], known, variances, full)]
    assert actual == links
    assert round(variances["mean_posterior_of_truth"], 3) == posterior
    assert variances["above_half"] == above_half
