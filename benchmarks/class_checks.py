"""Every check on equivalence classes, on both sensitive attributes, and the three bare GROUP BYs; and pycanon.

    python benchmarks/class_checks.py [FOLDER] [--records 20000000] [--pycanon PYTHON] [--patience 600]

Prints the wall time of one audit with all registered checks as a ratio to the bare queries, the processor time of each
expectation, in all and for each class or pair of a class and a value, and how long pycanon, in a separate interpreter,
takes for its equivalents on the same table, or that it did not finish.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from combinations import counted
from equivalence_classes import bare
from every_class_check import every_class_check
from measured import in_a_process
from synthetic import QUASI_IDENTIFIERS, SENSITIVE, policy, write

CLASSES, JOINT = "classes", "income × occupation"
EXPECTATIONS = every_class_check("income", 1000, "occupation", SENSITIVE)

PYCANON = """
import sys
import pandas
from pycanon import anonymity
table = pandas.read_parquet(sys.argv[2])
quasi_identifiers, sensitive = sys.argv[3].split(","), sys.argv[4].split(",")
function = getattr(anonymity, sys.argv[1])
arguments = [quasi_identifiers] if sys.argv[1] == "k_anonymity" else [quasi_identifiers, sensitive]
print(function(table, *arguments))
"""
FUNCTIONS = (
    *("k_anonymity", "alpha_k_anonymity", "l_diversity", "entropy_l_diversity", "recursive_c_l_diversity"),
    *("basic_beta_likeness", "enhanced_beta_likeness", "delta_disclosure", "t_closeness"),
)


def everything(path: str) -> Any:
    """One audit with every check; the processor seconds of each expectation, over all shards and attributes."""
    import tcdp_audit
    from tcdp_audit.core.auditor.class_tasks import ClassTask

    spent: dict[tuple[str, str], float] = defaultdict(float)
    judge: Callable[..., Any] = ClassTask.judge

    def timed(self: ClassTask, *arguments: Any, **options: Any) -> Any:
        start = time.thread_time()
        try:
            return judge(self, *arguments, **options)
        finally:
            expectation = self.expectation
            name = expectation.check.titled(expectation.parameters)
            spent[self.target.name or CLASSES, name] += time.thread_time() - start

    ClassTask.judge = timed  # type: ignore[method-assign]
    audit = tcdp_audit.audit(path, policy(EXPECTATIONS))
    statuses = [one.status.value for one in audit.expectations]
    return {"spent": list(spent.items()), "errors": statuses.count("error"), "outcomes": len(statuses)}


def compare(path: str, python: str, patience: float) -> None:
    """Run pycanon's functions one by one in an interpreter that has it, each until the time limit."""
    for name in FUNCTIONS:
        command = [python, "-W", "ignore", "-c", PYCANON, name, path, ",".join(QUASI_IDENTIFIERS), ",".join(SENSITIVE)]
        start = time.perf_counter()
        try:
            done = subprocess.run(command, timeout=patience, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired:
            print(f"  pycanon {name:<26} not finished in {patience:.0f} s")
            continue
        said = done.stdout.strip() if done.returncode == 0 else f"ended with an error, code {done.returncode}"
        print(f"  pycanon {name:<26} {time.perf_counter() - start:8.1f} s  {said}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--pycanon", metavar="PYTHON", help="an interpreter that has pycanon and pyarrow")
    parser.add_argument("--pycanon-records", type=int, default=1_000_000)
    parser.add_argument("--patience", type=float, default=600, help="seconds for each of pycanon's functions")
    arguments = parser.parse_args()
    for records in dict.fromkeys([arguments.records, *([arguments.pycanon_records] if arguments.pycanon else [])]):
        path = Path(arguments.folder) / f"tcdp-audit-benchmark-{records}.parquet"
        write(path, records)
        queries, run = in_a_process(bare, str(path)), in_a_process(everything, str(path))
        print(
            f"{records:,} records, {run.answer['outcomes']} outcomes ({run.answer['errors']} errors): "
            f"{run.seconds:.2f} s, {run.seconds / queries.seconds:.2f} of the bare {queries.seconds:.2f} s, "
            f"peak {run.peak:.2f} GiB"
        )
        counts = {of: one[0] for of, one in zip((CLASSES, *SENSITIVE), queries.answer, strict=True)}
        counts[JOINT] = counted(path, (*QUASI_IDENTIFIERS, *SENSITIVE))
        for of, count in counts.items():
            print(f"  {count:,} ({of})")
        for (of, name), seconds in sorted(run.answer["spent"], key=lambda one: -one[1]):
            print(f"  {seconds:8.3f} s  {seconds / counts[of] * 1e9:8.1f} ns  {name} ({of})")
        if arguments.pycanon and records == arguments.pycanon_records:
            compare(str(path), arguments.pycanon, arguments.patience)


if __name__ == "__main__":
    main()
