"""Whole processes: `check` and pandas.read_csv of the same file; `explain k_anonymity`, `--help` and `python -c pass`.

    TCDP_AUDIT_DATA=... python benchmarks/startup.py

Runs alternate; medians of ten, of the time that passed and of the time that the processors worked (user and system).
The file is Adult, and then its first 60 records. The check computes k, distinct l, entropy l, t equal and t ordered on
two attributes and writes JSON and HTML. Its floor is the same without a line of the auditor's own: its libraries are
imported, plugins are looked for, a model and a template are made, and the file is read once and its digest computed.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PAIRS = 10
FEW = 60
QUASI_IDENTIFIERS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
SENSITIVE = ("occupation", "salary-class")
FLOOR = """
import gc, hashlib, importlib.metadata, os, sys
gc.disable()
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
import click, jinja2, numpy, pluggy, pydantic, yaml
from pyarrow import BufferReader, csv
importlib.metadata.entry_points(group="tcdp_audit")
class Model(pydantic.BaseModel):
    name: str
yaml.load("name: adult", Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
jinja2.Environment().from_string("{{ name }}").render(name=Model(name="adult").name)
with open(sys.argv[1], "rb") as file:
    content = file.read()
hashlib.sha256(content)
csv.read_csv(BufferReader(content), csv.ReadOptions(use_threads=False))
os._exit(0)
"""


def adult_policy(path: Path) -> str:
    """A policy of Adult, or of some of its records, with the role choice adult_A1."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["version: 1", f"release: {json.dumps(str(path))}", "attributes:"]
    lines += [f"  {name}: {{role: quasi_identifier, scale: nominal}}" for name in QUASI_IDENTIFIERS]
    for name in SENSITIVE:
        order = json.dumps(sorted({row[name] for row in rows}))
        lines.append(f"  {name}: {{role: sensitive, scale: ordinal, order: {order}}}")
    checks = ("k_anonymity: {k: 5}", "distinct_l_diversity: {l: 2}", "entropy_l_diversity: {l: 2}")
    lines += ["expect:", *(f"  - {one}" for one in checks)]
    lines += ["  - t_closeness: {t: 0.2}", "  - t_closeness: {t: 0.2, distance: ordered}"]
    return "\n".join(lines) + "\n"


class Times(NamedTuple):
    """Milliseconds of one process, or medians of several."""

    wall: float
    cpu: float


def run(command: Sequence[str]) -> Times:
    """One process from its start to its end: its wall time, and the processor time of all of its threads."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Times(1000 * wall, 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))


def compare(ours: Sequence[str], reference: Sequence[str], about: tuple[str, str]) -> None:
    """Print the medians of two commands that run in turn."""
    times: list[list[Times]] = [[], []]
    for _ in range(1 + PAIRS):  # the first finds no file in memory, and no bytecode
        for which, command in enumerate((ours, reference)):
            times[which].append(run(command))
    first, second = (Times(*map(statistics.median, zip(*each[1:], strict=True))) for each in times)
    print(
        f"{about[0]}: {first.wall:.0f} ms, {first.cpu:.0f} of a processor; "
        f"{about[1]}: {second.wall:.0f}, {second.cpu:.0f}; "
        f"ratio {first.wall / second.wall:.2f}, {first.cpu / second.cpu:.2f}"
    )


def main() -> None:
    """Print every comparison, a line each."""
    adult = Path(os.environ["TCDP_AUDIT_DATA"]) / "adult/adult.csv"
    script = shutil.which("tcdp-audit", path=str(Path(sys.executable).parent))
    if script is None:
        sys.exit("tcdp-audit is not installed in the environment of this Python")
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "adult.csv"
        few.write_text(
            "".join(adult.read_text(encoding="utf-8").splitlines(keepends=True)[: FEW + 1]), encoding="utf-8"
        )
        for release, about in (adult, "Adult"), (few, f"{FEW} records"):
            policy = Path(folder) / "policy.tcdp.yaml"
            policy.write_text(adult_policy(release), encoding="utf-8")
            check = [script, "check", "--policy", str(policy), "--quiet"]
            reports = ["--report", f"{folder}/result.json", "--report", f"{folder}/report.html"]
            pandas = [sys.executable, "-c", f"import pandas; pandas.read_csv({str(release)!r})"]
            for what, ours in (
                ("JSON and HTML", [*check, *reports]),
                ("JSON", [*check, *reports[:2]]),
                ("no report", check),
                ("the floor", [sys.executable, "-c", FLOOR, str(release)]),
            ):
                compare(ours, pandas, (f"check of {about}, {what}", "pandas.read_csv"))
    empty = [sys.executable, "-c", "pass"]
    for arguments in (["explain", "k_anonymity"], ["--help"]):
        compare([script, *arguments], empty, (" ".join(arguments), "python -c pass"))


if __name__ == "__main__":
    main()
