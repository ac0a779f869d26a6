"""What a view tells a remedy: classes of records, the k that is demanded, and which failures are of classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Outcome, Severity, Status, load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.view import RemedyView

ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "place": {"role": "quasi_identifier"},
    "illness": {"role": "sensitive"},
}
TABLE = pa.table(
    {
        "age": ["30", "20", "30", "20", None, "*"],
        "place": ["b", "a", "b", "b", "a", "a"],
        "illness": ["flu", "flu", None, "*", "flu", None],
    }
)
K = [{"k_anonymity": {"k": 2}}]


@contextmanager
def view_of(*expect: dict[str, Any]) -> Iterator[RemedyView]:
    policy = load_policy({"version": 1, "attributes": ATTRIBUTES, "expect": list(expect) or K})
    with open_engine(TABLE, 2**28) as engine:
        yield RemedyView(Release(engine, policy), (), 0, lambda _: ())


def test_classes_are_numbered_in_the_order_of_their_values():
    with view_of() as view:
        numbers, count = view.classes()

    assert numbers.tolist() == [2, 0, 2, 1, 3, 3]  # a missing quasi-identifier is released as a suppressed one
    assert count == 4


@pytest.mark.parametrize(
    ("names", "numbers"),
    [(["place"], [1, 0, 1, 1, 0, 0]), ([], [0] * 6), (["illness"], [1, 1, 2, 0, 1, 2])],
)
def test_classes_of_some_attributes(names: Sequence[str], numbers: list[int]):
    with view_of() as view:
        assert view.classes(view.attributes(names))[0].tolist() == numbers


@pytest.mark.parametrize(
    ("expect", "demanded"),
    [
        (K, 2),
        ([{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 5}}], 5),
        ([{"distinct_l_diversity": {"l": 2}}], None),
        ([{"k_anonymity": {}}], None),
    ],
)
def test_the_largest_k_is_demanded(expect: list[dict[str, Any]], demanded: int | None):
    with view_of(*expect) as view:
        assert view.demanded_k == demanded


def test_failures_on_classes_are_failed_demands_of_the_policy():
    failed = Outcome(check="k_anonymity", status=Status.FAILED)
    others = [
        Outcome(check="k_anonymity", status=Status.ERROR),
        Outcome(check="k_anonymity", status=Status.PASSED),
        Outcome(check="distinct_l_diversity", status=Status.FAILED),  # the policy does not ask for it
        Outcome(check="columns", status=Status.FAILED),
    ]
    with view_of() as view:
        assert view.failing_on_classes([*others, failed]) == [failed]


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("severity", Severity)
def test_a_failure_that_counts_and_an_error_block_a_release(status: Status, severity: Severity):
    blocks = status is Status.ERROR or (status, severity) == (Status.FAILED, Severity.ERROR)

    assert Outcome(check="k_anonymity", status=status, severity=severity).blocks is blocks


def test_suppressed_and_missing_values_tell_nothing():
    with view_of() as view:
        nothing = view.attribute("illness").domain.is_uninformative

    assert nothing.tolist() == [True, False, True]
