"""How a demand was changed, and how a figure moved: towards safety, away from it, or neither."""

from __future__ import annotations

from enum import StrEnum
from math import inf, isnan
from typing import Any

from tcdp_audit.core.base.outcome import Comparison as Sign
from tcdp_audit.core.results.written.audit import Entry

INFINITIES = {"infinity": inf, "-infinity": -inf}
RANK = {"error": 0, "failed": 0, "skipped": 1, "measured": 1, "passed": 2}  # of a status: the more, the safer
GRAVITY = {"warning": 0, "error": 1}  # of a demand: the more, the stricter


class Direction(StrEnum):
    """Where something moved."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    DIFFERENT = "different"


class DemandChange(StrEnum):
    """What became of a demand."""

    SAME = "same"
    STRICTER = "stricter"
    LOOSER = "looser"
    DIFFERENT = "different"


def number_of(value: Any) -> float | None:
    """A figure of a result as a number; None for none, and for what is no figure."""
    if isinstance(value, str):
        return INFINITIES.get(value)
    return None if value is None or isinstance(value, bool) or isnan(value) else value


def status_moved(old: str, new: str) -> Direction:
    """Where a status moved; what could not be evaluated is as bad as what failed, and not the same."""
    if old == new:
        return Direction.SAME
    return _direction(RANK[new] - RANK[old])


def demand_changed(old: Entry, new: Entry) -> DemandChange:
    """What became of the demand of an outcome: its threshold and its severity, where nothing else was changed."""
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
    """Where the observed figure moved; where it stayed, the number of failing records under the same demand decides."""
    was, now = number_of(old["observed"]), number_of(new["observed"])
    if was is None or now is None or was != now:
        if was is None or now is None or old["comparison"] != new["comparison"] or new["comparison"] is None:
            return Direction.SAME if was == now else Direction.DIFFERENT
        return _direction((now - was) if Sign(new["comparison"]).higher_is_safer else (was - now))
    return _direction(_failing(old) - _failing(new)) if old["threshold"] == new["threshold"] else Direction.SAME


def _failing(entry: Entry) -> int:
    return (entry["records"] or {}).get("failing") or 0


def _words(entry: Entry) -> tuple[Any, ...]:
    """What a demand is about, besides its numbers."""
    words = {name: value for name, value in entry["parameters"].items() if number_of_parameter(value) is None}
    return entry["comparison"], words, sorted(entry["parameters"].keys() - _threshold_names(entry))


def number_of_parameter(value: Any) -> float | None:
    """A parameter that is a number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _threshold_names(entry: Entry) -> set[str]:
    """The parameters that may be the threshold: they have its value."""
    threshold = number_of(entry["threshold"])
    return {name for name, value in entry["parameters"].items() if threshold is not None and value == threshold}


def _is_threshold_alone(old: Entry, new: Entry) -> bool:
    """Whether no number besides the threshold was changed."""
    names = _threshold_names(old) | _threshold_names(new)
    left, right = ({k: v for k, v in one["parameters"].items() if k not in names} for one in (old, new))
    return left == right


def _stricter(old: Entry, new: Entry) -> int:
    """1 for a stricter threshold, -1 for a looser one, 0 for the same. None at all is the loosest."""
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
