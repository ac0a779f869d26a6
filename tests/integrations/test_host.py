"""What the hosts share: demands as text, faults without cells, and answers that are given once, by one audit."""

from __future__ import annotations

from typing import Any

import pytest

from tcdp_audit import DataError, PolicyError, load_policy
from tcdp_audit.integrations.host import STRUCTURE, Demand, Fault, Pending, by_demand, plugins, policy_of

DOCUMENT: dict[str, Any] = {
    "version": 1,
    "attributes": {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}, "pay": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}
ANONYMOUS, DIVERSE = (Demand.of(DOCUMENT, {one: given}) for one, given in (
    ("k_anonymity", {"k": 2}), ("distinct_l_diversity", {"l": 2})))  # fmt: skip
COLUMNS = Demand.of(DOCUMENT)


def test_equal_demands_are_equal_and_say_what_they_are_made_of():
    assert Demand.of({**DOCUMENT, "expect": []}, {"k_anonymity": {"k": 2}}) == ANONYMOUS
    assert (ANONYMOUS.check, COLUMNS.check, COLUMNS.entry) == ("k_anonymity", STRUCTURE, STRUCTURE)
    assert ANONYMOUS.attributes == DOCUMENT["attributes"]
    assert ANONYMOUS.head == {"version": 1}
    with pytest.raises(PolicyError, match="as JSON has them"):
        Demand.of(DOCUMENT, {"k_anonymity": {"k": {2}}})


def test_the_policy_of_demands_has_them_in_their_order():
    policy = policy_of([DIVERSE, COLUMNS, ANONYMOUS])

    assert [one.check.name for one in policy.expectations] == ["distinct_l_diversity", "k_anonymity"]
    assert policy_of([COLUMNS]).expectations == ()
    with pytest.raises(PolicyError, match=r"attributes\.age\.role"):
        policy_of([Demand.of({"version": 1, "attributes": {"age": {"role": "quasi"}}})])


def test_each_demand_gets_what_came_of_every_column_that_it_runs_on():
    document = {**DOCUMENT, "expect": [DIVERSE.expected, ANONYMOUS.expected]}

    answers = by_demand(load_policy(document), [DIVERSE, ANONYMOUS, COLUMNS], "columns", iter(["ill", "pay", "all"]))

    assert answers == {DIVERSE: ("ill", "pay"), ANONYMOUS: ("all",), COLUMNS: "columns"}


def test_demands_that_wait_are_measured_together_and_answered_once():
    pending: Pending[str] = Pending()
    measured: list[list[Demand]] = []

    def measure(asked: list[Demand]) -> dict[Demand, str]:
        measured.append(asked)
        return {one: one.check for one in asked}

    pending.ask(ANONYMOUS, DIVERSE)

    assert [pending.answer(one, measure) for one in (DIVERSE, ANONYMOUS)] == ["distinct_l_diversity", "k_anonymity"]
    assert pending.answer(ANONYMOUS, measure) == "k_anonymity"
    assert measured == [[ANONYMOUS, DIVERSE], [ANONYMOUS]]


def test_a_fault_quotes_our_own_errors_alone():
    assert Fault.about(DataError("no records"), "the audit") == Fault("no records")
    assert Fault.about(ValueError("zanzibar"), "the audit") == Fault("the audit raised ValueError")


def test_plugins_are_loaded_once():
    assert plugins() is plugins()
