"""What every built-in check says is right English for none, for one, for two, and with a unit of privacy."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins

FAULTS = [
    r"\b1 \w*(records|groups|classes|values|attributes|people|persons|others|patients|columns)\b",
    r"\b1 (other|different|released|equally frequent|equivalence) \w+s\b",
    r"\b([02-9]|\d\d+) (record|group|class|attribute|person|patient|column)\b",
    r"(?i)\b(1 of \d+ (released )?records?|the only (released )?record|no record) (are|have|lie|match|equal|share)\b",
    r"\b1 (record|group|class|patient|person|attribute|column) (are|have|lie|match|equal|share)\b",
    r"(?i)\b([2-9] of \d+ (released )?records|all \d+ (released )?records) (is|has|lies|matches|equals|shares)\b",
    r"  | ,|\.\.|\bNone\b|\bnan\b|Fraction|1 of 1 |\be[+-]\d\d|\d\.\d{5}",
]

CHECKS = Plugins.load(external=False).checks

# a demand that hardly anything keeps, one that nearly everything keeps, and none, where those of the guide are too few
CHOSEN: dict[str, list[dict[str, Any]]] = {
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
    "skewness": [{"at_most": "0.1"}, {"at_most": 9}, {"harmful": ["1"]}, {}],
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
        {"k": 9, "attributes": ["zip"], "kind": "one_k"},
        {"attributes": ["zip"], "kind": "k_one"},
    ],
    "distance_record_linkage": [{"at_most": 0}, {"direction": "original_to_masked"}, {}],
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
    "linkability": [{"second": ["x"], "at_most": 0}, {"second": ["x"]}],
    "attribute_inference": [{"secret": "x", "at_most": 0}, {"secret": "x"}],
    "membership_inference": [{"at_most": 0}, {"true_positive_rate": 0}, {"calibrated": True}],
    "k_confusion": [
        {"k": 9, "attack": {"rank_swap_attack": {"attributes": ["x"]}}},
        {"k": 2, "attack": {"microaggregation_attack": {"attributes": ["x"], "method": "known_groups"}}},
        {"attack": {"pram_attack": {"attributes": ["x"]}}},
    ],
    "distance_to_closest_record": [{"at_least": 9}, {}],
    "nearest_neighbour_distance_ratio": [{"at_least": 1}, {}],
    "epsilon_identifiability": [{"epsilon": 0}, {"weights": "equal"}, {}],
    "population_uniqueness": [{"at_most": 0}, {"estimator": "zayatz"}, {}],
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
    "uniqueness_profile": [{"at_most": 0}, {"t": 3}, {"t": 5, "at_most": 0}, {}],
    "joinability": [{"at_most": 0, "contained": 0}, {"at_most": "0.9"}, {"keys": 16}, {}],
    "record_order": [{"at_most": 0}, {}],
}


def demands_of_guide(name: str) -> list[dict[str, Any]]:
    """A strict demand, a lenient one and none, beside what the example of the check's guide gives."""
    ((_, example),) = yaml.safe_load(CHECKS[name].guide.example)[0].items()
    further = {*(limit.parameter for limit in CHECKS[name].limits), "attribute", "attributes", "sensitive"}
    given = {key: value for key, value in (example or {}).items() if key not in further}
    headline = CHECKS[name].headline
    strict, lenient = (9, 1) if headline.comparison.higher_is_safer else (0, "0.9")
    return [{**given, headline.parameter: strict}, {**given, headline.parameter: lenient}, given]


EXPECT = {name: CHOSEN.get(name) or demands_of_guide(name) for name in sorted(CHECKS)}

# the quasi-identifier of each record, and its value; patients stand in pairs of records
LONG = pytest.mark.long
TABLES = {
    "one record": ("a", [1]),
    "two alone": ("ab", [1, 2]),
    "one alone": ("aaab", [1, 2, 3, 1]),
    "two of two": ("aabb", [1, 2, 1, 2]),
    "three groups": ("aaabbbcd", [1, 1, 1, 1, 2, 3, 2, 5]),
    "one group": ("aaaa", [1, 2, 3, 3]),
}
FIRST = {"two alone", "three groups"}  # the others are of the longer tier
SOME = [
    pytest.param(name, marks=[pytest.mark.xdist_group(f"sentences {name}"), *([] if name in FIRST else [LONG])])
    for name in TABLES
]


LABELLED = "place of living|yearly income"
OF_NO_COLUMN = {
    **dict.fromkeys(("t_from_epsilon", "expected_t_closeness"), "confidential values|epsilon"),
    "direct_identifiers": "No column names a person",
    "safe_harbor": "No column says who a person is",
    "age_cap": "'w'",
    "identifying_attribute_count": "1 column",
}
OF_MANY_RECORDS = {"record_order"}  # an error where there are fewer than 20
LABELS = {"zip": "place of living", "x": "yearly income"}
ROLES: dict[str, Any] = {
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "x": {"role": "sensitive", "scale": "numeric"},
    "w": {"role": "insensitive", "scale": "numeric"},
}


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
    roles = dict(ROLES) if unit else {**ROLES, "patient_id": {"role": "insensitive"}}
    if named:
        roles |= {column: {**roles[column], "label": label} for column, label in LABELS.items()}
    expect = [
        {check: demand}
        for check, demands in EXPECT.items()
        for demand in demands
        if not unit or takes_a_unit(check, json.dumps(demand))
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


@cache
def takes_a_unit(check: str, demand: str) -> bool:
    """Whether the policy may name a unit; a check that counts rows takes none."""
    companions = {name: f"{name}.csv" for name in ("original", "population", "holdout", "registry", "previous")}
    policy = {"version": 1, "key": "id", "unit": "patient_id", "attributes": ROLES, **companions}
    try:
        tcdp_audit.load_policy({**policy, "expect": [{check: json.loads(demand)}]})
    except tcdp_audit.PolicyError as error:
        if "unit" not in str(error):
            raise
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("named", [False, True], ids=["names", "labels"])
@pytest.mark.parametrize("unit", [False, True], ids=["records", "patients"])
@pytest.mark.parametrize("name", SOME)
def test_numbers_nouns_and_verbs_agree(name: str, *, unit: bool, named: bool) -> None:
    found = outcomes(name, unit=unit, named=named)
    sentences = {text for one in found for text in (one.message, one.person)}
    assert len(sentences) > 60
    assert [(text, fault) for text in sentences for fault in FAULTS if re.search(fault, text)] == []


@pytest.mark.parametrize("unit", [False, True], ids=["records", "patients"])
@pytest.mark.parametrize("name", SOME)
def test_every_sentence_is_about_people_and_names_columns_by_their_labels(name: str, *, unit: bool) -> None:
    for one in (one for one in outcomes(name, unit=unit, named=True) if one.status is not Status.ERROR):
        for text in (one.message, one.person):
            assert not re.search(r"equivalence class|\bfigure\b|`|'(zip|x)'", text), text
        people = r"\b(person|people|Nobody)\b" if not unit else r"\b(person|people|records?)\b"
        assert re.search(people, one.message), one.message
        assert re.search(OF_NO_COLUMN.get(one.check, LABELLED), one.message), one.message


def test_every_check_tells_what_it_means_for_one_person_and_what_it_asks() -> None:
    silent = {"distance_to_closest_record", "nearest_neighbour_distance_ratio"}  # they say nothing of single people
    assert {name for name, one in CHECKS.items() if one.person is None} == silent
    for one in CHECKS.values():
        assert one.guide.question.endswith("?"), one.name
        assert one.guide.risk.endswith("."), one.name
        assert not re.search("`|class|distribution|quasi|anonymity|closeness", one.guide.question + one.guide.risk), (
            one.name
        )


@pytest.mark.parametrize("check", sorted(EXPECT.keys() - OF_MANY_RECORDS))
def test_every_check_is_evaluated_in_some_table(check: str) -> None:
    checked = [one for one in outcomes("three groups", unit=False) if one.check == check]
    assert len(checked) == len(EXPECT[check])
    assert all(one.status is not Status.ERROR and one.message.endswith(".") for one in checked)


@pytest.mark.parametrize(
    ("name", "unit", "sentence"),
    [
        (
            "one record",
            False,
            "The only record is in a group of fewer than 2 records with the same 'zip': this record is alone.",
        ),
        (
            "two alone",
            False,
            "Both records are in 2 groups of fewer than 2 records with the same 'zip': each of them is alone.",
        ),
        (
            "one alone",
            False,
            "1 of 4 records is in a group of fewer than 2 records with the same 'zip': this record is alone.",
        ),
        (
            "one alone",
            True,
            "All 4 records are in 2 groups of fewer than 3 patients with the same 'zip'; the smallest has 1 patient.",
        ),
        ("one group", True, "Every record is in a group of at least 2 patients with the same 'zip'."),
        ("two of two", False, "Every record is in a group of at least 2 records with the same 'zip'."),
    ],
)
def test_k_anonymity_says_who_is_alone(name: str, unit: bool, sentence: str) -> None:
    assert sentence in {one.message for one in outcomes(name, unit=unit) if one.check == "k_anonymity"}


def test_a_unit_gives_groups_their_noun() -> None:
    sentences = [one.message for one in outcomes("three groups", unit=True) if one.check == "k_anonymity"]
    assert all("patient" in text for text in sentences)
