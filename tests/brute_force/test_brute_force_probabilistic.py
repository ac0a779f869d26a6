"""Probabilistic linkage in plain Python, from the table up: patterns pair by pair, an EM of its own, links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, log
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
NAMES = ("age", "name", "sex")
SCALES = {"age": "numeric", "name": "nominal", "sex": "nominal"}
EDGE, STEPS = 1e-9, 40
Row = Mapping[str, Any]
Pattern = tuple[bool, ...]

row = st.fixed_dictionaries(
    {
        "age": st.sampled_from([20, 21, 22, 30, None]),
        "name": st.sampled_from(["smith", "smyth", "jones", None]),
        "sex": st.sampled_from(["f", "m"]),
    }
)


@dataclass(frozen=True)
class Comparing:
    """How two records are compared."""

    tolerance: int | None = None
    similarity: Fraction | None = None

    def pattern(self, one: Row, other: Row) -> Pattern:
        """On which attributes two records agree; a missing cell never does."""
        return tuple(self._agree(name, one[name], other[name]) for name in NAMES)

    def _agree(self, name: str, a: Any, b: Any) -> bool:
        if a is None or b is None:
            return False
        if name == "age" and self.tolerance is not None:
            return bool(abs(a - b) <= self.tolerance)
        if name == "name" and self.similarity is not None:
            first, second = ({f" {x} "[i : i + 2] for i in range(len(x) + 1)} for x in (a, b))
            return Fraction(2 * len(first & second), len(first) + len(second)) >= self.similarity
        return bool(a == b)

    def given(self) -> dict[str, Any]:
        """As a policy says it."""
        near = {} if self.tolerance is None else {"tolerance": {"age": self.tolerance}}
        return near if self.similarity is None else {**near, "similarity": {"name": str(self.similarity)}}


def inside(probability: float) -> float:
    return min(max(probability, EDGE), 1 - EDGE)


def model(
    patterns: Mapping[Pattern, int], prior: float, smoothing: float, *, unconstrained: bool
) -> tuple[float, list[float], list[float]]:
    """Prior, m and u after so many steps; u and the prior fixed unless unconstrained."""
    total, places = sum(patterns.values()), range(len(NAMES))

    def rate(weights: Mapping[Pattern, float], at: int, added: float = 0.0) -> float:
        agreeing = sum(weight for pattern, weight in weights.items() if pattern[at])
        return inside((agreeing + added) / max(sum(weights.values()) + 2 * added, EDGE))

    u = [rate(patterns, at) for at in places]
    m, p = [inside(max(0.9, one)) for one in u], inside(prior)
    for _ in range(STEPS):
        matched = {pattern: n / (1 + exp(-logit(pattern, p, m, u))) for pattern, n in patterns.items()}
        if unconstrained:
            rest = {pattern: n - matched[pattern] for pattern, n in patterns.items()}
            p = inside(sum(matched.values()) / total)
            m, u = [rate(matched, at) for at in places], [rate(rest, at) for at in places]
        else:
            m = [inside(max(rate(matched, at, smoothing), u[at] + EDGE)) for at in places]
    return p, m, u


def weight(pattern: Pattern, m: Sequence[float], u: Sequence[float]) -> float:
    """ln m(pattern) / u(pattern)."""
    return sum(log(a / b) if agree else log((1 - a) / (1 - b)) for agree, a, b in zip(pattern, m, u, strict=True))


def logit(pattern: Pattern, p: float, m: Sequence[float], u: Sequence[float]) -> float:
    return min(max(weight(pattern, m, u) + log(p / (1 - p)), -700.0), 700.0)


def asked(released: Sequence[Row], keys: Sequence[int], original: Sequence[Row], given: Sequence[Any]) -> list[Outcome]:
    types = {"age": pa.int64(), "name": pa.string(), "sex": pa.string()}

    def as_table(rows: Sequence[Row], keys: Sequence[int]) -> pa.Table:
        columns = {name: pa.array([one[name] for one in rows], types[name]) for name in NAMES}
        return pa.table({**columns, "id": list(keys)})

    policy = {
        "version": 1,
        "key": "id",
        "attributes": {
            **{name: {"role": "quasi_identifier", "scale": scale} for name, scale in SCALES.items()},
            "id": {"role": "insensitive"},
        },
        "expect": [{"probabilistic_record_linkage": one} for one in given],
    }
    tables = as_table(released, keys), as_table(original, range(len(original)))
    return list(audit(tables[0], policy, tables[1], plugins=PLUGINS).expectations)


@pytest.mark.long
@settings(max_examples=25)
@given(
    st.lists(row, min_size=2, max_size=9),
    st.lists(row, min_size=2, max_size=9),
    st.builds(Comparing, st.sampled_from([None, 0, 1]), st.sampled_from([None, Fraction(1, 2), Fraction(2, 3)])),
    st.booleans(),
    st.sampled_from([0, 1]),
    st.data(),
)
def test_linkage_is_that_of_an_independent_estimation(
    released: list[Row],
    original: list[Row],
    comparing: Comparing,
    unconstrained: bool,
    smoothing: int,
    data: st.DataObject,
) -> None:
    keys = data.draw(st.permutations(range(max(len(released), len(original)) + 1)))[: len(released)]
    partner = {i: key for i, key in enumerate(keys) if key < len(original)}
    assume(partner)
    pairs = [[comparing.pattern(one, other) for other in original] for one in released]
    counts = Counter(pattern for line in pairs for pattern in line)
    prior = len(partner) / (len(released) * len(original))
    p, m, u = model(counts, prior, smoothing, unconstrained=unconstrained)
    weights = {pattern: weight(pattern, m, u) for pattern in counts}
    ordered = sorted(weights.values())
    assume(not any(1e-10 < b - a < 1e-6 for a, b in pairwise(ordered)))  # ties, or clearly none

    shares = []
    for i, true in partner.items():
        line = [weights[pattern] for pattern in pairs[i]]
        best = [j for j, one in enumerate(line) if one >= max(line) - 1e-9]
        shares.append(Fraction(1, len(best)) if true in best else Fraction(0))
    expected = sum(shares, Fraction(0)) / len(released)

    how = {"unconstrained": unconstrained, "smoothing": smoothing, "iterations": STEPS, "convergence": 0}
    common = {**comparing.given(), **how}
    limits = [one for one in (expected - Fraction(1, 10**6), expected, expected + Fraction(1, 10**6)) if 0 <= one < 1]
    every = asked(released, keys, original, [common, *({**common, "at_most": str(limit)} for limit in limits)])
    details = every[0].details
    assert details["expected_correct"] == expected * len(released)
    assert details["correct_unique"] == shares.count(Fraction(1))
    assert details["correct_including_ties"] == len(shares) - shares.count(Fraction(0))
    assert details["pairs"] == len(released) * len(original)
    assert details["random_baseline"] == Fraction(len(partner), len(released) * len(original))
    assert details["prior"] == pytest.approx(p, rel=1e-6, abs=1e-12)
    for name, one, other in zip(NAMES, m, u, strict=True):
        (actual,) = (estimate for estimate in details["estimates"] if estimate["attribute"] == name)
        assert (actual["m"], actual["u"]) == pytest.approx((one, other), rel=1e-6, abs=1e-12)
    assert [one.status is Status.FAILED for one in every[1:]] == [expected > limit for limit in limits]
    _decisions_agree(details, pairs, partner, (p, m, u))


def _decisions_agree(
    details: Mapping[str, Any], pairs: Sequence[Sequence[Pattern]], partner: Mapping[int, int], model: Any
) -> None:
    """What linking by posterior finds, for posteriors that are not at a cut."""
    p, m, u = model
    for match in details["by_posterior"]:
        cut = log(float(match["at_least"]) / (1 - float(match["at_least"]))) if match["at_least"] < 1 else 700.0
        scores = {(i, j): logit(pattern, p, m, u) for i, line in enumerate(pairs) for j, pattern in enumerate(line)}
        assume(all(abs(score - cut) > 1e-6 for score in scores.values()))
        chosen = {pair for pair, score in scores.items() if score > cut}
        assert match["links"] == len(chosen)
        assert match["correct"] == len(chosen & set(partner.items()))
        assert match["recall"] == Fraction(match["correct"], len(partner))
    assert details["linked_pairs"] + details["clerical_pairs"] + details["non_linked_pairs"] == details["pairs"]
