"""Direct identifiers in a release: thresholds, what is left out, and what cannot be decided."""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import Outcome, Status, audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.detector import ValueDetector

TABLE = {
    "zip": ["0213", "0214"] * 30,
    "note": [f"p{i}@example.org" for i in range(60)],
    "net": [f"192.0.2.{i}" for i in range(60)],
    "answer": ["yes", "no", "no"] * 20,
}


def outcome(parameters: dict[str, Any], table: dict[str, Any] = TABLE, **policy: Any) -> Outcome:
    attributes = {name: {"role": "insensitive"} for name in table} | {"zip": {"role": "quasi_identifier"}}
    attributes |= policy.pop("attributes", {})
    plugins = policy.pop("plugins_of_call", None)
    document = {"version": 1, "attributes": attributes, "expect": [{"direct_identifiers": parameters}], **policy}
    (one,) = audit(pa.table(table), document, plugins=plugins).expectations
    return one


@pytest.mark.parametrize(
    ("at_most", "status"), [(None, Status.MEASURED), (1, Status.FAILED), (2, Status.PASSED), (3, Status.PASSED)]
)
def test_columns_are_counted(at_most: int | None, status: Status):
    one = outcome({} if at_most is None else {"at_most": at_most})

    assert (one.status, one.observed) == (status, 2)
    assert one.details["columns"] == ["note", "net"]
    assert one.details["detectors"] == {"note": "email_address", "net": "ip_address"}
    assert one.details["looked_at"] == 4


def test_a_demand_that_every_release_keeps_judges_nothing():
    one = outcome({"at_most": 4})
    assert one.status is Status.MEASURED


def test_the_sentence_says_what_a_column_holds_and_no_cell():
    one = outcome({"at_most": 0})
    assert "p7@" not in json.dumps(one.as_json())
    assert "192.0.2" not in json.dumps(one.as_json())


def test_columns_that_the_policy_knows_or_allows_are_left_out():
    declared = {"note": {"role": "identifier"}}
    assert outcome({"at_most": 1}, attributes=declared).details["columns"] == ["net"]
    one = outcome({"at_most": 0, "allowed": ["net"]}, attributes=declared)
    assert (one.status, one.observed, one.details["looked_at"]) == (Status.PASSED, 0, 2)


def test_only_the_named_detectors_look():
    one = outcome({"detectors": ["ip_address", "iban"]})
    assert (one.details["columns"], one.details["looked_for"]) == (["net"], 2)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"detectors": ["e_mail"]}, "there is no detector 'e_mail'"),
        ({"detectors": ["postcode"]}, "none of the named detectors is of a direct identifier"),
    ],
)
def test_what_cannot_be_looked_for_is_an_error(parameters: dict[str, Any], sentence: str):
    one = outcome(parameters)
    assert one.status is Status.ERROR
    assert sentence in one.message


def test_without_its_library_a_demand_is_an_error_and_a_measurement_says_so(monkeypatch: pytest.MonkeyPatch):
    table = {"zip": ["0213", "0214"] * 30, "code": [10**8 + 37 * (i // 2) for i in range(60)]}
    assert outcome({"at_most": 0}, table).status is Status.PASSED
    monkeypatch.setitem(sys.modules, "stdnum", None)

    measured, demanded = outcome({}, table), outcome({"at_most": 0}, table)

    assert (measured.status, measured.details["undecided"]) == (Status.MEASURED, ["code"])
    assert "nl_bsn_number" in measured.details["not_run"]
    assert demanded.status is Status.ERROR
    assert 'pip install "tcdp-audit[identifiers]"' in demanded.message
    assert outcome({"at_most": 0, "allowed": ["code"]}, table).status is Status.PASSED
    assert outcome({"at_most": 0}, {**table, "note": TABLE["note"]}).status is Status.FAILED


def test_a_detector_of_another_plugin_takes_part():
    badges = ValueDetector(
        name="badge",
        noun="badge",
        layout=r"B[0-9]{2} of house",
        base_rate=0.001,
        random_value=lambda generator: str(generator.integers(10)),
        source="ours",
    )

    class Badges:
        @hookimpl
        def tcdp_audit_detectors(self):
            yield badges

    plugins = Plugins.load(external=False)
    plugins.register(Badges(), "badges")
    table = {"zip": ["0213", "0214"] * 30, "b": [f"B{10 + i // 2} of house" for i in range(60)]}

    assert outcome({"at_most": 0}, table).status is Status.PASSED
    assert outcome({"at_most": 0}, table, plugins_of_call=plugins).details["detectors"] == {"b": "badge"}


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [({"allowed": ["colour"]}, "declares no attribute 'colour'"), ({"share": 0.4}, "must not be larger than `share`")],
)
def test_faults_of_a_policy(parameters: dict[str, Any], sentence: str):
    with pytest.raises(Exception, match=sentence):
        outcome(parameters)
