"""What a policy says people would do with a release: which columns it may name, and how."""

from __future__ import annotations

from typing import Any

import pytest

from tcdp_audit import PolicyError, load_policy

POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "grade": {"role": "insensitive", "scale": "ordinal", "order": ["low", "high"]},
        "town": {"role": "quasi_identifier"},
        "pay": {"role": "sensitive", "scale": "numeric"},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
}


def test_any_column_but_identifiers_may_be_used():
    utility = {
        "counts": [{"by": ["age", "town", "grade"]}],
        "regressions": [{"of": "grade", "by": ["town"]}, {"of": "pay", "by": ["age"]}],
        "models": [{"of": "town", "by": ["pay"]}],
    }
    document = load_policy({**POLICY, "utility": utility}).document

    assert document.utility.named == ["age", "grade", "pay", "town"]
    assert load_policy(POLICY).document.utility.named == []
    assert load_policy(POLICY).document.utility.regressions is None  # not none at all


@pytest.mark.parametrize(
    ("utility", "sentence"),
    [
        (
            {"counts": [{"by": ["ages"]}]},
            "counts[0].by: 'ages' is not declared under `attributes`; did you mean 'age'?",
        ),
        ({"counts": [{"by": ["age", "age"]}]}, "utility.counts[0].by: 'age' is named twice"),
        ({"counts": [{"by": []}]}, "utility.counts[0].by: must not be empty"),
        ({"counts": [{"by": ["age", "town", "grade", "pay"]}]}, "utility.counts[0].by: "),
        (
            {"models": [{"of": "name", "by": ["age"]}]},
            "models[0].of: 'name' is an identifier, which no release may contain",
        ),
        ({"models": [{"of": "age", "by": ["town", "age"]}]}, "'age' cannot be under `of` and under `by`"),
        (
            {"regressions": [{"of": "town", "by": ["age"]}]},
            "regressions[0].of: 'town' has neither numbers nor ranks",
        ),
        ({"regressions": [{"of": "pay", "on": ["age"]}]}, "unknown name"),
        ({"models": [{"of": "pay"}]}, "utility.models[0].by: is required"),
        ({"model": []}, "did you mean 'models'?"),
    ],
)
def test_faults_are_reported_with_their_place(utility: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError) as caught:
        load_policy({**POLICY, "utility": utility})
    assert sentence in str(caught.value)
