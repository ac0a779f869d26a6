"""Twenty expectations on a pandas frame of nine columns: through Great Expectations, and in one native audit.

    python benchmarks/expectation_suite.py [--records 1000000] [--rounds 5]

Prints the seconds that importing takes, and the median ratio of a run of a validation definition to the native call,
which alternate in one process. Both judge the same twenty demands; the figures of both are compared.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path = [one for one in sys.path if Path(one or ".").resolve() != Path(__file__).parent]  # it has this file's name

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

KNOWN = ["age", "zip", "education", "sex"]
SENSITIVE = ["salary", "disease", "hours"]
DECLARED: dict[str, dict[str, str]] = {
    **{name: {"role": "quasi_identifier"} for name in KNOWN},
    **{name: {"role": "sensitive", "scale": "numeric"} for name in SENSITIVE},
    "ward": {"role": "insensitive"},
    "year": {"role": "insensitive"},
}
ON_EACH: list[dict[str, Any]] = [
    {"distinct_l_diversity": {"l": 3}},
    {"entropy_l_diversity": {"l": 3}},
    {"t_closeness": {"t": 0.3, "distance": "ordered"}},
    {"t_closeness": {"t": 0.5, "distance": "equal"}},
    {"basic_beta_likeness": {"beta": 20}},
    {"alpha_k_anonymity": {"alpha": 0.5, "k": 5}},
]
EXPECT = [
    {"k_anonymity": {"k": 5}},
    {"sample_uniqueness": {"at_most": 0.01}},
    *({check: {**given, "attribute": name}} for one in ON_EACH for check, given in one.items() for name in SENSITIVE),
]
POLICY = {"version": 1, "attributes": DECLARED, "expect": EXPECT}


def frame(records: int) -> pd.DataFrame:
    """Records of nine columns: about 1,100 classes."""
    draw = np.random.default_rng(7)
    codes = {"zip": 20, "education": 4, "sex": 2, "disease": 14, "ward": 30, "year": 5}
    columns = {name: draw.integers(0, size, records).astype(str) for name, size in codes.items()}
    ages, salaries, hours = draw.integers(0, 7, records), draw.integers(10, 400, records), draw.integers(1, 60, records)
    whole = pd.DataFrame({"age": ages, **columns, "salary": salaries, "hours": hours})
    return whole.assign(disease=pd.to_numeric(whole["disease"]))


@dataclass(frozen=True)
class Taken:
    """Wall seconds, and those of processors, which other programs of the machine change less."""

    wall: float
    cpu: float


def timed(work: Callable[[], Any]) -> tuple[Taken, Any]:
    """The time that some work takes, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu), answer


def imported() -> Any:
    """Great Expectations and our classes."""
    with warnings.catch_warnings(action="ignore"):
        import great_expectations as gx
    from tcdp_audit.integrations import great_expectations as ours

    return gx, ours


def definition(gx: Any, ours: Any) -> Any:
    """A validation definition of the policy's expectations."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("pandas").add_dataframe_asset("release")
    whole = asset.add_batch_definition_whole_dataframe("whole")
    suite = context.suites.add(ours.suite_of(POLICY, "disclosure"))
    return context.validation_definitions.add(gx.ValidationDefinition(name="all", data=whole, suite=suite))


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    import tcdp_audit

    release = frame(chosen.records)
    native, _ = timed(lambda: tcdp_audit.audit(release, POLICY))
    seconds, (gx, ours) = timed(imported)
    run = definition(gx, ours)
    print(f"{chosen.records:,} records, {release.shape[1]} columns, {len(EXPECT)} expectations")
    print(f"first native audit, with its imports: {native.cpu:.2f} s of a processor")
    print(f"importing Great Expectations and the classes: {seconds.cpu:.2f} s of a processor")
    pairs = []
    for _ in range(chosen.rounds):
        alone, audit = timed(lambda: tcdp_audit.audit(release, POLICY))
        through, result = timed(lambda: ours.guarded_run(run, batch_parameters={"dataframe": release}))
        observed = sorted(str(one.result["observed_value"]) for one in result.results[1:])
        if observed != sorted(str(one.as_json()["observed"]) for one in audit.expectations):
            raise SystemExit("the figures differ")
        pairs.append((alone, through))
    wall = median(through.wall / alone.wall for alone, through in pairs)
    cpu = median(through.cpu / alone.cpu for alone, through in pairs)
    seconds, processor = median(alone.wall for alone, _ in pairs), median(alone.cpu for alone, _ in pairs)
    print(f"native: {seconds:.2f} s, {processor:.2f} CPU")
    print(f"through Great Expectations, as a ratio: {wall:.2f} of the time, {cpu:.2f} of the processors")


if __name__ == "__main__":
    main()
