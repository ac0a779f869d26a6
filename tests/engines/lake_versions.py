"""Delta and Iceberg tables of a few records, written by the libraries of the formats, and what cannot be written so."""

from __future__ import annotations

import json
import struct
from base64 import b85encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake
from pyiceberg.catalog import load_catalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.typedef import Record
from pyiceberg.utils.config import Config

CATALOGUE = "lake"
DELTA_MAGIC, ROARING_COOKIE = 1_681_511_377, 12_346  # of a deletion vector, and of the bitmap in it
RFC_1924 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def delta(place: Path, *versions: pa.Table, mode: Any = "overwrite", **options: Any) -> str:
    """A Delta table with a version for each table, each in place of the last."""
    for table in versions:
        write_deltalake(str(place), table, mode=mode, **options)
    return f"delta:{place}"


def delete_by_vector(place: Path, rows: Sequence[int]) -> None:
    """Delete rows of a Delta table of one file by a deletion vector in its log, as the protocol has it.

    deltalake writes none. The vector is a list of bitmaps in the portable form of Roaring, here one array of an even
    number of places below 2^16.
    """
    log = place / "_delta_log"
    last = max(log.glob("*.json"))
    add = next(one["add"] for one in map(json.loads, last.read_text("utf-8").splitlines()) if "add" in one)
    bitmap = struct.pack("<IIHHI", ROARING_COOKIE, 1, 0, len(rows) - 1, 16) + struct.pack(f"<{len(rows)}H", *rows)
    vector = struct.pack("<IqI", DELTA_MAGIC, 1, 0) + bitmap
    text = b85encode(vector).translate(bytes.maketrans(RFC_1924, Z85)).decode()
    features = ["deletionVectors"]
    actions = [
        {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }
        },
        {"remove": {"path": add["path"], "deletionTimestamp": 1_677_811_178_336, "dataChange": True}},
        {
            "add": {
                **add,
                "deletionVector": {
                    "storageType": "i",
                    "pathOrInlineDv": text,
                    "sizeInBytes": len(vector),
                    "cardinality": len(rows),
                },
            }
        },
        {"commitInfo": {"timestamp": 1_677_811_194_429, "operation": "DELETE"}},
    ]
    following = log / f"{int(last.stem) + 1:020}.json"
    following.write_text("\n".join(map(json.dumps, actions)) + "\n", encoding="utf-8")


def catalogue(folder: Path, environment: Any) -> Any:
    """A catalogue in a folder, which `environment`, a monkeypatch, describes to pyiceberg by its name."""
    folder.mkdir(exist_ok=True)
    settings = {"TYPE": "sql", "URI": f"sqlite:///{folder}/catalogue.db", "WAREHOUSE": folder.as_uri()}
    for name, value in settings.items():
        environment.setenv(f"PYICEBERG_CATALOG__{CATALOGUE.upper()}__{name}", value)
    environment.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # which pyiceberg reads once, when it is imported
    return load_catalog(CATALOGUE)


def iceberg(of: Any, *versions: pa.Table, name: str = "health.people") -> Any:
    """An Iceberg table with a snapshot for each table, each in place of the last."""
    of.create_namespace_if_not_exists(name.partition(".")[0])
    table = of.create_table(name, versions[0].schema)
    for number, one in enumerate(versions):
        (table.overwrite if number else table.append)(one)
    return of.load_table(name)


def delete_by_file(table: Any, rows: pa.Table, content: DataFileContent, equality_ids: list[int] | None = None) -> None:
    """Add a file of deletions to an Iceberg table, as other writers do."""
    path = Path(table.location().removeprefix("file://")) / "data" / f"deletes-{content.name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    file = DataFile.from_args(
        content=content,
        file_path=path.as_uri(),
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=len(rows),
        file_size_in_bytes=path.stat().st_size,
        equality_ids=equality_ids,
        column_sizes={},
        value_counts={},
        null_value_counts={},
        nan_value_counts={},
        lower_bounds={},
        upper_bounds={},
    )
    file.spec_id = table.metadata.default_spec_id
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(file)
