"""Shards: every record once, no class in two of them, readable again, and nothing left on disk."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcdp_audit.core.classes.shards import MOST_SHARDS, SHARD_RECORDS, LocalShards, Plan, partition, plan
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain

RECORDS = 5000


def domain(name: str, size: int) -> Domain:
    values = np.arange(size)
    return Domain(name, values, np.ones(size, dtype=np.int64), 0, values)


DOMAINS = [domain("zip", 300), domain("age", 90), domain("disease", 12)]


class Table:
    """The only parts of an engine that partitioning needs."""

    records = RECORDS

    def __init__(self, *, fails_after: int | None = None, counted: bool = False) -> None:
        draw = np.random.default_rng(3)
        sizes = {one.attribute: one for one in DOMAINS}
        self.codes = {n: draw.integers(0, d.size + 1, RECORDS).astype(d.dtype) for n, d in sizes.items()}
        self.times = draw.integers(1, 9, RECORDS) if counted else None
        self.fails_after = fails_after

    def shards(self, *_: Any) -> None:
        return None

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        for number, start in enumerate(range(0, RECORDS, 700)):
            if number == self.fails_after:
                raise RuntimeError("the disk is gone")
            piece = slice(start, start + 700)
            yield CountedCodes({one.attribute: self.codes[one.attribute] for one in domains}, self.times).take(piece)

    def rows(self) -> Counter[tuple[int, ...]]:
        return Counter(rows_of(CountedCodes(self.codes, self.times)))


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def shards_of(table: Table, chosen: Plan, by: Sequence[Domain] = DOMAINS[:2], **options: Any) -> LocalShards:
    return partition(table, DOMAINS, by, chosen, **options)  # type: ignore[arg-type]


def rows_of(shard: CountedCodes) -> list[tuple[int, ...]]:
    """Codes of each row and how many records it stands for."""
    return list(zip(*(shard[one.attribute].tolist() for one in DOMAINS), shard.each.tolist(), strict=True))


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("spill", [False, True])
@pytest.mark.parametrize("count", [1, *(pytest.param(one, marks=pytest.mark.long) for one in (2, 7, 512)), 64])
def test_every_record_is_in_one_shard_and_no_class_in_two(
    scratch: Path, count: int, spill: bool, counted: bool
) -> None:
    table = Table(counted=counted)
    with shards_of(table, Plan(count, spill)) as shards:
        parts = [rows_of(shard) for shard in shards]
        again = [rows_of(shard) for shard in shards]
    assert again == parts
    assert sum((Counter(part) for part in parts), Counter()) == table.rows()
    homes: dict[tuple[int, ...], set[int]] = {}
    for number, part in enumerate(parts):
        for row in part:
            homes.setdefault(row[:2], set()).add(number)
    assert {len(match) for match in homes.values()} == {1}
    assert (len(parts) > 1) == (count > 1)
    assert list(scratch.iterdir()) == []


def test_spilled_codes_keep_their_type_and_an_empty_shard_is_empty() -> None:
    with shards_of(Table(), Plan(1024, spill=True), by=DOMAINS[:1]) as shards:
        whole = [shards.read(number) for number in range(1024)]
    assert any(not shard for shard in whole)
    types = {name: {shard[name].dtype for shard in whole if shard} for name in ("zip", "age")}
    assert types == {"zip": {np.dtype(np.uint16)}, "age": {np.dtype(np.uint8)}}


def test_without_a_common_attribute_there_is_one_shard() -> None:
    with shards_of(Table(), Plan(7, spill=False), by=[]) as shards:
        assert shards.count == 1
        assert [len(rows_of(shard)) for shard in shards] == [RECORDS]


@pytest.mark.parametrize("fails_after", [0, 3])
def test_a_failure_while_reading_leaves_nothing_on_disk(scratch: Path, fails_after: int) -> None:
    with pytest.raises(RuntimeError, match="the disk is gone"):
        shards_of(Table(fails_after=fails_after), Plan(7, spill=True))
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_while_measuring_leaves_nothing_on_disk(scratch: Path, error: type[BaseException]) -> None:
    shards = shards_of(Table(), Plan(7, spill=True))
    assert len(list(scratch.iterdir())) == 1
    with pytest.raises(error), shards:
        raise error
    assert list(scratch.iterdir()) == []


def test_progress_reports_the_records_read_so_far() -> None:
    reported: list[tuple[str, int, int]] = []
    shards_of(Table(), Plan(2, spill=False), progress=lambda *step: reported.append(step))
    assert reported[0] == ("reading", 700, RECORDS)
    assert reported[-1] == ("reading", RECORDS, RECORDS)


def test_the_plan_follows_the_memory() -> None:
    bytes_a_record = sum(one.dtype.itemsize for one in DOMAINS)
    assert bytes_a_record == 4
    assert plan(1000, DOMAINS, 2**30, 2) == Plan(1, spill=False)
    assert plan(SHARD_RECORDS + 1, DOMAINS, 2**34, 2) == Plan(2, spill=False)
    assert plan(10**9, DOMAINS, 2**30, 2).spill
    assert not plan(2**26, DOMAINS, 2**30, 2).spill
    assert plan(2**26 + 1, DOMAINS, 2**30, 2).spill
    assert plan(10**12, DOMAINS, 2**26, 64).shards == MOST_SHARDS
