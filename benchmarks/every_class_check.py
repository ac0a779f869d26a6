"""An expectation of every check on equivalence classes. Benchmarks time them, and tests compare engines by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def every_class_check(numeric: str, width: float, hierarchical: str, ordered: Sequence[str]) -> list[dict[str, Any]]:
    """The expectations; those that name no attribute apply to every sensitive one.

    `width` is the largest distance of two values of the numeric attribute that count as similar.
    """
    return [
        {"k_anonymity": {"k": 5}},
        {"alpha_k_anonymity": {"alpha": 0.5, "k": 5}},
        {"p_sensitive_k_anonymity": {"p": 2, "k": 5}},
        {"distinct_l_diversity": {"l": 2}},
        {"entropy_l_diversity": {"l": 2}},
        {"recursive_cl_diversity": {"c": 4, "l": 2}},
        {"t_closeness": {"t": 0.5, "distance": "equal"}},
        *({"t_closeness": {"t": 0.5, "distance": "ordered", "attribute": one}} for one in ordered),
        {"t_closeness": {"t": 0.5, "distance": "numeric", "attribute": numeric}},
        {"t_closeness": {"t": 0.5, "distance": "hierarchical", "attribute": hierarchical}},
        {"t_closeness": {"t": 4, "distance": "multiplicative"}},
        {"t_closeness": {"distance": "kullback_leibler"}},
        {"t_closeness": {"distance": "jensen_shannon"}},
        {"delta_disclosure": {"delta": 2}},
        {"basic_beta_likeness": {"beta": 2}},
        {"enhanced_beta_likeness": {"beta": 2}},
        {"homogeneity": {"at_most": 0.1}},
        {"background_knowledge": {}},
        {"skewness": {"at_most": 3}},
        {"similarity": {"at_most": 0.8, "width": width, "attribute": numeric}},
        {"implied_epsilon": {"at_most": 2}},
        {"t_from_epsilon": {"epsilon": 1}},
        {"stochastic_t_closeness": {"t": 4, "mechanism": "laplace", "noise_scale": 10 * width, "attribute": numeric}},
        {"stochastic_t_closeness": {"t": 4, "mechanism": "randomised_response", "retention": 0.5}},
        {"expected_t_closeness": {"epsilon": 1}},
    ]
