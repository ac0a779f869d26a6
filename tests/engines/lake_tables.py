"""Tables of Delta Lake, Iceberg and Hudi as their folders are, written by hand: four people, three times over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

TABLE = pa.table({"zip": ["01", "02", "03", "04"], "illness": ["flu", "cold", "flu", "cough"]})
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 3}}],
}
FORMATS = {  # where the files of data are, and what is the log
    "Delta Lake": ("", "_delta_log/00000000000000000000.json"),
    "Apache Iceberg": ("data", "metadata/00002-7c8a.metadata.json"),
    "Apache Hudi": ("", ".hoodie/20260101000000000.commit"),
    "Apache Paimon": ("bucket-0", "snapshot/snapshot-1"),
    "DuckLake": ("", "ducklake-0197.parquet"),
    "Hive with transactions": ("", "base_0000002/.keep"),
}


def written(root: Path, kind: str = "Delta Lake", folder: str = "") -> Path:
    """The root of a table of a format whose rows stand in three files, of which only the last counts."""
    data, log = FORMATS[kind]
    place = root / data / folder
    place.mkdir(parents=True)
    for version in range(3):
        pq.write_table(TABLE, place / f"part-0000{version}.snappy.parquet")
    (root / log).parent.mkdir(parents=True, exist_ok=True)
    if log.endswith(".parquet"):
        pq.write_table(TABLE, root / log)
    else:
        (root / log).write_text(json.dumps({"commitInfo": {"operation": "WRITE"}}))
    return root


def data_of(root: Path, kind: str) -> Path:
    """The folder with its files of data."""
    return root / FORMATS[kind][0]
