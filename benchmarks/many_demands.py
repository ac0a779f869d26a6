"""Count the lines on a terminal and the printed pages of audits with very many demands, columns, tables and units.

    python benchmarks/many_demands.py [--keep FOLDER] [CASE ...]

The audits are those of tests/reports/many_samples.py. Lines are those of a terminal of 80 columns, where a longer one
is wrapped; pages are A4, printed by Chromium, and those before the annex are counted up to its heading.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from pathlib import Path

from report_words import words
from rich.console import Console

from tcdp_audit.cli.terminal import print_audit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/reports"))
from many_samples import CASES

COLUMNS = 80


def lines(audit: object, **settings: bool) -> int:
    """The lines of an audit on a terminal of 80 columns."""
    stream = io.StringIO()
    print_audit(Console(file=stream, width=COLUMNS, force_terminal=True, color_system=None), audit, (), **settings)
    return sum(max(1, -(-len(line) // COLUMNS)) for line in stream.getvalue().splitlines())


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES])
    parser.add_argument("--keep", type=Path, help="a folder for the pages")
    asked = parser.parse_args()
    for name in asked.cases or CASES:
        started = time.perf_counter()
        audit = CASES[name]()
        audited = time.perf_counter() - started
        page = audit.render(".html")
        if asked.keep:
            asked.keep.mkdir(parents=True, exist_ok=True)
            (asked.keep / f"{name}.html").write_text(page, encoding="utf-8")
            (asked.keep / f"{name}.md").write_text(audit.render(".md"), encoding="utf-8")
        count = words(page)
        print(
            f"{name}: {len(audit.expectations)} demands, {lines(audit)} lines, {count.pages} pages, "
            f"{count.words:,} words, {count.kilobytes:.0f} kB; audited in {audited:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
