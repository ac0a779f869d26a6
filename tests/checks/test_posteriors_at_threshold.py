"""Posteriors at a threshold, in exact fractions: a person at the probability is no candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, prod
from random import Random
from statistics import variance
from typing import Any

import pyarrow as pa
import pytest

import tcdp_audit
from tcdp_audit import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
Rows = Sequence[tuple[str, ...]]
HALF = Fraction(1, 2)


def audited(check: str, tables: Sequence[Mapping[str, Any]], attribute: Mapping[str, Any], **given: Any) -> Outcome:
    policy = {
        "version": 1,
        "rows_aligned": True,
        "attributes": {name: {"role": "quasi_identifier", **attribute} for name in tables[0]},
        "expect": [{check: given}],
    }
    released, original = (pa.table(dict(one)) for one in tables)
    return tcdp_audit.audit(released, policy, original, plugins=PLUGINS).expectations[0]


def columns(rows: Rows) -> dict[str, list[str]]:
    return {f"q{place}": list(cells) for place, cells in enumerate(zip(*rows, strict=True))}


def test_a_person_at_the_probability_is_no_candidate():
    """Released record 2 has posteriors of exactly 1/4, 1/2 and 1/4."""
    original = {"q0": list("abc"), "q1": list("bab"), "q2": list("abb")}
    released = {"q0": list("bbc"), "q1": list("bcb"), "q2": list("aab")}
    attack = {"pram_attack": {"retention": "1/2"}}
    result = audited("k_confusion", [released, original], {}, attack=attack, k=2, probability="1/4")
    assert (result.observed, result.status) == (1, Status.FAILED)
    own = audited("pram_attack", [released, original], {}, retention="1/2", probability="1/4")
    assert own.details["at_probability"]["least_candidates"] == 1


def likelihoods(released: Rows, original: Rows, matrices: Sequence[Any]) -> list[list[Fraction]]:
    return [
        [
            prod((one(x, y) for one, x, y in zip(matrices, person, record, strict=True)), start=Fraction(1))
            for person in original
        ]
        for record in released
    ]


def retained(values: Sequence[str], retention: Fraction) -> Any:
    other = (1 - retention) / max(len(values) - 1, 1)
    return lambda x, y: (retention if len(values) > 1 else Fraction(1)) if x == y else other


def counted(pairs: Sequence[tuple[str, str]]) -> Any:
    return lambda x, y: Fraction(pairs.count((x, y)), sum(one == x for one, _ in pairs))


def adapted(values: Sequence[str], matrix: Any, counts: Mapping[str, int]) -> Any:
    def back(k: str, y: str) -> Fraction:
        whole = sum((matrix(el, k) * counts[el] for el in values), Fraction(0))
        return matrix(y, k) * counts[y] / whole if whole else Fraction(k == y)

    return lambda x, y: sum((matrix(x, k) * back(k, y) for k in values), Fraction(0))


def masked(random: Random, kind: str) -> tuple[Rows, Rows, dict[str, Any], list[list[Fraction]]]:
    """Two random tables, the parameters that declare their masking, and the likelihoods by definition."""
    width, size, letters = random.randint(1, 3), random.randint(2, 6), "abc"
    rows: Any = [[tuple(random.choice(letters) for _ in range(width)) for _ in range(size)] for _ in range(2)]
    retention = random.choice([Fraction(1, 2), Fraction(1, 3), Fraction(3, 4), Fraction(9, 10), Fraction(9999, 10000)])
    matrices = []
    for place in range(width):
        sides = [[one[place] for one in side] for side in rows]
        values = sorted({*sides[0], *sides[1]})
        matrix = (
            retained(values, retention) if kind != "counted" else counted(list(zip(sides[1], sides[0], strict=True)))
        )
        if kind == "invariant":
            matrix = adapted(values, matrix, {one: sides[1].count(one) for one in values})
        matrices.append(matrix)
    declared = {} if kind == "counted" else {"retention": str(retention), "invariant": kind == "invariant"}
    return rows[0], rows[1], declared, likelihoods(rows[0], rows[1], matrices)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["kept", "counted", "invariant"])
def test_candidates_are_decided_in_fractions(kind: str):
    random, at_threshold = Random(kind), 0  # noqa: S311 - tables to test on
    for _ in range(30):
        released, original, declared, table = masked(random, kind)
        if not all(row[place] for place, row in enumerate(table)):
            continue  # by this matrix it could not happen, which is refused
        chances = [[one / sum(row) for one in row] for row in table]
        every = sorted({one for row in chances for one in row if one < 1})
        share = random.choice(every or [HALF])
        at_threshold += any(share in row for row in chances)
        result = audited("pram_attack", [columns(released), columns(original)], {}, probability=str(share), **declared)
        assert result.status is Status.MEASURED, result.message
        numbers = [sum(one > share for one in row) for row in chances]
        truth = [row[place] for place, row in enumerate(chances)]
        reported = result.details["at_probability"]
        assert (reported["least_candidates"], reported["single_candidate"]) == (min(numbers), numbers.count(1))
        assert reported["mean_candidates"] == sum(numbers) / len(numbers)
        assert reported["truth_among_candidates"] == sum(one > share for one in truth)
        assert result.details["above_half"] == sum(max(row) > HALF for row in chances)
        assert result.details["right_above_half"] == sum(one > HALF for one in truth)
        confusion = [some or sum(one > 0 for one in row) for some, row in zip(numbers, chances, strict=True)]
        attack = {"pram_attack": declared}
        again = audited(
            "k_confusion", [columns(released), columns(original)], {}, attack=attack, probability=str(share)
        )
        assert (again.observed, again.details["mean_candidates"]) == (min(confusion), sum(confusion) / len(confusion))
    assert at_threshold > 8


def test_a_matrix_is_taken_exactly():
    """Rows 0.7 and 0.3, declared as decimals: one person of 7 : 3 has 7/10 at the threshold 0.7 and no more."""
    lines = {"a": {"a": "0.7", "b": "0.3"}, "b": {"a": "0.3", "b": "0.7"}}
    table = {"q0": ["a", "b"]}
    for share, above in (("7/10", 0), ("0.6999999999999", 2)):
        result = audited("pram_attack", [table, table], {}, matrix={"q0": lines}, probability=share)
        assert result.details["at_probability"]["truth_among_candidates"] == above
        assert result.details["at_probability"]["mean_candidates"] == above / 2


@pytest.mark.parametrize("size", [3, 10, 49, 98])
def test_people_who_are_all_alike_are_at_the_threshold(size: int):
    """49 times 1/49 is less than 1 in float64."""
    table = {"q0": [5] * size + [6]}
    given = {"sd": 100_000, "probability": f"1/{size + 1}"}
    alike = {"q0": [5] * size}
    result = audited("noise_attack", [alike, alike], {"scale": "numeric"}, probability=f"1/{size}")
    assert result.details["at_probability"]["mean_candidates"] == 0
    attack = {"noise_attack": {}}
    assert (
        audited("k_confusion", [alike, alike], {"scale": "numeric"}, attack=attack, probability=f"1/{size}").observed
        == size
    )
    assert audited("noise_attack", [table, table], {"scale": "numeric"}, **given).status is Status.MEASURED


def mean_ranks(cells: Sequence[float]) -> list[float]:
    return [sum(other < one for other in cells) + (cells.count(one) + 1) / 2 for one in cells]


def by_ranks(released: Sequence[Sequence[float]], original: Sequence[Sequence[float]]) -> tuple[Fraction, float]:
    """Expected links and the mean posterior of the truth with independent variances of ranks, pair by pair."""
    people, squared = range(len(released[0])), [[Fraction(0)] * len(released[0]) for _ in released[0]]
    for new, old in zip(map(mean_ranks, released), map(mean_ranks, original), strict=True):
        noise = sum(Fraction(y - x) ** 2 for y, x in zip(new, old, strict=True)) / len(new)
        for i in people:
            for j in people:
                apart = Fraction(new[i] - old[j]) ** 2
                squared[i][j] += apart / noise if noise else 1_000_000 * (apart > 0)
    links = sum((Fraction(row[i] == min(row), row.count(min(row))) for i, row in enumerate(squared)), Fraction(0))
    chances = [
        exp(-float(row[i] - min(row)) / 2) / sum(exp(-float(one - min(row)) / 2) for one in row)
        for i, row in enumerate(squared)
    ]
    return links, sum(chances) / len(chances)


@pytest.mark.parametrize("scores", ["ranks", "normal"])
def test_values_that_were_stretched_have_their_ranks(scores: str):
    """200 incomes times 1.1: every rank is the same, so that everybody is certain."""
    incomes = [1000 + 7 * one + one * one for one in range(200)]
    stretched = [round(one * 1.1, 2) for one in incomes]
    tables = [{"income": stretched}, {"income": incomes}]
    result = audited("noise_attack", tables, {"scale": "numeric"}, scores=scores, at_most="1/10")
    assert (result.observed, result.status) == (1, Status.FAILED)
    attack = {"noise_attack": {"scores": scores}}
    confused = audited("k_confusion", tables, {"scale": "numeric"}, attack=attack, k=2)
    assert (confused.observed, confused.status) == (1, Status.FAILED)


@pytest.mark.parametrize("scores", ["ranks", "normal"])
def test_four_numbers_in_the_same_order_are_detected(scores: str):
    tables = [{"x": [-2.0, 0.7, 1.3, 0.1]}, {"x": [-1.6, 0.3, 1.2, -0.3]}]
    assert audited("noise_attack", tables, {"scale": "numeric"}, scores=scores).details["expected_correct"] == 4
    declared = audited("noise_attack", tables, {"scale": "numeric"}, scores=scores, sd=0)
    assert declared.details["expected_correct"] == 4


@pytest.mark.long
def test_ranks_that_are_retained_in_some_attributes_are_those_of_every_pair():
    random, still = Random(5), 0  # noqa: S311 - tables to test on
    for _ in range(40):
        size, width = random.randint(3, 8), random.randint(1, 3)
        original = [[float(random.randint(0, 4)) for _ in range(size)] for _ in range(width)]
        released = [
            [3 * one + 1 for one in column] if random.random() < 0.5 else random.sample(column, size)
            for column in original
        ]
        if any(variance(column) == 0 for column in original):
            continue
        still += any(mean_ranks(new) == mean_ranks(old) for new, old in zip(released, original, strict=True))
        tables = [{f"q{place}": one for place, one in enumerate(side)} for side in (released, original)]
        result = audited("noise_attack", tables, {"scale": "numeric"}, scores="ranks", estimate="variances")
        links, chance = by_ranks(released, original)
        assert result.details["expected_correct"] == links
        assert result.details["mean_posterior_of_truth"] == pytest.approx(chance, abs=1e-9)
    assert still > 25
