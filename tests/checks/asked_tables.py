"""Every built-in check asked of small tables, with and without a unit of privacy, names and labels."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Check, Need

CHECKS = {name: one for name, one in Plugins.load(external=False).checks.items() if one.on_records}

# For each check a demand that hardly any release satisfies, one that nearly every release does, and none; the others
# take the example of their guide.
EXPECT: dict[str, list[dict[str, Any]]] = {
    "k_anonymity": [{"k": 9}, {"k": 3}, {"k": 2}, {}],
    "alpha_k_anonymity": [{"alpha": "0.01", "k": 9}, {"alpha": "0.99"}, {"k": 2}, {}],
    "p_sensitive_k_anonymity": [{"p": 9, "k": 9}, {"p": 2}, {"k": 2}, {}],
    "distinct_l_diversity": [{"l": 9}, {"l": 2}, {}],
    "entropy_l_diversity": [{"l": "8.5"}, {"l": "1.5"}, {}],
    "recursive_cl_diversity": [
        {"c": "0.1", "l": 3},
        {"c": 9, "l": 2},
        {"l": 2},
        {"l": 2, "c": 1, "c2": "0.9", "variant": "negative_disclosure", "protected": ["1"]},
    ],
    "t_closeness": [
        {"t": "0.001", "distance": "equal"},
        {"t": "0.9", "distance": "ordered"},
        {"t": 2, "distance": "multiplicative"},
        {"distance": "kullback_leibler"},
    ],
    "delta_disclosure": [{"delta": "0.01"}, {"delta": 9}, {}],
    "basic_beta_likeness": [{"beta": "0.01"}, {"beta": 9}, {}],
    "enhanced_beta_likeness": [{"beta": "0.01"}, {"beta": 9}, {}],
    "lkc_privacy": [{"K": 2, "C": "0.6"}, {"K": 1, "C": "0.9"}, {"L": 1}, {"C": "0.1"}, {"K": 9}],
    "km_anonymity": [{"k": 2}, {"k": 1, "m": 1}, {"k": 9, "m": 3}, {}],
    "known_events": [{"k": 9}, {"k": 2, "m": 1}, {"C": "0.3", "m": 2}, {"k": 9, "C": "0.3", "repeats": "ignored"}, {}],
    "unicity": [{"at_most": 0}, {"at_most": "0.9", "points": [1, 2]}, {"max_combinations": 1}, {}],
    "homogeneity": [{"at_most": 0}, {"at_most": "0.9"}, {}],
    "background_knowledge": [{"at_least": 9}, {"at_least": 1}, {}],
    "skewness": [{"at_most": "0.1"}, {"at_most": 9}, {"sensitive_values": ["1"]}, {}],
    "similarity": [{"width": 1, "at_most": "0.01"}, {"width": 1, "at_most": "0.99"}, {"width": 0}],
    "implied_epsilon": [{"at_most": "0.01"}, {"at_most": 9}, {}],
    "t_from_epsilon": [{"epsilon": 1, "at_most": "1.01"}, {"epsilon": 1}],
    "nt_closeness": [{"n": 2, "t": "0.01"}, {"n": 2, "t": "0.99"}, {"n": 2}],
    "expected_t_closeness": [{"epsilon": 1, "at_most": "1.01"}, {"epsilon": 1}],
    "stochastic_t_closeness": [
        {"mechanism": "randomised_response", "retention": "0.5", "t": "1.001"},
        {"mechanism": "randomised_response", "retention": "0.5"},
    ],
    "rank_interval_disclosure": [
        {"p": 10, "at_most": 0, "aggregate": "joint"},
        {"p": 10, "aggregate": "worst"},
        {"p": 10, "aggregate": "average"},
    ],
    "sd_interval_disclosure": [
        {"p": 10, "at_most": 0, "aggregate": "joint"},
        {"p": 10, "aggregate": "worst"},
        {"p": 10, "aggregate": "average"},
    ],
    "k_concealment": [{"k": 9, "attributes": ["zip"]}, {"k": 1, "attributes": ["zip"]}, {"attributes": ["zip"]}],
    "kk_anonymity": [
        {"k": 9, "attributes": ["zip"]},
        {"k": 9, "attributes": ["zip"], "kind": "one_to_k"},
        {"attributes": ["zip"], "kind": "k_to_one"},
    ],
    "distance_record_linkage": [{"at_most": 0}, {"direction": "original_to_masked"}, {}],
    "assignment_record_linkage": [{"at_most": 0}, {}],
    "probabilistic_record_linkage": [{"at_most": 0}, {}],
    "pram_attack": [{"at_most": 0, "retention": "0.9"}, {"direction": "original_to_masked"}, {}],
    "supervised_record_linkage": [{"at_most": 0}, {"judged": "held_out"}, {"family": "owa", "solver": "milp"}, {}],
    "noise_attack": [
        {"at_most": 0, "sd": 20, "attributes": ["x"]},
        {"direction": "original_to_masked", "attributes": ["x"]},
        {"attributes": ["x"]},
    ],
    "rank_swap_attack": [
        {"attributes": ["x"], "at_most": 0},
        {"attributes": ["x"], "links": "expected", "at_most": "0.5"},
        {"attributes": ["x"], "displacement": 0},
        {"attributes": ["x"], "closure": False},
    ],
    "microaggregation_attack": [
        {"attributes": ["x"], "at_most": 0},
        {"attributes": ["x"], "links": "expected", "at_most": "0.9"},
        {"attributes": ["x"], "method": "known_groups"},
    ],
    "exact_match_rate": [{"at_most": 0}, {}, {"measure": "originals"}, {"measure": "originals", "at_most": 0}],
    "singling_out": [{"at_most": 0}, {"size": 1}, {}],
    "linkability": [{"other_attributes": ["x"], "at_most": 0}, {"other_attributes": ["x"]}],
    "attribute_inference": [{"target": "x", "at_most": 0}, {"target": "x"}],
    "membership_inference": [{"at_most": 0}, {"true_positive_rate": 0}, {"calibrated": True}],
    "closest_record_share": [{"at_most": 0}, {}],
    "k_confusion": [
        {"k": 9, "attack": {"rank_swap_attack": {"attributes": ["x"]}}},
        {"k": 2, "attack": {"microaggregation_attack": {"attributes": ["x"], "method": "known_groups"}}},
        {"attack": {"pram_attack": {"attributes": ["x"]}}},
    ],
    "distance_to_closest_record": [{"at_least": 9}, {}],
    "nearest_neighbour_distance_ratio": [{"at_least": 1}, {}],
    "epsilon_identifiability": [{"epsilon": 0}, {"weights": "equal"}, {}],
    "sample_uniqueness": [{"at_most": 0}, {"at_most": "0.9"}, {}],
    "population_uniqueness": [{"at_most": 0}, {"estimator": "zayatz"}, {}],
    "k_map": [{"k": 9}, {"k": 1}, {}],
    "category_frequency": [{"at_least": 9}, {"at_least": 1, "max_size": 2}, {}],
    "region_population": [{"column": "zip", "at_least": 9}, {"column": "zip", "at_least": 1}, {"column": "zip"}],
    "age_cap": [{"column": "w", "at": 1, "at_most": 0}, {"column": "w", "at": 2, "at_most": 0}, {"column": "w"}],
    "identifying_attribute_count": [{"at_most": 0}, {"at_most": 1}, {}],
    "delta_presence": [{"delta_max": "0.01"}, {"delta_max": 1, "delta_min": 0}, {}],
    "individual_risk": [{"at_most": "0.01"}, {"measure": "expected", "at_most": "0.01"}, {"measure": "average"}],
    "reidentification_risk": [
        {"at_most": "0.01"},
        {"measure": "share_above", "threshold_risk": "0.2", "at_most": 0},
        {"scenario": "marketer", "measure": "average"},
        {"scenario": "journalist"},
    ],
    "suda": [{"at_most": 0, "max_size": 1}, {"max_size": 2}],
    "direct_identifiers": [{"at_most": 0}, {}],
    "safe_harbor": [{"at_most": 0}, {}],
    "quasi_identifier_strength": [{"at_most": 0}, {"measure": "distinction"}, {"measure": "separation"}],
    "composition_attack": [{"at_least": 9}, {"at_least": 2}, {}],
    "release_differencing": [{"k": 9}, {"k": 1}, {}],
    "m_invariance": [{"m": 9}, {"m": 1}, {}],
    "uniqueness_profile": [{"at_most": 0}, {"t": 3}, {"t": 5, "at_most": 0}, {}],
    "joinability": [{"at_most": 0, "contained": 0}, {"at_most": "0.9"}, {"keys": 16}, {}],
    "record_order": [{"at_most": 0}, {}],
}

TAKEN_FROM_ROLES = ("attribute", "attributes")
COLUMNS: dict[str, Any] = {"column": "x", "target": "x", "other_attributes": ["x"]}  # in place of a guide's columns


def demands_of_guide(check: Check) -> list[dict[str, Any]]:
    """The example of a check's guide on the columns of these tables, with its demands and without them."""
    ((_, example),) = yaml.safe_load(check.guide.example)[0].items()
    known = {key: COLUMNS.get(key, value) for key, value in (example or {}).items() if key not in TAKEN_FROM_ROLES}
    demanded = {limit.parameter for limit in check.limits}
    return [known, {key: value for key, value in known.items() if key not in demanded}]


OF_TABLES = {name for name, one in CHECKS.items() if Need.UNLINKED_TABLES in one.needs}  # which have tests apart
OF_OTHERS = OF_TABLES | {name for name, one in CHECKS.items() if Need.WHOLE_RECORDS in one.needs}
EXPECT |= {name: demands_of_guide(one) for name, one in CHECKS.items() if name not in EXPECT and name not in OF_OTHERS}

# the quasi-identifier of each record, and its value; patients stand in pairs of records
TABLES = {
    "one record": ("a", [1]),
    "two alone": ("ab", [1, 2]),
    "one alone": ("aaab", [1, 2, 3, 1]),
    "two of two": ("aabb", [1, 2, 1, 2]),
    "three groups": ("aaabbbcd", [1, 1, 1, 1, 2, 3, 2, 5]),
    "one group": ("aaaa", [1, 2, 3, 3]),
}

LABELS = {"zip": "place of living", "x": "yearly income"}


def outcomes(name: str, *, unit: bool, named: bool = False) -> list[Outcome]:
    return list(audited(name, unit=unit, named=named).expectations)


@cache
def audited(name: str, *, unit: bool, named: bool = False) -> Audit:
    letters, values = TABLES[name]
    records = len(letters)
    release = pa.table(
        {
            "zip": list(letters),
            "x": values,
            "id": [f"n{number}" for number in range(records)],
            "patient_id": [f"p{number // 2}" for number in range(records)],
            "w": [2.0] * records,
        }
    )
    original = release.set_column(1, "x", pa.array([value + (number == 0) for number, value in enumerate(values)]))
    roles: dict[str, Any] = {
        "zip": {"role": "quasi_identifier", "scale": "nominal"},
        "x": {"role": "sensitive", "scale": "numeric"},
        "w": {"role": "insensitive", "scale": "numeric"},
        "patient_id": {"role": "insensitive"},
    }
    if unit:
        del roles["patient_id"]
    if named:
        roles |= {column: {**roles[column], "label": label} for column, label in LABELS.items()}
    expect = [
        {check: demand} for check, demands in EXPECT.items() for demand in demands if is_asked(check, demand, unit=unit)
    ]
    policy: dict[str, Any] = {"version": 1, "key": "id", "attributes": roles, "expect": expect}
    companions = (
        {"original": original} if unit else {"original": original, "population": pa.concat_tables([release] * 2)}
    )
    policy |= ({"unit": "patient_id"} if unit else {}) | ({"unit_name": "person"} if named else {})
    with TemporaryDirectory() as folder:
        policy["holdout"] = str(Path(folder) / "holdout.parquet")
        strangers = pa.array([f"s{number}" for number in range(records)])
        pq.write_table(original.set_column(2, "id", strangers), policy["holdout"])
        policy["previous"] = f"{folder}/previous.parquet"
        pq.write_table(original, policy["previous"])
        policy["registry"] = policy["previous"]
        return tcdp_audit.audit(release, policy, **companions)


def is_asked(check: str, demand: dict[str, Any], *, unit: bool) -> bool:
    """Whether a policy with or without a unit can have an expectation."""
    return not rows(check, demand) if unit else Need.UNIT not in CHECKS[check].needs


def rows(check: str, demand: dict[str, Any]) -> bool:
    """Whether a check counts rows, so that it takes no unit."""
    return Need.ROWS in CHECKS[check].needs or check == "individual_risk" or "scenario" in demand
