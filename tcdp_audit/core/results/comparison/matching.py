"""Which outcome of one audit is which of another: the same demand first, then the nearest one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from json import dumps
from typing import Any

from tcdp_audit.core.results.written.audit import Entry, is_quality, is_structural

Pair = tuple[Entry | None, Entry | None]


def matched(old: Sequence[Entry], new: Sequence[Entry]) -> list[Pair]:
    """Each outcome with its counterpart: in the order of the new ones, then those that are gone.

    Counterparts have the same check and attribute; those with the same parameters find each other first, then those
    that differ in numbers only, such as a threshold, then the others. Among equals the order decides.
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
    words = {name: value for name, value in entry["parameters"].items() if not _is_number(value)}
    return (_by_name(entry), dumps(words, sort_keys=True))


def _by_name(entry: Entry) -> Hashable:
    return (entry["check"], entry["attribute"], is_structural(entry), is_quality(entry))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
