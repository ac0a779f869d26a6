"""Every limit of time and memory that the project sets itself, measured again by the benchmark that it belongs to.

    TCDP_AUDIT_DATA=... python benchmarks/limits.py [FOLDER] [--only WORDS] [--write]

Prints a row for each limit: what is measured, the figure, the limit. FOLDER keeps the tables between runs. `--only`
takes the benchmarks whose command contains the words. `--write` puts the table into docs/scale.md. A benchmark that
fails gives no figure, and its rows say so. The exit code is 1 unless every figure is within its limit. Run it on a
machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scale.md"
TABLE = re.compile(r"(?<=<!-- limits -->\n).*(?=<!-- end of limits -->)", re.DOTALL)
HEAD = "| what | measured | limit | |\n|---|---:|---:|---|"


class Limit(NamedTuple):
    """A figure that a benchmark prints, and the most that it may be."""

    what: str
    most: float
    unit: str
    figure: str  # a regular expression; its group is the figure


def shape(name: str, what: str, cpu: float, *others: Limit) -> Sequence[Limit]:
    """The limits of a row of shapes.py: name, records, bare CPU, audit, ratio, limit, ratio of wall times, GiB."""
    return [Limit(f"{what}: CPU", cpu, "of the bare queries", rf"^{name} +(?:\S+ +){{3}}(\S+)"), *others]


def lines_of_session(records: str, most: float) -> Sequence[Limit]:
    """The limits of questions to a session about a table."""
    asked = (("another threshold", "threshold"), ("another role", "role"), ("another level", "level"))
    return [
        Limit(
            f"session of {records} records: a {what}",
            most,
            "ms of CPU",
            rf"^{records} records\n(?:  .*\n)*?  {line} +(\d+)",
        )
        for line, what in asked
    ]


def moves_of_studio(records: str, most: float) -> Sequence[Limit]:
    """The limits of controls of the workbench: 95th percentiles from the event to the picture."""
    return [
        Limit(
            f"workbench, {records} records: {what}",
            most,
            "ms to the picture",
            rf"^{records} records, .*\n(?:.*\n)*?{what} .*?95th percentile +(\d+)",
        )
        for what in ("a level", "a tick", "a threshold", "a role")
    ]


def limits(folder: str, data: str) -> Mapping[Sequence[str], Sequence[Limit]]:
    """The limits by the script and its arguments that measure them."""
    parquet = r"^parquet +(?:\S+ +){5}"
    return {
        ("shapes.py", folder, "--shapes", "parquet,texts,floats,units"): [
            *shape(
                "parquet",
                "20 million records",
                0.32,
                Limit("20 million records: wall", 0.40, "of the bare queries", rf"{parquet}(\S+)"),
                Limit("20 million records: peak", 0.55, "GiB", rf"{parquet}\S+ +(\S+)"),
            ),
            *shape("texts", "5 million, a million texts", 1.4),
            *shape("floats", "5 million, a million numbers", 1.2),
            *shape("units", "5 million rows of half a million people", 1.3),
        ],
        ("shapes.py", folder, "--shapes", "every check", "--scale", "0.25"): shape(
            "every check", "5 million, all 42 checks on classes", 1.0
        ),
        ("histories.py", folder): [
            Limit("histories of 10 million events of a million people: CPU", 2, "of the bare query", r"ratio (\S+)$")
        ],
        ("wildcard.py", folder, "--records", "160000"): [
            Limit("wildcard, 160,000 records: CPU", 8, "of the bare queries", r"^audit +\S+ +\S+ +(\S+)")
        ],
        ("startup.py",): [
            Limit("check of 60 records", 400, "ms of CPU", r"^check of 60 records, no report: \d+ ms, (\d+)"),
            Limit("the same, JSON and HTML", 500, "ms of CPU", r"^check of 60 records, JSON and HTML: \d+ ms, (\d+)"),
        ],
        ("repair.py", data, "--cases", "closeness,risk"): [
            Limit("fix of Adult: k, l, t", 10, "CPU s", r"^closeness: fix (\S+) CPU"),
            Limit("fix of EU-SILC: k, l, t, risk", 4, "CPU s", r"^risk: fix (\S+) CPU"),
        ],
        ("frontier.py", data): [Limit("frontier of Adult, 15 settings", 40, "CPU s", r"^(\d+) CPU s")],
        ("supervised_linkage.py", data): [
            Limit("Choquet integral, 1,000 x 6", 10, "s", r"^choquet +1,000.* (\S+)$"),
            Limit("bilinear form, 500 x 12", 10, "s", r"^bilinear +500 +12.* (\S+)$"),
        ],
        ("sessions.py", folder): [
            *lines_of_session("8,000", 15),
            *lines_of_session("1,000,000", 80),
            *lines_of_session("5,000,000", 300),
        ],
        ("aggregates.py", "--tables", "flat,large,large_cube_two", "--effort", "1"): [
            Limit("10,000 cells: widths", 3, "CPU s", r"^flat: .*\n.*\n  width >= 1 +(\S+) s"),
            Limit("117,649 cells in hierarchies: widths", 10, "CPU s", r"^large: .*\n.*\n  width >= 1 +(\S+) s"),
            Limit(
                "39,234 hidden cells in one piece: recovery", 10, "CPU s", r"^large_cube_two: .*\n  recovery +(\S+) s"
            ),
        ],
        ("table_formats.py", folder, "--records", "20000000"): [
            Limit(f"20 million records of {name}: CPU", 1.3, "of plain Parquet", rf"^{name}: .* ratio (\S+)")
            for name in ("Delta Lake", "Iceberg")
        ],
        ("studio.py", "--folder", folder): [
            *moves_of_studio("30,000", 150),
            *moves_of_studio("1,000,000", 300),
            *moves_of_studio("5,000,000", 600),
        ],
    }


def rows(command: Sequence[str], some: Sequence[Limit]) -> Iterator[tuple[str, bool]]:
    """A row for each limit that a command measures, and whether the figure is within it."""
    ran = subprocess.run([sys.executable, HERE / command[0], *command[1:]], capture_output=True, text=True, check=False)
    for one in some:
        figure = re.search(one.figure, ran.stdout, re.MULTILINE)
        if figure is None:
            print(ran.stdout, ran.stderr, file=sys.stderr)
            yield f"| {one.what} | not measured | {one.most:g} {one.unit} | |", False
        else:
            within = float(figure[1]) <= one.most
            yield f"| {one.what} | {figure[1]} | {one.most:g} {one.unit} | {'' if within else 'over'} |", within


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and arguments.only:
        parser.error("--write: the page has all limits")
    lines, all_within = [HEAD], True
    print(HEAD)
    with tempfile.TemporaryDirectory() as temporary:
        folder = str((arguments.folder or Path(temporary)).resolve())
        for command, some in limits(folder, os.environ["TCDP_AUDIT_DATA"]).items():
            for line, within in rows(command, some) if arguments.only in " ".join(command) else ():
                print(line, flush=True)
                lines.append(line)
                all_within &= within
    if arguments.write:
        text = "\n".join(lines) + "\n"
        PAGE.write_text(TABLE.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(0 if all_within else 1)


if __name__ == "__main__":
    main()
