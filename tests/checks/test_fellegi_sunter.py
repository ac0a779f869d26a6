"""The estimation against a slow one, the decisions against the theorem's own sums."""

from __future__ import annotations

from math import log, prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit_plugins.checks.record_linkage.fellegi_sunter import (
    EDGE,
    Decision,
    Estimation,
    Linkage,
    agreement_rates,
    decide,
    estimate,
    link_figures,
)

COUNTS = np.array([9000, 400, 300, 20, 150, 12, 8, 110])  # three attributes
EXACTLY = Estimation(smoothing=0)


def inside(value):
    return min(max(value, EDGE), 1 - EDGE)


def slowly(counts, p, steps, *, unconstrained, smoothing=0.0):
    """Expectation and maximisation in plain Python over dictionaries of patterns."""
    width = len(counts).bit_length() - 1
    patterns = {tuple(at >> j & 1 for j in range(width)): int(n) for at, n in enumerate(counts) if n}
    total = sum(patterns.values())

    def rate(weights, j, added):
        agreeing = sum(w for pattern, w in weights.items() if pattern[j])
        return inside((agreeing + added) / (sum(weights.values()) + 2 * added))

    u = [rate(patterns, j, 0) for j in range(width)]
    m = [inside(max(0.9, one)) for one in u]
    for _ in range(steps):
        matched = {}
        for pattern, n in patterns.items():
            as_match = p * prod(m[j] if pattern[j] else 1 - m[j] for j in range(width))
            otherwise = (1 - p) * prod(u[j] if pattern[j] else 1 - u[j] for j in range(width))
            matched[pattern] = n * as_match / (as_match + otherwise)
        if unconstrained:
            rest = {pattern: n - matched[pattern] for pattern, n in patterns.items()}
            p = inside(sum(matched.values()) / total)
            m, u = [rate(matched, j, 0) for j in range(width)], [rate(rest, j, 0) for j in range(width)]
        else:
            m = [inside(max(rate(matched, j, smoothing), u[j] + EDGE)) for j in range(width)]
    return p, m, u


@pytest.mark.parametrize(("unconstrained", "smoothing"), [(False, 0.0), (False, 1.0), (True, 0.0)])
@pytest.mark.parametrize("steps", [1, 7, 60])
def test_each_step_is_that_of_the_plain_iteration(unconstrained, smoothing, steps):
    how = Estimation(unconstrained=unconstrained, smoothing=smoothing, convergence=0, iterations=steps)

    model = estimate(COUNTS, 0.01, how)

    p, m, u = slowly(COUNTS, 0.01, steps, unconstrained=unconstrained, smoothing=smoothing)
    assert (model.iterations, model.converged) == (steps, False)
    assert np.allclose([model.prior, *model.m, *model.u], [p, *m, *u], rtol=1e-9, atol=1e-12)


def test_a_mixture_is_recovered():
    """Expected counts of a known model: plain maximum likelihood must give it back."""
    truth = Linkage(0.05, np.array([0.9, 0.8, 0.95]), np.array([0.1, 0.02, 0.3]), 0, 0.0, converged=True)
    counts = np.round(10**12 * (0.05 * truth.among_matches() + 0.95 * truth.among_unmatched())).astype(np.int64)

    model = estimate(counts, 0.01, Estimation(unconstrained=True, convergence=1e-12))

    assert model.converged
    assert np.allclose([model.prior, *model.m, *model.u], [0.05, 0.9, 0.8, 0.95, 0.1, 0.02, 0.3], atol=1e-6)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 1000), min_size=8, max_size=8).filter(any), st.floats(1e-6, 0.5))
def test_constrained_m_stays_above_u_and_u_and_prior_stay_as_they_are(counts, prior):
    model = estimate(np.array(counts), prior, Estimation(iterations=50))

    assert model.prior == prior
    assert np.allclose(model.u, np.clip(agreement_rates(np.array(counts)), EDGE, 1 - EDGE))
    assert (model.m >= model.u).all()
    assert (model.m > model.u)[model.u < 1 - 2 * EDGE].all()


def test_smoothing_keeps_a_weight_finite_that_likelihood_would_let_grow():
    always = np.array([9900, 0, 0, 100])  # the two attributes agree together or not at all

    plain, smoothed = estimate(always, 0.01, EXACTLY), estimate(always, 0.01, Estimation())

    assert plain.m.tolist() == [1 - EDGE, 1 - EDGE]
    assert smoothed.m == pytest.approx([101 / 102, 101 / 102], abs=1e-3)


def test_weights_and_posteriors_by_hand():
    model = Linkage(0.2, np.array([0.9, 0.8]), np.array([0.3, 0.4]), 1, 0.0, converged=True)

    by_hand = [
        log(0.1 * 0.2 / (0.7 * 0.6)),
        log(0.9 * 0.2 / (0.3 * 0.6)),
        log(0.1 * 0.8 / (0.7 * 0.4)),
        log(0.9 * 0.8 / (0.3 * 0.4)),
    ]
    assert np.allclose(model.weights, by_hand)
    assert model.ranks.tolist() == [0, 2, 1, 3]
    assert np.allclose(model.posteriors, [0.02 / 1.7, 0.2, 0.08 / 1.2, 0.6])
    assert model.among_matches().sum() == pytest.approx(1)
    assert model.among_unmatched().sum() == pytest.approx(1)


def test_equal_weights_are_one_rank_and_an_attribute_that_says_nothing_makes_none():
    model = Linkage(0.2, np.array([0.9, 0.9, 0.5]), np.array([0.3, 0.3, 0.5]), 1, 0.0, converged=True)

    assert model.ranks.tolist() == [0, 1, 1, 2, 0, 1, 1, 2]
    assert model.gains[2] == 0


def test_thresholds_are_the_farthest_that_the_tolerated_rates_allow():
    model = Linkage(0.2, np.array([0.9, 0.8]), np.array([0.3, 0.4]), 1, 0.0, converged=True)
    # by falling weight: pattern 3 (m 0.72, u 0.12), 1 (0.18, 0.18), 2 (0.08, 0.28), 0 (0.02, 0.42)

    assert decisions(decide(model, 0.1, 0.01)) == ([], [])
    assert decisions(decide(model, 0.13, 0.03)) == ([3], [0])
    assert decisions(decide(model, 0.31, 0.11)) == ([1, 3], [0, 2])


def test_what_both_rates_allow_goes_where_the_posterior_is():
    model = Linkage(0.2, np.array([0.9, 0.8]), np.array([0.3, 0.4]), 1, 0.0, converged=True)

    assert decisions(decide(model, 1, 1)) == ([3], [0, 1, 2])  # posteriors 0.6 and at most 0.2


def test_links_without_any_have_no_precision():
    pairs, matches = np.array([90, 6, 4]), np.array([0, 2, 3])

    linked = link_figures(np.array([False, True, True]), pairs, matches, 6)
    assert (linked["links"], linked["correct"]) == (10, 5)
    assert (float(linked["precision"]), float(linked["recall"])) == (0.5, 5 / 6)
    assert link_figures(np.zeros(3, bool), pairs, matches, 6) == {
        "links": 0,
        "correct": 0,
        "precision": None,
        "recall": 0,
    }


def decisions(decision: Decision) -> tuple[list[int], list[int]]:
    return np.flatnonzero(decision.link).tolist(), np.flatnonzero(decision.non_link).tolist()
