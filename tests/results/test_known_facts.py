"""The name of a set of known columns: given once, used in reports, and spelled out in single outcomes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tcdp_audit import audit
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.verdict import known_facts, with_known_facts

COLUMNS = ("zip", "age", "sex", "job", "month", "town", "car")
TABLE = pa.table({**{name: ["a", "a", "b", "b"] for name in COLUMNS}, "disease": ["x", "y", "x", "z"]})


def audited(*known: str, **policy: Any) -> Audit:
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in known}
    attributes |= {name: {"role": "insensitive"} for name in COLUMNS if name not in known}
    if "age" in known:
        attributes["age"]["label"] = "age band"
    expect = [{"k_anonymity": {"k": 9}}, {"entropy_l_diversity": {"l": 2}}]
    attributes["disease"] = {"role": "sensitive"}
    return audit(TABLE, {"version": 1, "attributes": attributes, "expect": expect, **policy})


def test_the_name_is_explained_in_the_order_of_the_policy() -> None:
    assert known_facts(audited("zip", "age", "sex")) == "The three known facts are 'zip', age band and 'sex'."
    assert known_facts(audited("sex", "age", "zip")) == "The three known facts are 'sex', age band and 'zip'."


def test_sentences_of_a_report_use_it_and_those_of_an_outcome_do_not() -> None:
    done = audited("zip", "age", "sex")
    size, varied = with_known_facts(done).expectations
    assert size.message.startswith(
        "All 4 records are in 2 groups of fewer than 9 records with the same three known facts;"
    )
    assert size.individual_impact.startswith("An intruder who knows the three known facts about a person narrows them")
    assert varied.individual_impact.startswith("An intruder who knows the three known facts about a person finds")
    assert "knows a person's 'zip', age band and 'sex' finds" in done.expectations[1].individual_impact
    assert "the same 'zip', age band and 'sex'" in done.expectations[0].message
    for suffix in (".html", ".md"):
        text = done.render(suffix)
        assert "three known facts about a person" in text
    assert "three known facts" not in done.to_json()
    assert "three known facts" not in done.render(".junit.xml")


def test_many_columns_are_four_and_how_many_others() -> None:
    done = audited(*COLUMNS)
    assert "'zip', age band, 'sex', 'job' and 3 other columns" in done.expectations[0].message
    assert "the same seven known facts" in with_known_facts(done).expectations[0].message
    assert known_facts(done).endswith("are 'zip', age band, 'sex', 'job', 'month', 'town' and 'car'.")
    assert "'zip', age band, 'sex', 'job' and 'month'" in audited(*COLUMNS[:5]).expectations[0].message


def test_a_single_column_needs_no_name() -> None:
    done = audited("age")
    assert known_facts(done) == ""
    assert with_known_facts(done).outcomes == done.outcomes


def test_an_intruder_who_knows_other_columns_is_said_in_full() -> None:
    scenarios = {"neighbour": {"knows": ["zip", "age"]}, "insurer": {"knows": ["zip", "age", "sex"]}}
    policy = {
        "version": 1,
        "attributes": {**{name: {"role": "insensitive"} for name in COLUMNS}, "disease": {"role": "sensitive"}},
        "scenarios": scenarios,
        "expect": [{"k_anonymity": {"k": 9}}],
    }
    done = audit(TABLE, policy)
    assert known_facts(done) == ""
    assert with_known_facts(done).outcomes == done.outcomes
