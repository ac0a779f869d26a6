"""Histories: small ones by hand, generated and real ones, and figures of them in plain Python."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, permutations
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import Outcome, audit
from tcdp_audit_plugins.checks.histories.chances import exact_chances
from tcdp_audit_plugins.checks.histories.events import Events
from tcdp_audit_plugins.checks.histories.knowledge import KnowledgeOfSize, knowledge_of
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents
from tcdp_audit_plugins.checks.histories.sensitive import Secrets, secrets_of
from tcdp_audit_plugins.checks.histories.windows import in_windows


@dataclass(frozen=True)
class Row:
    """An event: whose it is, what is known of it, when it was, and a sensitive value."""

    unit: Hashable
    label: Hashable
    time: int | None = None
    secret: Hashable = None


@dataclass(frozen=True)
class Table:
    """Rows, and the static values of every unit, those without rows included."""

    rows: Sequence[Row]
    static: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def units(self) -> list[Any]:
        return [*(self.static or dict.fromkeys(row.unit for row in self.rows))]

    def known(self, unit: Any) -> Any:
        return self.static[unit] if self.static else 0

    def events(self, *, timed: bool = False) -> Events:
        """The arrays that the checks make of their view."""
        place = {unit: number for number, unit in enumerate(self.units)}
        unit = np.array([place[row.unit] for row in self.rows], np.int64)
        label = coded((self.known(row.unit), row.label) for row in self.rows)
        static = coded(self.known(one) for one in self.units)
        if not timed:
            return Events(unit, label, static)
        without = np.array([row.time is None for row in self.rows], bool)
        return Events(unit, label, static, np.array([row.time or 0 for row in self.rows], np.int64), without)

    def secrets(self) -> Secrets:
        codes = coded(row.secret for row in self.rows if row.secret is not None)
        values = np.full(len(self.rows), -1)
        values[[place for place, row in enumerate(self.rows) if row.secret is not None]] = codes
        return secrets_of(self.events().unit, len(self.units), values)

    def with_time(self) -> Table:
        """The same with the time as a part of the label."""
        return Table([replace(row, label=(row.label, row.time)) for row in self.rows], self.static)

    def knowledge(self, most: int, **more: Any) -> list[KnowledgeOfSize]:
        return knowledge_of(self.events(), most, secrets=self.secrets(), **more)

    def in_sequence(self, most: int) -> list[KnowledgeOfSize]:
        events = self.events(timed=True)
        assert events.without_time is not None
        return knowledge_of(events.of(~events.without_time), most)

    def near(self, most: int, tolerance: int, **more: Any) -> list[KnowledgeOfSize]:
        points, nearby = self.points(tolerance)
        return knowledge_of(points, most, nearby=nearby, secrets=self.secrets(), **more)

    def points(self, tolerance: int) -> tuple[Events, NearbyEvents]:
        events = self.events(timed=True)
        nearby = NearbyEvents.of(events, tolerance)
        return Events(events.unit, nearby.point, events.static), nearby

    def window(self, length: Fraction | int) -> KnowledgeOfSize:
        return in_windows(self.events(timed=True), Fraction(length), self.secrets())[0]

    def unicity(self, *points: int, leave_out: bool = False, tolerance: int | None = None) -> list[Fraction]:
        events, nearby = (self.events(), None) if tolerance is None else self.points(tolerance)
        return [one.mean for one in exact_chances(events, [*points], leave_out=leave_out, nearby=nearby)]


def coded(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    every = [*values]
    number = {value: place for place, value in enumerate(sorted({*every}, key=repr))}
    return np.array([number[value] for value in every], np.int64)


def figures(one: KnowledgeOfSize, *below: int) -> tuple[int, ...]:
    """k, how many units are alone, and how many have a support below some numbers."""
    return (int(one.supports.min()), *(int((one.supports < number).sum()) for number in (2, *below)))


# --- by hand ---------------------------------------------------------------------------------------------------------

JAN, FEB, MAR = 1, 2, 3
T1 = Table(
    [
        Row("p", "a", JAN, "flu"),
        Row("p", "b", FEB, "flu"),
        Row("q", "a", JAN, "gout"),
        Row("q", "b", FEB, "hiv"),
        Row("r", "a", JAN, "flu"),
        Row("r", "b", FEB, "hiv"),
        Row("r", "b", FEB, "hiv"),
        Row("s", "a", JAN, "hiv"),
        Row("s", "a", MAR, "hiv"),
        Row("t", "a", JAN, "flu"),
        Row("t", "a", MAR, "hiv"),
        Row("u", "b", FEB, "gout"),
        Row("u", "a", MAR, "flu"),
    ]
)
T4 = Table(
    [Row(unit, 0, day) for unit, days in zip("pqrs", [(10, 11), (10,), (9, 13), (10, 12)], strict=True) for day in days]
)


# --- generated -------------------------------------------------------------------------------------------------------


def lcg(seed: int) -> Iterator[int]:
    x = seed
    while True:
        x = (1103515245 * x + 12345) % 2**31
        yield x >> 8


def synthetic(n: int, *, label: str) -> Table:
    """Patients with sex and age band, and 0 to 4 visits each. The label is made of `month`, `day` and `ward`."""
    g = lcg(1)
    rows, static = [], {}
    for unit in range(n):
        static[unit] = ("fm"[next(g) % 2], next(g) % 4)
        for _ in range(next(g) % 5):
            day, a, b, c = next(g) % 360, next(g), next(g), next(g)
            parts = {"day": day, "month": day // 30, "ward": min(a % 4, b % 4)}
            rows.append(Row(unit, tuple(parts[one] for one in label.split()), day, "abcdef"[c % 6]))
    return Table(rows, static)


def f1() -> Table:
    """2,000 patients with one to four visits, by month and ward."""
    generator = random.Random(5)  # noqa: S311 - the printed figures are of this generator
    visits = [
        (unit, (f"2024-{generator.randint(1, 12):02}", generator.choice(["north", "south"])))
        for unit in range(2000)
        for _ in range(generator.randint(1, 4))
    ]
    secrets = generator.choices("abcd", k=len(visits))
    return Table([Row(unit, label, None, secret) for (unit, label), secret in zip(visits, secrets, strict=True)])


# --- real ------------------------------------------------------------------------------------------------------------


def records(data: Path, name: str) -> list[dict[str, str]]:
    with (data / "histories" / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def pbcseq(data: Path, static: Any, label: Any) -> Table:
    """312 patients with 1,945 visits; time is the day."""
    every = records(data, "pbcseq.csv")
    rows = [Row(one["id"], label(one), int(one["day"]), one["stage"]) for one in every]
    return Table(rows, {one["id"]: static(one) for one in reversed(every)})


def inst_eval(data: Path) -> Table:
    """2,972 students with 73,421 ratings of lecturers."""
    every = records(data, "InstEval.csv")
    return Table([Row(one["s"], one["d"]) for one in every], {one["s"]: one["studage"] for one in every})


def toy(data: Path, *, hour: bool = False) -> Table:
    """The example of scikit-mobility: 7 people at places."""
    every = records(data, "privacy_toy.csv")
    rows = [
        Row(
            one["uid"],
            (one["lat"], one["lng"], *([one["datetime"][11:13]] if hour else [])),
            int("".join(filter(str.isdigit, one["datetime"]))),
        )
        for one in every
    ]
    return Table(rows, dict.fromkeys(sorted({one["uid"] for one in every}), 0))


# --- in plain Python -------------------------------------------------------------------------------------------------


def fits_plainly(known: Sequence[Row], history: Sequence[Row], tolerance: int | None) -> bool:
    """Whether different events of a history fit the known ones, by trying every way to choose them."""

    def near(one: Row, other: Row) -> bool:
        if one.label != other.label:
            return False
        if tolerance is None:
            return True
        if one.time is None or other.time is None:
            return one.time is other.time
        return abs(one.time - other.time) <= tolerance

    return any(all(map(near, known, chosen)) for chosen in permutations(history, len(known)))


def form_of(known: Iterable[Row]) -> tuple[Any, ...]:
    """Labels of one time as a sorted group, groups in the order of their times."""
    times: dict[int, list[Any]] = {}
    for row in known:
        assert row.time is not None
        times.setdefault(row.time, []).append(row.label)
    return tuple(tuple(sorted(times[time], key=repr)) for time in sorted(times))


def supporters(table: Table, unit: Any, known: Sequence[Row], how: str, tolerance: int | None) -> list[Any]:
    histories = {one: [row for row in table.rows if row.unit == one] for one in table.units}
    alike = [one for one in table.units if table.known(one) == table.known(unit)]
    if how == "sequence":
        form = form_of(known)
        return [
            one for one in alike if any(form_of(chosen) == form for chosen in combinations(histories[one], len(known)))
        ]
    return [one for one in alike if fits_plainly(known, histories[one], tolerance)]


def plain_knowledge(
    table: Table, most: int, *, how: str = "none", tolerance: int | None = None
) -> list[dict[str, Any]]:
    """The figures of each size by definition: every choice of every unit's rows, compared with every unit."""
    values = {one: {row.secret for row in table.rows if row.unit == one} - {None} for one in table.units}
    longest = max(Counter(row.unit for row in table.rows).values())
    sizes = []
    for size in range(1, min(most, longest) + 1):
        supports, different, confidence = {}, set(), Fraction(0)
        for unit in table.units:
            history = [row for row in table.rows if row.unit == unit]
            supports[unit] = len(table.units)
            for known in combinations(history, min(size, len(history))):
                those = supporters(table, unit, known, how, tolerance)
                supports[unit] = min(supports[unit], len(those))
                if len(known) == size:
                    points = [(row.label, row.time) if tolerance is not None else row.label for row in known]
                    form = form_of(known) if how == "sequence" else tuple(sorted(points, key=repr))
                    different.add((table.known(unit), form))
                if len(known) in (0, size):
                    shares = Counter(value for one in those for value in values[one])
                    confidence = max(confidence, Fraction(max(shares.values(), default=0), len(those)))
        sizes.append({"supports": supports, "combinations": len(different), "confidence": confidence})
    return sizes


def plain_windows(table: Table, length: Fraction) -> dict[Any, int]:
    """The least number of units with the same events in a window of each unit, or else with its static values."""
    windows: dict[Any, Counter[Any]] = {}
    for row in table.rows:
        if row.time is not None:
            windows.setdefault((row.unit, floor(row.time / length)), Counter())[row.label] += 1
    classes = Counter((table.known(unit), number, frozenset(one.items())) for (unit, number), one in windows.items())
    least: dict[Any, int] = {}
    for unit in {*table.units} - {unit for unit, _ in windows}:
        least[unit] = sum(table.known(one) == table.known(unit) for one in table.units)
    for (unit, number), one in windows.items():
        own = classes[table.known(unit), number, frozenset(one.items())]
        least[unit] = min(own, least.get(unit, own))
    return least


def plain_unicity(table: Table, points: int, *, leave_out: bool, tolerance: int | None = None) -> Fraction | None:
    """The mean over units of the share of choices of rows with a support of 1; None where no unit is left."""
    shares = []
    for unit in table.units:
        history = [row for row in table.rows if row.unit == unit]
        if leave_out and len(history) < points:
            continue
        choices = [*combinations(history, min(points, len(history)))]
        alone = sum(len(supporters(table, unit, known, "none", tolerance)) == 1 for known in choices)
        shares.append(Fraction(alone, len(choices)))
    return sum(shares, Fraction(0)) / len(shares) if shares else None


# --- as a release ----------------------------------------------------------------------------------------------------


def outcome_of(table: Table, check: str, parameters: Mapping[str, Any], **policy: Any) -> Outcome:
    """The outcome of a check of a release with the columns `patient`, `static`, `label`, `day` and `diagnosis`."""
    texts = {
        "patient": [str(row.unit) for row in table.rows],
        "static": [str(table.known(row.unit)) for row in table.rows],
        "label": [str(row.label) for row in table.rows],
        "diagnosis": [None if row.secret is None else str(row.secret) for row in table.rows],
    }
    release = {name: pa.array(cells, pa.string()) for name, cells in texts.items()}
    release["day"] = pa.array([row.time for row in table.rows], pa.int64())
    attributes = {
        "static": {"role": "quasi_identifier", "of": "unit"},
        "label": {"role": "quasi_identifier"},
        "diagnosis": {"role": "sensitive"},
        "day": {"role": "insensitive", "scale": "numeric"},
    }
    given = {"version": 1, "unit": "patient", "time": "day", "attributes": attributes, "expect": [{check: parameters}]}
    return audit(pa.table(release), {**given, **policy}).expectations[0]
