"""The numbers that stand for the values of an attribute, generalised and suppressed ones among them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.information_loss.loss import information_loss
from tcdp_audit.core.information_loss.ordered import Ordered, RangePenalty
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.view import Attribute, RemedyView
from tcdp_audit_plugins.remedies.bucketization.choice import place
from tcdp_audit_plugins.remedies.microaggregation.points import numbers_of

POLICY = {
    "version": 1,
    "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}
DECADES = ["[20, 30)", "[30, 40)", "[40, 60)", ">=65", "*"]


def read(ages: Sequence[str]) -> Attribute:
    """The attribute of a release with some ages."""
    with open_engine(pa.table({"age": ages}), 2**28) as engine:
        return RemedyView(Release(engine, load_policy(POLICY)), (), 0, lambda _: ()).attribute("age")


def measured(ages: Sequence[str]) -> list[float]:
    """The numbers by which information loss measures the same ages, in the order of their domain."""
    with open_engine(pa.table({"age": ages}), 2**28) as engine:
        release = Release(engine, load_policy(POLICY))
        column = information_loss(release, release, np.arange(len(ages))).columns[0]
        return (
            Ordered(column, RangePenalty.of_attribute(column.declaration, column.before))
            .numbers(column.before)
            .tolist()
        )


def by_label(attribute: Attribute) -> dict[str, float]:
    return dict(zip(attribute.domain.labels, attribute.numbers.tolist(), strict=True))


def test_a_suppressed_value_has_no_middle():
    attribute = read(["*", "[10, 20]", "40"])
    bounds = dict(zip(attribute.domain.labels, zip(*map(list, attribute.bounds), strict=True), strict=True))

    assert by_label(attribute) == pytest.approx({"*": np.nan, "[10, 20]": 15.0, "40": 40.0}, nan_ok=True)
    assert bounds == {"*": (-inf, inf), "[10, 20]": (10.0, 20.0), "40": (40.0, 40.0)}
    assert attribute.span == 30.0


@pytest.mark.parametrize(
    ("ages", "numbers"),
    [
        (DECADES, [25, 35, 50, 65, np.nan]),
        (["<20", *DECADES], [20, 25, 35, 50, 65, np.nan]),
        (["90", *DECADES], [25, 35, 50, 77.5, 90, np.nan]),
        (["<20", "12", "*"], [16, 12, np.nan]),
    ],
)
def test_remedies_and_information_loss_have_one_middle_of_a_range(ages: list[str], numbers: list[float]):
    attribute = read(ages)

    assert attribute.numbers.tolist() == pytest.approx(numbers, nan_ok=True)
    assert numbers_of(attribute).tolist() == pytest.approx([*numbers, np.nan], nan_ok=True)
    assert measured(ages) == pytest.approx([*numbers, np.nan], nan_ok=True)


def test_a_record_is_placed_by_the_middle_of_its_range():
    attribute = read(DECADES)
    places = dict(zip(attribute.domain.labels, place(attribute)[np.argsort(attribute.codes)].tolist(), strict=True))

    assert places == pytest.approx({"[20, 30)": 0, "[30, 40)": 0.25, "[40, 60)": 0.625, ">=65": 1, "*": 2})
