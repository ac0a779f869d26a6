"""No figure depends on the expectations that stand in the same suite: each alone, all together, and random pairs."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from gx_hosts import COLUMNS, from_native, gx, judged, ours, pandas_batches, run

import tcdp_audit
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.check.needs import Need
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.integrations.great_expectations.suites import suite_of
from tcdp_audit.integrations.host import answers_to, joined

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "person": {"role": "insensitive"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "education": {"role": "quasi_identifier", "scale": "nominal"},
    "sex": {"role": "quasi_identifier", "scale": "nominal"},
    "salary": {"role": "sensitive", "scale": "numeric"},
    "disease": {"role": "sensitive", "scale": "nominal"},
    "hours": {"role": "insensitive", "scale": "numeric"},
}
DEFAULTS = [  # what a check takes where the policy names no attributes
    {"rank_interval_disclosure": {"p": 10, "at_most": 0.7}},
    {"sd_interval_disclosure": {"p": 10, "at_most": 0.7}},
    {"distance_record_linkage": {"at_most": 0.5}},
    {"exact_match_rate": {"at_most": 0.5}},
    {"epsilon_identifiability": {"epsilon": 0.5}},
    {"k_anonymity": {"k": 2}},
    {"distinct_l_diversity": {"l": 2}},  # an outcome for each sensitive column
    {"t_closeness": {"t": 0.5, "attribute": "salary", "distance": "ordered"}},
]


def _people(seed: int, records: int, name: str = "p") -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": [f"{name}{number:04d}" for number in range(records)],
            "age": draw.integers(20, 60, records),
            "zip": draw.choice(["10", "11", "12"], records),
            "education": draw.choice(["low", "high"], records),
            "sex": draw.choice(["f", "m"], records),
            "salary": draw.integers(1, 40, records) * 500,
            "disease": draw.choice(["a", "b", "c"], records, p=[0.6, 0.3, 0.1]),
            "hours": draw.integers(10, 40, records),
        }
    )


def _release() -> pd.DataFrame:
    draw = np.random.default_rng(1)
    masked = _people(0, 60)
    for name in ("salary", "hours"):
        masked[name] = masked[name] + draw.integers(-2, 3, len(masked))
    return masked


@cache
def _examples() -> list[dict[str, Any]]:
    """The example in the guide of every check on rows of one a person, and what a check takes by default."""
    registered = sorted(Plugins.load().checks.items())
    others = {Need.UNIT, Need.UNLINKED_TABLES, Need.WHOLE_RECORDS}  # which this table has not
    checks = [
        one
        for name, one in registered
        if name != "supervised_record_linkage" and one.on_records and not others & {*one.needs}
    ]
    return [yaml.safe_load(one.guide.example)[0] for one in checks] + DEFAULTS


def _policy(folder: Path) -> dict[str, Any]:
    others = {"original": _people(0, 60), "holdout": _people(3, 60, "h"), "earlier": _people(4, 60)}
    others["population"] = pd.concat([_release(), _people(2, 300, "q")])
    for name, table in others.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return {
        "version": 1,
        "original": str(folder / "original.csv"),
        "population": str(folder / "population.csv"),
        "holdout": str(folder / "holdout.csv"),
        "registry": str(folder / "population.csv"),
        "previous": str(folder / "earlier.csv"),
        "key": "person",
        "attributes": ATTRIBUTES,
        "expect": _examples(),
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _policy(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def expectations(whole: dict[str, Any]) -> list[Any]:
    return list(suite_of(whole).expectations)


@pytest.fixture(scope="module")
def native(whole: dict[str, Any]) -> list[Any]:
    return [from_native(one) for one in tcdp_audit.audit(_release(), whole).expectations]


def _demands(expectations: list[Any]) -> list[Any]:
    from tcdp_audit.integrations.great_expectations.expectation import demand_of

    return [demand_of(one.checked, one.__dict__) for one in expectations]


def _figures(demands: list[Any]) -> list[Any]:
    """What comes of some demands that are asked together; of each its outcome without a place in a policy."""
    given = answers_to(demands, _release())
    return [[from_native(one) for one in given[demand]] for demand in demands]


@pytest.mark.long
def test_every_expectation_alone_is_what_the_policy_says(expectations: list[Any], native: list[Any]):
    demands = _demands(expectations[1:])

    alone = [figures for demand in demands for figures in _figures([demand])]

    assert [one for (one,) in alone] == native
    assert sum(one[4] is Status.ERROR for one in native) <= 3  # nearly all are judged, so the comparison is of figures


@pytest.mark.long
def test_all_in_one_suite_are_what_the_policy_says(whole: dict[str, Any], native: list[Any]):
    result = run(pandas_batches(_release()), suite_of(whole))

    answers = [
        judged(one) for one in result.results if "status" in _details(one) and _details(one)["status"] != "error"
    ]
    assert sorted(answers, key=repr) == sorted((one for one in native if one[4] is not Status.ERROR), key=repr)


def _details(result: Any) -> dict[str, Any]:
    return {} if result.expectation_config.type == COLUMNS else result.to_json_dict()["result"]["details"]


@pytest.mark.long
def test_random_pairs_are_what_each_is_alone(expectations: list[Any], native: list[Any]):
    demands = _demands(expectations[1:])
    draw = random.Random(0)  # noqa: S311 - which pairs are tried

    for _ in range(200):
        one, other = draw.sample(range(len(demands)), 2)
        assert _figures([demands[one], demands[other]]) == [[native[one]], [native[other]]]


def test_a_suite_is_one_audit_of_its_policy(expectations: list[Any]):
    assert len(list(joined(_demands(expectations)))) == 1


def test_interval_disclosure_averages_over_its_own_columns_beside_another_expectation(tmp_path: Path):
    whole = _policy(tmp_path)
    common = {name: whole[name] for name in ("original", "key")}
    columns = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
    disclosure = ours.ExpectTableRankIntervalDisclosureToBeLimited(
        quasi_identifiers=["age"], declarations=columns, p=10, at_most=0.5, **common
    )
    other = ours.ExpectColumnToBeTClose(
        quasi_identifiers=["age"],
        declarations=columns,
        column="salary",
        scale="numeric",
        t=1,
        distance="ordered",
        **common,
    )
    batches = pandas_batches(_release())

    alone = run(batches, [disclosure]).results[0].result["observed_value"]
    first, second = run(pandas_batches(_release()), [disclosure, other]).results

    assert {
        one.result["observed_value"]
        for one in (first, second)
        if one.expectation_config.type.startswith("expect_table")
    } == {alone}


@pytest.mark.parametrize("beside", [False, True])
def test_a_guarded_run_refuses_disclosure_that_is_only_measured(beside: bool):
    measured = ours.ExpectTableToBeKAnonymous(quasi_identifiers=["age"], severity="info")
    others = [gx.expectations.ExpectTableRowCountToBeBetween(min_value=1)] if beside else []

    with pytest.raises(ours.IncompleteRunError, match="only measures disclosure"):
        run(pandas_batches(_release()), [measured, *others])


def test_a_guarded_run_refuses_disclosure_of_a_part_of_the_table():
    from gx_hosts import column

    limited = ours.ExpectTableToBeKAnonymous(quasi_identifiers=["sex"], k=2, row_condition=column("sex") == "f")

    with pytest.raises(ours.IncompleteRunError, match="has a row condition in 1 expectation of disclosure, such as"):
        run(pandas_batches(_release()), [limited])


def test_results_name_what_a_record_is():
    demand = ours.ExpectTableToBeKAnonymous(quasi_identifiers=["sex"], k=100, unit_name="donor")

    result = run(pandas_batches(_release()), [demand]).results[0]

    assert " donors " in result.result["details"]["message"]
    assert "record" not in result.result["details"]["message"]


SECRETS = ["postgresql://reader:hush@office/people", "https://office.example/people.csv?sig=hush"]


@pytest.mark.parametrize("address", SECRETS)
def test_no_password_comes_into_a_stored_suite(address: str):
    whole = {"version": 1, "population": address, "attributes": ATTRIBUTES, "expect": [{"k_map": {"k": 2}}]}

    with pytest.raises(tcdp_audit.PolicyError, match="population: its address holds a password or a token") as refused:
        suite_of(whole)
    assert "hush" not in str(refused.value)
    with pytest.raises(ValueError, match="population: its address holds a password or a token") as refused_too:
        ours.ExpectTableToSatisfyKMap(quasi_identifiers=["age"], k=2, population=address)
    assert "hush" not in str(refused_too.value)
