"""Item 43: linkage in levels of similarity, within blocks, in plain Python from the letters up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import exp, log, prod
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.core.session.registry import Plugins

pytest.importorskip("rapidfuzz")

PLUGINS = Plugins.load(external=False)
NAMES = ("city", "name", "sex")  # alphabetical, as the check has them
TEXTS = {
    "city": ["leeds", "leads", "dallas", "dalsla", "d", None],
    "name": ["martha", "marhta", "marta", "dixon", "dicksonx", "jones", "johnson", None],
    "sex": ["f", "m"],
}
LEVELS = [["0.85"], ["1", "0.9"], ["0.8", "1", "0.92"], ["14/15"], ["173/180", "0.5"]]
EDGE, STEPS = 1e-9, 30
Row = Mapping[str, Any]
Pair = tuple[int, int]


@cache
def jaro_winkler(a: str, b: str) -> Fraction:
    """By the definition, as a fraction."""
    if not a or not b:
        return Fraction(a == b)
    reach, taken, ours = max(max(len(a), len(b)) // 2 - 1, 0), set[int](), []
    for i, letter in enumerate(a):
        for j in range(max(0, i - reach), min(len(b), i + reach + 1)):
            if j not in taken and b[j] == letter:
                taken.add(j)
                ours.append(letter)
                break
    if not ours:
        return Fraction(0)
    moved = sum(x != b[j] for x, j in zip(ours, sorted(taken), strict=True)) // 2
    common = len(ours)
    jaro = (Fraction(common, len(a)) + Fraction(common, len(b)) + Fraction(common - moved, common)) / 3
    prefix = next((i for i in range(min(4, len(a), len(b))) if a[i] != b[i]), min(4, len(a), len(b)))
    return jaro + Fraction(prefix, 10) * (1 - jaro) if jaro > Fraction(7, 10) else jaro


@cache
def levenshtein(a: str, b: str) -> Fraction:
    """One less the edits per letter of the longer text."""

    @cache
    def edits(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(edits(i - 1, j) + 1, edits(i, j - 1) + 1, edits(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return 1 - Fraction(edits(len(a), len(b)), max(len(a), len(b), 1))


BY_NAME = {"jaro_winkler": jaro_winkler, "levenshtein": levenshtein}


class Case:
    """Two small tables with errors, and how they are compared."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)  # noqa: S311 - the same tables every time
        self.original = [{name: random.choice(TEXTS[name]) for name in NAMES} for _ in range(random.randint(2, 7))]
        people = random.sample(range(len(self.original) + 2), random.randint(2, len(self.original)))
        people[0] = random.randrange(len(self.original)) if min(people) >= len(self.original) else people[0]
        self.partner = {i: person for i, person in enumerate(people) if person < len(self.original)}
        self.people = people
        self.released = [self._respelt(person, random) for person in people]
        self.comparators = {
            name: (random.choice(sorted(BY_NAME)), random.choice(LEVELS))
            for name in ("city", "name")
            if random.random() < 0.8
        }
        self.blocking = random.sample(NAMES, random.randint(1, 3))
        self.smoothing = random.choice([0, 1])
        self.unconstrained = random.random() < 0.3

    def _respelt(self, person: int, random: Random) -> dict[str, Any]:
        true = self.original[person] if person < len(self.original) else {}
        return {name: true[name] if true and random.random() < 0.6 else random.choice(TEXTS[name]) for name in NAMES}

    def levels(self, name: str) -> list[Fraction]:
        return sorted(Fraction(one) for one in self.comparators[name][1]) if name in self.comparators else [Fraction(1)]

    def level(self, name: str, a: Any, b: Any) -> int:
        """How many levels of agreement two values reach; a missing one reaches none."""
        if a is None or b is None:
            return 0
        if name not in self.comparators:
            return int(a == b)
        similarity = BY_NAME[self.comparators[name][0]](a, b)
        return sum(similarity >= least for least in self.levels(name))

    def candidates(self) -> dict[Pair, tuple[int, ...]]:
        """The level of each attribute for every pair that shares a block."""
        return {
            (i, j): tuple(self.level(name, one[name], other[name]) for name in NAMES)
            for i, one in enumerate(self.released)
            for j, other in enumerate(self.original)
            if any(one[name] is not None and one[name] == other[name] for name in self.blocking)
        }

    def expectation(self) -> dict[str, Any]:
        return {
            "comparators": {name: {kind: levels} for name, (kind, levels) in self.comparators.items()} or None,
            "blocking": self.blocking,
            "smoothing": self.smoothing,
            "unconstrained": self.unconstrained,
            "iterations": STEPS,
            "convergence": 0,
        }


Rates = list[list[float]]  # of each attribute, for each level the share that reaches it from the level below


def inside(probability: float) -> float:
    return min(max(probability, EDGE), 1 - EDGE)


def rates(case: Case, weights: Mapping[Pair, float], levels: Mapping[Pair, tuple[int, ...]], added: float) -> Rates:
    def rate(at: int, level: int) -> float:
        reach = sum(weight for pair, weight in weights.items() if levels[pair][at] >= level)
        may = sum(weight for pair, weight in weights.items() if levels[pair][at] >= level - 1)
        return inside((reach + added) / max(may + 2 * added, EDGE))

    return [[rate(at, level + 1) for level in range(len(case.levels(name)))] for at, name in enumerate(NAMES)]


def weight(levels: Sequence[int], m: Rates, u: Rates) -> float:
    """ln m(pattern) / u(pattern): levels that are reached, and the first that is not."""
    total = 0.0
    for level, ours, theirs in zip(levels, m, u, strict=True):
        total += sum(log(a / b) for a, b in zip(ours[:level], theirs[:level], strict=True))
        total += sum(
            log((1 - a) / (1 - b)) for a, b in zip(ours[level : level + 1], theirs[level : level + 1], strict=True)
        )
    return total


def model(case: Case, levels: Mapping[Pair, tuple[int, ...]], prior: float) -> tuple[float, Rates, Rates]:
    u = rates(case, dict.fromkeys(levels, 1.0), levels, 0)
    m, p = [[inside(max(0.9, one)) for one in line] for line in u], inside(prior)
    for _ in range(STEPS):
        matched = {
            pair: 1 / (1 + exp(-min(max(weight(one, m, u) + log(p / (1 - p)), -700.0), 700.0)))
            for pair, one in levels.items()
        }
        u = rates(case, {pair: 1 - one for pair, one in matched.items()}, levels, 0)
        if case.unconstrained:
            p, m = inside(sum(matched.values()) / len(levels)), rates(case, matched, levels, 0)
        else:
            smoothed = rates(case, matched, levels, case.smoothing)
            m = [
                [a if name in case.blocking else inside(max(a, b + EDGE)) for a, b in zip(*lines, strict=True)]
                for name, *lines in zip(NAMES, smoothed, u, strict=True)
            ]
    return p, m, u


def asked(case: Case) -> Any:
    def as_table(rows: Sequence[Row], keys: Sequence[int]) -> pa.Table:
        columns = {name: pa.array([one[name] for one in rows], pa.string()) for name in NAMES}
        return pa.table({**columns, "id": list(keys)})

    attributes = {name: {"role": "quasi_identifier", "scale": "nominal"} for name in NAMES}
    policy = {
        "version": 1,
        "key": "id",
        "attributes": {**attributes, "id": {"role": "insensitive"}},
        "expect": [{"probabilistic_record_linkage": case.expectation()}],
    }
    tables = as_table(case.released, case.people), as_table(case.original, range(len(case.original)))
    return audit(tables[0], policy, tables[1], plugins=PLUGINS).expectations[0]


def agrees(seed: int) -> bool:
    """Whether the case could be compared; it fails where the figures differ."""
    case = Case(seed)
    levels = case.candidates()
    outcome = asked(case)
    if not levels:
        assert outcome.status == "error"
        return False
    linkable = {i: j for i, j in case.partner.items() if (i, j) in levels}
    p, m, u = model(case, levels, len(linkable) / len(levels))
    weights = {pair: weight(one, m, u) for pair, one in levels.items()}
    if any(1e-11 < b - a < 2e-9 for a, b in pairwise(sorted(weights.values()))):
        return False  # neither tied nor clearly apart
    shares = []
    for i, j in linkable.items():
        rivals = [pair for pair in levels if pair[0] == i and weights[pair] >= weights[i, j] - 1e-9]
        better = [pair for pair in rivals if weights[pair] > weights[i, j] + 1e-9]
        shares.append(Fraction(0) if better else Fraction(1, len(rivals)))
    details = outcome.details
    assert details["pairs"] == len(levels)
    assert details["matches_outside_blocks"] == len(case.partner) - len(linkable)
    assert details["expected_correct"] == sum(shares, Fraction(0))
    assert details["correct_unique"] == shares.count(Fraction(1))
    assert details["prior"] == pytest.approx(p, rel=1e-6, abs=1e-12)
    for at, one in enumerate(details["estimates"]):
        assert one["attribute"] == NAMES[at]
        assert (one["m"], one["u"]) == pytest.approx((m[at][0], u[at][0]), rel=1e-6, abs=1e-10)
        _levels_agree(case, details, at, (m, u))
    _links_agree(details, {pair: one + log(p / (1 - p)) for pair, one in weights.items()}, linkable, len(case.partner))
    return True


def _levels_agree(case: Case, details: Mapping[str, Any], at: int, rates: tuple[Rates, Rates]) -> None:
    lines = [one for one in details.get("levels", ()) if one["attribute"] == NAMES[at]]
    if NAMES[at] not in case.comparators:
        assert not lines
        return
    m, u = rates
    assert [one["at_least"] for one in lines] == case.levels(NAMES[at])
    for number, one in enumerate(lines, start=1):
        pattern = [number if place == at else 0 for place in range(len(NAMES))]
        gain = weight(pattern, m, u) - weight([0] * len(NAMES), m, u)
        reached = prod(m[at][:number]), prod(u[at][:number])
        assert one["gain"] == pytest.approx(gain, rel=1e-5, abs=1e-7)
        assert (one["m"], one["u"]) == pytest.approx(reached, rel=1e-6, abs=1e-10)
    assert details["estimates"][at]["gain"] == lines[-1]["gain"]


def _links_agree(
    details: Mapping[str, Any], logits: Mapping[Pair, float], linkable: Mapping[int, int], true: int
) -> None:
    for cut in details["by_posterior"]:
        least = log(float(cut["at_least"]) / (1 - float(cut["at_least"])))
        if any(abs(one - least) < 1e-6 for one in logits.values()):
            continue
        chosen = {pair for pair, one in logits.items() if one > least}
        assert (cut["links"], cut["correct"]) == (len(chosen), len(chosen & set(linkable.items())))
        assert cut["recall"] == Fraction(cut["correct"], true)
    assert details["linked_pairs"] + details["clerical_pairs"] + details["non_linked_pairs"] == details["pairs"]
    rates = details["by_error_rates"]
    assert rates["correct"] + rates["clerical_matches"] + rates["missed_matches"] == len(linkable)


def test_item_43_linkage_with_comparators_is_that_of_an_independent_estimation() -> None:
    assert sum(agrees(seed) for seed in range(30)) >= 20


@pytest.mark.long
@pytest.mark.parametrize("first", [1000, 2000, 3000])
def test_item_43_linkage_with_comparators_on_170_more_tables(first: int) -> None:
    assert sum(agrees(seed) for seed in range(first, first + 200)) >= 170
