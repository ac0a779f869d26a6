"""Everything that is registered conforms, whoever brings it: one item for each property of each specification."""

from __future__ import annotations

import pytest

from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Need
from tcdp_audit.testing import Property, parametrize_with_properties

PLUGINS = Plugins.load()
ON_ONE_TABLE = [  # as the suite has
    one for one in PLUGINS.checks.values() if Need.UNLINKED_TABLES not in one.needs
]
MASKED = {"salary": {"mechanism": "laplace", "bounds": [0, 100000]}, "disease": {"mechanism": "randomised_response"}}
PARAMETERS = {"t_by_noise": {"t": 3, "k": 5, "attributes": MASKED}}  # of which no secret may stay as it is
EXPECTED_FAILURES = {
    "assignment_record_linkage": {
        "names of values": "where several assignments are as close, the order of the values decides between them"
    },
    "supervised_record_linkage": {
        "names of values": "where records are equal in all numbers, the order of their values decides who is held out"
    },
    "microaggregation_attack": {
        "at the threshold": "where a value was moved farther than declared, a demand is an error and no verdict"
    },
    "unicity": {"refusal": "where short histories are left out, no unit of the suite has as many rows as are drawn"},
    "reconstruction": {"cells": "its figure is of people in all cells together, and no cell fails by itself"},
    "record_order": {"order of records": "it measures what the order of the records says"},
}


def test_the_four_first_checks_are_among_the_registered_ones():
    assert {"k_anonymity", "distinct_l_diversity", "entropy_l_diversity", "t_closeness"} <= set(PLUGINS.checks)
    assert PLUGINS.broken == []


@pytest.mark.long
@parametrize_with_properties(ON_ONE_TABLE, expected_failures=EXPECTED_FAILURES)
def test_check_conforms(conforms: Property):
    conforms()


@parametrize_with_properties(PLUGINS.reporters.values())
def test_reporter_conforms(conforms: Property):
    conforms()


@pytest.mark.long
@parametrize_with_properties(PLUGINS.remedies.values(), parameters=PARAMETERS)
def test_remedy_conforms(conforms: Property):
    conforms()


@pytest.mark.long
@parametrize_with_properties(PLUGINS.detectors.values())
def test_detector_conforms(conforms: Property):
    conforms()


def test_every_item_is_named_after_its_specification_and_property():
    names = [item.id for item in parametrize_with_properties(PLUGINS.remedies.values()).args[1]]

    assert "mondrian-determinism" in names
    assert len(names) == 11 * len(PLUGINS.remedies)


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"k_anonimity": {}}, "'k_anonimity' is none of the specifications: k_anonymity"),
        ({"k_anonymity": {"order": "why"}}, "'order' is no property of 'k_anonymity'; it has name, specification"),
    ],
)
def test_an_expected_failure_of_nothing_is_refused(expected: dict[str, dict[str, str]], sentence: str):
    with pytest.raises(ValueError, match=sentence):
        parametrize_with_properties([PLUGINS.checks["k_anonymity"]], expected_failures=expected)


def test_an_expected_failure_is_strict():
    expected = {"k_anonymity": {"message": "why"}}
    (marked,) = (
        item
        for item in parametrize_with_properties([PLUGINS.checks["k_anonymity"]], expected_failures=expected).args[1]
        if item.marks
    )

    assert marked.id == "k_anonymity-message"
    assert (marked.marks[0].name, marked.marks[0].kwargs["strict"]) == ("xfail", True)
