"""Mondrian at k = 10 on seven quasi-identifiers, compared with bare sorts of the same columns.

    python benchmarks/mondrian.py [FOLDER] [--records 30000,300000,3000000] [--distinct] [--before PYTHON]

Prints for each size the processor time of the remedy (its four strategies, labels included), its ratio to
one numpy lexsort of the seven columns for each level that it went through, its peak memory, the classes and their
certainty penalty; then the cost exponent. With `--distinct` hardly two records agree in all quasi-identifiers.
`--before` names an interpreter with an earlier version: its processor time and peak memory, the ratio to it, and
whether both cut the table into as many classes at the same penalty.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from synthetic import policy, write

MEMORY = 2**33


def partitioned(path: str, further: list[str]) -> list[Any]:
    """The remedy and a bare sort, on columns that are read already; `further` are numeric quasi-identifiers."""
    import numpy as np

    from tcdp_audit import load_policy
    from tcdp_audit.core.engines.opening import open_engine
    from tcdp_audit.core.release.release import Release
    from tcdp_audit.core.remedy.view import RemedyView
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
    sort = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [seconds, sort, peak, notes["classes"], notes["levels"], min(notes["penalties"].values())]


def measured(python: str, path: Path, further: list[str]) -> list[Any]:
    """The same by an interpreter, in a separate process."""
    command = [python, __file__, "--one", str(path), *further]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    answer: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", default="30000,300000,3000000")
    parser.add_argument("--distinct", action="store_true", help="income is a quasi-identifier, too")
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter that has an earlier version")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(partitioned(arguments.one[0], arguments.one[1:])))
        return
    sizes = [int(size) for size in arguments.records.split(",")]
    further = ["income"] if arguments.distinct else []
    seconds = {}
    print(f"{'records':>12} {'CPU s':>8} {'sorts s':>8} {'ratio':>6} {'peak GiB':>9} {'classes':>9} {'penalty':>8}")
    for size in sizes:
        path = Path(arguments.folder) / f"tcdp-audit-benchmark-{size}.parquet"
        write(path, size)
        seconds[size], sort, peak, classes, levels, penalty = measured(sys.executable, path, further)
        bare = levels * sort
        figures = f"{seconds[size]:>8.2f} {bare:>8.2f} {seconds[size] / bare:>6.2f} {peak:>9.2f}"
        earlier = ""
        if arguments.before:
            cpu, _, room, *figure = measured(arguments.before, path, further)
            same = "same figures" if figure == [classes, levels, penalty] else "OTHER figures"
            earlier = f"{cpu:.2f} s, {room:.2f} GiB; ratio {seconds[size] / cpu:.3f}, {same}"
        print(f"{size:>12,} {figures} {classes:>9,} {penalty:>8.2%}  {earlier}", flush=True)
    first, last = sizes[0], sizes[-1]
    if first != last:
        exponent = math.log(seconds[last] / seconds[first]) / math.log(last / first)
        print(f"cost exponent between {first:,} and {last:,} records: {exponent:.2f}")


if __name__ == "__main__":
    main()
