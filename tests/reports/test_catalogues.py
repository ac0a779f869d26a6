"""OpenLineage events as the project's own client writes them, and ODCS contracts against the published schema."""

from __future__ import annotations

import json
from importlib.resources import files
from uuid import UUID

import pyarrow as pa
import pytest
import yaml
from jsonschema import Draft201909Validator
from linked_samples import clinic
from open_data_contract_standard.model import OpenDataContractStandard
from openlineage.client.event_v2 import InputDataset, Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    data_quality_assertions_dataset,
    dataset_version_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    processing_engine_run,
)
from openlineage.client.serde import Serde
from report_samples import HOSTILE, SALARY_POLICY, made_up, salaries
from run_samples import FITS_BOTH, run_of_several, salary_result, with_outcomes, written_policy

from tcdp_audit import DataError, audit
from tcdp_audit.core.base.outcome import Severity, Status
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_reports import catalogues

FACETS = {
    "dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet,
    "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "version": dataset_version_dataset.DatasetVersionDatasetFacet,
    "errorMessage": error_message_run.ErrorMessageRunFacet,
    "jobType": job_type_job.JobTypeJobFacet,
    "processing_engine": processing_engine_run.ProcessingEngineRunFacet,
}
CONTRACT = json.loads(files("open_data_contract_standard").joinpath("schema.json").read_text(encoding="utf-8"))


def events(*results):
    return [json.loads(line) for line in catalogues.render_openlineage(results).splitlines()]


def rebuilt(event):
    """The same event from the classes that OpenLineage generates of its schemas: they refuse what these do not have."""
    written = RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        eventType=RunState(event["eventType"]),
        run=Run(event["run"]["runId"], facets_of(event["run"]["facets"])),
        job=Job(event["job"]["namespace"], event["job"]["name"], facets_of(event["job"]["facets"])),
        inputs=[
            InputDataset(
                one["namespace"],
                one["name"],
                facets=facets_of(one["facets"]),
                inputFacets=facets_of(one.get("inputFacets", {})),
            )
            for one in event["inputs"]
        ],
        outputs=[],
    )
    return json.loads(Serde.to_json(written))


def facets_of(written):
    made = {}
    for name, content in written.items():
        fields = {key: value for key, value in content.items() if not key.startswith("_")}
        if name == "dataQualityAssertions":
            fields["assertions"] = [data_quality_assertions_dataset.Assertion(**one) for one in fields["assertions"]]
        made[name] = FACETS[name](**fields, producer=content["_producer"])
    return made


def without_empty(value):
    """As the client writes it, which leaves out what is empty."""
    if isinstance(value, dict):
        remaining = {key: without_empty(one) for key, one in value.items()}
        return {key: one for key, one in remaining.items() if one not in ({}, [], None)}
    return [without_empty(one) for one in value] if isinstance(value, list) else value


def assertions(audited, position=0):
    return events(audited)[0]["inputs"][position]["inputFacets"]["dataQualityAssertions"]["assertions"]


def contract(audited):
    written = yaml.safe_load(catalogues.render_odcs(audited))
    assert [error.message for error in Draft201909Validator(CONTRACT).iter_errors(written)] == []
    OpenDataContractStandard.from_string(catalogues.render_odcs(audited))
    return written


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_events_are_those_of_openlineages_own_client(folder):  # noqa: ARG001 - the current folder
    run = run_of_several(Plugins.load(external=False), FITS_BOTH)
    written = events(*run, salary_result())

    assert [one["eventType"] for one in written] == ["COMPLETE", "COMPLETE", "FAIL", "COMPLETE"]
    for event in written:
        assert without_empty(event) == without_empty(rebuilt(event))
        UUID(event["run"]["runId"])
    assert len({one["run"]["runId"] for one in written}) == len(written)
    assert written[2]["run"]["facets"]["errorMessage"]["message"].count("class_sise") == 1


def test_an_assertion_has_demand_and_figure():
    listed = {(one["assertion"], one.get("column")): one for one in assertions(salary_result())}

    assert listed["t_closeness", "salary"] == {
        "assertion": "t_closeness",
        "success": False,
        "column": "salary",
        "severity": "error",
        "name": "t_closeness on 'salary'",
        "description": listed["t_closeness", "salary"]["description"],
        "expected": "<= 0.2",
        "actual": "0.375",
    }
    assert "6 of 9 records" in listed["t_closeness", "salary"]["description"]
    assert listed["t_closeness", "disease"]["severity"] == "warn"
    assert (listed["k_anonymity", None]["success"], listed["k_anonymity", None]["actual"]) == (True, "3")
    assert not listed["fit_for_release", None]["success"]


@pytest.mark.parametrize(
    ("outcome", "success"),
    [
        (made_up(5, 5, status=Status.PASSED), True),
        (made_up(4, 5), False),
        (made_up(4, 5, severity=Severity.WARNING), False),
        (made_up(None, 5, status=Status.ERROR), False),
        (made_up(5, None, status=Status.MEASURED), None),
        (made_up(None, 5, status=Status.SKIPPED), None),
    ],
)
def test_only_a_demand_that_holds_succeeds(outcome, success):
    made = with_outcomes(outcome)
    listed = {one["assertion"]: one["success"] for one in assertions(made)}
    rules = {one["name"]: one for one in contract(made)["schema"][0]["quality"]}

    assert listed.get("k_anonymity") is success
    assert listed["fit_for_release"] is made.passed
    assert ("k_anonymity" in rules) is (success is not None)


def test_an_audit_that_judges_nothing_is_not_fit():
    policy = {"version": 1, "attributes": {"a": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {}}]}
    made = audit(pa.table({"a": ["x", "x"]}), policy)

    assert assertions(made)[0] == {
        "assertion": "fit_for_release",
        "success": False,
        "severity": "error",
        "description": assertions(made)[0]["description"],
    }


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("memory:release", ("memory", "release")),
        ("/data/a b.csv", ("file", "/data/a b.csv")),
        ("postgresql://host:5433/db?table=public.people", ("postgres://host:5433", "db.public.people")),
        ("mysql://host/db?table=people", ("mysql://host", "db.people")),
        ("sqlite:////data/x.db?table=people", ("sqlite://", "/data/x.db.people")),
        ("https://host/x/people.csv", ("https://host", "x/people.csv")),
    ],
)
def test_a_dataset_is_named_as_openlineage_names_it(uri, place):
    named = catalogues._dataset(Table(uri, None, 1, 1))

    assert (named["namespace"], named["name"], named["facets"]) == (*place, {})


def test_a_release_of_several_tables_has_a_dataset_each():
    made = clinic()
    inputs = events(made)[0]["inputs"]

    assert [one["name"].rsplit("/", 1)[-1] for one in inputs] == [one.name for one in made.release.tables.values()]
    for position, name in enumerate(made.release.tables):
        listed = [one["assertion"] for one in assertions(made, position)]
        own = [one.check for one in made.outcomes if one.status in catalogues.SUCCESS and one.table in ("", name)]
        assert listed == ["fit_for_release", *own]
    assert [one["name"] for one in contract(made)["schema"]] == list(made.release.tables)


def test_a_contract_has_each_demand_with_its_result(folder):  # noqa: ARG001 - the current folder
    made = audit(salaries(), written_policy(SALARY_POLICY, "a.tcdp.yaml"))
    written = contract(made)
    columns = {one["name"]: one for one in written["schema"][0]["properties"]}
    (rule,) = columns["salary"]["quality"]
    result = {one["property"]: one["value"] for one in rule["customProperties"]}

    assert list(columns) == ["zip", "age", "salary", "disease"]
    assert json.loads(rule["implementation"]) == {"t_closeness": {"t": 0.2, "distance": "ordered"}}
    assert result == {
        "status": "failed",
        "observed": 0.375,
        "demanded": "<= 0.2",
        "groupsFailing": 2,
        "recordsFailing": 6,
    }
    assert written["customProperties"] == [{"property": "tcdpAudit", "value": dict(made.metadata())}]


def test_hostile_names_are_text(folder):  # noqa: ARG001 - the current folder
    _, hostile, _ = run_of_several(Plugins.load(external=False), FITS_BOTH)

    assert [one["name"] for one in contract(hostile)["schema"][0]["properties"]]
    assert len(contract(hostile)["schema"][0]["properties"]) == len(HOSTILE)


def test_a_release_that_cannot_be_read_is_an_event_and_no_dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    (event,) = events(Unaudited(tmp_path / "p.tcdp.yaml", DataError("the release cannot be read")))

    assert (event["eventType"], event["inputs"], event["eventTime"]) == ("FAIL", [], "1970-01-01T00:00:00Z")
    assert event["run"]["facets"]["errorMessage"]["message"] == "the release cannot be read"
