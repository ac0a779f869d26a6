"""Whole processes: `tcdp-audit check` on Adult beside pandas.read_csv, and `tcdp-audit --help` beside `python -c pass`.

    TCDP_AUDIT_DATA=... python benchmarks/startup.py

Runs alternate; medians of ten. The check computes k, distinct l, entropy l, t equal and t ordered on two attributes
and writes JSON and HTML.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PAIRS = 10
QUASI_IDENTIFIERS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
SENSITIVE = ("occupation", "salary-class")


def adult_policy(path: Path) -> str:
    """A policy with the role choice adult_A1."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["version: 1", f"release: {json.dumps(str(path))}", "attributes:"]
    lines += [f"  {name}: {{role: quasi_identifier, scale: nominal}}" for name in QUASI_IDENTIFIERS]
    for name in SENSITIVE:
        order = json.dumps(sorted({row[name] for row in rows}))
        lines.append(f"  {name}: {{role: sensitive, scale: ordinal, order: {order}}}")
    lines += [
        "expect:",
        "  - k_anonymity: {k: 5}",
        "  - distinct_l_diversity: {l: 2}",
        "  - entropy_l_diversity: {l: 2}",
    ]
    lines += ["  - t_closeness: {t: 0.2}", "  - t_closeness: {t: 0.2, distance: ordered}"]
    return "\n".join(lines) + "\n"


def pairs(ours: Sequence[str], beside: Sequence[str]) -> tuple[float, float]:
    """Median seconds of two commands run in turn."""
    times: dict[int, list[float]] = {0: [], 1: []}
    for _ in range(PAIRS):
        for which, command in enumerate((beside, ours)):
            start = time.perf_counter()
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            times[which].append(time.perf_counter() - start)
    return statistics.median(times[1]), statistics.median(times[0])


def main() -> None:
    """Print both comparisons."""
    adult = Path(os.environ["TCDP_AUDIT_DATA"]) / "adult/adult.csv"
    script = shutil.which("tcdp-audit", path=str(Path(sys.executable).parent))
    if script is None:
        sys.exit("tcdp-audit is not installed beside this Python")
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "adult.tcdp.yaml"
        policy.write_text(adult_policy(adult), encoding="utf-8")
        reports = ["--report", f"{folder}/result.json", "--report", f"{folder}/report.html"]
        ours, beside = pairs(
            [script, "check", "--policy", str(policy), "--quiet", *reports],
            [sys.executable, "-c", f"import pandas; pandas.read_csv({str(adult)!r})"],
        )
    print(f"check on Adult, JSON and HTML: {1000 * ours:.0f} ms; ", end="")
    print(f"pandas.read_csv: {1000 * beside:.0f} ms; {ours / beside:.2f}")
    ours, beside = pairs([script, "--help"], [sys.executable, "-c", "pass"])
    print(f"--help: {1000 * ours:.1f} ms; python -c pass: {1000 * beside:.1f} ms; {ours / beside:.2f}")


if __name__ == "__main__":
    main()
