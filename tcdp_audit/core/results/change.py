"""One expectation in two audits: its counterpart, and the changes of its demand and its figure."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from json import dumps
from math import inf, isnan
from typing import Any

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison as Sign, bound_met, part_name
from tcdp_audit.core.base.words import count, figure, one_line, visible
from tcdp_audit.core.results.written import Entry, failing_cells_of, is_quality, is_structural

OBSERVED = (  # in a change's JSON
    *("status", "severity", "observed", "threshold", "comparison", "classes", "records", "cells"),
)


@dataclass(frozen=True)
class Change:
    """An expectation of two audits, or of one if the other does not have it.

    Args:
        old: its outcome in the first audit; None for a new expectation.
        new: its outcome in the second audit; None for one that is gone. At least one is present.
        titles: the titles of the checks, by name.
        nouns: what each audit calls a record that is a unit of privacy, such as `person`; empty for records.
    """

    old: Entry | None
    new: Entry | None
    titles: Mapping[str, str]
    nouns: tuple[str, str] = ("", "")

    @property
    def entry(self) -> Entry:
        """The newest outcome."""
        return self.new or self.old or {}

    @property
    def title(self) -> str:
        """The check's title, with its parameters that are words."""
        name = self.entry["check"]
        words = [one for one in self.entry["parameters"].values() if isinstance(one, str)]
        return visible(", ".join(filter(None, [self.titles.get(name, name), *words, part_name(self.entry)])))

    @property
    def attribute(self) -> str:
        """The attribute that was measured; empty if there is none."""
        return "" if self.entry["attribute"] is None else visible(self.entry["attribute"])

    @cached_property
    def demand(self) -> DemandChange | None:
        """The change of the demand; None if only one audit has it."""
        return None if self.old is None or self.new is None else demand_changed(self.old, self.new)

    @cached_property
    def figure(self) -> Direction | None:
        """The direction of the figure; None if only one audit has it."""
        return None if self.old is None or self.new is None else figure_moved(self.old, self.new)

    @property
    def kind(self) -> str:
        """In a word: new, gone, better, worse, different, same, or demand if only the demand changed."""
        if self.old is None or self.new is None:
            return "new" if self.old is None else "gone"
        if self.demand is DemandChange.SAME:
            moved = status_moved(self.old["status"], self.new["status"])
            if moved is not Direction.SAME:
                return moved.value
            if self.old["status"] != self.new["status"]:
                return Direction.DIFFERENT.value
        new, gone = self.cells
        if self.figure is not Direction.SAME:
            hides = self.demand is DemandChange.SAME and self.figure is Direction.BETTER and new
            return str(Direction.DIFFERENT if hides else self.figure)
        if self.demand is not DemandChange.SAME:
            return "demand"
        return str(
            Direction.DIFFERENT
            if new and gone
            else Direction.WORSE
            if new
            else Direction.BETTER
            if gone
            else Direction.SAME
        )

    @property
    def is_worse(self) -> bool:
        """Whether a figure or a status is worse, a cell fails that did not, or a demand is looser or gone."""
        if self.demand is DemandChange.SAME and self.cells[0]:
            return True
        if self.new is None:
            return bool(self.old and self.old["threshold"] is not None)
        if self.demand is DemandChange.LOOSER or self.kind == "worse":
            return True
        return self.old is not None and status_moved(self.old["status"], self.new["status"]) is Direction.WORSE

    @property
    def is_same(self) -> bool:
        """Whether demand, figure, status and the policy's reason are unchanged."""
        return self.kind == "same" and not self.reasons

    @cached_property
    def cells(self) -> tuple[Sequence[Entry], Sequence[Entry]]:
        """The cells of tables of figures that fail in the second audit only, and in the first one only.

        A result names the first of very many. Where one does not name all, the other's further cells are not known to
        have passed in it, and are not given.
        """
        if self.old is None or self.new is None:
            return (), ()
        was, now = failing_cells_of(self.old), failing_cells_of(self.new)
        new = _more(now, was) if _names_all(self.old) else []
        gone = _more(was, now) if _names_all(self.new) else []
        return new, gone

    def observed(self, entry: Entry | None) -> str:
        """The figure of an outcome, formatted for a report; one at its threshold as the threshold is."""
        if entry is None:
            return "–"
        observed, bound = number_of(entry["observed"]), number_of(entry["threshold"])
        threshold = None if bound is None else Fraction(repr(bound))
        comparison = Sign(entry["comparison"]) if entry["comparison"] and "cells" in entry else None
        return bound_met(observed, threshold, comparison) or figure(observed, threshold)

    @property
    def demands(self) -> str:
        """The demand, with the old one if it differs."""
        was, now = _demanded(self.old), _demanded(self.new)
        if self.demand is None or was == now:
            return f"demanded: {was if self.new is None else now}"
        word = "" if self.demand is DemandChange.DIFFERENT else f", {self.demand.value}"
        return f"demanded: {now}, was {was}{word}"

    def state(self, entry: Entry | None) -> str:
        """The status of an outcome, with the number of failing records; a failure that only warns is a warning."""
        if entry is None:
            return "–"
        status = "warning" if (entry["status"], entry["severity"]) == ("failed", "warning") else str(entry["status"])
        failing = (entry["records"] or entry.get("cells") or {}).get("failing")
        return f"{status}, {count(failing, self._noun(entry))}" if failing else status

    def _noun(self, entry: Entry) -> str:
        """The noun for what fails: a cell, a record of one of several tables, or what the audit calls a record."""
        if entry.get("cells"):
            return "cell"
        if table := entry.get("table"):
            return f"record of {visible(str(table))}"
        of_rows = (entry.get("conventions") or {}).get("unit", "row") == "row"
        return (self.nouns[entry is self.new] if of_rows else "") or "record"

    @property
    def parameters(self) -> str:
        """The changed parameters, as `distance: equal, was ordered`; empty if only the threshold changed."""
        if self.old is None or self.new is None or self.demand is not DemandChange.DIFFERENT:
            return ""
        was, now = self.old["parameters"], self.new["parameters"]
        names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        return "; ".join(f"{visible(one)}: {_written(now, one)}, was {_written(was, one)}" for one in names)

    @property
    def reasons(self) -> str:
        """The policy's reason and what it was, where that is another one."""
        if self.old is None or self.new is None or self.old.get("reason") == self.new.get("reason"):
            return ""
        was, now = (one_line(str(one.get("reason") or "none")) for one in (self.old, self.new))
        return f"reason: {now}, was {was}"

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON of a comparison."""
        new, gone = ([{key: one[key] for key in NAMING} for one in cells] for cells in self.cells)
        of_figures = any(one is not None and one.get("cells") for one in (self.old, self.new))
        return {
            "check": self.entry["check"],
            "attribute": self.entry["attribute"],
            **{name: self.entry[name] for name in ("scenario", "unit") if name in self.entry},
            "parameters": self.entry["parameters"],
            "change": self.kind,
            "worse": self.is_worse,
            "demand": None if self.demand is None else self.demand.value,
            "figure": None if self.figure is None else self.figure.value,
            "old": _shown(self.old),
            "new": _shown(self.new),
            **({"cells": {"new": new, "gone": gone}} if of_figures else {}),
        }


def _demanded(entry: Entry | None) -> str:
    """A demand, formatted for a report."""
    threshold = None if entry is None else number_of(entry["threshold"])
    if entry is None or threshold is None:
        return "nothing"
    sign = "=" if entry["comparison"] is None else Sign(entry["comparison"]).sign
    return f"{sign} {threshold:,.15g}"


def _shown(entry: Entry | None) -> dict[str, Any] | None:
    """The part of an outcome that a comparison repeats: its figures, and the reason where the policy gives one."""
    return None if entry is None else {key: entry[key] for key in (*OBSERVED, "reason") if key in entry}


def _written(parameters: Mapping[str, Any], name: str) -> str:
    return visible(json.dumps(parameters[name], ensure_ascii=False)) if name in parameters else "not given"


INFINITIES = {"infinity": inf, "-infinity": -inf}
RANK = {"error": 0, "failed": 0, "skipped": 1, "measured": 1, "passed": 2}  # of a status; higher is safer
GRAVITY = {"warning": 0, "error": 1}  # of a demand; higher is stricter


class Direction(StrEnum):
    """The direction of a change."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    DIFFERENT = "different"


class DemandChange(StrEnum):
    """The change of a demand."""

    SAME = "same"
    STRICTER = "stricter"
    LOOSER = "looser"
    DIFFERENT = "different"


def number_of(value: Any) -> float | None:
    """A figure of a result as a number; None if it is missing or no figure."""
    if isinstance(value, str):
        return INFINITIES.get(value)
    return None if value is None or isinstance(value, bool) or isnan(value) else value


def status_moved(old: str, new: str) -> Direction:
    """The direction of a status; an error and a failure rank equally but are different."""
    if old == new:
        return Direction.SAME
    return _direction(RANK[new] - RANK[old])


def demand_changed(old: Entry, new: Entry) -> DemandChange:
    """The change of a demand's threshold and severity; `DIFFERENT` if anything else changed."""
    if _words(old) != _words(new):
        return DemandChange.DIFFERENT
    graver = GRAVITY[new["severity"]] - GRAVITY[old["severity"]]
    moves = {graver, _stricter(old, new)} - {0}
    if not moves:
        return DemandChange.SAME if old["parameters"] == new["parameters"] else DemandChange.DIFFERENT
    if len(moves) > 1 or not _is_threshold_alone(old, new):
        return DemandChange.DIFFERENT
    return DemandChange.STRICTER if moves == {1} else DemandChange.LOOSER


def figure_moved(old: Entry, new: Entry) -> Direction:
    """The direction of the observed figure; if unchanged, of the failing records under the same threshold."""
    was, now = number_of(old["observed"]), number_of(new["observed"])
    if was is None or now is None or was != now:
        if was is None or now is None or old["comparison"] != new["comparison"] or new["comparison"] is None:
            return Direction.SAME if was == now else Direction.DIFFERENT
        return _direction((now - was) if Sign(new["comparison"]).higher_is_safer else (was - now))
    return _direction(_failing(old) - _failing(new)) if old["threshold"] == new["threshold"] else Direction.SAME


def _failing(entry: Entry) -> int:
    return (entry["records"] or entry.get("cells") or {}).get("failing") or 0


NAMING = ("table", "measure", "cell")  # what a cell is, whatever its line


def _more(cells: Sequence[Entry], others: Sequence[Entry]) -> list[Entry]:
    """The cells that are not among the others, or oftener than there, such as a total with several differences.

    A cell is what its labels say. Of one that occurs more often, those with a new reason come first.
    """
    left, reasons = Counter(map(_cell, others)), {(_cell(one), one["says"]) for one in others}
    more = []
    for one in sorted(cells, key=lambda one: (_cell(one), one["says"]) not in reasons):
        left[_cell(one)] -= 1
        if left[_cell(one)] < 0:
            more.append(one)
    return more


def _cell(entry: Entry) -> str:
    return dumps([entry[key] for key in NAMING], sort_keys=True)


def _names_all(entry: Entry) -> bool:
    """Whether an outcome was evaluated and names every failing cell."""
    failing = (entry.get("cells") or {}).get("failing")
    return failing is not None and len(failing_cells_of(entry)) >= failing


def _words(entry: Entry) -> tuple[Any, ...]:
    """The parts of a demand other than numbers."""
    words = {name: value for name, value in entry["parameters"].items() if number_of_parameter(value) is None}
    return entry["comparison"], words, sorted(entry["parameters"].keys() - _threshold_names(entry))


def number_of_parameter(value: Any) -> float | None:
    """A parameter's value if it is a number; otherwise None."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _threshold_names(entry: Entry) -> set[str]:
    """The parameters with the threshold's value, one of which is the threshold."""
    threshold = number_of(entry["threshold"])
    return {name for name, value in entry["parameters"].items() if threshold is not None and value == threshold}


def _is_threshold_alone(old: Entry, new: Entry) -> bool:
    """Whether no number other than the threshold changed."""
    names = _threshold_names(old) | _threshold_names(new)
    left, right = ({k: v for k, v in one["parameters"].items() if k not in names} for one in (old, new))
    return left == right


def _stricter(old: Entry, new: Entry) -> int:
    """1 for a stricter threshold, -1 for a looser one, 0 for the same. No threshold is the loosest."""
    was, now = number_of(old["threshold"]), number_of(new["threshold"])
    if was == now:
        return 0
    if was is None or now is None or new["comparison"] is None:
        return 1 if was is None else -1
    higher = Sign(new["comparison"]).higher_is_safer
    return 1 if (now > was) is higher else -1


def _direction(gain: float) -> Direction:
    if gain == 0 or isnan(gain):
        return Direction.DIFFERENT if isnan(gain) else Direction.SAME
    return Direction.BETTER if gain > 0 else Direction.WORSE


Pair = tuple[Entry | None, Entry | None]


def matched(old: Sequence[Entry], new: Sequence[Entry]) -> list[Pair]:
    """Pair each outcome with its counterpart: in the order of the new ones, then those that are gone.

    Counterparts have the same check and attribute. Those with the same parameters are paired first, then those that
    differ only in numbers, such as a threshold, then the others. Among equals the order decides.
    """
    of_new: dict[int, int] = {}
    left = dict(enumerate(old))
    for key in (_in_full, _but_for_numbers, _by_name):
        waiting = _positions(left, key)
        for position, entry in enumerate(new):
            if position not in of_new and waiting[key(entry)]:
                of_new[position] = waiting[key(entry)].pop(0)
                del left[of_new[position]]
    pairs: list[Pair] = [(old[of_new[i]] if i in of_new else None, entry) for i, entry in enumerate(new)]
    return [*pairs, *((entry, None) for entry in left.values())]


def _positions(entries: dict[int, Entry], key: Callable[[Entry], Hashable]) -> dict[Hashable, list[int]]:
    positions: dict[Hashable, list[int]] = defaultdict(list)
    for position, entry in entries.items():
        positions[key(entry)].append(position)
    return positions


def _in_full(entry: Entry) -> Hashable:
    return (_by_name(entry), dumps(entry["parameters"], sort_keys=True))


def _but_for_numbers(entry: Entry) -> Hashable:
    words = {name: value for name, value in entry["parameters"].items() if number_of_parameter(value) is None}
    return (_by_name(entry), dumps(words, sort_keys=True))


def _by_name(entry: Entry) -> Hashable:
    return (entry["check"], entry["attribute"], part_name(entry), is_structural(entry), is_quality(entry))
