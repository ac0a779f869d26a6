"""`tcdp-audit fix` on Adult with k = 5 and no remedy named, and `tcdp-audit check` of the same, whole processes.

    python benchmarks/repair.py DATA [--rounds 5] [--hierarchies] [--before PYTHON]

DATA is the folder that has adult/adult.csv and adult/hierarchies. Prints medians of processor and wall seconds and of
the peak memory, and their ratio to one check. `--before` names an interpreter with an earlier version, which runs in
turn; then the ratio to it is printed, and whether both wrote the same bytes. `--hierarchies` gives the nominal
attributes theirs, so that generalization takes part.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "repair"))
import adult


def policy(data: Path, *, hierarchies: bool) -> dict[str, Any]:
    """Seven quasi-identifiers and k = 5, no remedy named."""
    asked = adult.policy(data.resolve(), adult.POLICIES["k=5"])
    if not hierarchies:
        for declared in asked["attributes"].values():
            declared.pop("hierarchy", None)
    return asked


def measured(folder: str, expected: int, python: str, *arguments: str) -> tuple[float, float, float]:
    """Processor seconds, wall seconds and peak GiB of one run of the command, which must end with an exit code."""
    command = [python, "-m", "tcdp_audit", *arguments]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != expected:
        raise SystemExit(f"the exit code of {arguments[0]} is not {expected}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 2**20


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hierarchies", action="store_true")
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter that has an earlier version")
    arguments = parser.parse_args()
    release = str(arguments.data.resolve() / "adult" / "adult.csv")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.tcdp.yaml"
        file.write_text(yaml.safe_dump(policy(arguments.data, hierarchies=arguments.hierarchies)), encoding="utf-8")
        asked = (release, "--policy", str(file), "--quiet")
        repair = ("fix", *asked, "--output")
        runs: dict[str, list[tuple[float, float, float]]] = {"check": [], "fix": [], "before": []}
        for _ in range(arguments.rounds):
            runs["check"].append(measured(folder, 1, sys.executable, "check", *asked))
            runs["fix"].append(measured(folder, 0, sys.executable, *repair, f"{folder}/after.csv"))
            if arguments.before:
                runs["before"].append(measured(folder, 0, arguments.before, *repair, f"{folder}/before.csv"))
        written = [one.read_bytes() for one in Path(folder).glob("*.csv")]
    check, fix, before = ([statistics.median(column) for column in zip(*one, strict=True)] for one in runs.values())
    print(f"fix on Adult: {_figures(fix)}; {fix[0] / check[0]:.2f} of a check's CPU")
    if before:
        same = "the same bytes" if written[0] == written[-1] else "OTHER bytes"
        print(f"before: {_figures(before)}; ratio {fix[0] / before[0]:.2f}, {same}")


def _figures(run: list[float]) -> str:
    cpu, wall, peak = run
    return f"{cpu:.2f} CPU s, {wall:.2f} s, {peak:.2f} GiB"


if __name__ == "__main__":
    main()
