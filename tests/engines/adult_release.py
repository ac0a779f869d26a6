"""Adult with every check on classes, and those on risks: asked of every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
from every_class_check import every_class_check

QUASI_IDENTIFIERS = ("education", "marital-status", "native-country", "race", "sex", "workclass")
RISKS: list[dict[str, Any]] = [
    {"lkc_privacy": {"K": 5, "C": 0.5}},
    {"km_anonymity": {"k": 5}},
    {"uniqueness_profile": {"keys": 200}},
    {"individual_risk": {}},
    {"population_uniqueness": {"estimator": "pitman"}},
    {"reidentification_risk": {}},
    {"sample_uniqueness": {"at_most": 0.5}},
    {"suda": {}},
]
EXPECT = [*every_class_check("age", 10, "occupation", ["age"]), *RISKS]


def file(data: Path) -> Path:
    """The release as a file."""
    return data / "adult" / "adult.csv"


def table(data: Path) -> pa.Table:
    """The release as a table."""
    return pa.csv.read_csv(file(data))


def policy(data: Path) -> dict[str, Any]:
    """What is asked of it."""
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in QUASI_IDENTIFIERS}
    attributes["age"] = {"role": "sensitive", "scale": "numeric"}
    hierarchy = str(data / "adult" / "hierarchies" / "occupation.csv")
    attributes["occupation"] = {"role": "sensitive", "hierarchy": hierarchy}
    attributes["salary-class"] = {"role": "insensitive"}
    return {"version": 1, "sampling_fraction": "1/100", "attributes": attributes, "expect": EXPECT}
