"""Accuracy of a model that is trained on released records and tested on records as they were before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.keys import Floats
from tcdp_audit.core.information_loss.columns import PairedColumn, records_with
from tcdp_audit.core.information_loss.coverage import Coverage, project_to_groups
from tcdp_audit.core.information_loss.ordered import Ordered
from tcdp_audit.core.policy.model import PredictiveModel

LEAST_RECORDS_OF_A_VALUE = 10  # records before that a value needs to be distinguished: no figure is about fewer


@dataclass(frozen=True)
class Side:
    """The features of one column in one release."""

    # the features of each code, the missing one last; NaN where a cell is uninformative, shape (codes, features)
    table: Floats
    codes: NDArray[Any]  # the code of each record

    def of(self, records: slice | NDArray[np.intp]) -> Floats:
        """The features of some records. Shape (records, features)."""
        return self.table[self.codes[records]]


@dataclass(frozen=True)
class Features:
    """The features of one column."""

    name: str  # the column's
    # of each feature, the place of its value among the values before, the most frequent being 1; None for a number. The
    # value of place 1 has no feature: the others are compared with it
    levels: tuple[int | None, ...]
    spread: float  # what a unit of each feature is in the column's own unit
    before: Side  # in the first release
    after: Side  # in the second one


def features_of(coverage: Coverage[Any]) -> Features:
    """A number, or how much of a cell is each frequent value.

    Numbers and ranks are standardised by what they were before, a range at its middle. Of a nominal column the 20 most
    frequent values but the first have a feature, and all others together; values that fewer than ten records have are
    among the others. A generalised cell is a share of each value that it covers.
    """
    column = coverage.column
    if isinstance(coverage, Ordered):
        before, after = (coverage.standard_scores(domain)[:, None] for domain in (column.before, column.after))
        levels: tuple[int | None, ...] = (None,)
        spread = coverage.moments[1] or 1.0
    else:
        before, after = _shares(coverage)
        levels, spread = tuple(range(2, 2 + before.shape[1])), 1.0
    return Features(column.name, levels, spread, Side(before, column.before_codes), Side(after, column.after_codes))


def _shares(coverage: Coverage[Any]) -> tuple[Floats, Floats]:
    """The share of each value but the most frequent one, before and after."""
    groups = _frequent(coverage)
    number = int(groups.max(initial=-1)) + 1
    before = (np.append(groups, -1)[:, None] == np.arange(number)).astype(np.float64)
    after = project_to_groups(coverage, groups, number)
    return _known(before), _known(after)


def _known(shares: Floats) -> Floats:
    """The shares without those of the most frequent value; NaN where a cell has none."""
    return np.where(shares.any(axis=1, keepdims=True), shares, np.nan)[:, 1:]


def _frequent(coverage: Coverage[Any]) -> NDArray[np.intp]:
    """The groups of a nominal column, those of fewer than ten records put together, or to the least of the others."""
    groups, domain = coverage.groups(), coverage.column.before
    records = np.bincount(groups[groups >= 0], records_with(domain)[:-1][groups >= 0])
    own = records >= LEAST_RECORDS_OF_A_VALUE
    place = np.where(own, np.cumsum(own) - 1, own.sum())
    if 0 < records[~own].sum() < LEAST_RECORDS_OF_A_VALUE and own.any():
        place[~own] -= 1
    return np.append(place, -1)[groups]


MOST_RECORDS = 2**16  # before, evenly spaced; a third of them to test with
LEAST = 30  # records before with an outcome: ten to test with
TREES, LEAF = 50, 5  # of the forest, and the least records of a leaf
FARTHEST = 1000.0  # standard deviations; a number beyond counts as this


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a model."""

    of: str  # what it predicts
    by: tuple[str, ...]  # the attributes that it predicts it by
    before: float | None = None  # share of tested records that it predicts right where it was trained on records before
    # the same where it was trained on the counterparts of these records; 0 where none of them has an outcome
    after: float | None = None
    # the share that has the most frequent value of the records that it was trained on before
    guess: float | None = None
    trained: tuple[int, int] = (0, 0)  # records that it was trained on, before and after
    tested: int = 0  # records before that it was tested on, none of which it was trained on
    reason: str = ""  # why there are no figures, or nothing

    @property
    def retained(self) -> float | None:
        """`after` by `before`; None without the latter."""
        return None if self.before is None or self.after is None or not self.before else self.after / self.before

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "of": self.of,
            "by": list(self.by),
            "accuracy": {"before": self.before, "after": self.after},
            "guess": self.guess,
            "retained": self.retained,
            "trained": {"before": self.trained[0], "after": self.trained[1]},
            "tested": self.tested,
            "reason": self.reason,
        }


def accuracy_as_json(models: Sequence[Accuracy]) -> dict[str, Any]:
    """All models: mean and least share of the accuracy that is kept, and each model."""
    retained = [one.retained for one in models if one.retained is not None]
    return {
        "value": sum(retained) / len(retained) if retained else None,
        "least": min(retained, default=None),
        "models": [one.as_json() for one in models],
    }


def require_scikit_learn() -> None:
    """Raise a UsageError where scikit-learn, which models need, is not installed."""
    if find_spec("sklearn") is None:
        raise UsageError('utility.models: needs scikit-learn; pip install "tcdp-audit[models]"')


def accuracy(asked: PredictiveModel, columns: Mapping[str, Coverage[Any]], seed: int) -> Accuracy:
    """Accuracy of a random forest by what it was trained on.

    Of at most 65,536 records before a third, drawn by the seed, is for testing. One forest is trained on the others,
    another one on their counterparts after; both predict the outcomes before of the tested ones from their values
    before. Of an outcome with more than 20 values the 20 most frequent are distinguished, of numbers and ranks ten
    ranges. A released outcome that is generalised counts for each that it covers by its share.

    Args:
        asked: outcome and attributes.
        columns: both releases, by name.
        seed: draws the records to test with, and the trees.

    Raises:
        UsageError: scikit-learn is not installed.

    Cost: O(trees x records log records x sqrt(features)).

    Source: Breiman, Random forests, Machine Learning 45, 2001.
    """
    require_scikit_learn()
    of, by = asked.of, tuple(asked.by)
    absent = [one for one in (of, *by) if one not in columns]
    if absent:
        return Accuracy(of, by, reason=f"column {absent[0]!r} is not in the release")
    outcome = _Outcome.of_column(columns[of])
    train, test = _split(outcome.before, seed)
    if len(train) + len(test) < LEAST:
        return Accuracy(of, by, reason=f"fewer than {LEAST} records have a value of {of!r}")
    stayed, labels, shares = outcome.released(train)
    design, truth = [features_of(columns[one]) for one in by], outcome.before[test]
    most = np.bincount(outcome.before[train]).argmax()
    questions = _table([one.before for one in design], test)
    learned = _predicted(_table([one.before for one in design], train), outcome.before[train], None, questions, seed)
    relearned = np.full(len(test), -1)  # right about no record
    if len(stayed):
        relearned = _predicted(_table([one.after for one in design], stayed), labels, shares, questions, seed)
    before, after, guess = (float((one == truth).mean()) for one in (learned, relearned, most))
    return Accuracy(of, by, before, after, guess, (len(train), len(np.unique(stayed))), len(test))


@dataclass(frozen=True)
class _Outcome:
    """The outcome of both releases in groups of its values."""

    column: PairedColumn  # its column
    before: NDArray[np.intp]  # the group of each record before; -1 without one
    shares: Floats  # of each group in each code after, shape (codes after, groups)

    @classmethod
    def of_column(cls, coverage: Coverage[Any]) -> _Outcome:
        """The outcomes of a column, in the groups that a count may be about."""
        groups = coverage.groups()
        shares = project_to_groups(coverage, groups, int(groups.max(initial=-1)) + 1)
        return cls(coverage.column, np.append(groups, -1)[coverage.column.before_codes], shares)

    def released(self, records: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The counterparts of some records before: position after, group and share, for each possible group."""
        chosen = np.zeros(len(self.before), dtype=bool)
        chosen[records] = True
        after = np.flatnonzero(chosen[self.column.position_before])
        shares = self.shares[self.column.after_codes[after]]
        rows, groups = np.nonzero(shares)
        return after[rows], groups, shares[rows, groups]


def _split(groups: NDArray[np.intp], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of records with an outcome to train on, and of those to test with."""
    known = np.flatnonzero(groups >= 0)
    if len(known) > MOST_RECORDS:
        known = known[np.arange(MOST_RECORDS) * len(known) // MOST_RECORDS]
    drawn = np.random.default_rng(seed).permutation(known)
    third = len(drawn) // 3
    return np.sort(drawn[third:]), np.sort(drawn[:third])


def _table(sides: Sequence[Side], records: NDArray[np.intp]) -> Floats:
    """The features of some records; an uninformative cell is at 0, and one more feature marks it."""
    parts = [one.of(records) for one in sides]
    missing = [np.isnan(one[:, :1]).astype(np.float64) for one in parts]
    return np.hstack([*(np.nan_to_num(np.clip(one, -FARTHEST, FARTHEST)) for one in parts), *missing])


def _predicted(
    features: Floats, groups: NDArray[np.intp], shares: Floats | None, questions: Floats, seed: int
) -> NDArray[np.intp]:
    """Predict some records by a forest that is trained on others."""
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - of an extra

    forest = RandomForestClassifier(TREES, min_samples_leaf=LEAF, random_state=seed % 2**32)
    forest.fit(features, groups, shares)
    return np.asarray(forest.predict(questions), dtype=np.intp)
