"""A release and its original that outgrow a little memory, and checks whose figures are then those of a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import Outcome, audit

RECORDS = 2_000
LITTLE = 2**18
NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}
POLICY = {
    "version": 1,
    "key": "person",
    "seed": 11,
    "attributes": {
        "age": NUMERIC,
        "zip": {"role": "quasi_identifier", "scale": "nominal"},
        "person": {"role": "identifier"},
    },
    "expect": [
        {"sd_interval_disclosure": {"p": 30, "at_most": 0.99}},
        {"rank_interval_disclosure": {"p": 4, "at_most": 0.001}},
        {"distance_record_linkage": {}},
        {"exact_match_rate": {}},
    ],
}


def tables(*, numbered: bool) -> tuple[pa.Table, pa.Table]:
    """A release in another order than its original, with keys that are numbers or texts in several scripts."""
    draw = np.random.default_rng(5)
    numbers = draw.permutation(RECORDS)
    keys = pa.array(numbers * 10**9 - 40) if numbered else pa.array([f"Nº {one} 女" for one in numbers])
    age, zips = draw.integers(0, 99, RECORDS), [f"0{one}" for one in draw.integers(0, 30, RECORDS)]
    original = pa.table({"person": keys, "age": age, "zip": zips})
    release = original.set_column(1, "age", pa.array(age + draw.integers(-9, 10, RECORDS)))
    return release.take(draw.permutation(RECORDS)), original


TRANSLATED = {
    "columns": {"person": "nr", "age": "years", "zip": "plz"},
    "codes": {"zip": {"01": "Ava", "02": [7, "x"]}},
}


def translated(original: pa.Table, *, coded: bool) -> pa.Table:
    """An original as `TRANSLATED` says: columns nr, years and plz, the codes only if they are wanted."""
    codes = {"01": "Ava", "02": "7"} if coded else {}
    zips = [codes.get(one, one) for one in original["zip"].to_pylist()]
    return original.set_column(2, "zip", pa.array(zips)).rename_columns(["nr", "years", "plz"])


def judged(release: Any, original: Any, schema: Any = None) -> list[dict[str, Any]]:
    """What an audit with a little memory says of each expectation; `schema` is that of the original."""
    policy = POLICY if schema is None else {**POLICY, "original": schema}
    outcomes: tuple[Outcome, ...] = audit(release, policy, original, memory=LITTLE).expectations
    assert [one.status.value for one in outcomes] == ["passed", "failed", "measured", "measured"]
    assert all(one.details["estimate"]["pairs"] < RECORDS / 2 for one in outcomes[:3])
    return [one.as_json() for one in outcomes]
