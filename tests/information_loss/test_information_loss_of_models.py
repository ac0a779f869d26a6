"""Accuracy of models: with a toy in place of the forest, and with the forest itself."""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pytest
from information_loss_reference import loss_of_lists

from tcdp_audit import UsageError, fix
from tcdp_audit.core.information_loss.prediction import Accuracy

TOWNS = ["a", "b"] * 45  # what somebody earns is told by the town, but for every tenth record
PAY = ["high" if town == "a" and number % 10 else "low" for number, town in enumerate(TOWNS)]
SENSITIVE = {"role": "sensitive"}


class Rote:
    """Says of features what most records with them had, by weight; of others what most had at all."""

    def __init__(self, trees: int, *, min_samples_leaf: int, random_state: int) -> None:
        self.settings = trees, min_samples_leaf, random_state

    def fit(self, features: Any, groups: Any, weights: Any = None) -> Self:
        self.seen: dict[Any, Counter[int]] = {None: Counter()}
        for row, group, weight in zip(
            map(tuple, features), groups, np.ones(len(groups)) if weights is None else weights, strict=True
        ):
            for one in (row, None):
                self.seen.setdefault(one, Counter())[int(group)] += weight
        return self

    def predict(self, features: Any) -> list[int]:
        return [self.seen.get(row, self.seen[None]).most_common(1)[0][0] for row in map(tuple, features)]


@pytest.fixture
def rote(monkeypatch: pytest.MonkeyPatch) -> None:
    library, ensemble = ModuleType("sklearn"), ModuleType("sklearn.ensemble")
    library.__spec__ = sys.__spec__
    ensemble.RandomForestClassifier = Rote  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sklearn", library)
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", ensemble)


def model(before: dict[str, list[Any]], after: dict[str, list[Any]], seed: int = 0, **more: Any) -> Accuracy:
    """The one model, of pay by the other columns."""
    by = [name for name in before if name != "pay"]
    policy = {"seed": seed, "utility": {"models": [{"of": "pay", "by": by}]}}
    (one,) = loss_of_lists(before, after, policy=policy, **{"pay": SENSITIVE, **more}).models
    return one


@pytest.mark.usefixtures("rote")
def test_nothing_changed_is_nothing_lost():
    columns = {"town": TOWNS, "pay": PAY}
    fitted_model = model(columns, columns)

    assert (fitted_model.retained, fitted_model.reason, fitted_model.trained, fitted_model.tested) == (
        1,
        "",
        (60, 60),
        30,
    )
    tested = np.random.default_rng(0).permutation(90)[:30]
    right = [(PAY[one] == "high") == (TOWNS[one] == "a") for one in tested]
    assert fitted_model.before == pytest.approx(sum(right) / 30)
    assert fitted_model.guess == pytest.approx(sum(PAY[one] == "low" for one in tested) / 30)
    assert fitted_model.as_json()["accuracy"] == {"before": fitted_model.before, "after": fitted_model.before}


@pytest.mark.usefixtures("rote")
def test_what_the_release_does_not_tell_cannot_be_learned():
    fitted_model = model({"town": TOWNS, "pay": PAY}, {"town": ["*"] * 90, "pay": PAY})
    assert fitted_model.after == fitted_model.guess
    assert fitted_model.before is not None
    assert fitted_model.before > fitted_model.after

    wrong = ["high" if one == "low" else "low" for one in PAY]
    mirrored = model({"town": TOWNS, "pay": PAY}, {"town": TOWNS, "pay": wrong})
    assert mirrored.after == pytest.approx(1 - fitted_model.before)

    none = model({"town": TOWNS, "pay": PAY}, {"town": TOWNS, "pay": ["*"] * 90})
    assert (none.after, none.retained, none.trained) == (0, 0, (60, 0))
    gone = model({"town": TOWNS, "pay": PAY}, {"town": [], "pay": []}, records_retained=[])
    assert (gone.after, gone.trained) == (0, (60, 0))


@pytest.mark.usefixtures("rote")
def test_a_generalised_outcome_counts_by_its_share():
    """Of a town with one outcome that is known and one that may be both, the known one is more likely."""
    ages = [20, 60] * 45
    pay = ["low", "high"] * 45
    after = ["{high, low}" if number % 6 < 4 else one for number, one in enumerate(pay)]
    fitted_model = model({"age": ages, "pay": pay}, {"age": ages, "pay": after}, age={"scale": "numeric"})
    assert (fitted_model.before, fitted_model.after, fitted_model.trained) == (1, 1, (60, 60))


@pytest.mark.usefixtures("rote")
def test_numbers_are_distinguished_in_ten_ranges():
    numbers = [number % 60 for number in range(120)]
    columns = {"age": numbers, "pay": numbers}
    declared = {"age": {"scale": "numeric"}, "pay": SENSITIVE | {"scale": "numeric"}}
    fitted_model = model(columns, columns, **declared)
    assert fitted_model.guess is not None
    assert fitted_model.before is not None
    assert fitted_model.guess < 0.3
    assert fitted_model.before > 0.6


@pytest.mark.usefixtures("rote")
def test_the_seed_draws_the_tested_records():
    columns = {"town": TOWNS, "pay": PAY}
    assert len({model(columns, columns, seed).before for seed in range(6)}) > 1
    assert model(columns, columns, 5) == model(columns, columns, 5)


@pytest.mark.usefixtures("rote")
def test_where_nothing_can_be_trained_a_sentence_says_so():
    few = {"town": TOWNS[:29], "pay": PAY[:29]}
    assert model(few, few).reason == "fewer than 30 records have a value of 'pay'"
    columns = {"pay": PAY}
    policy = {"utility": {"models": [{"of": "pay", "by": ["town"]}]}}
    (absent,) = loss_of_lists(columns, columns, policy=policy, pay=SENSITIVE, town={}).models
    assert absent.reason == "column 'town' is not in the release"
    reported = loss_of_lists(columns, columns, policy=policy, pay=SENSITIVE, town={}).as_json()["models"]
    assert (reported["value"], reported["least"], reported["models"][0]["accuracy"]) == (
        None,
        None,
        {"before": None, "after": None},
    )


def test_without_scikit_learn_its_extra_is_named_before_the_work(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    policy = {
        "version": 1,
        "attributes": {"town": {"role": "quasi_identifier"}, "pay": SENSITIVE},
        "expect": [{"k_anonymity": {"k": 2}}],
        "utility": {"models": [{"of": "town", "by": ["pay"]}]},
    }
    with pytest.raises(UsageError) as caught:
        fix(pa.table({"town": TOWNS, "pay": PAY}), policy)
    assert str(caught.value) == 'utility.models: needs scikit-learn; pip install "tcdp-audit[models]"'


@pytest.mark.long
def test_forests_learn_what_there_is_to_learn():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(7)
    ages = rng.integers(20, 80, 1500)
    pay = np.where(ages + rng.normal(0, 5, 1500) > 50, "high", "low").tolist()
    before = {"age": ages.tolist(), "pay": pay}
    declared = {"age": {"scale": "numeric"}}
    same = model(before, before, **declared)
    shuffled = model(before, {"age": rng.permutation(ages).tolist(), "pay": pay}, **declared)
    halves = model(before, {"age": ["[20, 50]" if age <= 50 else "[51, 79]" for age in ages], "pay": pay}, **declared)

    assert same.retained == 1
    assert 0.88 < same.before < 0.97
    assert shuffled.after < 0.65
    assert halves.after == pytest.approx(same.before, abs=0.03)
    assert same == model(before, before, **declared)
