"""The properties of an engine: it gives what the embedded engine gives of the same table, and the same outcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from tcdp_audit.api import Options, Plugins, evaluate, open_engine, read_policy, texts_of
from tcdp_audit.plugin.engine import CountedCodes, Engine, EngineOpener, Sampling
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit.testing.conformance import Subject, Suite
from tcdp_audit.testing.engine_tables import MARKER, Row, cells_of, domains_of, policies, tables

MEMORY = 2**28
OTHERS = (Path("release.csv"), "release.csv", "data/release.parquet", pa.table({"zip": ["a"]}), {"zip": ["a"]}, None)
Place = Callable[[pa.Table], Any]


class EngineSuite(Suite):
    """An opener, and the engines that it makes of some tables.

    Args:
        opener: what a hook yields.
        place: puts an Arrow table where the engine finds it, and returns what the opener is to be given. Without it
            only what the opener says of itself is examined.
    """

    def __init__(self, opener: EngineOpener, place: Place | None) -> None:
        self.subject, self.opener, self.place = Subject("engine", opener.name), opener, place

    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the engine against each property."""
        of_itself: dict[str, Callable[[], None]] = {
            "name": lambda: self.subject.require_name(self.opener.name),
            "specification": self._says_what_it_is,
            "acceptance": self._accepts_its_own_only,
        }
        if self.place is None:
            return of_itself
        of_tables = {
            "columns": self._has_the_columns,
            "records": self._has_the_records,
            "distinct values": self._has_the_values,
            "codes": self._has_the_codes,
            "counted codes": self._counts,
            "sample": self._draws,
            "shards": self._keeps_classes_whole,
            "outcomes": self._gives_the_outcomes,
            "no cell in evidence": self._tells_no_cell,
        }
        return of_itself | {name: partial(self._on_every_table, one) for name, one in of_tables.items()}

    def _says_what_it_is(self) -> None:
        self.subject.require_texts({"title": self.opener.title, "summary": self.opener.summary}, "specification")

    def _accepts_its_own_only(self) -> None:
        for other in OTHERS:
            answer = self.opener.accepts(other)
            what = f"a {type(other).__name__}, which is the embedded engine's or nobody's"
            self.subject.require(answer is False, "acceptance", f"it must be False for {what}")
        for where, _, location in self._placed:
            self.subject.require(self.opener.accepts(location) is True, "acceptance", f"it must be True ({where})")

    @cached_property
    def _placed(self) -> list[tuple[str, pa.Table, Any]]:
        return [] if self.place is None else [(name, table, self.place(table)) for name, table in tables().items()]

    def _on_every_table(self, examine: Callable[[str, Engine, Engine], None]) -> None:
        for where, table, location in self._placed:
            with self._opened(location) as engine, open_engine(table, MEMORY) as embedded:
                engine.group_by([column.name for column in engine.columns])
                examine(where, engine, embedded)

    @contextmanager
    def _opened(self, location: Any) -> Iterator[Engine]:
        with self.opener.open(location, "release", MEMORY) as engine:
            yield engine

    def _has_the_columns(self, where: str, engine: Engine, embedded: Engine) -> None:
        names = [column.name for column in engine.columns]
        same = names == [column.name for column in embedded.columns]
        self.subject.require(same, "columns", f"they must be those of the table, in its order ({where})")

    def _has_the_records(self, where: str, engine: Engine, embedded: Engine) -> None:
        same = engine.records == embedded.records
        self.subject.require(same, "records", f"{engine.records} instead of {embedded.records} ({where})")

    def _has_the_values(self, where: str, engine: Engine, embedded: Engine) -> None:
        for column in embedded.columns:
            own, other = engine.domain(column.name), embedded.domain(column.name)
            same = own.values.tolist() == other.values.tolist() and own.is_text == other.is_text
            place = f"of column {column.name!r} ({where})"
            self.subject.require(same, "distinct values", f"they must be the embedded engine's, {place}")
            counts = own.counts.tolist() == other.counts.tolist() and own.nulls == other.nulls
            self.subject.require(counts, "distinct values", f"their counts must be the embedded engine's, {place}")

    def _has_the_codes(self, where: str, engine: Engine, embedded: Engine) -> None:
        domains = domains_of(engine)
        same = cells_of(domains, map(CountedCodes, engine.batches(domains))) == _records(embedded)
        self.subject.require(same, "codes", f"decoded, they must be the table's records ({where})")

    def _counts(self, where: str, engine: Engine, embedded: Engine) -> None:
        domains = domains_of(engine)
        for _ in range(2):  # what is read once may be gone
            same = cells_of(domains, engine.counted(domains)) == _records(embedded)
            self.subject.require(same, "counted codes", f"they must stand for the table's records ({where})")

    def _draws(self, where: str, engine: Engine, embedded: Engine) -> None:
        names = [column.name for column in embedded.columns]
        for position, by in list(enumerate(names))[1:]:  # numbers, decimal numbers, and text of any kind
            sampling = Sampling(by, Fraction(1, 2), 7)
            expected = _drawn(embedded, position, sampling)
            place = f"by column {by!r} ({where})"
            with open_engine(engine.sample(names, sampling), MEMORY) as sample:
                same = _records(sample) == expected
            self.subject.require(same, "sample", f"it must have the records that are drawn and no others, {place}")
            counted = engine.repeats(by) == Engine.repeats(embedded, by)
            self.subject.require(counted, "sample", f"`repeats` must count as the distinct values do, {place}")

    def _keeps_classes_whole(self, where: str, engine: Engine, embedded: Engine) -> None:
        domains = domains_of(engine)
        shards = engine.shards(domains, domains[:2], 4)
        if shards is None:
            return
        with shards:
            parts = [cells_of(domains, [shard]) for shard in shards.each(lambda shard: shard)]
        same = sum(parts, Counter()) == _records(embedded)
        self.subject.require(same, "shards", f"together they must be the table's records ({where})")
        homes = Counter(known for part in parts for known in {row[:2] for row in part})
        whole = all(count == 1 for count in homes.values())
        self.subject.require(whole, "shards", f"records that agree in what decides must be in one ({where})")

    def _gives_the_outcomes(self, where: str, engine: Engine, embedded: Engine) -> None:
        for policy in policies():
            read = read_policy(policy, Plugins.load(external=False))
            own, other = (_plain(evaluate(read, one, Options(memory=MEMORY))) for one in (engine, embedded))
            differing = [one["check"] for one, two in zip(own, other, strict=True) if one != two]
            same = not differing
            self.subject.require(same, "outcomes", f"{differing[:1]} differs from the embedded engine's ({where})")

    def _tells_no_cell(self, where: str, engine: Engine, _: Engine) -> None:
        text = json.dumps([engine.name, engine.uri, [str(one) for one in engine.columns], engine.sha256()])
        self.subject.require(MARKER not in text, "no cell in evidence", f"a cell of the table is shown ({where})")


def _records(embedded: Engine) -> Counter[Row]:
    domains = domains_of(embedded)
    return cells_of(domains, embedded.counted(domains))


def _drawn(embedded: Engine, position: int, sampling: Sampling) -> Counter[Row]:
    """The records whose value is drawn."""
    raw = embedded.domain(sampling.by)
    drawn = {*texts_of(raw.values)[sampling.drawn_of(raw)[:-1]].tolist()}
    return Counter({row: times for row, times in _records(embedded).items() if row[position] in drawn})


def _plain(outcomes: tuple[Outcome, ...]) -> list[dict[str, Any]]:
    """Outcomes as a result file has them, without the first record's place: some tables have no order."""
    plain = [json.loads(json.dumps(one.as_json(), default=str)) for one in outcomes]
    return [{**one, "message": one["message"].split(", first in record")[0]} for one in plain]
