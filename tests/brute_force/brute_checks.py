"""The class checks that brute force knows: the figure of a class, how it is compared, and thresholds worth asking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import brute_classes as brute
from brute_classes import Figure, Judged, OneClass

BESIDE = Fraction(1, 10**6)
ORDER = ("low", "middle", "high", "*")


@dataclass(frozen=True)
class Known:
    """A check as its page defines it.

    Args:
        name: as a policy names it.
        threshold: the parameter that a figure is compared with.
        figure: of one class.
        keeps: whether a figure keeps a threshold.
        allowed: thresholds that a policy may name, from above the first to the second.
        given: further parameters; those with an attribute are asked of this one alone.
        whole: whether the threshold is a whole number.
        exact: whether the figure is rational, so that it can be a threshold itself.
        of_values: whether it measures a sensitive attribute.
        joint: whether it reads several attributes together, and an intruder knows none of them.
    """

    name: str
    threshold: str
    figure: Callable[[OneClass, Judged], Figure]
    keeps: str
    allowed: tuple[float, float]
    given: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    exact: bool = True
    of_values: bool = True
    joint: bool = False

    def retained(self, figure: Figure | None, threshold: Fraction) -> bool:
        """Whether a class keeps a threshold; one without any value never does."""
        if figure is None:
            return False
        return {"<=": figure <= threshold, "<": figure < threshold, ">=": figure >= threshold}[self.keeps]

    @property
    def worst_possible(self) -> float:
        """What a class without any value counts as."""
        return 0.0 if self.keeps == ">=" else inf

    def thresholds(self, figures: Sequence[Figure | None]) -> Iterator[Fraction]:
        """Just beside the best and the worst figure, and where they are rational at them."""
        finite = sorted({one for one in figures if one is not None and 0 < one < inf})
        for one in {*finite[:1], *finite[-1:]}:
            near = Fraction(one).limit_denominator(10**9)
            steps = (0, 1) if self.whole else (-BESIDE, *([0] if self.exact else []), BESIDE)
            for step in steps:
                if self.allowed[0] < near + step <= self.allowed[1]:
                    yield near + step


def figures(known: Known, judged: Judged) -> list[Figure | None]:
    """The figure of every class."""
    return [known.figure(one, judged) if one.counts or not known.of_values else None for one in judged.classes]


def bounded_gain(one: OneClass, judged: Judged) -> Figure:
    """The largest relative gain, infinite where one exceeds -ln q."""
    p, q = brute.shares(one), judged.distribution
    gains = [(p[v] / q[v] - 1, q[v]) for v in p if q.get(v)]
    hopeless = len(gains) < len(p) or any(g > 0 and float(g) > -log(share) for g, share in gains)
    return inf if hopeless else max(g for g, _ in gains)


def t_of_epsilon(epsilon: float) -> Callable[[OneClass, Judged], Figure]:
    """a + (1 - a) e^epsilon."""
    return lambda one, judged: 1 + (1 - one.size / judged.everyone) * (exp(epsilon) - 1)


def expected_t(epsilon: float) -> Callable[[OneClass, Judged], Figure]:
    """e^((N - n) epsilon)."""
    return lambda one, judged: exp((judged.everyone - one.size) * epsilon)


def neighbours(one: OneClass, _: Judged) -> Figure:
    """The largest share of two values that are next to each other."""
    p = brute.shares(one)
    return max(sum((p.get(v, Fraction(0)) for v in ORDER[i : i + 2]), Fraction(0)) for i in range(len(ORDER)))


def epsilon(one: OneClass, judged: Judged) -> Figure:
    """2 ln t with the multiplicative distance t."""
    return 2 * brute.disclosure(one, judged)


def half_at_random(one: OneClass, judged: Judged) -> Figure:
    """The multiplicative distance once every other answer is any of the values."""
    missing = None in judged.reference or any(None in other.counts for other in judged.classes)
    values = [*ORDER, *([None] if missing else [])]
    p, q = brute.shares(one), judged.distribution
    answers = [[(of.get(v, Fraction(0)) + Fraction(1, len(values))) / 2 for v in values] for of in (p, q)]
    return max(max(a / b, b / a) for a, b in zip(*answers, strict=True))


STAGE = {"attribute": "stage"}
CHECKS = [
    Known("k_anonymity", "k", lambda one, _: one.size, ">=", (1, inf), whole=True, of_values=False),
    Known(
        "distinct_l_diversity", "l", lambda one, _: 1 if one.certain else len(one.counts), ">=", (1, inf), whole=True
    ),
    Known(
        "p_sensitive_k_anonymity",
        "p",
        lambda one, _: 1 if one.certain else len(one.counts),
        ">=",
        (1, inf),
        whole=True,
    ),
    Known("similarity", "at_most", neighbours, "<=", (0, 1), {"width": 1, **STAGE}),
    Known("implied_epsilon", "at_most", epsilon, "<=", (0, inf), STAGE, exact=False, joint=True),
    Known(
        "stochastic_t_closeness",
        "t",
        half_at_random,
        "<=",
        (1, inf),
        {"mechanism": "randomised_response", "retention": "1/2", **STAGE},
    ),
    Known("entropy_l_diversity", "l", brute.perplexity, ">=", (1, inf), exact=False),
    Known("alpha_k_anonymity", "alpha", lambda one, _: Fraction(max(one.counts.values()), one.members), "<=", (0, 1)),
    Known(
        "background_knowledge",
        "at_least",
        lambda one, _: one.members - max(one.counts.values()),
        ">=",
        (0, inf),
        whole=True,
    ),
    Known("recursive_cl_diversity", "c", brute.recursive(2), "<", (0, inf), {"l": 2}),
    Known("recursive_cl_diversity", "c", brute.recursive(3), "<", (0, inf), {"l": 3}),
    Known(
        "recursive_cl_diversity",
        "c",
        brute.recursive(2, ["flu", "*"]),
        "<",
        (0, inf),
        {"l": 2, "variant": "positive_disclosure", "dont_care": ["flu", "*"], "attribute": "illness"},
    ),
    Known("t_closeness", "t", brute.equal, "<=", (0, 1), {"distance": "equal"}),
    Known("t_closeness", "t", brute.ordered(ORDER), "<=", (0, 1), {"distance": "ordered", **STAGE}),
    Known("t_closeness", "t", brute.multiplicative, "<=", (1, inf), {"distance": "multiplicative"}),
    Known("basic_beta_likeness", "beta", brute.gain, "<=", (0, inf)),
    Known("enhanced_beta_likeness", "beta", bounded_gain, "<=", (0, inf)),
    Known("skewness", "at_most", brute.factor, "<=", (0, inf)),
    Known("delta_disclosure", "delta", brute.disclosure, "<", (0, inf), exact=False),
    Known(
        "t_from_epsilon", "at_most", t_of_epsilon(0.5), "<=", (1, inf), {"epsilon": 0.5}, exact=False, of_values=False
    ),
    Known(
        "expected_t_closeness",
        "at_most",
        expected_t(0.25),
        "<=",
        (1, inf),
        {"epsilon": 0.25},
        exact=False,
        of_values=False,
    ),
]
