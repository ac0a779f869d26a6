"""One expectation in two audits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tcdp_audit.core.base.outcome import Comparison as Sign
from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.base.words import count, figure
from tcdp_audit.core.results.comparison.demand import (
    DemandChange,
    Direction,
    demand_changed,
    figure_moved,
    number_of,
    status_moved,
)
from tcdp_audit.core.results.written.audit import Entry

OBSERVED = ("status", "severity", "observed", "threshold", "comparison", "classes", "records")  # what a change shows


@dataclass(frozen=True)
class Change:
    """An expectation of two audits; of one, where the other has none.

    Args:
        old: its outcome in the first audit; None for a new expectation.
        new: its outcome in the second audit; None for one that is gone. One of both is there.
        titles: what people call the checks, by name.
    """

    old: Entry | None
    new: Entry | None
    titles: Mapping[str, str]

    @property
    def entry(self) -> Entry:
        """The newer outcome that there is."""
        return self.new or self.old or {}

    @property
    def title(self) -> str:
        """What a person calls it: the check, with its parameters that are words."""
        name = self.entry["check"]
        words = [one for one in self.entry["parameters"].values() if isinstance(one, str)]
        return visible(", ".join([self.titles.get(name, name), *words]))

    @property
    def attribute(self) -> str:
        """The attribute that was measured, or nothing."""
        return "" if self.entry["attribute"] is None else visible(self.entry["attribute"])

    @cached_property
    def demand(self) -> DemandChange | None:
        """What became of the demand; None where only one audit has it."""
        return None if self.old is None or self.new is None else demand_changed(self.old, self.new)

    @cached_property
    def figure(self) -> Direction | None:
        """Where the figure moved; None where only one audit has it."""
        return None if self.old is None or self.new is None else figure_moved(self.old, self.new)

    @property
    def kind(self) -> str:
        """In a word: new, gone, better, worse, different, same, or demand where only that is another."""
        if self.old is None or self.new is None:
            return "new" if self.old is None else "gone"
        if self.demand is DemandChange.SAME:
            moved = status_moved(self.old["status"], self.new["status"])
            if moved is not Direction.SAME:
                return moved.value
            if self.old["status"] != self.new["status"]:
                return Direction.DIFFERENT.value
        stayed = self.figure is Direction.SAME
        return "demand" if stayed and self.demand is not DemandChange.SAME else str(self.figure)

    @property
    def is_worse(self) -> bool:
        """Whether less is protected, or less is demanded: a figure or a status is worse, a demand looser or gone."""
        if self.new is None:
            return bool(self.old and self.old["threshold"] is not None)
        looser = self.demand is DemandChange.LOOSER
        return looser or self.kind == "worse" or (self.old is not None and self._fell(self.old, self.new))

    def _fell(self, old: Entry, new: Entry) -> bool:
        return status_moved(old["status"], new["status"]) is Direction.WORSE

    @property
    def is_same(self) -> bool:
        """Whether neither demand nor figure nor status has moved."""
        return self.kind == "same"

    def observed(self, entry: Entry | None) -> str:
        """The figure of one of the outcomes, as a report writes it."""
        return "–" if entry is None else figure(number_of(entry["observed"]))

    @property
    def demands(self) -> str:
        """What is demanded; and what was, where that is another demand."""
        was, now = _demanded(self.old), _demanded(self.new)
        if self.demand is None or was == now:
            return f"demanded: {was if self.new is None else now}"
        word = "" if self.demand is DemandChange.DIFFERENT else f", {self.demand.value}"
        return f"demanded: {now}, was {was}{word}"

    def state(self, entry: Entry | None) -> str:
        """The status of one of the outcomes, and how many records fail; a failure that only warns is a warning."""
        if entry is None:
            return "–"
        status = "warning" if (entry["status"], entry["severity"]) == ("failed", "warning") else str(entry["status"])
        failing = (entry["records"] or {}).get("failing")
        return f"{status}, {count(failing, 'record')}" if failing else status

    @property
    def parameters(self) -> str:
        """The parameters that were changed, as `distance: equal, was ordered`; nothing where only the threshold was."""
        if self.old is None or self.new is None or self.demand is not DemandChange.DIFFERENT:
            return ""
        was, now = self.old["parameters"], self.new["parameters"]
        names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        return "; ".join(f"{visible(one)}: {_written(now, one)}, was {_written(was, one)}" for one in names)

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON of a comparison."""
        return {
            "check": self.entry["check"],
            "attribute": self.entry["attribute"],
            "parameters": self.entry["parameters"],
            "change": self.kind,
            "worse": self.is_worse,
            "demand": None if self.demand is None else self.demand.value,
            "figure": None if self.figure is None else self.figure.value,
            "old": _shown(self.old),
            "new": _shown(self.new),
        }


def _demanded(entry: Entry | None) -> str:
    """A demand, as a report writes it."""
    threshold = None if entry is None else number_of(entry["threshold"])
    if entry is None or threshold is None:
        return "nothing"
    sign = "=" if entry["comparison"] is None else Sign(entry["comparison"]).sign
    return f"{sign} {threshold:,.15g}"


def _shown(entry: Entry | None) -> dict[str, Any] | None:
    return None if entry is None else {key: entry[key] for key in OBSERVED}


def _written(parameters: Mapping[str, Any], name: str) -> str:
    return visible(json.dumps(parameters[name], ensure_ascii=False)) if name in parameters else "not given"
