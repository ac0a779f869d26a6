"""Probabilistic linkage of febrl4 over all 25 million pairs, and by recordlinkage; and at 10k, 30k and 100k records.

    python benchmarks/probabilistic_linkage.py FOLDER [--recordlinkage PYTHON] [--patience 600]

FOLDER holds `febrl/dataset4a.csv`, `febrl/dataset4b.csv` and `adult/adult.csv`. recordlinkage runs in its own
interpreter: full index, nine exact comparisons, and its ECM classifier. Larger tables are febrl4's and Adult's records
drawn again, with every cell of the release exchanged for another record's with probability 0.05.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measured import in_a_process

FIELDS = ["given_name", "surname", "street_number", "address_1", "suburb", "postcode", "state", "date_of_birth"]
FIELDS += ["soc_sec_id"]
SIZES = (10_000, 30_000, 100_000)

RECORDLINKAGE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import pandas, recordlinkage
fields = sys.argv[3].split(",")
a, b = (pandas.read_csv(path, dtype=str).set_index("rec_id") for path in sys.argv[1:3])
start = time.perf_counter()
def report(step): print(f"    {step}: {time.perf_counter() - start:.1f} s so far", flush=True)
indexer = recordlinkage.Index()
indexer.full()
pairs = indexer.index(a, b)
report("index")
compare = recordlinkage.Compare()
for name in fields:
    compare.exact(name, name, label=name)
vectors = compare.compute(pairs, a, b)
report("compare")
links = recordlinkage.ECMClassifier(init="jaro", max_iter=5000, atol=1e-10).fit_predict(vectors)
report(f"fit, {len(links):,} links")
"""


def febrl(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Release and original with a common key."""
    names = ("dataset4b.csv", "dataset4a.csv")
    released, original = (pd.read_csv(folder / "febrl" / name, dtype=str) for name in names)
    for one in (released, original):
        one["person"] = one.pop("rec_id").str.split("-").str[1]
    return released[["person", *FIELDS]], original[["person", *FIELDS]]


def drawn(source: pd.DataFrame, records: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records drawn again column by column, and the same with one cell in twenty exchanged."""
    random = np.random.default_rng(4)
    columns = {name: source[name].to_numpy()[random.integers(0, len(source), records)] for name in source.columns}
    original = pd.DataFrame(columns)
    released = original.copy()
    for name in source.columns:
        changed = random.random(records) < 0.05
        released.loc[changed, name] = source[name].to_numpy()[random.integers(0, len(source), int(changed.sum()))]
    original["person"] = released["person"] = np.arange(records)
    return released, original


def linked(released: str, original: str, more: dict[str, Any]) -> Any:
    """One audit with nothing but the linkage; its time and message."""
    import tcdp_audit

    names = [name for name in pd.read_parquet(released).columns if name != "person"]
    numeric = more.get("tolerance", {})
    scales = {name: "numeric" if name in numeric else "nominal" for name in names}
    policy = {
        "version": 1,
        "key": "person",
        "attributes": {name: {"role": "quasi_identifier", "scale": scales[name]} for name in names},
        "expect": [{"probabilistic_record_linkage": more}],
    }
    start = time.perf_counter()
    outcome = tcdp_audit.audit(released, policy, original=original).expectations[0]
    return {"audit": time.perf_counter() - start, "message": outcome.message}


def run(label: str, tables: tuple[pd.DataFrame, pd.DataFrame], scratch: Path, **more: Any) -> float:
    """Print one line; the seconds of the audit from files to outcome."""
    paths = []
    for name, table in zip(("released", "original"), tables, strict=True):
        paths.append(scratch / f"tcdp-audit-linkage-{name}.parquet")
        table.to_parquet(paths[-1])
    measured = in_a_process(linked, *map(str, paths), more)
    seconds, pairs = measured.answer["audit"], len(tables[0]) * len(tables[1])
    rate = pairs / seconds / 1e6
    print(f"{label}: {seconds:.2f} s, {rate:,.0f} million pairs a second, peak {measured.peak:.2f} GiB")
    print(f"    {measured.answer['message']}", flush=True)
    return float(seconds)


def compare(folder: Path, python: str, patience: float, ours: float) -> None:
    """Run recordlinkage on the same files, until the time limit."""
    files = [str(folder / "febrl" / f"dataset4{letter}.csv") for letter in "ab"]
    command = [python, "-c", RECORDLINKAGE, *files, ",".join(FIELDS)]
    start = time.perf_counter()
    try:
        done = subprocess.run(command, timeout=patience, stdout=subprocess.PIPE, text=True, check=True)
    except subprocess.TimeoutExpired as ended:
        said = ended.stdout.decode() if isinstance(ended.stdout, bytes) else ended.stdout or ""
        print(f"recordlinkage: not finished in {patience:.0f} s, more than {patience / ours:,.0f} times\n{said}")
        return
    seconds = time.perf_counter() - start
    print(f"recordlinkage: {seconds:.1f} s, {seconds / ours:,.0f} times\n{done.stdout}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--recordlinkage", metavar="PYTHON", help="an interpreter that has recordlinkage")
    parser.add_argument("--patience", type=float, default=600, help="seconds for recordlinkage")
    arguments = parser.parse_args()
    tables = febrl(arguments.folder)
    ours = run("febrl4, 9 exact attributes", tables, arguments.scratch, unconstrained=True)
    run("febrl4, surnames alike", tables, arguments.scratch, similarity={"surname": 0.8})
    run("febrl4, every pair compared", tables, arguments.scratch, tolerance={"postcode": 0})
    adult = pd.read_csv(arguments.folder / "adult" / "adult.csv", dtype=str)
    for records in SIZES:
        run(f"febrl4 drawn to {records:,}", drawn(tables[1][FIELDS], records), arguments.scratch)
        run(f"Adult drawn to {records:,}", drawn(adult, records), arguments.scratch)
    if arguments.recordlinkage:
        compare(arguments.folder, arguments.recordlinkage, arguments.patience, ours)


if __name__ == "__main__":
    main()
