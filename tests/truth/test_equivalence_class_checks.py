"""k, class sizes, diversity and closeness on real data, against figures that other tools and an exact reference gave.

The truth's ordered distance takes a categorical attribute in the sorted order of its text, and its hierarchical one is
a linear program over the hierarchy of the attribute.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcdp_audit import Outcome, audit
from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.classes.histogram import Histogram, add_up
from tcdp_audit_plugins.checks._shared.distances.multiplicative import larger, largest_loss
from tcdp_audit_plugins.checks._shared.frequency_ratios import greatest_ratio

CHOICES = ("adult_A1", "adult_A2", "adult_A3", "adult_A4", "free1")
FIGURES = {
    "distinct_l": ("distinct_l_diversity", None, CHOICES),
    "entropy_l": ("entropy_l_diversity", None, CHOICES),
    "t_equal": ("t_closeness", "equal", CHOICES),
    "t_ordered_rank": ("t_closeness", "ordered", CHOICES),
    "t_numeric_value_scaled_by_range": ("t_closeness", "numeric", ("adult_A2", "adult_A3", "free1")),
    "t_hierarchical": ("t_closeness", "hierarchical", ("adult_A1", "adult_A2", "adult_A3")),
    "multiplicative_t_strict": ("t_closeness", "multiplicative", CHOICES),
}


@dataclass(frozen=True)
class Choice:
    """A file, a choice of roles, and the figures that are true of it."""

    folder: Path
    truth: dict[str, Any]

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The file's columns as text."""
        with (self.folder / self.truth["file"]).open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file)
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """One audit of everything."""
        declared = {one["name"]: self._declaration(one) for one in self.truth["roles"]["sa"]}
        roles = {name: {"role": "insensitive"} for name in self.columns}
        roles |= {name: {"role": "quasi_identifier", "scale": "nominal"} for name in self.truth["qi"]}
        policy = {"version": 1, "attributes": {**roles, **declared}, "expect": list(self._expectations(declared))}
        return list(audit(self.folder / self.truth["file"], policy, show_values=True).expectations)

    def _declaration(self, attribute: dict[str, Any]) -> dict[str, Any]:
        scale: dict[str, Any] = {"scale": "numeric"}
        if attribute["type"] != "num":
            scale = {"scale": "ordinal", "order": sorted(set(self.columns[attribute["name"]]))}
        if "hier" in attribute:
            scale["hierarchy"] = str(self.folder / attribute["hier"])
        return {"role": "sensitive", **scale}

    def _expectations(self, declared: dict[str, Any]) -> Any:
        yield {"k_anonymity": {}}
        for key, (check, distance, _) in FIGURES.items():
            for name in declared:
                if key in self.truth["sa"][name]:
                    yield {check: {"attribute": name, **({} if distance is None else {"distance": distance})}}

    def outcome(self, check: str, attribute: str, distance: str | None) -> Outcome:
        """The outcome of one expectation."""
        wanted = (check, attribute, distance)
        return next(
            one for one in self.outcomes if (one.check, one.attribute, one.parameters.get("distance")) == wanted
        )

    def counted(self, attribute: str) -> tuple[Histogram, ReferenceDistribution]:
        """The attribute in each class and in the file, counted here and not by an engine."""
        keys = list(zip(*(self.columns[name] for name in self.truth["qi"]), strict=True))
        rank = {key: position for position, key in enumerate(dict.fromkeys(keys))}
        _, codes = np.unique(np.array(self.columns[attribute]), return_inverse=True)
        classes = np.array([rank[key] for key in keys])
        weights = np.bincount(codes)
        ones = np.ones(len(codes), dtype=np.int64)
        return add_up(classes, codes.astype(np.int64), ones, len(rank), len(weights)), ReferenceDistribution(weights)


@pytest.fixture(scope="module")
def choice(data: Path) -> Callable[[str], Choice]:
    truth = json.loads((data / "truth/equivalence_class_checks.json").read_text(encoding="utf-8"))
    known = {name: Choice(data, truth[name]) for name in CHOICES}
    return known.__getitem__


def _true(value: Any) -> float:
    return inf if value == "Infinity" else float(value)


@pytest.mark.parametrize("name", CHOICES)
def test_k_and_the_sizes_of_classes(name: str, choice: Callable[[str], Choice]):
    one = choice(name)
    k, truth = one.outcomes[0], one.truth

    assert k.observed == truth["k"]
    assert k.classes is not None
    assert k.classes.total == truth["n_classes"]
    assert k.records is not None
    assert k.records.total == truth["n"]
    assert [[size, classes] for size, classes, _ in k.details["distribution"]] == truth["size_histogram"]
    assert all(records == size * classes for size, classes, records in k.details["distribution"])


@pytest.mark.parametrize(("key", "name"), [(key, name) for key, (_, _, names) in FIGURES.items() for name in names])
def test_figures_of_sensitive_attributes(key: str, name: str, choice: Callable[[str], Choice]):
    check, distance, _ = FIGURES[key]
    one = choice(name)
    actual = {attribute: figures[key] for attribute, figures in one.truth["sa"].items() if key in figures}

    assert actual
    for attribute, true in actual.items():
        outcome = one.outcome(check, attribute, distance)
        assert outcome.observed == pytest.approx(_true(true), abs=1e-12, rel=1e-12), attribute


@pytest.mark.parametrize("name", CHOICES)
def test_ratios_over_the_values_that_a_class_has(name: str, choice: Callable[[str], Choice]):
    """The multiplicative distance without absent values, and its half that sees only values that became likelier."""
    one = choice(name)
    for attribute, truth in one.truth["sa"].items():
        gain, loss = greatest_ratio(*one.counted(attribute)), largest_loss(*one.counted(attribute))

        assert gain.values.max() == pytest.approx(truth["multiplicative_t_max_ratio_q_over_p"], rel=1e-12), attribute
        assert larger(gain, loss).values.max() == pytest.approx(truth["multiplicative_t_q_pos"], rel=1e-12), attribute


@pytest.mark.parametrize(("key", "distance"), [("t_equal_argmax_qi", "equal"), ("t_ordered_argmax_qi", "ordered")])
def test_the_worst_class_is_the_right_one(key: str, distance: str, choice: Callable[[str], Choice]):
    """In the choice without ties; the cells are shown because this audit asked for them."""
    one = choice("adult_A3")
    for attribute, truth in one.truth["sa"].items():
        assert one.outcome("t_closeness", attribute, distance).worst[0].cells == truth[key], attribute
