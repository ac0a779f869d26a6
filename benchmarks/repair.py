"""`tcdp-audit fix` with no remedy named, and `tcdp-audit check` of the same release and policy, whole processes.

    python benchmarks/repair.py DATA [--cases sizes,hierarchies,...] [--rounds 5] [--before PYTHON]

The cases: Adult with k = 5 (`sizes`), with hierarchies as well, so that generalization takes part (`hierarchies`), and
with l = 2 and t = 0.3 in addition (`closeness`); the first 12,000 people of EU-SILC with k = 5, l = 2, t = 0.3 and an
average risk of at most 0.05 (`risk`). DATA is the folder that has adult/ and histories/eusilc.csv. Prints medians of
processor and wall seconds and of the peak memory, and the ratio to one check. `--before` names an interpreter with an
earlier version, which runs in turn; then the ratio to it is printed, and whether both wrote the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "repair"))
import adult

SIZES: list[dict[str, Any]] = [{"k_anonymity": {"k": 5}}]
CLOSENESS = [*SIZES, {"distinct_l_diversity": {"l": 2}}, {"t_closeness": {"t": 0.3}}]
RISK = [*CLOSENESS, {"reidentification_risk": {"at_most": 0.05, "measure": "average"}}]
PEOPLE = 12_000
EUSILC: dict[str, Any] = {
    **{name: {"role": "quasi_identifier"} for name in ("db040", "rb090", "pb220a")},
    **{name: {"role": "quasi_identifier", "scale": "numeric"} for name in ("hsize", "age")},
    "pl030": {"role": "sensitive", "scale": "nominal"},
}


def _adult(data: Path, expect: list[dict[str, Any]], *, hierarchies: bool = True) -> tuple[Path, dict[str, Any]]:
    policy = adult.policy(data, expect)
    for declared in () if hierarchies else policy["attributes"].values():
        declared.pop("hierarchy", None)
    return data / "adult" / "adult.csv", policy


def _eusilc(data: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    release = folder / "eusilc.csv"
    with (data / "histories" / "eusilc.csv").open(encoding="utf-8", newline="") as file:
        people = list(islice(csv.DictReader(file), PEOPLE))
    with release.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(EUSILC), extrasaction="ignore")
        table.writeheader()
        table.writerows(people)
    return release, {"version": 1, "attributes": EUSILC, "expect": RISK}


CASES: dict[str, Callable[[Path, Path], tuple[Path, dict[str, Any]]]] = {
    "sizes": lambda data, _: _adult(data, SIZES, hierarchies=False),
    "hierarchies": lambda data, _: _adult(data, SIZES),
    "closeness": lambda data, _: _adult(data, CLOSENESS),
    "risk": _eusilc,
}
"""A release and its policy, by the folder with the public data and a folder for temporary files."""


def measured(folder: Path, expected: int, python: str, *arguments: str) -> tuple[float, float, float]:
    """Processor seconds, wall seconds and peak GiB of one run of the command, which must end with an exit code."""
    command = [python, "-m", "tcdp_audit", *arguments]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != expected:
        raise SystemExit(f"the exit code of {arguments[0]} is not {expected}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 2**20


def compare(case: str, data: Path, folder: Path, rounds: int, earlier: str | None) -> None:
    """Print the lines of one case."""
    release, policy = CASES[case](data, folder)
    file = folder / "policy.tcdp.yaml"
    file.write_text(yaml.safe_dump(policy), encoding="utf-8")
    asked = (str(release), "--policy", str(file), "--quiet")
    repair, outputs = ("fix", *asked, "--output"), (folder / "after.csv", folder / "before.csv")
    runs: dict[str, list[tuple[float, float, float]]] = {"check": [], "fix": [], "before": []}
    for _ in range(rounds):
        runs["check"].append(measured(folder, 1, sys.executable, "check", *asked))
        runs["fix"].append(measured(folder, 0, sys.executable, *repair, str(outputs[0])))
        if earlier:
            runs["before"].append(measured(folder, 0, earlier, *repair, str(outputs[1])))
    check, fix, before = ([statistics.median(column) for column in zip(*one, strict=True)] for one in runs.values())
    print(f"{case}: fix {_figures(fix)}; {fix[0] / check[0]:.2f} of a check's CPU", flush=True)
    if before:
        same = "the same bytes" if len({one.read_bytes() for one in outputs}) == 1 else "OTHER bytes"
        print(f"{case}: before {_figures(before)}; ratio {fix[0] / before[0]:.2f}, {same}", flush=True)


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter that has an earlier version")
    arguments = parser.parse_args()
    for case in arguments.cases.split(","):
        with tempfile.TemporaryDirectory() as folder:
            compare(case, arguments.data.resolve(), Path(folder), arguments.rounds, arguments.before)


def _figures(run: list[float]) -> str:
    cpu, wall, peak = run
    return f"{cpu:.2f} CPU s, {wall:.2f} s, {peak:.2f} GiB"


if __name__ == "__main__":
    main()
