"""Small releases, trials made up for a purpose, and a crew that repairs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.core.results.setting_trial import Attempt, Setting, SettingTrial, VariedDemand
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.frontiers.trial import Task

POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "sex": {"role": "quasi_identifier"},
        "illness": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 4}}, {"t_closeness": {"t": 0.4, "distance": "equal"}}],
}
BUILT_IN = Plugins.load(external=False)
K = VariedDemand("k_anonymity", "k-anonymity", "k", Comparison.AT_LEAST, Fraction(5), tuple(map(Fraction, (3, 5, 10))))
T = VariedDemand(
    "t_closeness", "t-closeness", "t", Comparison.AT_MOST, Fraction(1, 5), tuple(map(Fraction, ("0.5", "0.2", "0.1")))
)


def release(records: int = 60) -> pa.Table:
    """Ages, sexes and illnesses."""
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "age": draw.integers(18, 60, records),
            "sex": draw.choice(["f", "m"], records),
            "illness": draw.choice(["a", "b", "c"], records, p=[0.5, 0.3, 0.2]),
        }
    )


def trial(setting: Setting, figures: Sequence[float | None], loss: float, **further: Any) -> SettingTrial:
    """What came of a setting."""
    plain: dict[str, Any] = {
        "planned": True,
        "status": "passed",
        "reason": "",
        "remedies": ("mondrian: {}",),
        "titles": ("Mondrian partitioning",),
        "expect": ("k_anonymity: {k: 5}",),
        "records": 100,
        "suppressed": 0,
        "sha256": "0" * 64,
        "attempts": (Attempt("mondrian", "Mondrian partitioning", "{}", loss, keeps=True),),
    }
    losses = {
        "total": loss,
        "average_class_size": {"before": 1.0, "after": 2.0, "k": 5},
        "certainty_penalty": {"before": 0, "after": loss},
        "propensity": {"ratio": None},
    }
    return SettingTrial(setting=setting, figures=tuple((one,) for one in figures), loss=losses, **{**plain, **further})


def frontier_of(trials: Sequence[SettingTrial], settings: Sequence[Setting] = (), **further: Any) -> Frontier:
    """A frontier of k and t."""
    own = (K.own, T.own)
    plain: dict[str, Any] = {
        "release": Table("memory:release", "1" * 64, 100, 3),
        "policy": "p.tcdp.yaml",
        "policy_sha256": "2" * 64,
        "seed": 0,
        "demands": (K, T),
        "settings": (own, *(one for one in settings if one != own)),
        "plugins": BUILT_IN,
    }
    return Frontier(trials=tuple(trials), **{**plain, **further})


class MadeUp:
    """A crew of so many whose settings end in an order that somebody chooses.

    Args:
        number: how many work side by side.
        result: what comes of a setting.
        choose: the place of the next that is finished among those at work.
    """

    can_break_off = False

    def __init__(self, number: int, result: Callable[[Task], SettingTrial], choose: Callable[[int], int]) -> None:
        self.number, self.result, self.choose = number, result, choose
        self.at_work: list[Task] = []
        self.begun: list[Task] = []
        self.lost: dict[Task, Mapping[str, float]] = {}

    @property
    def is_free(self) -> bool:
        return len(self.at_work) < self.number

    @property
    def is_busy(self) -> bool:
        return bool(self.at_work)

    def begin(self, task: Task, lost: Mapping[str, float]) -> None:
        self.lost[task] = lost
        self.at_work.append(task)
        self.begun.append(task)

    def finished(self, until: float | None = None) -> tuple[Task, SettingTrial] | None:
        assert until is None or self.can_break_off
        task = self.at_work.pop(self.choose(len(self.at_work)))
        return task, self.result(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert not error
