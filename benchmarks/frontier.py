"""`tcdp-audit frontier` on Adult, k from 3 to 50 and t from 0.5 to 0.15, a whole process.

    python benchmarks/frontier.py DATA [--budget 110] [--workers 2]

DATA is the folder that has adult/adult.csv and adult/hierarchies. Prints processor and wall seconds, how many settings
were tried, and the points of the front; fails if a safer point of the front loses less.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "repair"))
import adult


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budget", type=float, default=110)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    release = str(arguments.data.resolve() / "adult" / "adult.csv")
    policy = adult.policy(arguments.data.resolve(), adult.POLICIES["k=5, equal t=0.2"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.tcdp.yaml"
        file.write_text(yaml.safe_dump(policy), encoding="utf-8")
        call = [sys.executable, "-m", "tcdp_audit", "frontier", release, "--policy", str(file), "--json"]
        call += ["--vary", "k_anonymity=3..50", "--vary", "t_closeness=0.15..0.5"]
        call += ["--budget", str(arguments.budget), "--workers", str(arguments.workers)]
        start = time.perf_counter()
        ran = subprocess.run(call, capture_output=True, check=True)
        wall = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(ran.stdout)
    tried = sum(one["tried"] for one in result["settings"])
    print(f"{used.ru_utime + used.ru_stime:.0f} CPU s, {wall:.0f} s; {tried} of {len(result['settings'])} settings")
    points = [(*one["figures"], one["loss"]) for one in result["points"]]
    for k, t, loss in points:
        print(f"k = {k}, t = {t:.4f}: {100 * loss:.1f} % lost")
        if any(a >= k and b <= t and other <= loss and (a, b, other) != (k, t, loss) for a, b, other in points):
            raise SystemExit("the front is not monotone")


if __name__ == "__main__":
    main()
