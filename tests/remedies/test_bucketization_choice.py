"""Which records a class takes: exactly as many of each bucket as it needs, and records that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.encoding.hierarchy import load_hierarchy
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions
from tcdp_audit.core.remedy.view import Attribute
from tcdp_audit_plugins.remedies.bucketization import choice
from tcdp_audit_plugins.remedies.bucketization.choice import Composition, choose, compose, place, with_exchanges
from tcdp_audit_plugins.remedies.bucketization.goal import ClassDesign


def _attribute(cells: list[Any], **declaration: Any) -> Attribute:
    declared = AttributeDeclaration.model_validate({"role": "quasi_identifier", **declaration})
    present = [cell for cell in cells if cell is not None]
    values, counts = np.unique(
        np.array(present, dtype=None if declared.scale == "numeric" else object), return_counts=True
    )
    domain, _ = domain_of("a", RawDomain(values, counts, cells.count(None)), declared, Conventions())
    code = dict(zip(values.tolist(), domain.code_of_raw.tolist(), strict=True))
    hierarchy = None if declared.hierarchy is None else load_hierarchy(declared.hierarchy, None)
    tree = None if hierarchy is None else hierarchy.over(domain.labels)
    return Attribute("a", declared, domain, np.array([code.get(cell, domain.size) for cell in cells]), hierarchy, tree)


@pytest.mark.parametrize(
    ("cells", "declaration", "places"),
    [
        ([20, 30, None, 60], {"scale": "numeric"}, [0, 0.25, 2, 1]),
        ([5, 5], {"scale": "numeric"}, [0, 0]),
        (["mid", "low", "high", "*"], {"scale": "ordinal", "order": ["low", "mid", "high"]}, [0.5, 0, 1, 2]),
        (["b", "a", "b", "*", "c"], {"scale": "nominal"}, [0, 2 / 3, 0, 2, 1]),
        (["d", "c", "b", "a"], {"scale": "nominal", "hierarchy": {"*": {"x": ["a", "d"], "y": ["b", "c"]}}}, []),
    ],
)
def test_near_values_stand_near_each_other(
    cells: list[Any], declaration: Mapping[str, Any], places: list[float]
) -> None:
    result = place(_attribute(cells, **declaration)).tolist()
    if places:
        assert result == pytest.approx(places)
    else:  # siblings are neighbours: d and a, c and b
        assert sorted(result) == pytest.approx([0, 1 / 3, 2 / 3, 1])
        assert abs(result[0] - result[3]) == pytest.approx(1 / 3)
        assert abs(result[1] - result[2]) == pytest.approx(1 / 3)


def _composed(masses: list[int], t: Fraction, k: int) -> tuple[NDArray[np.int64], Composition]:
    design = ClassDesign(np.array(masses), t)
    composition = compose(design, int(design.classes_per_bucket(k).max()))
    bucket = np.repeat(np.arange(len(masses)), masses)
    return np.random.default_rng(0).permutation(bucket), composition


def _held(classes: NDArray[np.int64], bucket: NDArray[np.int64], like: Composition) -> list[list[int]]:
    held = np.zeros_like(like.counts)
    np.add.at(held, (classes, bucket), 1)
    return held.tolist()


@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans())
def test_every_class_has_exactly_its_composition(seed: int, attributes: int, heavy: bool) -> None:
    random = np.random.default_rng(seed)
    bucket, composition = _composed([40, 55, 61], Fraction(2), 5)
    cells = random.integers(0, 3, (attributes, 156)) ** (9 if heavy else 1)
    quasi_identifiers = [_attribute(one.tolist(), scale="numeric") for one in cells]
    classes = choose(quasi_identifiers, bucket, composition, random)
    assert _held(classes, bucket, composition) == composition.counts.tolist()


def _spread(places: NDArray[np.float64], classes: NDArray[np.int64]) -> float:
    """Sum of squared distances of the records to the mean of their class."""
    sizes = np.bincount(classes)
    means = np.array([np.bincount(classes, weights=one) / sizes for one in places])
    return float(((places - means[:, classes]) ** 2).sum())


@given(st.integers(0, 2**32))
def test_an_exchange_never_spreads_a_class(seed: int) -> None:
    random = np.random.default_rng(seed)
    bucket, composition = _composed([40, 55, 61], Fraction(2), 5)
    places = random.random((3, 156))
    classes = np.empty(156, dtype=np.int64)
    for one in range(3):
        classes[bucket == one] = random.permutation(
            np.repeat(np.arange(len(composition.counts)), composition.counts[:, one])
        )
    after = with_exchanges(classes, places, bucket, composition, random)
    assert _held(after, bucket, composition) == composition.counts.tolist()
    assert _spread(places, after) <= _spread(places, classes) + 1e-9


def test_the_classes_of_four_towns_stay_in_their_town() -> None:
    """60 records of each bucket in every town, 12 classes of each emphasis a town: none has to reach over."""
    bucket, composition = _composed([240, 240, 240], Fraction(2), 5)
    town = np.empty(720, dtype=np.int64)
    for one in range(3):
        town[bucket == one] = np.arange(240) % 4
    classes = choose([_attribute(town.tolist(), scale="nominal")], bucket, composition, np.random.default_rng(0))
    assert np.unique(np.stack([classes, town]), axis=1).shape[1] == len(composition.counts)


def test_emphasis_goes_where_a_bucket_is_frequent() -> None:
    """Bucket i makes up two thirds of town i: classes of (4, 1, 1) find all they need in one town."""
    bucket, composition = _composed([120, 120, 120], Fraction(2), 6)
    town = np.array(
        [(one + (0, 0, 0, 0, 1, 2)[turn % 6]) % 3 for one, turn in zip(bucket, _turns(bucket), strict=True)]
    )
    classes = choose([_attribute(town.tolist(), scale="nominal")], bucket, composition, np.random.default_rng(0))
    assert composition.counts[0].tolist() == [4, 1, 1]
    assert np.unique(np.stack([classes, town]), axis=1).shape[1] == len(composition.counts)


def _turns(bucket: NDArray[np.int64]) -> NDArray[np.int64]:
    """The how-manieth record of its bucket each one is."""
    return np.array([int((bucket[:position] == one).sum()) for position, one in enumerate(bucket)])


def test_exchange_halves_the_spread_that_halving_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    bucket, composition = _composed([400, 400, 400], Fraction(2), 6)
    cells = (random.normal(size=(2, 1200)) + bucket).round(2)
    quasi_identifiers = [_attribute(one.tolist(), scale="numeric") for one in cells]
    places = np.array([place(one) for one in quasi_identifiers])
    after = _spread(places, choose(quasi_identifiers, bucket, composition, np.random.default_rng(0)))
    monkeypatch.setattr(choice, "with_exchanges", lambda chosen, *_: chosen)
    halved = _spread(places, choose(quasi_identifiers, bucket, composition, np.random.default_rng(0)))
    assigned = np.empty(1200, dtype=np.int64)
    for one in range(3):
        assigned[bucket == one] = np.repeat(np.arange(len(composition.counts)), composition.counts[:, one])
    assert after < halved < _spread(places, assigned) / 3
