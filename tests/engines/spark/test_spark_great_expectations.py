"""Great Expectations on Spark: each expectation says what `audit` says, from one audit for all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.core.quality import installed

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
sys.path += [str(INTEGRATIONS), str(INTEGRATIONS / "gx")]

from same_everywhere import frame, native, policy  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:::{module}")
    for module in ("great_expectations", "pydantic", "altair", "pyspark")
]


@pytest.fixture
def hosts(skip_or_fail: Callable[[str], None]) -> Any:
    """The runs of Great Expectations' tests."""
    if not installed("great_expectations"):
        skip_or_fail("Great Expectations is not installed")
    import gx_hosts

    return gx_hosts


def _figures(hosts: Any, result: Any) -> list[tuple[Any, ...]]:
    ours = [one for one in result.results if one.expectation_config.type != hosts.COLUMNS]
    return sorted(map(hosts.judged, ours), key=repr)


def test_on_spark(spark: Any, hosts: Any):
    release = spark.createDataFrame(frame())

    result = hosts.run(hosts.spark_batches(release), hosts.ours.suite_of(policy()))

    assert _figures(hosts, result) == sorted(map(hosts.from_native, native()), key=repr)


def test_part_of_a_frame_on_spark(spark: Any, hosts: Any):
    import tcdp_audit

    whole, expect = frame(), [{"k_anonymity": {"k": 4}}, {"distinct_l_diversity": {"l": 3, "attribute": "diagnosis"}}]
    woman = min(whole["sex"].unique())
    suite = hosts.with_condition(hosts.ours.suite_of(policy(expect)), hosts.column("sex") == woman)

    result = hosts.run_unguarded(hosts.spark_batches(spark.createDataFrame(whole)), suite)

    part = tcdp_audit.audit(whole[whole["sex"] == woman], policy(expect)).expectations
    assert _figures(hosts, result) == sorted(map(hosts.from_native, part), key=repr)


def test_an_empty_frame_fails_on_spark(spark: Any, hosts: Any):
    empty = spark.createDataFrame(frame()).limit(0)
    asked = [hosts.ours.ExpectTableToBeKAnonymous(quasi_identifiers=["age"], k=2)]

    (one,) = hosts.run(hosts.spark_batches(empty), asked).results

    assert not one.success
    assert "the table has no records" in one.exception_info["exception_message"]
