"""sdcMicro: `sdcmicro.R`, which needs R, jsonlite and sdcMicro. It has not been run: no registry here has sdcMicro."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from vectors.adapters import LacksError, RefusesError, Reply
from vectors.reading import CASES, Vector

PACKAGE = "sdcMicro"
VERSION = "5.8.1"
PROGRAM = Path(__file__).with_name("sdcmicro.R")


def answers(vectors: Iterable[Vector]) -> Iterator[tuple[Vector, Reply | Exception]]:
    """A line for each vector that the script asks: its id and a figure, separated by a tab."""
    done = subprocess.run(["Rscript", str(PROGRAM), str(CASES)], capture_output=True, text=True, check=True,
                          encoding="utf-8")  # fmt: skip
    said = dict(line.split("\t") for line in done.stdout.splitlines())
    for vector in vectors:
        figure = said.get(vector.id)
        if figure is None:
            yield vector, LacksError("no such measure, or not asked by the adapter")
        else:
            yield vector, RefusesError("error") if figure == "refuses" else Reply(figure)
