"""The numbers that stand for the values of an attribute, generalised and suppressed ones among them."""

from __future__ import annotations

from math import inf

import pyarrow as pa

from tcdp_audit.engines import open_engine
from tcdp_audit.policy import load_policy
from tcdp_audit.release import Release
from tcdp_audit.remedy_view import RemedyView

POLICY = {
    "version": 1,
    "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def test_a_suppressed_value_has_no_middle_and_stands_for_the_mean_of_the_others():
    table = pa.table({"age": ["*", "[10, 20]", "40"]})
    with open_engine(table, 2**28) as engine:
        attribute = RemedyView(Release(engine, load_policy(POLICY)), (), 0, lambda _: ()).attribute("age")
        found = dict(zip(attribute.domain.labels, attribute.numbers.tolist(), strict=True))
        bounds = dict(zip(attribute.domain.labels, zip(*map(list, attribute.bounds), strict=True), strict=True))

    assert found == {"*": 27.5, "[10, 20]": 15.0, "40": 40.0}
    assert bounds == {"*": (-inf, inf), "[10, 20]": (10.0, 20.0), "40": (40.0, 40.0)}
    assert attribute.span == 30.0
