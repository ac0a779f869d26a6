"""Mondrian at k = 10 on seven quasi-identifiers, beside bare sorts of the same columns.

    python benchmarks/mondrian.py [FOLDER] [--records 30000,300000,3000000] [--distinct]

Prints for each size the processor time of the remedy (its four strategies, labels included), its ratio to
one numpy lexsort of the seven columns for each level that it went through, its peak memory, the classes and their
certainty penalty; then the cost exponent. With `--distinct` hardly two records agree in all quasi-identifiers.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path
from typing import Any

from measured import in_a_process
from synthetic import policy, write

MEMORY = 2**33


def partitioned(path: str, further: list[str]) -> Any:
    """The remedy and a bare sort, on columns that are read already; `further` are numeric quasi-identifiers."""
    import numpy as np

    from tcdp_audit import load_policy
    from tcdp_audit.engines import open_engine
    from tcdp_audit.release.release import Release
    from tcdp_audit.remedy.view import RemedyView
    from tcdp_audit_plugins.remedies.mondrian import MONDRIAN, MondrianParameters

    asked = policy([{"k_anonymity": {"k": 10}}])
    asked["attributes"]["age"]["scale"] = "numeric"
    asked["attributes"] |= {name: {"role": "quasi_identifier", "scale": "numeric"} for name in further}
    with open_engine(path, MEMORY) as engine:
        view = RemedyView(Release(engine, load_policy(asked)), (), 0, lambda _: ())
        columns = [one.codes for one in view.quasi_identifiers]
        start = time.process_time()
        notes = MONDRIAN.apply(view, MondrianParameters()).notes
        seconds = time.process_time() - start
    start = time.process_time()
    np.lexsort(columns)
    return seconds, time.process_time() - start, notes["classes"], notes["levels"], min(notes["penalties"].values())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", default="30000,300000,3000000")
    parser.add_argument("--distinct", action="store_true", help="income is a quasi-identifier, too")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.records.split(",")]
    seconds = {}
    print(f"{'records':>12} {'CPU s':>8} {'sorts s':>8} {'ratio':>6} {'peak GiB':>9} {'classes':>9} {'penalty':>8}")
    for size in sizes:
        path = Path(arguments.folder) / f"tcdp-audit-benchmark-{size}.parquet"
        write(path, size)
        run = in_a_process(partitioned, str(path), ["income"] if arguments.distinct else [])
        seconds[size], sort, classes, levels, penalty = run.answer
        bare = levels * sort
        figures = f"{seconds[size]:>8.2f} {bare:>8.2f} {seconds[size] / bare:>6.2f} {run.peak:>9.2f}"
        print(f"{size:>12,} {figures} {classes:>9,} {penalty:>8.2%}")
    first, last = sizes[0], sizes[-1]
    if first != last:
        exponent = math.log(seconds[last] / seconds[first]) / math.log(last / first)
        print(f"cost exponent between {first:,} and {last:,} records: {exponent:.2f}")


if __name__ == "__main__":
    main()
