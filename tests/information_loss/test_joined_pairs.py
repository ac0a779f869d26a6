"""The loss of histories, compared with plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.information_loss.columns import LostLinks, lost_links
from tcdp_audit.core.release.release import Release

POLICY = {
    "version": 1,
    "unit": "person",
    "attributes": {"age": {"role": "quasi_identifier"}, "person": {"role": "insensitive"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def lost(before: list[int | None], after: list[int | None], places: list[int], **changes: object) -> LostLinks | None:
    policy = load_policy({**POLICY, **changes})
    tables = [pa.table({"person": pa.array(some, pa.int64()), "age": ["x"] * len(some)}) for some in (before, after)]
    with open_engine(tables[0], 2**26) as old, open_engine(tables[1], 2**26) as new:
        return lost_links(Release(old, policy), Release(new, policy), np.array(places, dtype=np.intp))


@pytest.mark.parametrize("seed", range(20))
def test_pairs_and_shares_equal_plain_python(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a generated table
    before = [draw.choice([None, 1, 2, 3, 4, 5]) for _ in range(12)]
    before[:2] = [1, 1]
    places = sorted(draw.sample(range(12), draw.randint(1, 12)))
    after: list[int | None] = [draw.choice([7, 8, 9]) for _ in places]
    rows = defaultdict(set)
    for place, unit in enumerate(before):
        rows[unit].add(place)
    joined = {
        (places[one], places[two])
        for one, two in combinations(range(len(places)), 2)
        if after[one] == after[two] and before[places[one]] == before[places[two]]
    }
    total = 0.0
    for place, unit in enumerate(before):
        others = rows[unit] - {place}
        still = sum((min(place, other), max(place, other)) in joined for other in others)
        total += 1 if place not in places else 0 if not others else 1 - still / len(others)
    outcome = lost(before, after, places)
    assert outcome is not None
    assert outcome.before == sum(len(own) * (len(own) - 1) // 2 for own in rows.values())
    assert outcome.after == len(joined)
    assert outcome.loss == pytest.approx(total / 12)


def test_nothing_is_joined() -> None:
    assert lost([1, 2, 3], [1, 2, 3], [0, 1, 2]) is None
    assert lost([1, 1, 2], [1, 1, 2], [0, 1, 2], unit_released=False) is None
    assert lost([1, 1, 2], [1, 1, 2], [0, 1, 2]) == LostLinks("person", 1, 1, 0.0)


def test_a_household_joins_its_peoples_rows() -> None:
    roles = {"age": "quasi_identifier", "person": "insensitive", "home": "insensitive"}
    attributes = {name: {"role": role} for name, role in roles.items()}
    policy = load_policy({**POLICY, "household": "home", "attributes": attributes})
    table = pa.table({"person": [1, 2, 3], "home": ["a", "a", "b"], "age": ["x", "y", "z"]})
    apart = table.set_column(1, "home", pa.array(["c", "d", "e"]))
    with open_engine(table, 2**26) as old, open_engine(apart, 2**26) as new:
        links = lost_links(Release(old, policy), Release(new, policy), np.arange(3))
    assert links is not None
    assert (links.unit, links.before, links.after) == ("home", 1, 0)
    assert links.loss == pytest.approx(2 / 3)
