"""A sample by a key has the same records in every engine: those that the hash of the key's text says."""

from __future__ import annotations

from fractions import Fraction
from hashlib import md5
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines.base import BorrowedEngine, Engine, Sampling
from tcdp_audit.core.engines.opening import open_engine

LONG = pytest.mark.long
MEMORY = 2**28
HALF = Sampling("id", Fraction(1, 2), 7)
KEYS = {
    "text": [f"Person {number} ü" for number in range(200)],
    "integers": [number * 10**15 - 7 for number in range(200)],
    "decimal numbers": [number / 4 for number in range(200)],
}


def drawn(keys: list[Any]) -> list[int]:
    """By the definition: positions of the keys whose hash begins with one of the lower eight digits."""
    texts = [str(int(key)) if isinstance(key, float) and key.is_integer() else str(key) for key in keys]
    hashes = [md5(f"7/{text}".encode(), usedforsecurity=False).hexdigest() for text in texts]
    return [place for place, one in enumerate(hashes) if one[0] in "01234567"]


def opened(table: pa.Table, form: str, folder: Path) -> Engine:
    path = folder / f"release.{form}"
    if form == "csv":
        csv.write_csv(table, path)
    elif form == "parquet":
        parquet.write_table(table, path)
    elif form == "arrow":
        feather.write_feather(table, path)
    return BorrowedEngine(open_engine(table if form == "frame" else path, MEMORY))


@pytest.mark.parametrize(
    "form", ["frame", "csv", pytest.param("parquet", marks=LONG), pytest.param("arrow", marks=LONG)]
)
@pytest.mark.parametrize("keys", KEYS)
def test_the_same_records_are_drawn(keys: str, form: str, tmp_path: Path) -> None:
    table = pa.table({"id": KEYS[keys], "place": np.arange(200)})

    with opened(table, form, tmp_path) as engine:
        sample = engine.sample(["place", "id"], HALF)

    expected = drawn(KEYS[keys])
    assert 70 < len(expected) < 130
    assert sample.column_names == ["place", "id"]
    assert sorted(map(int, sample["place"].to_pylist())) == expected


def test_other_seeds_draw_other_records_and_larger_shares_more() -> None:
    texts = KEYS["text"]
    shares = [Sampling("id", Fraction(share, 8), 7).drawn(texts) for share in range(9)]

    assert [one.sum() for one in (shares[0], shares[8])] == [0, 200]
    assert all((less <= more).all() for less, more in pairwise(shares))
    assert (Sampling("id", Fraction(1, 2), 8).drawn(texts) != shares[4]).any()


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_records_without_a_key_are_counted_and_not_drawn(form: str, tmp_path: Path) -> None:
    keys = [None if place < 20 else f"k{place // 2}" for place in range(61)]
    with opened(pa.table({"id": keys, "place": np.arange(61)}), form, tmp_path) as engine:
        sample = engine.sample(["id", "place"], Sampling("id", Fraction(1), 0))

        assert sorted(map(int, sample["place"].to_pylist())) == list(range(20, 61))
        assert engine.repeats("id") == (20, 20)
        assert engine.repeats("place") == (0, 0)


def test_a_column_without_single_cells_cannot_be_sampled() -> None:
    with open_engine(pa.table({"id": KEYS["text"], "all": [[1]] * 200}), MEMORY) as engine:
        for ask in (lambda: engine.sample(["all", "id"], HALF), lambda: engine.repeats("all")):
            with pytest.raises(DataError, match="column 'all' holds nested or binary data"):
                ask()
