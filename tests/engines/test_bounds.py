"""Files that are small and would take much: they end in a sentence, within seconds and within the memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.engines.json_lines import FEW_KEYS, MOST_KEYS
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.source import cells_of_files

MEMORY = 2**28
PEAK = (  # of this program alone, which `ru_maxrss` is not
    "import re, sys; from pathlib import Path; from tcdp_audit import audit\n"
    "asked = {'version': 1, 'attributes': {'a': {'role': 'quasi_identifier'}, 's': {'role': 'sensitive'}},"
    " 'expect': [{'k_anonymity': {'k': 2}}]}\n"
    "print(audit(sys.argv[1], asked, memory=2**28).status)\n"
    "print(int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) // 1024)"
)


def written(path: Path, records: list[dict[str, int]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ([{f"k{i}": 1} for i in range(4_000)], "hardly two records have the same keys"),
        ([{f"k{i}": 1 for i in range(MOST_KEYS + 1)}] * 2, "records have more than 2,000 different keys"),
    ],
    ids=["a key for each record", "many keys in each record"],
)
def test_json_lines_of_many_keys_are_refused(tmp_path: Path, records: list[dict[str, int]], sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        open_engine(written(tmp_path / "r.jsonl", records), MEMORY)
    assert str(caught.value) == f"{tmp_path}/r.jsonl: {sentence}; write the table as CSV or Parquet"


def test_keys_that_come_later_are_columns_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcdp_audit.core.engines.json_lines.BLOCK_BYTES", 64)
    many = {f"k{i}": i for i in range(FEW_KEYS + 1)}
    with open_engine(written(tmp_path / "r.jsonl", [{"a": 1}, {"a": 2, "b": 3}, many, {"a": 4}]), 2**30) as engine:
        table = engine.table().to_pydict()
        kinds = engine.token_kinds()
    assert table["a"] == ["1", "2", None, "4"]
    assert table["b"] == [None, "3", None, None]
    assert table["k64"] == [None, None, "64", None]
    assert kinds is not None
    assert len(table) == kinds.num_columns == 67


def test_a_column_whose_chunk_outgrows_its_room_is_not_for_arrow(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x" * 50_000, "y"], "n": [1, 2]}), tmp_path / "r.parquet")
    cells = cells_of_files([tmp_path / "r.parquet"])
    assert cells(0, "VARCHAR", 40_000) is None
    assert cells(0, "VARCHAR", 90_000) is not None
    assert cells(1, "BIGINT", 1) is not None


@pytest.mark.long
def test_cells_of_sixty_megabytes_stay_within_the_memory(tmp_path: Path) -> None:
    cells = pa.array([("x" * 60_000_000) + str(number) for number in range(10, 16)])
    pq.write_table(pa.table({"a": cells, "s": ["1"] * 6}), tmp_path / "r.parquet")
    command = [sys.executable, "-c", PEAK, str(tmp_path / "r.parquet")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    status, peak = ran.stdout.split()
    assert status == "error"
    assert int(peak) < 512
