"""Audits the demonstration's release by every built-in check, where no library of an extra can be imported.

Called with the demonstration's folder and the names of the libraries; prints what came of each expectation.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

folder, *missing = sys.argv[1:]


class Absent:
    """Finds nothing where a library is to be missing."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent)  # type: ignore[arg-type]

import pyarrow as pa  # noqa: E402
import yaml  # noqa: E402
from pyarrow.csv import read_csv  # noqa: E402
from pyarrow.parquet import write_table  # noqa: E402

from tcdp_audit import audit, load_policy  # noqa: E402
from tcdp_audit.core.session.registry import Plugins  # noqa: E402

BOTH = ["cost", "length_of_stay"]  # what the original has of the release's columns
PAIRED = (
    "distance_record_linkage",
    "supervised_record_linkage",
    "probabilistic_record_linkage",
    "exact_match_rate",
    "distance_to_closest_record",
    "nearest_neighbour_distance_ratio",
    "epsilon_identifiability",
)
# the assignment of 8,000 records takes minutes; the others need generalised values, and the demonstration's are masked
ON_FEW = ("assignment_record_linkage", "k_concealment", "kk_anonymity")
GIVEN = {
    **{name: {"attributes": BOTH} for name in PAIRED},
    "pram_attack": {"retention": "0.9", "attributes": ["length_of_stay"]},
    "noise_attack": {"sd": 20, "attributes": ["length_of_stay"]},
    "expected_t_closeness": {"epsilon": 1},
    "nt_closeness": {"n": 100, "attribute": "cost"},
    "t_from_epsilon": {"epsilon": 1},
    "rank_interval_disclosure": {"p": 5, "attributes": BOTH},
    "rank_swap_attack": {"attributes": BOTH},
    "k_confusion": {"attack": {"rank_swap_attack": {"attributes": BOTH}}},
    "microaggregation_attack": {"attributes": BOTH},
    "sd_interval_disclosure": {"p": 1},
    "recursive_cl_diversity": {"l": 2},
    "similarity": {"attribute": "diagnosis", "level": 1},
    "stochastic_t_closeness": {"attribute": "cost", "mechanism": "laplace", "noise_scale": 10},
    "implied_epsilon": {"attribute": "cost", "buckets": {"cost": 4}},
    "population_uniqueness": {"estimator": "pitman"},
    "age_cap": {"column": "length_of_stay"},
    "region_population": {"column": "postcode"},
    **{name: {"attributes": BOTH} for name in ("singling_out", "membership_inference", "closest_record_share")},
    "linkability": {"attributes": ["cost"], "other_attributes": ["length_of_stay"]},
    "attribute_inference": {"attributes": ["cost"], "target": "length_of_stay"},
}
path = Path(folder) / "discharges.tcdp.yaml"
policy = yaml.safe_load(path.read_text(encoding="utf-8"))
for name in ("release", "original", "population"):
    policy[name] = str(path.parent / policy[name])
original = read_csv(policy["original"])  # its own people under other keys: nobody who had no part is at hand
place = original.column_names.index(policy["key"])
strangers = pa.array([f"stranger {number}" for number in range(original.num_rows)])
policy["holdout"] = str(Path(folder) / "holdout.parquet")
write_table(original.set_column(place, policy["key"], strangers), policy["holdout"])
policy["previous"] = policy["release"]  # as if nothing had changed since
policy["registry"] = policy["release"]  # as if somebody had the very same table
policy["attributes"]["diagnosis"]["hierarchy"] = str(path.parent / "diagnosis.csv")
policy["expect"] = [{name: GIVEN.get(name, {})} for name in Plugins.load(external=False).checks if name not in ON_FEW]
outcomes = list(audit(None, load_policy(policy)).expectations)

few = pa.table({"cost": [1, 2, 3, 5], "stay": [4, 4, 1, 2]})
attributes = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in few.column_names}
small = {"version": 1, "rows_aligned": True, "attributes": attributes, "expect": [{name: {}} for name in ON_FEW]}
outcomes += audit(few, small, original=few).expectations

sys.stdout.write(json.dumps([[one.check, one.attribute, one.status, one.observed, one.message] for one in outcomes]))
