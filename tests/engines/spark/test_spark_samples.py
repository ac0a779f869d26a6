"""Pairs that outgrow the memory, or the driver, are the same sample on a cluster as in memory."""

from __future__ import annotations

from typing import Any

import pytest
from sampled_tables import LITTLE, POLICY, RECORDS, TRANSLATED, judged, tables, translated

from tcdp_audit import Status, audit


@pytest.mark.parametrize("numbered", [False, True])
def test_the_same_pairs_are_drawn(spark: Any, numbered: bool) -> None:
    both = tables(numbered=numbered)

    assert judged(*map(spark.createDataFrame, both)) == judged(*both)


@pytest.mark.parametrize("coded", [False, True])
def test_an_original_with_names_and_codes_of_its_own(spark: Any, coded: bool) -> None:
    release, original = tables(numbered=False)
    theirs = spark.createDataFrame(translated(original, coded=coded))
    schema = TRANSLATED if coded else {"columns": TRANSLATED["columns"]}

    assert judged(release, theirs, schema) == judged(release, original)


def test_what_the_driver_does_not_take_is_estimated(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the memory; and more of it is not what would decide."""
    monkeypatch.setattr("tcdp_audit_plugins.engines.spark.engine.MOST_RECORDS", RECORDS - 1)
    release, original = tables(numbered=False)
    frames = [spark.createDataFrame(table) for table in (release, original)]
    demand = {"sd_interval_disclosure": {"p": 30, "at_most": 0.5}}
    checks = [demand, {"exact_match_rate": {}}, {"assignment_record_linkage": {}}]

    policy = {**POLICY, "expect": checks}
    estimated, counted, refused = audit(frames[0], policy, frames[1], memory=100 * LITTLE).expectations
    exact = audit(release, policy, original).expectations

    assert estimated.details["estimate"]["pairs"] == RECORDS
    assert estimated.observed == pytest.approx(exact[0].observed)
    assert counted.as_json() == exact[1].as_json()
    assert refused.status is Status.ERROR
    assert "are too many to be compared one by one outside the cluster" in refused.message


def test_a_key_that_is_missing_or_repeated_is_refused(spark: Any) -> None:
    release, original = tables(numbered=False)
    frame = spark.createDataFrame(release)

    outcome = audit(frame.union(frame.limit(3)), POLICY, original, memory=LITTLE).expectations[0]

    assert outcome.status is Status.ERROR
    assert "3 values appear in more than one record in the key 'person' of release" in outcome.message
