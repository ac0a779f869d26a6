"""The conformance suite of engines: a sound one conforms, and each way to be wrong is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from tcdp_audit.plugin.engine import (
    Column,
    CountedCodes,
    Domain,
    Engine,
    EngineOpener,
    MappedShards,
    Measure,
    RawDomain,
    grouped_engine,
    streamed_engine,
)
from tcdp_audit.testing import ConformanceError, check_conforms, properties_of

PLACES: dict[str, pa.Table] = {}


def place(table: pa.Table) -> str:
    """Tables by a URL of their own."""
    PLACES[f"shelf://{len(PLACES)}"] = table
    return f"shelf://{len(PLACES) - 1}"


def is_of_shelf(table: Any) -> bool:
    return isinstance(table, str) and table.startswith("shelf://")


def counted(url: str, name: str, memory: int) -> Engine:
    table = PLACES[url]
    groups = table.group_by(table.column_names, use_threads=False).aggregate([([], "count_all")])
    groups = groups.select([*table.column_names, "count_all"])
    return grouped_engine(groups.to_reader(100), name, url, memory)


def streamed(url: str, name: str, memory: int) -> Engine:
    return streamed_engine(PLACES[url].to_reader(100), name, url, memory)


def opener(open_: Callable[[str, str, int], Engine], **changed: Any) -> EngineOpener:
    whole = {"name": "shelf", "title": "Shelf", "summary": "Tables on a shelf.", "accepts": is_of_shelf, **changed}
    return EngineOpener(open=open_, **whole)


@pytest.mark.long
@pytest.mark.parametrize("open_", [counted, streamed])
def test_engines_over_streams_conform(open_: Callable[[str, str, int], Engine]) -> None:
    check_conforms(opener(open_), {"place": place})


def test_without_a_place_only_the_specification_is_examined() -> None:
    assert [one.name for one in properties_of(opener(counted))] == ["name", "specification", "acceptance"]
    assert len(properties_of(opener(counted), {"place": place})) == 12


class Wrapped:
    """An engine with one method replaced."""

    def __init__(self, method: str, change: Callable[[Any], Any]) -> None:
        self.method, self.change = method, change

    def __call__(self, url: str, name: str, memory: int) -> Engine:
        engine = counted(url, name, memory)
        original = getattr(type(engine), self.method)
        if isinstance(original, property):
            changed: Any = property(lambda one: self.change(original.__get__(one)))
        else:

            def changed(*arguments: Any) -> Any:
                return self.change(original(*arguments))

        kind = type("Changed", (type(engine),), {self.method: changed})
        engine.__class__ = kind
        return engine


def without_times(parts: Iterator[CountedCodes]) -> Iterator[CountedCodes]:
    return (CountedCodes(rows.codes) for rows in parts)


def without_the_last(parts: Iterator[CountedCodes]) -> Iterator[CountedCodes]:
    return (rows.take(np.arange(rows.rows - 1)) for rows in parts)


def lower_case(raw: RawDomain) -> RawDomain:
    if not raw.is_text:
        return raw
    return RawDomain(np.array([*(one.lower() for one in raw.values), None], object)[:-1], raw.counts, raw.nulls)


def without_nulls(raw: RawDomain) -> RawDomain:
    return RawDomain(raw.values, raw.counts, 0)


def as_text(raw: RawDomain) -> RawDomain:
    return RawDomain(np.array([*map(str, raw.values.tolist()), None], object)[:-1], raw.counts, raw.nulls)


def upside_down(columns: Sequence[Column]) -> Sequence[Column]:
    return columns[::-1]


class Split(MappedShards):
    """Records in two shards whatever they are."""

    count = 2

    def __init__(self, parts: Sequence[CountedCodes]) -> None:
        self.parts = parts

    def map(self, prepare: Callable[[CountedCodes], Measure[Any]], parts: int = 1) -> Iterator[Any]:
        for shard in self.parts:
            yield prepare(shard)((0, parts))


def split_anywhere(url: str, name: str, memory: int) -> Engine:
    engine = counted(url, name, memory)

    def shards(domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> MappedShards:
        del by, wanted
        whole = CountedCodes.joined([*engine.counted(domains)])
        records = whole.take(np.repeat(np.arange(whole.rows), whole.each)).codes
        return Split([CountedCodes(records).take(slice(one, None, 2)) for one in (0, 1)])

    patch.object(engine, "shards", shards).start()
    return engine


@pytest.mark.parametrize(
    ("wrong", "lack"),
    [
        (Wrapped("columns", upside_down), "columns"),
        (Wrapped("records", lambda records: records + 1), "records"),
        (Wrapped("domain", lower_case), "distinct values"),
        (Wrapped("domain", without_nulls), "distinct values"),
        (Wrapped("domain", as_text), "distinct values"),
        (Wrapped("batches", lambda batches: list(batches)[:0]), "codes"),
        (Wrapped("counted", without_times), "counted codes"),
        (Wrapped("counted", without_the_last), "counted codes"),
        (Wrapped("sha256", lambda _: "zqcell01"), "no cell in evidence"),
        (Wrapped("sample", lambda table: table.slice(1)), "sample"),
        (Wrapped("repeats", lambda repeats: repeats[::-1]), "sample"),
        (split_anywhere, "shards"),
    ],
)
def test_what_is_wrong_is_caught(wrong: Callable[[str, str, int], Engine], lack: str) -> None:
    (conforms,) = (one for one in properties_of(opener(wrong), {"place": place}) if one.name == lack)
    with pytest.raises(ConformanceError, match=f"engine 'shelf': {lack}: "):
        conforms()


def test_a_type_that_is_lost_is_expected_and_got_with_its_cause() -> None:
    properties = properties_of(opener(Wrapped("domain", as_text)), {"place": place})
    (conforms,) = (one for one in properties if one.name == "distinct values")
    with pytest.raises(ConformanceError) as caught:
        conforms()
    assert str(caught.value) == (
        "engine 'shelf': distinct values: whether the values are text: expected False, got True "
        "(column 'Age of person'; many records); usual cause: the type is lost where all values are missing, or "
        "numbers are read as text; build the Arrow table with the column's own type, not from Python lists"
    )


@pytest.mark.parametrize(
    ("changed", "lack"),
    [
        ({"name": "Shelf"}, "name"),
        ({"title": " "}, "specification"),
        ({"accepts": lambda _: True}, "acceptance"),
        ({"accepts": lambda table: "shelf" in table}, "acceptance"),
    ],
)
def test_what_an_opener_says_of_itself_is_examined(changed: dict[str, Any], lack: str) -> None:
    with pytest.raises(ConformanceError, match=f": {lack}: "):
        check_conforms(opener(counted, **changed))
