"""What remedies say before they start: which failing demands they do not act on, and why none was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest
from masked import PLUGINS, paired_policy

from tcdp_audit import Remediation, fix, load_policy
from tcdp_audit.core.base.outcome import Comparison, Outcome, Status
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import applicability
from tcdp_audit.core.remedy.view import RemedyView

ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "town": {"role": "quasi_identifier", "scale": "nominal"},
    "wage": {"role": "sensitive", "scale": "numeric"},
    "note": {"role": "insensitive"},
}
TABLE = pa.table(
    {
        "age": [20, 21, 34, 35, 50, 51],
        "town": ["a", "b", "a", "b", "a", "b"],
        "wage": [1, 2, 3, 1, 2, 3],
        "note": ["x"] * 6,
    }
)
LINKAGE = {"distance_record_linkage": {"at_most": 0.1, "attributes": ["age"]}}
K = {"k_anonymity": {"k": 2}}
CLASSES = "only for demands on equivalence classes"
PAIRS = "only for demands that compare the release with its original, unless a strength is given"
RATIOS = "only for multiplicative closeness, or an implied epsilon, of one sensitive attribute"
NUMBERS = "only where all quasi-identifiers are numeric or ordinal"
YOURS = "needs an epsilon and a mechanism that only you can choose"
RESPONSES = {"attribute": "wage", "mechanism": "randomised_response", "epsilon": 1}
EXTREMES = "only for a cap of ages, and for classes with rare extremes, unless its thresholds are given"
ONE_BY_ONE = "changes values one by one, and makes no records alike"


@pytest.fixture(scope="module")
def release() -> Iterator[Release]:
    policy = load_policy(paired_policy(ATTRIBUTES, K, {"t_closeness": {"t": 0.1}}, LINKAGE), PLUGINS)
    with open_engine(TABLE, 2**28) as engine:
        yield Release(engine, policy)


def reason(release: Release, remedy: str, given: Mapping[str, Any] | None, check: str, **of: Any) -> str:
    """Why a remedy cannot help one failing demand of a policy with three of them."""
    failing = Outcome(check=check, status=Status.FAILED, **of)
    specification = PLUGINS.remedies[remedy]
    parameters = None if given is None else specification.parameters.model_validate(given)
    view = RemedyView(release, (failing,), 0, lambda _: ())
    return applicability(specification, view, parameters, [failing]).reasons


@pytest.mark.parametrize(
    ("remedy", "parameters", "on_classes", "beside_original"),
    [
        ("bucketization", None, RATIOS, CLASSES),
        ("bucketization", {"attribute": "wage", "t": 2, "k": 3}, "", CLASSES),
        ("correlated_noise", None, PAIRS, ""),
        ("correlated_noise", {"percent": 5}, ONE_BY_ONE, ""),
        ("data_shuffling", None, PAIRS, ""),
        ("data_shuffling", {"proximity": 0, "attributes": ["wage"]}, "changes only 'wage'", "changes only 'wage'"),
        ("generalization", None, "no quasi-identifier has a hierarchy", CLASSES),
        ("generalization", {}, "", CLASSES),
        ("microaggregation", None, NUMBERS, NUMBERS),
        ("microaggregation", {"blocks": [["age"], ["town"]]}, "clusters of blocks of attributes are no classes", ""),
        ("mondrian", None, "", CLASSES),
        ("mondrian", {}, "", CLASSES),
        ("noise", None, YOURS, YOURS),
        ("noise", RESPONSES, "changes only 'wage'", "changes only 'wage'"),
        ("pram", None, PAIRS, "changes only 'town'"),
        ("pram", {"retention": 0.9}, ONE_BY_ONE, "changes only 'town'"),
        ("rank_swapping", None, PAIRS, ""),
        ("rank_swapping", {"percent": 5, "attributes": ["wage"]}, "changes only 'wage'", "changes only 'wage'"),
        ("rebucketize", None, "no attribute that fails is in buckets", CLASSES),
        ("rebucketize", {"attribute": "wage"}, "joins values of 'wage' only", CLASSES),
        ("redistribution", None, "no better than mondrian except for closeness", CLASSES),
        ("rounding", None, PAIRS, ""),
        ("rounding", {"base": 5}, "", ""),
        ("global_recoding", None, "needs breaks that only you can choose", "needs breaks that only you can choose"),
        ("global_recoding", {"breaks": {"wage": [2]}}, "changes only 'wage'", "changes only 'wage'"),
        ("top_bottom_coding", None, "", EXTREMES),
        ("top_bottom_coding", {"attribute": "age", "top": 50}, "", ""),
        ("top_bottom_coding", {"attribute": "wage", "top": 3}, "changes only 'wage'", "changes only 'wage'"),
        ("suppression", None, "", CLASSES),
        ("suppression", {"of": "cells"}, "", CLASSES),
    ],
)  # fmt: skip
def test_a_remedy_says_what_it_cannot_help(
    release: Release, remedy: str, parameters: Mapping[str, Any] | None, on_classes: str, beside_original: str
) -> None:
    assert reason(release, remedy, parameters, "k_anonymity") == on_classes
    assert (
        reason(release, remedy, parameters, "distance_record_linkage", parameters={"attributes": ["age"]})
        == beside_original
    )


def test_closeness_is_for_those_that_mend_distributions(release: Release) -> None:
    close = {"attribute": "wage", "comparison": Comparison.AT_MOST}
    for remedy in ("redistribution", "mondrian", "suppression"):
        assert reason(release, remedy, None, "t_closeness", **close) == ""
    assert reason(release, "pram", {"retention": 0.9}, "t_closeness", **close) == ONE_BY_ONE
    assert reason(release, "rank_swapping", {"percent": 5, "attributes": ["wage"]}, "t_closeness", **close) == ""
    assert reason(release, "rebucketize", {"attribute": "wage"}, "t_closeness", **close) == ""


def run(document: dict[str, Any], **more: Any) -> Remediation:
    return fix(TABLE, document, TABLE, plugins=PLUGINS, **more)


def test_a_named_remedy_says_before_it_starts_what_it_does_not_act_on() -> None:
    said: list[str] = []
    document = {**paired_policy(ATTRIBUTES, LINKAGE), "remedy": [{"suppression": {"of": "cells"}}]}
    document["conventions"] = {"suppressed_tokens": ["*"]}
    done = run(document, progress=lambda step, *_: said.append(step))
    sentence = f"does not act on distance_record_linkage ({CLASSES})"
    assert not done.passed
    assert [one.unhelped for one in (*done.log.steps, *done.log.tried)] == [sentence]
    assert any(one.endswith(sentence) for one in said)
    assert done.log.as_json()["tried"][0]["unhelped"] == sentence
    assert done.log.left_out == {}


def test_a_plan_says_of_each_remedy_that_it_did_not_try_why_not() -> None:
    done = run(paired_policy(ATTRIBUTES, K))
    assert done.passed
    ran = {one.title for one in (*done.log.steps, *done.log.tried)}
    every = {one.title for one in PLUGINS.remedies.values()}
    assert set(done.log.left_out) == every - ran
    assert all(done.log.left_out.values())
    assert done.log.left_out[PLUGINS.remedies["rank_swapping"].title] == PAIRS
    assert PLUGINS.remedies["pram"].title in done.log.left_out_by_reason[PAIRS]
    assert done.log.as_json()["left_out"] == done.log.left_out
    assert not any(one.unhelped for one in done.log.steps)
