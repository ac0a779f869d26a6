"""A table under other names and codes answers all questions as the same table written with them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit.api import Plugins
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.engines.base import Engine, Sampling, Translation, domain_as_typed
from tcdp_audit.core.engines.mapped import TranslatedEngine
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.tables import open_table

MEMORY = 2**26
PLUGINS = Plugins.load(external=False)
Row = tuple[int | None, float | None, str | None, str]
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from([1.0, 2.0, 2.5]),
        st.none() | st.sampled_from(["1", "2", "x"]),
        st.sampled_from(["Ava", "Bex"]),
    ),
    min_size=1,
    max_size=12,
)
COLUMNS = {"sex": "gender", "town": "city", "city": "village", "weight": "kg"}
CODES = {"sex": {"M": ["1"], "F": ["2", "3"]}, "weight": {"light": ["1"], "2.5": ["2"]}, "town": {"Anna": ["Ava"]}}


def theirs(rows: Sequence[Row]) -> pa.Table:
    """Columns gender, kg, village and city, and another `weight`, which is not ours."""
    gender, kg, village, city = zip(*rows, strict=True)
    columns = [pa.array(gender, pa.int64()), pa.array(kg, pa.float64()), pa.array(village, pa.string()), pa.array(city)]
    return pa.table([*columns, pa.array(range(len(rows)))], names=["gender", "kg", "village", "city", "weight"])


def ours(rows: Sequence[Row]) -> pa.Table:
    """The same as if it had been written with our names and values."""
    sexes = [{None: None, 1: "M", 2: "F", 3: "F"}.get(one, str(one)) for one, _, _, _ in rows]
    weights = [{None: None, 1.0: "light", 2.0: "2.5"}.get(one, str(one)) for _, one, _, _ in rows]
    towns = ["Anna" if city == "Ava" else city for *_, city in rows]
    columns = [sexes, weights, [village for _, _, village, _ in rows], towns]
    return pa.table([pa.array(one, pa.string()) for one in columns], names=["sex", "weight", "city", "town"])


def translated(engine: Engine) -> Engine:
    return TranslatedEngine(engine, Translation("p.yaml:2: population", {}, COLUMNS, CODES))


def records(engine: Engine, *, counted: bool) -> list[tuple[Any, ...]]:
    """The records as values; where they are counted, in their order of text."""
    domains = [domain_as_typed(one.name, engine.domain(one.name)) for one in engine.columns]
    rows: list[tuple[Any, ...]] = []
    for batch in engine.counted(domains) if counted else engine.batches(domains):
        values = [[*one.values.tolist(), None] for one in domains]
        cells = [[own[code] for code in batch[one.attribute]] for own, one in zip(values, domains, strict=True)]
        times = getattr(batch, "times", None)
        each = np.ones(len(cells[0]), int) if times is None else times
        rows += [row for row, many in zip(zip(*cells, strict=True), each, strict=True) for _ in range(many)]
    return sorted(rows, key=repr) if counted else rows


def assert_alike(one: Engine, other: Engine) -> None:
    """Whether two tables give the same answers to all questions."""
    assert [column.name for column in one.columns] == [column.name for column in other.columns]
    assert one.records == other.records
    for column in other.columns:
        own, their = one.domain(column.name), other.domain(column.name)
        assert (own.values.tolist(), own.counts.tolist(), own.nulls) == (
            their.values.tolist(),
            their.counts.tolist(),
            their.nulls,
        )
        assert one.repeats(column.name) == other.repeats(column.name)
        sought = their.values[:1]
        if one.ordered and len(sought):
            assert one.locate(column.name, sought) == other.locate(column.name, sought)
    assert records(one, counted=True) == records(other, counted=True)
    for names in (["sex", "city"], ["city"]):
        drawn, wanted = (each.sample(names, Sampling("city", Fraction(1, 2), 3)) for each in (one, other))
        assert sorted(map(repr, drawn.to_pylist())) == sorted(map(repr, wanted.to_pylist()))
    if one.ordered:
        assert records(one, counted=False) == records(other, counted=False)
        assert one.table().to_pylist() == other.table().to_pylist()


@pytest.mark.long
@settings(max_examples=30)
@given(ROWS)
def test_a_table_in_memory_answers_as_the_twin(rows: list[Row]) -> None:
    with open_engine(theirs(rows), MEMORY) as engine, open_engine(ours(rows), MEMORY) as twin:
        assert_alike(translated(engine), twin)


ROWS_OF_FILES: list[Row] = [(1, 1.0, "1", "Ava"), (2, 2.5, "x", "Bex"), (3, 2.0, "2", "Ava"), (0, 2.5, "x", "Bex")] * 3


def written(kind: str, table: pa.Table, place: Path) -> str:
    path = place.with_suffix(f".{kind}")
    if kind == "csv":
        pyarrow.csv.write_csv(table, path)
    elif kind == "parquet":
        pq.write_table(table, path)
    else:
        with duckdb.connect(path) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
        return f"duckdb:///{path}?table=people"
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "db"])
def test_a_file_or_a_database_answers_as_the_twin(kind: str, tmp_path: Path) -> None:
    there, here = (
        written(kind, table, tmp_path / name)
        for name, table in (("theirs", theirs(ROWS_OF_FILES)), ("ours", ours(ROWS_OF_FILES)))
    )
    with (
        open_table(there, "population", MEMORY, PLUGINS) as engine,
        open_table(here, "population", MEMORY, PLUGINS) as twin,
    ):
        engine.group_by(["gender", "city", "village", "kg"])
        assert_alike(translated(engine), twin)


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    place = written("csv", theirs(ROWS_OF_FILES), tmp_path / "theirs")
    with open_engine(place, MEMORY) as engine:
        read = translated(engine)
        assert read.sha256() == content_digest(Path(place))
        assert (read.uri, read.name, read.path) == (engine.uri, engine.name, engine.path)
        assert read.translation is not None
        assert read.translation.hidden == 1


@pytest.mark.parametrize(
    ("columns", "codes", "message"),
    [
        pytest.param(
            {"sex": "gendr"},
            {},
            "p.yaml:4: population.columns.sex: the release has no column 'gendr'; did you mean 'gender'?",
            id="a column with another name",
        ),
        pytest.param(
            {},
            {"sex": {"M": ["1"]}},
            "p.yaml:4: population.columns.sex: the release has no column 'sex'; name its column under `columns:`, or "
            "leave its codes out",
            id="codes of a column",
        ),
    ],
)
def test_a_column_that_the_table_lacks_is_an_error(
    columns: dict[str, str], codes: dict[str, dict[str, list[str]]], message: str
) -> None:
    places = {"sex": "p.yaml:4: population.columns.sex"}
    with open_engine(theirs(ROWS_OF_FILES), MEMORY) as engine, pytest.raises(DataError) as raised:
        TranslatedEngine(engine, Translation("p.yaml:2: population", places, columns, codes))

    assert str(raised.value).replace(engine.name, "the release") == message
