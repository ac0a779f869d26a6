"""(n, t)-closeness: the published example, groups along hierarchies, and a slow reference for every distance."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status

AGES = {"*": {"young": ["20-29", "30-39"], "old": ["40+"]}}
COUNTS = {("20-29", "cancer"): 50, ("20-29", "flu"): 50, ("30-39", "cancer"): 100, ("30-39", "flu"): 200}
COUNTS |= {("40+", "cancer"): 850, ("40+", "flu"): 1650}
PUBLISHED = pd.DataFrame([row for row, times in COUNTS.items() for _ in range(times)], columns=["age", "disease"])


def outcome(table: pd.DataFrame, attributes: dict[str, Any], check: str = "nt_closeness", **parameters: Any) -> Outcome:
    return under({}, table, attributes, check, **parameters)


def under(
    policy: dict[str, Any], table: pd.DataFrame, attributes: dict[str, Any], check: str, **parameters: Any
) -> Outcome:
    document = {"version": 1, "attributes": attributes, "expect": [{check: parameters}], **policy}
    (one,) = tcdp_audit.audit(table, document).expectations
    return one


def ages(**sensitive: Any) -> dict[str, Any]:
    return {"age": {"role": "quasi_identifier", "hierarchy": AGES}, "disease": {"role": "sensitive", **sensitive}}


def test_the_published_example():
    one = outcome(PUBLISHED, ages(), n=400, t="0.13")
    assert (one.status, one.observed) == (Status.PASSED, Fraction(1, 8))
    assert outcome(PUBLISHED, ages(), "t_closeness").observed == pytest.approx(9 / 58)
    assert outcome(PUBLISHED, ages(), n=400, t="0.125").status is Status.PASSED
    failed = outcome(PUBLISHED, ages(), n=401, t="0.13")
    assert (failed.status, failed.observed) == (Status.FAILED, pytest.approx(9 / 58))


def test_a_class_that_is_large_is_its_own_group():
    details = outcome(PUBLISHED, ages(), n=300, t="0.3").details
    assert (details["large_classes"], details["groups_compared"], details["steps"]) == (2, 2, 2)
    assert outcome(PUBLISHED, ages(), n=100).observed == 0
    assert outcome(PUBLISHED, ages(), n=100, distance="multiplicative").observed == 1


TREES: dict[str, Any] = {
    "age": {"*": {"a": {"aa": ["1", "2"], "ab": ["3"]}, "b": {"bb": ["4", "5"]}}},
    "zip": {"*": {"x": ["u", "v"], "y": ["w"]}},
}
KINDS: dict[str, dict[str, Any]] = {
    "equal": {},
    "ordered": {"scale": "ordinal", "order": ["p", "q", "r"]},
    "hierarchical": {"hierarchy": {"*": {"pq": ["p", "q"], "rr": ["r"]}}},
    "multiplicative": {},
    "kullback_leibler": {},
}


def by_definition(rows: list[dict[str, str]], n: int, distance: str) -> float:
    """The largest least distance, each by `t_closeness` of a table that is a class beside the rest of its group."""

    def path(name: str, value: str) -> list[str]:
        actual = [leaf for leaf in paths(TREES[name]) if leaf[-1] == value]
        return actual[0] if actual else ["*", value]

    def paths(tree: Any, above: tuple[str, ...] = ()) -> list[list[str]]:
        if isinstance(tree, dict):
            return [one for key, below in tree.items() for one in paths(below, (*above, key))]
        return [[*above, leaf] for leaf in tree]

    worst = 0.0
    for own in {(row["age"], row["zip"], row["sex"]) for row in rows}:
        least = float("inf")
        chains = [path("age", own[0]), path("zip", own[1]), ["*", own[2]]]
        for step in range(4):
            group = [
                row
                for row in rows
                if all(
                    theirs[: step + 1] == mine[: step + 1]
                    for mine, theirs in zip(
                        chains, [path("age", row["age"]), path("zip", row["zip"]), ["*", row["sex"]]], strict=True
                    )
                )
            ]
            if len(group) >= n:
                least = min(least, distance_in(group, own, distance))
        worst = max(worst, least)
    return worst


def distance_in(group: list[dict[str, str]], own: tuple[str, ...], distance: str) -> float:
    """The distance of a class from its group, in plain arithmetic."""
    values = ["p", "q", "r"]
    inside = [row["d"] for row in group if (row["age"], row["zip"], row["sex"]) == own]
    p = [Fraction(inside.count(value), len(inside)) for value in values]
    q = [Fraction([row["d"] for row in group].count(value), len(group)) for value in values]
    if distance == "ordered":
        return float((abs(p[0] - q[0]) + abs(p[0] + p[1] - q[0] - q[1])) / 2)
    if distance == "multiplicative":
        ratios = [max(a / b, b / a) if a and b else float("inf") for a, b in zip(p, q, strict=True) if a or b]
        return float(max(ratios))
    if distance == "kullback_leibler":
        return sum(float(a) * log(a / b) for a, b in zip(p, q, strict=True) if a)
    equal = float(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
    return equal if distance == "equal" else (equal + float(abs(p[2] - q[2]))) / 2


@st.composite
def releases(draw: st.DrawFn) -> list[dict[str, str]]:
    rows = st.fixed_dictionaries(
        {
            "age": st.sampled_from("12345"),
            "zip": st.sampled_from("uvw"),
            "sex": st.sampled_from("fm"),
            "d": st.sampled_from("pqr"),
        }
    )
    return draw(st.lists(rows, min_size=3, max_size=14))


def compared(rows: list[dict[str, str]], n: int, distance: str) -> None:
    attributes = {
        "age": {"role": "quasi_identifier", "hierarchy": TREES["age"]},
        "zip": {"role": "quasi_identifier", "hierarchy": TREES["zip"]},
        "sex": {"role": "quasi_identifier"},
        "d": {"role": "sensitive", **KINDS[distance]},
    }
    actual = outcome(pd.DataFrame(rows), attributes, n=n, distance=distance).observed
    assert actual == pytest.approx(by_definition(rows, n, distance))
    whole = outcome(pd.DataFrame(rows), attributes, "t_closeness", distance=distance).observed
    assert actual is not None
    assert whole is not None
    assert actual <= whole + 1e-12


@pytest.mark.long
@settings(max_examples=30, deadline=None)
@given(releases(), st.integers(2, 3), st.sampled_from(sorted(KINDS)))
def test_groups_of_every_step(rows, n, distance):
    compared(rows, n, distance)


@pytest.mark.parametrize("distance", sorted(KINDS))
def test_groups_of_twelve_records(distance):
    cells = zip("112233445512", "uvwuvwuvwuvw", "ffmmffmmffmm", "ppqrqrpprqqp", strict=True)
    compared([dict(zip(("age", "zip", "sex", "d"), row, strict=True)) for row in cells], 3, distance)


PAY = pd.DataFrame({"zip": list("uuuvvv"), "pay": [0.1, 0.2, 0.3, 0.1, 0.1, 0.2]})
PAID = {"zip": {"role": "quasi_identifier"}, "pay": {"role": "sensitive", "scale": "numeric"}}


@pytest.mark.parametrize("t", ["0.1666666666666666", "0.16666666666666666666", "1/6", "0.16666666666666667", "0.5"])
def test_close_to_t_exact_arithmetic_decides_as_for_the_whole_table(t):
    """Both groups of three are 1/6 from the table by the numbers' decimals, which floating point misses."""
    one, whole = (outcome(PAY, PAID, check, t=t, distance="numeric", **n) for check, n in CHECKS_ON_PAY)
    assert one.status is whole.status is (Status.PASSED if Fraction(t) >= Fraction(1, 6) else Status.FAILED)
    assert one.observed == pytest.approx(1 / 6)


CHECKS_ON_PAY: list[tuple[str, dict[str, int]]] = [("nt_closeness", {"n": 6}), ("t_closeness", {})]


MISSING = pd.DataFrame({"age": ["1", "2", None, "5", "5"], "d": ["p", None, "q", "p", "q"]})
DECLARED: dict[str, Any] = {"age": {"role": "quasi_identifier", "hierarchy": TREES["age"]}, "d": {"role": "sensitive"}}


def test_missing_values():
    """A class without a value has no distribution; as values of their own missing ones have."""
    assert outcome(MISSING, DECLARED, n=2).observed == float("inf")
    own = under({"conventions": {"missing_sensitive": "own_category"}}, MISSING, DECLARED, "nt_closeness", n=2)
    # 1 and 2 are a group below aa, 5 and 5 one by themselves, and the missing age has the table only: 3/5 from q
    assert own.observed == pytest.approx(3 / 5)
    failed = under({"conventions": {"missing_sensitive": "fail"}}, MISSING, DECLARED, "nt_closeness", n=2)
    assert (failed.status, failed.observed) == (Status.FAILED, float("inf"))
    assert failed.message == "1 record has no value in the sensitive attribute 'd'"
    ordered = {**DECLARED, "d": {"role": "sensitive", **KINDS["ordered"]}}
    convention = {"conventions": {"missing_sensitive": "own_category"}}
    assert (
        "no place in its order" in under(convention, MISSING, ordered, "nt_closeness", n=2, distance="ordered").message
    )


def test_too_few_records():
    assert "2 records with a value of 'd', so there is no group of 3" in outcome(MISSING[:3], DECLARED, n=3).message


@pytest.mark.parametrize(
    ("policy", "attributes", "parameters", "why"),
    [
        ({}, {"e": {"role": "sensitive"}}, {}, "2 sensitive attributes; name one"),
        ({}, {}, {"attribute": "age"}, "'age' is not sensitive"),
        ({}, {}, {"distance": "ordered"}, "needs 'd' to be numeric or ordinal"),
        ({}, {}, {"t": 2}, "must be at most 1"),
        ({"conventions": {"missing_quasi_identifier": "wildcard"}}, {}, {}, "classes must not overlap"),
    ],
)
def test_what_a_policy_cannot_ask(policy, attributes, parameters, why):
    with pytest.raises(tcdp_audit.PolicyError, match=why):
        under(policy, MISSING, {**DECLARED, **attributes}, "nt_closeness", n=2, **parameters)


def test_values_that_the_distance_cannot_place():
    strange = {**DECLARED, "d": {"role": "sensitive", "hierarchy": {"*": ["p", "x"]}}}
    assert "does not know all its values" in outcome(MISSING, strange, n=2, distance="hierarchical").message
    ranges = pd.DataFrame({"zip": ["u", "v"], "pay": ["[1, 3]", "[2, 4]"]})
    assert "overlap, so that they have no order" in outcome(ranges, PAID, n=2, distance="numeric").message


def test_values_that_a_hierarchy_does_not_know_have_only_the_table():
    table = pd.DataFrame({"age": ["1", "2", "9", "9"], "d": ["p", "q", "p", "p"]})
    assert outcome(table, DECLARED, n=3).details["groups_compared"] == 1
