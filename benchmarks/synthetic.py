"""A synthetic release: seven skewed quasi-identifiers, sensitive attributes of 14 and about 8,500 values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

QUASI_IDENTIFIERS = ("age", "workclass", "education", "country", "marital", "race", "sex")
SENSITIVE = ("occupation", "income")
# prefix of the values, their number, and how fast they become rarer
CATEGORIES = {
    "workclass": ("work", 8, 1.2),
    "education": ("edu", 16, 0.8),
    "country": ("country", 41, 2.0),
    "marital": ("m", 7, 0.8),
    "race": ("r", 5, 2.0),
    "sex": ("s", 2, 0.5),
    "occupation": ("occ", 14, 0.5),
}


PIECE = 20_000_000  # records that are drawn at a time


def write(path: Path, records: int) -> None:
    """Write a seeded Parquet file of so many records, if it is not there yet; a large one piece by piece."""
    if path.exists():
        return
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, _drawn(0, 1).schema) as file:
        for seed, start in enumerate(range(0, records, PIECE)):
            file.write_table(_drawn(seed, min(PIECE, records - start)))
    unfinished.rename(path)


def _drawn(seed: int, records: int) -> pa.Table:
    rng = np.random.default_rng(seed)

    def category(prefix: str, values: int, skew: float) -> Any:
        weights = 1 / np.arange(1, values + 1) ** skew
        codes = rng.choice(values, size=records, p=weights / weights.sum()).astype(np.int8)
        texts = pa.DictionaryArray.from_arrays(pa.array(codes), [f"{prefix}{i}" for i in range(values)])
        return texts.cast(pa.string())

    return pa.table(
        {
            "age": (rng.normal(40, 13, records).clip(17, 90) // 5 * 5).astype("int16"),
            **{name: category(*drawn) for name, drawn in CATEGORIES.items()},
            "income": rng.lognormal(10.5, 0.8, records).round(-2).astype("int32"),
        }
    )


def policy(expect: list[dict[str, Any]]) -> dict[str, Any]:
    """A policy for the synthetic release."""
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in QUASI_IDENTIFIERS}
    order = sorted(f"occ{i}" for i in range(14))
    groups = {name: ["*", f"group {int(name[3:]) // 5}"] for name in order}
    names = sorted({group for _, group in groups.values()})
    hierarchy = {"*": {group: [one for one in order if groups[one][1] == group] for group in names}}
    attributes["occupation"] = {"role": "sensitive", "scale": "ordinal", "order": order, "hierarchy": hierarchy}
    attributes["income"] = {"role": "sensitive", "scale": "numeric"}
    return {"version": 1, "attributes": attributes, "expect": expect}
