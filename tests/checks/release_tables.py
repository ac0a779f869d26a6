"""Releases of the same people, and what the checks say of one beside earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow.csv import write_csv

import tcdp_audit
from tcdp_audit import Outcome
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
Columns = Mapping[str, Sequence[Any]]
Policy = Mapping[str, Any] | None
ROLES: Mapping[str, Any] = {
    "id": {"role": "insensitive"},
    "zip": {"role": "quasi_identifier"},
    "disease": {"role": "sensitive"},
}


def release(people: str, zips: str, diseases: Sequence[str]) -> Columns:
    """A release with a letter for each person and for each quasi-identifier."""
    return {"id": list(people), "zip": list(zips), "disease": list(diseases)}


def asked(check: str, now: Columns, *earlier: Columns, policy: Policy = None, **given: Any) -> Outcome:
    """What a check says of a release beside earlier ones; people are followed by `id` unless the policy says None."""
    return audited(check, now, *earlier, policy=policy, **given).expectations[0]


def audited(check: str, now: Columns, *earlier: Columns, policy: Policy = None, **given: Any) -> Audit:
    """An audit of one check."""
    further = {"version": 1, "key": "id", "attributes": ROLES, **(policy or {}), "expect": [{check: given}]}
    document = {name: one for name, one in further.items() if one is not None}
    with TemporaryDirectory() as folder:
        now_at, *places = (str(Path(folder) / f"{number}.csv") for number in range(len(earlier) + 1))
        for place, table in zip((now_at, *places), (now, *earlier), strict=True):
            write_csv(pa.table(dict(table)), place)  # what is read without a database is read sooner
        named = {"previous": places[0] if len(places) == 1 else places} if places else {}
        return tcdp_audit.audit(now_at, {**document, **named}, plugins=PLUGINS)


def classes_of(table: Columns, names: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """The rows of each equivalence class, in plain Python."""
    classes: dict[tuple[Any, ...], list[int]] = {}
    for row in range(len(next(iter(table.values())))):
        classes.setdefault(tuple(table[name][row] for name in names), []).append(row)
    return classes


def ends_of(label: str) -> tuple[float, float]:
    """The ends of a closed range, or of a number."""
    low, _, high = label.strip("[]").partition(", ")
    return float(low), float(high or low)


def overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two boxes of closed ranges have a point in common."""
    ends = [(ends_of(a), ends_of(b)) for a, b in zip(one, other, strict=True)]
    return all(max(a[0], b[0]) <= min(a[1], b[1]) for a, b in ends)
