"""ARX: whether a table satisfies a model as it is, by `Arx.java`. The variable ARX_CLASSPATH names its jars."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

from vectors.adapters import LacksError, RefusesError, Reply
from vectors.adapters.frames import quasi, require_plain
from vectors.reading import Vector, rows

PACKAGE = "arx"
VERSION = "3.9.2"
PROGRAM = Path(__file__).with_name("Arx.java")
THRESHOLDS = {
    "k_anonymity": "k",
    "distinct_l_diversity": "l",
    "entropy_l_diversity": "l",
    "recursive_cl_diversity": "c",
    "t_closeness_equal": "t",
    "t_closeness_ordered": "t",
    "basic_beta_likeness": "beta",
    "enhanced_beta_likeness": "beta",
    "delta_disclosure": "delta",
}
FIGURES = {"sample_uniqueness", "reidentification_risk"}
READINGS = {
    "delta_disclosure": "absent values are ignored",
    "t_closeness_ordered": "the values that occur are the domain",
}


def answers(vectors: Iterable[Vector]) -> Iterator[tuple[Vector, Reply | Exception]]:
    """All answers of one call, since Java takes long to begin."""
    asked: dict[str, Vector] = {}
    lines = []
    for vector in vectors:
        try:
            lines.append(question(vector))
            asked[vector.id] = vector
        except LacksError as error:
            yield vector, error
    with TemporaryDirectory() as folder:
        file = Path(folder) / "questions.tsv"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ["java", "-cp", os.environ["ARX_CLASSPATH"], str(PROGRAM), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    for line in done.stdout.splitlines():
        name, figure, verdict = line.split("\t")
        reply: Reply | Exception = Reply(None if figure == "-" else figure, verdict)
        yield asked[name], RefusesError(verdict) if figure == "refuses" else reply


def question(vector: Vector) -> str:
    """A vector as a line; raises LacksError for what ARX has not."""
    if vector.measure not in {*THRESHOLDS, *FIGURES}:
        raise LacksError("no such measure, or not asked by the adapter")
    require_plain(vector)
    if any(mark in name for name in vector.declared["attributes"] for mark in "\t\x01"):
        raise LacksError("no tabs in names")
    if any("*" in row.values() for row in rows(vector.path)):
        raise LacksError("a cell `*` is suppressed, and never counted")
    given, measure = vector.parameters, vector.measure
    if measure in FIGURES:
        kind = given.get("measure", "highest")
        measure = f"{measure}:{kind}" if measure == "reidentification_risk" else measure
        threshold = given.get("threshold_risk", "0")
    elif THRESHOLDS[measure] not in given:
        raise LacksError("no figure, only whether a threshold is kept")
    else:
        threshold = given[THRESHOLDS[measure]]
    limit = float(Fraction(threshold)) / (
        log(2) if measure == "delta_disclosure" else 1
    )  # its logarithms are to base 2
    secret = given.get("attribute", "")
    order = vector.declared["attributes"].get(secret, {}).get("order", [])
    cells = [vector.id, measure, repr(limit), given.get("l", "") if measure.startswith("rec") else "",
             secret, "\x01".join(order), "\x01".join(quasi(vector)), str(vector.path)]  # fmt: skip
    return "\t".join(cells)
