"""The properties of an engine: it gives what the embedded engine gives of the same table, and the same outcomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.api import Options, Plugins, domain_of, evaluate, open_engine, open_with, read_policy, texts_of
from tcdp_audit.plugin.detector import AttributeDeclaration, Conventions, Role
from tcdp_audit.plugin.engine import CountedCodes, Domain, Engine, Sampling
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit.testing.conformance import Suite

MEMORY = 2**28
OTHERS = (Path("release.csv"), "release.csv", "data/release.parquet", pa.table({"zip": ["a"]}), {"zip": ["a"]}, None)
LOST_TYPE = (
    "the type is lost where all values are missing, or numbers are read as text; build the Arrow table with the "
    "column's own type, not from Python lists"
)
ORDER = "another order or type: numbers ascend, text by its code points; whole numbers are int64 and never pass a float"
TIMES = "rows are sent without how often they occur, a batch is lost, or codes follow another order than the domain"
Place = Callable[[pa.Table], Any]
Row = tuple[Any, ...]
MARKER = "zqcell"
CONVENTIONS = ("own_category", "wildcard", "fail")


class EngineSuite(Suite):
    """An opener, and the engines that it makes of some tables.

    Given `place`, which puts an Arrow table where the engine finds it and returns what the opener is to be given.
    Without it only what the opener says of itself is examined.
    """

    kind = "engine"

    @cached_property
    def place(self) -> Place | None:
        """What puts tables where the engine finds them."""
        place = self.given.get("place")
        self.subject.require(place is None or callable(place), "acceptance", "`place` must be a function of a table")
        return place

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        of_itself: dict[str, Callable[[], None]] = {
            "specification": self._says_what_it_is,
            "acceptance": self._accepts_its_own_only,
        }
        if self.given.get("place") is None:
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
            "no cell in evidence": self._shows_no_cell,
        }
        return of_itself | {name: partial(self._on_every_table, one) for name, one in of_tables.items()}

    def _says_what_it_is(self) -> None:
        self.subject.require_texts(
            {"title": self.specification.title, "summary": self.specification.summary}, "specification"
        )

    def _accepts_its_own_only(self) -> None:
        for other in OTHERS:
            answer = self.specification.accepts(other)
            what = f"a {type(other).__name__}, which is the embedded engine's or no engine's"
            self.subject.require(answer is False, "acceptance", f"it must be False for {what}")
        for where, _, location in self._placed:
            self.subject.require(
                self.specification.accepts(location) is True, "acceptance", f"it must be True ({where})"
            )

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
        with open_with(self.specification, location, "release", MEMORY) as engine:
            yield engine

    def _has_the_columns(self, where: str, engine: Engine, embedded: Engine) -> None:
        names, expected = ([column.name for column in one.columns] for one in (engine, embedded))
        sentence, cause = "they must be those of the table, in its order", "names in capitals, quoted or sorted"
        self.subject.at(where).require_equal(names, expected, "columns", sentence, cause)

    def _has_the_records(self, where: str, engine: Engine, embedded: Engine) -> None:
        sentence, cause = "the number of records", "groups or distinct rows that are counted as records"
        self.subject.at(where).require_equal(engine.records, embedded.records, "records", sentence, cause)

    def _has_the_values(self, where: str, engine: Engine, embedded: Engine) -> None:
        for column in embedded.columns:
            own, other = engine.domain(column.name), embedded.domain(column.name)
            at = self.subject.at(f"column {column.name!r}; {where}")
            at.require_equal(own.is_text, other.is_text, "distinct values", "whether the values are text", LOST_TYPE)
            at.require_equal(own.values, other.values, "distinct values", "they must be the embedded engine's", ORDER)
            sentence, cause = "their counts must be the embedded engine's", "distinct rows that are counted once"
            at.require_equal(own.counts, other.counts, "distinct values", sentence, cause)
            sentence, cause = "the number of missing values", "missing values taken for a text, zero or NaN"
            at.require_equal(own.nulls, other.nulls, "distinct values", sentence, cause)

    def _has_the_codes(self, where: str, engine: Engine, embedded: Engine) -> None:
        domains = domains_of(engine)
        records = cells_of(domains, map(CountedCodes, engine.batches(domains)))
        self._require_records(where, records, _records(embedded), "codes", "decoded, they must be the table's records")

    def _counts(self, where: str, engine: Engine, embedded: Engine) -> None:
        domains = domains_of(engine)
        for _ in range(2):  # what is read once may be gone
            records = cells_of(domains, engine.counted(domains))
            sentence = "they must stand for the table's records"
            self._require_records(where, records, _records(embedded), "counted codes", sentence)

    def _draws(self, where: str, engine: Engine, embedded: Engine) -> None:
        names = [column.name for column in embedded.columns]
        for position, by in list(enumerate(names))[1:]:  # numbers, decimal numbers, and text of any kind
            sampling = Sampling(by, Fraction(1, 2), 7)
            expected = _drawn(embedded, position, sampling)
            place = f"by column {by!r}; {where}"
            with open_engine(engine.sample(names, sampling), MEMORY) as sample:
                records = _records(sample)
            self._require_records(place, records, expected, "sample", "it must have the drawn records and no others")
            repeats, wanted = engine.repeats(by), Engine.repeats(embedded, by)
            sentence = f"`repeats` must count as the distinct values do: expected {wanted}, got {repeats}"
            self.subject.at(place).require(repeats == wanted, "sample", sentence, "text that is counted by its hash")

    def _keeps_classes_whole(self, where: str, engine: Engine, embedded: Engine) -> None:
        domains = domains_of(engine)
        shards = engine.shards(domains, domains[:2], 4)
        if shards is None:
            return
        with shards:
            parts = [cells_of(domains, [shard]) for shard in shards.each(lambda shard: shard)]
        together: Counter[Row] = sum(parts, Counter())
        sentence = "together they must be the table's records"
        self._require_records(where, together, _records(embedded), "shards", sentence)
        homes = Counter(known for part in parts for known in {row[:2] for row in part})
        whole = all(count == 1 for count in homes.values())
        sentence, cause = "records that agree in what decides must be in one", "shards by position, not by `by`"
        self.subject.at(where).require(whole, "shards", sentence, cause)

    def _require_records(
        self, where: str, records: Counter[Row], expected: Counter[Row], property_: str, sentence: str
    ) -> None:
        """Insist on the records of a table, in any order."""
        row = next((one for one in expected | records if records[one] != expected[one]), None)
        if row is not None:
            difference = f"record {row}: expected {expected[row]:,} times, got {records[row]:,}"
            raise self.subject.at(where).lacks(property_, f"{sentence}: {difference}", TIMES)

    def _gives_the_outcomes(self, where: str, engine: Engine, embedded: Engine) -> None:
        for policy in policies():
            read = read_policy(policy, Plugins.load(external=False))
            own, other = (_plain(evaluate(read, one, Options(memory=MEMORY))) for one in (engine, embedded))
            for outcome, expected in zip(own, other, strict=True):
                sentence = f"that of {expected['check']} differs from the embedded engine's"
                self.subject.at(where).require_equal(outcome, expected, "outcomes", sentence, LOST_TYPE)

    def _shows_no_cell(self, where: str, engine: Engine, _: Engine) -> None:
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


def tables() -> Mapping[str, pa.Table]:
    """Tables of text, integers and decimal numbers, by what is remarkable in them."""
    draw = np.random.default_rng(7)
    n = 400
    zips = [f"{MARKER}0{one}" for one in draw.integers(0, 40, n)]
    ages = [None if one == 9 else int(one) for one in draw.integers(0, 10, n)]
    costs = [None if one == 5 else float(one) / 4 for one in draw.integers(0, 6, n)]
    answers = [("flu", "Flu", "flu ", "", None, "ça", "日本")[one] for one in draw.integers(0, 7, n)]
    return {
        "many records": _table(zips, ages, costs, answers),
        "one record": _table([f"{MARKER}1"], [1], [0.1], ["flu"]),
        "nothing but missing values": _table([None] * 3, [None] * 3, [None] * 3, [None] * 3),
        "large numbers": _table(
            ["a", "b"] * 2, [2**53, 2**53 + 1, -(2**62), 2**53], [1e308, 5e-324, 0.1, 0.1], ["x"] * 4
        ),
    }


def _table(zips: list[Any], ages: list[Any], costs: list[Any], answers: list[Any]) -> pa.Table:
    return pa.table(
        {
            "zip": pa.array(zips, pa.string()),
            "Age of person": pa.array(ages, pa.int64()),
            "cost": pa.array(costs, pa.float64()),
            "select": pa.array(answers, pa.string()),
        }
    )


def policies() -> Iterable[Mapping[str, Any]]:
    """Policies for such a table, one for each way to treat a missing quasi-identifier, and one with entities."""
    for convention in CONVENTIONS:
        yield _policy({"missing_quasi_identifier": convention}, {})
    yield _policy({"reference": "release"}, {"unit": "zip"})


def _policy(conventions: Mapping[str, str], further: Mapping[str, str]) -> Mapping[str, Any]:
    role = "insensitive" if further else "quasi_identifier"
    return {
        "version": 1,
        "attributes": {
            "zip": {"role": role},
            "Age of person": {"role": "quasi_identifier", "scale": "numeric"},
            "cost": {"role": "sensitive", "scale": "numeric"},
            "select": {"role": "sensitive"},
        },
        "conventions": dict(conventions),
        "expect": [
            {"k_anonymity": {"k": 3}},
            {"distinct_l_diversity": {"l": 2}},
            {"t_closeness": {"t": 0.4, "attribute": "cost", "distance": "ordered"}},
            {"sample_uniqueness": {"at_most": 0.1}},
        ],
        **further,
    }


def domains_of(engine: Engine) -> list[Domain]:
    """The domain of every column, with its texts and numbers as they are."""
    declared, conventions = AttributeDeclaration(role=Role.INSENSITIVE), Conventions(missing_tokens=[])
    return [domain_of(one.name, engine.domain(one.name), declared, conventions)[0] for one in engine.columns]


def cells_of(domains: Sequence[Domain], parts: Iterable[CountedCodes]) -> Counter[Row]:
    """Number of records of each row of cells."""
    records: Counter[Row] = Counter()
    for rows in parts:
        columns = [[*one.values.tolist(), None] for one in domains]
        coded = [rows[one.attribute].tolist() for one in domains]
        for *codes, times in zip(*coded, rows.each.tolist(), strict=True):
            records[tuple(column[code] for column, code in zip(columns, codes, strict=True))] += times
    return records
