"""Every check on classes on a million records: the same outcomes from a file, a frame, shards and every database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import million
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from answers import answer
from loaded import Loaded, into_postgresql
from postgres_server import Server

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("a million records")]  # which one worker holds


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return million.file(tmp_path_factory.mktemp("million"))


@pytest.fixture(scope="module")
def table(file: Path) -> pa.Table:
    """In the widest types, as databases take them."""
    narrow = pq.read_table(file)
    wide = [(field.name, field.type if field.type == pa.string() else pa.int64()) for field in narrow.schema]
    return narrow.cast(pa.schema(wide))


@pytest.fixture(scope="module")
def truth(file: Path) -> dict[str, Any]:
    """What the audit of the Parquet file says."""
    expected = answer(file, million.policy())
    outcomes = [one for one in expected["outcomes"] if not one["source"].startswith("tcdp-audit")]
    assert len(outcomes) > 35
    assert {one["status"] for one in outcomes} <= {"passed", "failed", "measured"}
    assert outcomes[0]["classes"]["total"] > 200_000
    assert outcomes[0]["records"]["total"] == million.RECORDS
    return expected


def _csv(table: pa.Table, folder: Path) -> Path:
    pa.csv.write_csv(table, folder / "million.csv")
    return folder / "million.csv"


FORMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": _csv,
    "pandas": lambda table, _: table.to_pandas(),
    "sqlite": lambda table, folder: Loaded(folder).sqlite(table),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_answer(form: str, table: pa.Table, truth: dict[str, Any], tmp_path: Path) -> None:
    assert answer(FORMS[form](table, tmp_path), million.policy()) == truth


def test_shards_change_nothing(file: Path, truth: dict[str, Any]) -> None:
    assert answer(file, million.policy(), shards=16) == truth


@pytest.fixture(scope="module")
def address(server: Server, table: pa.Table) -> str:
    return into_postgresql(server, table, "million")


@pytest.mark.usefixtures("transport")
def test_postgresql_gives_the_same_answer(address: str, truth: dict[str, Any]) -> None:
    assert answer(address, million.policy()) == truth
