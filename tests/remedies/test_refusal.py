"""Refusals of remedies: each says which condition fails, and the nearest that would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from masked import PLUGINS
from mondrian_tables import view_of

from tcdp_audit import RemedyError
from tcdp_audit_plugins.remedies._shared.search import failed_as_one_class, refused_as_one_class

AGE, WAGE = {"role": "quasi_identifier", "scale": "numeric"}, {"role": "sensitive", "scale": "numeric"}
TOWN = {"role": "quasi_identifier", "scale": "nominal"}
OPEN = {**TOWN, "hierarchy": [["a", "north"], ["b", "south"], ["c", "south"]]}
JOB = {"role": "sensitive", "scale": "nominal"}
PEOPLE = {"age": [20, 21, 34, 35], "town": [*"aabc"], "wage": [1, 2, 3, 4], "job": [*"xxyz"]}
K, L = {"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 4}}
RETAINED = {"k_anonymity": {"k": 2}}
OF_HISTORIES = {  # whose refusals need a unit that joins rows, and are in their own tests
    "redraw_pseudonym",
    "truncate_histories",
    "coarsen_time",
    "suppress_events",
    "suppress_units",
}
AS_ONE = "would fail even if all records were one class. Attainable by that class: "

REFUSALS: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any], Sequence[Mapping[str, Any]], str]] = [
    (
        "bucketization",
        {"age": AGE, "wage": WAGE},
        {"attribute": "wage", "t": 1, "k": 1},
        [RETAINED],
        "The nearest that can: ",
    ),
    (
        "bucketization",
        {"age": AGE, "wage": WAGE},
        {"attribute": "wage", "t": 9, "k": 9, "buckets": 9},
        [RETAINED],
        "buckets = 4",
    ),
    (
        "correlated_noise",
        {"age": AGE, "wage": WAGE},
        {"covariance": {"age": {"age": 1, "wage": 4}, "wage": {"wage": 4}}},
        [RETAINED],
        "0.5000 times the covariances",
    ),
    (
        "correlated_noise",
        {"town": TOWN},
        {"percent": 5},
        [RETAINED],
        "no numeric quasi-identifier; name the `attributes`",
    ),
    ("data_shuffling", {"town": TOWN}, {"proximity": 0}, [RETAINED], "no quasi-identifier that is numeric or ordinal"),
    (
        "generalization",
        {"age": AGE},
        {"levels": {"age": 7}},
        [RETAINED],
        "'age' has no level 7: its levels go from 0 to 1",
    ),
    ("generalization", {"age": AGE}, {}, [K], f"k-anonymity {AS_ONE}k-anonymity 4, where >= 5 is demanded"),
    (
        "generalization",
        {"age": AGE, "town": TOWN},
        {"levels": {"age": 0, "town": 0}},
        [{"k_anonymity": {"k": 4}}],
        "with all values of 'age' and 'town' alike, one class would keep",
    ),
    (
        "global_recoding",
        {"age": AGE},
        {"breaks": {"age": [30]}},
        [RETAINED],
        "reaches over a break; recode before generalising",
    ),
    ("microaggregation", {"age": AGE}, {"k": 9}, [RETAINED], "has 4; the largest k is that"),
    (
        "microaggregation",
        {"age": AGE, "job": JOB},
        {"k": 2},
        [L],
        f"{AS_ONE}Distinct l-diversity of 'job' 3, where >= 4",
    ),
    ("mondrian", {"age": AGE}, {"k": 9}, [RETAINED], "the largest k is 4, all records"),
    ("mondrian", {"age": AGE, "job": JOB}, {}, [L], f"{AS_ONE}Distinct l-diversity of 'job' 3, where >= 4 is demanded"),
    (
        "noise",
        {"town": TOWN},
        {"attribute": "town", "mechanism": "randomised_response", "epsilon": "1/10000000000000"},
        [RETAINED],
        r"among 3; \S+ would do",
    ),
    ("pram", {"town": TOWN}, {"retention": 0.1}, [RETAINED], "the least is 1/3"),
    (
        "pram",
        {"town": TOWN},
        {"matrix": {"town": {"a": {"a": 1}, "b": {"b": 1}}}},
        [RETAINED],
        "no line for 1 of its values; give them one",
    ),
    (
        "rank_swapping",
        {"age": AGE},
        {"percent": 1},
        [RETAINED],
        "less than one rank, so that none could be swapped; .*25",
    ),
    ("rank_swapping", {"town": TOWN}, {"percent": 5}, [RETAINED], "no quasi-identifier that is numeric or ordinal"),
    ("rebucketize", {"age": AGE}, {"attribute": "age", "buckets": 9}, [RETAINED], "has 4 different values already"),
    ("redistribution", {"age": AGE, "job": JOB}, {}, [L], f"{AS_ONE}Distinct l-diversity of 'job' 3, where >= 4"),
    ("rounding", {"town": TOWN}, {"base": 5}, [RETAINED], "no numeric quasi-identifier; name the `attributes` to mask"),
    ("suppression", {"age": AGE}, {}, [RETAINED], "the largest has 1 record; generalise first, or use `of: cells`"),
    (
        "suppression",
        {"town": TOWN},
        {"at_most": 0.25},
        [RETAINED],
        r"it would pass if up to 50% might be removed \(`at_most: 0.5`\)",
    ),
    (
        "suppression",
        {"town": TOWN, "job": JOB},
        {"of": "cells"},
        [L],
        f"{AS_ONE}Distinct l-diversity of 'job' 3, where >= 4",
    ),
    (
        "t_by_noise",
        {"age": AGE, "wage": WAGE},
        {"t": 2, "k": 3, "partition": "none", "attributes": {"wage": {"mechanism": "laplace", "bounds": [0, 9]}}},
        [RETAINED],
        "the smallest class has 1 record, and k is 3; let the remedy partition",
    ),
    ("top_bottom_coding", {"age": AGE}, {"attribute": "age", "share": 0.1}, [RETAINED], "`share: 0.25` would do"),
]


def test_every_remedy_is_here() -> None:
    assert {remedy for remedy, *_ in REFUSALS} == set(PLUGINS.remedies) - OF_HISTORIES


@pytest.mark.parametrize(("remedy", "attributes", "parameters", "expect", "sentence"), REFUSALS)
def test_a_refusal_says_what_would_do(
    remedy: str,
    attributes: Mapping[str, Any],
    parameters: Mapping[str, Any],
    expect: Sequence[Mapping[str, Any]],
    sentence: str,
) -> None:
    columns = {name: PEOPLE[name] for name in attributes}
    if remedy == "global_recoding":
        columns["age"] = ["[20, 34]", "[20, 34]", "35", "35"]
    document = {"version": 1, "attributes": attributes, "expect": [*expect]}
    document["conventions"] = {"suppressed_tokens": ["*"]}
    specification = PLUGINS.remedies[remedy]
    with view_of(pa.table(columns), document) as view, pytest.raises(RemedyError, match=sentence) as refused:
        specification.apply(view, specification.parameters.model_validate(parameters))
    assert not any(f"'{cell}'" in str(refused.value) for cell in (*PEOPLE["town"], *PEOPLE["job"]))


@pytest.mark.parametrize(
    ("remedy", "attributes", "parameters", "proposed"),
    [
        (
            "correlated_noise",
            {"age": AGE, "wage": WAGE},
            {},
            {"covariance": {"age": {"age": 1, "wage": 2}, "wage": {"wage": 4}}},
        ),
        ("generalization", {"town": TOWN}, {"suppression": 0.3, "levels": {"town": 0}}, {"suppression": 0.5}),
        ("microaggregation", {"age": AGE}, {}, {"k": 4}),
        ("mondrian", {"age": AGE}, {}, {"k": 4}),
        ("pram", {"town": TOWN}, {}, {"retention": "1/3"}),
        ("rank_swapping", {"age": AGE}, {}, {"percent": 25}),
        ("suppression", {"town": TOWN}, {}, {"at_most": 0.5}),
        ("top_bottom_coding", {"age": AGE}, {"attribute": "age"}, {"share": 0.25}),
    ],
)
def test_what_a_refusal_proposes_does(
    remedy: str, attributes: Mapping[str, Any], parameters: Mapping[str, Any], proposed: Mapping[str, Any]
) -> None:
    document = {"version": 1, "attributes": attributes, "expect": [RETAINED]}
    specification = PLUGINS.remedies[remedy]
    with view_of(pa.table({name: PEOPLE[name] for name in attributes}), document) as view:
        assert specification.apply(view, specification.parameters.model_validate({**parameters, **proposed}))


@pytest.mark.parametrize(("titles", "named"), [(["A"], "A"), (["A", "B"], "A and B"), ([*"ABC"], "A, B and C")])
def test_the_demands_are_named(titles: list[str], named: str) -> None:
    with view_of(pa.table({"age": [1, 2]}), {"version": 1, "attributes": {"age": AGE}, "expect": [RETAINED]}) as view:
        assert refused_as_one_class(titles, view.demands) == f"{named} would fail even if all records were one class"


def test_the_figures_of_one_class_are_those_that_fail() -> None:
    expect = [
        K,
        {"distinct_l_diversity": {"l": 2}},
        {"entropy_l_diversity": {"l": 3}},
        {"homogeneity": {"at_most": 0}},
    ]
    document = {"version": 1, "attributes": {"age": AGE, "job": JOB}, "expect": expect}
    with view_of(pa.table({"age": PEOPLE["age"], "job": PEOPLE["job"]}), document) as view:
        assert failed_as_one_class(view.demands) == ["k-anonymity", "Entropy l-diversity"]
        assert refused_as_one_class(failed_as_one_class(view.demands), view.demands) == (
            f"k-anonymity and Entropy l-diversity {AS_ONE}k-anonymity 4, where >= 5 is demanded; Entropy l-diversity "
            "of 'job' 2.83, where >= 3 is demanded"
        )
