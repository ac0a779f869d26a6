"""Twenty expectations on a pandas frame of a million records and nine columns: through pandera, and in a bare audit.

    python benchmarks/pandera_checks.py [FOLDER] [--records 1000000] [--rounds 3]

Prints the seconds of one `tcdp_audit.audit`, of pandera's import, of `tcdp_audit.integrations.pandera.validate` and of
pandera's own `DataFrameSchema.validate`, each in a separate process, the quickest of some rounds; and the ratio of the
last two to audit and import together. The frame and the policy are read before the clock starts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measured import in_a_process
from synthetic import policy, write

EXPECTATIONS: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 2}},
    {"k_anonymity": {"k": 5}},
    {"alpha_k_anonymity": {"alpha": 0.5, "k": 5, "attribute": "occupation"}},
    {"p_sensitive_k_anonymity": {"p": 2, "k": 5, "attribute": "occupation"}},
    {"distinct_l_diversity": {"l": 2, "attribute": "occupation"}},
    {"distinct_l_diversity": {"l": 2, "attribute": "income"}},
    {"entropy_l_diversity": {"l": 2, "attribute": "occupation"}},
    {"entropy_l_diversity": {"l": 2, "attribute": "income"}},
    {"recursive_cl_diversity": {"c": 4, "l": 2, "attribute": "occupation"}},
    {"t_closeness": {"t": 0.5, "distance": "equal", "attribute": "occupation"}},
    {"t_closeness": {"t": 0.5, "distance": "ordered", "attribute": "occupation"}},
    {"t_closeness": {"t": 0.5, "distance": "hierarchical", "attribute": "occupation"}},
    {"t_closeness": {"t": 0.5, "distance": "numeric", "attribute": "income"}},
    {"delta_disclosure": {"delta": 2, "attribute": "occupation"}},
    {"basic_beta_likeness": {"beta": 2, "attribute": "occupation"}},
    {"enhanced_beta_likeness": {"beta": 2, "attribute": "occupation"}},
    {"homogeneity": {"at_most": 0.1, "attribute": "occupation"}},
    {"background_knowledge": {"at_least": 1, "attribute": "occupation"}},
    {"skewness": {"at_most": 3, "attribute": "occupation"}},
    {"similarity": {"at_most": 0.8, "width": 1000, "attribute": "income"}},
]


def _loaded(path: str) -> tuple[Any, Any]:
    import pandas as pd

    import tcdp_audit

    return pd.read_parquet(path), tcdp_audit.load_policy(policy(EXPECTATIONS))


def native(path: str) -> list[float]:
    """The seconds of a bare audit."""
    import tcdp_audit

    frame, expected = _loaded(path)
    return _timed(lambda: len(tcdp_audit.audit(frame, expected).expectations))


def imported(path: str) -> list[float]:
    """The seconds of pandera's import, where pandas and tcdp-audit are imported already.

    It imports most of its modules in the first validation.
    """
    import pandas as pd

    import tcdp_audit

    pd.read_parquet(path, columns=["age"])
    tcdp_audit.load_policy(policy(EXPECTATIONS))

    def load() -> int:
        import pandera.pandas

        one = pandera.pandas.DataFrameSchema({"age": pandera.pandas.Column()})
        return len(one.validate(pd.DataFrame({"age": [1]})))

    return _timed(load)


def validated(path: str) -> list[float]:
    """The seconds of our own entry point, pandera's import among them."""
    frame, expected = _loaded(path)

    def validate() -> int:
        from tcdp_audit.integrations import pandera

        return len(pandera.validate(frame, pandera.schema_of(expected)).outcomes)

    return _timed(validate)


def plainly_validated(path: str) -> list[float]:
    """The seconds of pandera's own method, pandera's import among them."""
    frame, expected = _loaded(path)

    def validate() -> int:
        import pandera.errors

        from tcdp_audit.integrations.pandera import schema_of

        try:
            schema_of(expected).validate(frame, lazy=True)
        except pandera.errors.SchemaErrors as failures:
            return len(failures.schema_errors)
        return 0

    return _timed(validate)


def _timed(work: Callable[[], int]) -> list[float]:
    wall, cpu = time.perf_counter(), time.process_time()
    count = work()
    return [time.perf_counter() - wall, time.process_time() - cpu, count]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    path = Path(arguments.folder) / f"tcdp-audit-benchmark-{arguments.records}.parquet"
    write(path, arguments.records)
    ways = (native, imported, validated, plainly_validated)
    rounds = [[in_a_process(way, str(path)).answer for way in ways] for _ in range(arguments.rounds)]
    best = [min(answers) for answers in zip(*rounds, strict=True)]
    (audit, audit_cpu, _), (load, load_cpu, _) = best[:2]
    print(f"{arguments.records:,} records, 9 columns, {len(EXPECTATIONS)} expectations")
    print(f"  {audit:6.2f} s wall  {audit_cpu:6.2f} s processor  tcdp_audit.audit")
    print(f"  {load:6.2f} s wall  {load_cpu:6.2f} s processor  import of pandera")
    for (wall, cpu, count), name in zip(best[2:], ("validate", "DataFrameSchema.validate"), strict=True):
        ratios = f"{wall / (audit + load):.2f} and {cpu / (audit_cpu + load_cpu):.2f} of both"
        print(f"  {wall:6.2f} s wall  {cpu:6.2f} s processor  {name}: {ratios} ({count:.0f} outcomes or failures)")


if __name__ == "__main__":
    main()
