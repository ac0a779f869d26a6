"""Results for data catalogues: OpenLineage run events with the data-quality facet, and ODCS data contracts.

Both list the outcomes that were judged, each with its demand, its figure and its sentence. An outcome that only
measures is no assertion and is left out; one that could not be evaluated did not succeed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import yaml

from tcdp_audit.plugin._internal import name_in_repository, number, verdict_sentence, verdict_title, visible_json
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.report import Audit, Table, Unaudited, tool
from tcdp_audit.plugin.sentences import Outcome, Status, prose, visible

NAME = "tcdp-audit"
VERDICT = "fit_for_release"  # the assertion on the audit as a whole
SUCCESS = {Status.PASSED: True, Status.FAILED: False, Status.ERROR: False}
SEVERITIES = {"error": "error", "warning": "warn"}  # in OpenLineage's words
SPEC = "https://openlineage.io/spec"
RUN_EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACETS = {  # the version of each facet's schema
    "DataQualityAssertionsDatasetFacet": "1-1-0",
    "DatasetVersionDatasetFacet": "1-0-1",
    "ErrorMessageRunFacet": "1-0-1",
    "InputStatisticsInputDatasetFacet": "1-0-0",
    "JobTypeJobFacet": "2-0-4",
    "ProcessingEngineRunFacet": "1-1-1",
}
SCHEMES = {"postgresql": "postgres"}  # where OpenLineage's names of datasets differ from SQLAlchemy's
ODCS = "v3.1.0"


def render_openlineage(results: Sequence[Audit | Unaudited]) -> str:
    """The results of a run as OpenLineage run events, a line each; the same results give the same bytes.

    An event is COMPLETE if everything was evaluated, whatever the verdict, and FAIL if the audit is incomplete.
    """
    events = (_unaudited(one) if isinstance(one, Unaudited) else _audited(one) for one in results)
    return "".join(f"{visible_json(json.dumps(one, ensure_ascii=False))}\n" for one in events)


def _audited(audit: Audit) -> dict[str, Any]:
    result = audit.as_json()
    state = "FAIL" if audit.status == "error" else "COMPLETE"
    tables = audit.release.tables or {"": audit.release}
    inputs = [
        *(_input(audit, table, name) for name, table in tables.items()),
        *map(_dataset, audit.companions.values()),
    ]
    return _event(_policy_name(audit), state, result["audited_at"], result["proof"]["sha256"], inputs)


def _unaudited(result: Unaudited) -> dict[str, Any]:
    """A run that failed before anything was judged, with the reasons and without a dataset."""
    message = "\n".join(visible(sentence) for _, _, sentence in result.reasons)
    facets = {"errorMessage": _facet("ErrorMessageRunFacet", message=message, programmingLanguage="Python")}
    time = result.tried_at.isoformat().replace("+00:00", "Z")
    return _event(visible(name_in_repository(result.path)), "FAIL", time, message, [], facets)


def _event(
    policy: str,
    state: str,
    time: str,
    content: str,
    inputs: Sequence[Mapping[str, Any]],
    facets: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A run event; `content` is what distinguishes the run from others of the same policy and time."""
    engine = _facet("ProcessingEngineRunFacet", version=tool()["version"], name=NAME)
    kind = _facet("JobTypeJobFacet", processingType="BATCH", integration="TCDP_AUDIT", jobType="AUDIT")
    run = {
        "runId": str(uuid5(NAMESPACE_URL, f"{NAME}:{policy} {time} {content}")),
        "facets": {"processing_engine": engine, **(facets or {})},
    }
    return {
        "eventTime": time,
        "producer": _producer(),
        "schemaURL": RUN_EVENT,
        "eventType": state,
        "run": run,
        "job": {"namespace": NAME, "name": policy, "facets": {"jobType": kind}},
        "inputs": list(inputs),
        "outputs": [],
    }


def _producer() -> str:
    return f"pkg:pypi/{NAME}@{tool()['version']}"


def _facet(schema: str, **content: Any) -> dict[str, Any]:
    version = FACETS[schema]
    return {
        "_producer": _producer(),
        "_schemaURL": f"{SPEC}/facets/{version}/{schema}.json#/$defs/{schema}",
        **content,
    }


def _policy_name(audit: Audit) -> str:
    path = audit.policy.path
    return visible(audit.policy.name if path is None else name_in_repository(path))


def _input(audit: Audit, table: Table, name: str) -> dict[str, Any]:
    """A table of the release with its assertions; `name` is its name among several, empty for the only one."""
    columns = {column.name for column in audit.columns if column.is_present}
    assertions = [_verdict(audit), *(_assertion(one, columns) for one in _judged(audit, name))]
    facets = {"dataQualityAssertions": _facet("DataQualityAssertionsDatasetFacet", assertions=assertions)}
    if audit.has_records:
        facets["inputStatistics"] = _facet("InputStatisticsInputDatasetFacet", rowCount=table.records)
    return {**_dataset(table), "inputFacets": facets}


def _judged(audit: Audit, table: str) -> Iterator[Outcome]:
    """The judged outcomes that are about a table: its own, and those of all tables together."""
    yield from (one for one in audit.outcomes if one.status in SUCCESS and (one.table or table) == table)


def _verdict(audit: Audit) -> dict[str, Any]:
    """The assertion on the whole audit: an audit in which nothing was judged does not succeed."""
    sentence = f"{verdict_title(audit)}. {verdict_sentence(audit)}"
    return {"assertion": VERDICT, "success": audit.passed, "severity": "error", "description": sentence}


def _assertion(outcome: Outcome, columns: set[str]) -> dict[str, Any]:
    named = {"column": visible(outcome.attribute)} if outcome.attribute in columns and outcome.attribute else {}
    figures = {"expected": _demand(outcome), "actual": _figure(outcome.observed)}
    return {
        "assertion": outcome.check,
        "success": SUCCESS[outcome.status],
        **named,
        "severity": SEVERITIES[outcome.severity.value],
        "name": visible(outcome.name),
        "description": prose(outcome.message) or outcome.title,
        **{key: value for key, value in figures.items() if value is not None},
    }


def _demand(outcome: Outcome) -> str | None:
    """The demand as the JSON result writes it: `>= 5`."""
    if outcome.comparison is None or outcome.threshold is None:
        return None
    return f"{outcome.comparison.value} {_figure(outcome.threshold)}"


def _figure(value: Any) -> str | None:
    return None if value is None else str(number(value))


def _dataset(table: Table) -> dict[str, Any]:
    """A table by the name that OpenLineage gives it, and its digest as its version."""
    namespace, name = _place_of(table)
    facets = {}
    if table.sha256 is not None:
        facets["version"] = _facet("DatasetVersionDatasetFacet", datasetVersion=table.sha256)
    return {"namespace": visible(namespace), "name": visible(name), "facets": facets}


def _place_of(table: Table) -> tuple[str, str]:
    """Namespace and name: `postgres://host:5432` and `database.schema.table`; `file` and a path."""
    if table.in_memory:
        return "memory", table.name
    if "://" not in table.uri:
        return "file", str(Path(table.uri).absolute())
    parts = urlsplit(table.uri)
    scheme = SCHEMES.get(parts.scheme, parts.scheme)
    if not parts.query:
        return f"{scheme}://{parts.netloc}", parts.path.lstrip("/")
    database = parts.path.lstrip("/") if parts.netloc else parts.path.removeprefix("/")
    return f"{scheme}://{parts.netloc}", ".".join(filter(None, (database, table.name)))


def render_odcs(audit: Audit) -> str:
    """The audit as a data contract of the Open Data Contract Standard, in YAML: each demand a quality rule.

    The standard has no place for results: they are custom properties of the rules and of the contract.
    """
    digest = audit.policy.sha256
    contract = {
        "apiVersion": ODCS,
        "kind": "DataContract",
        "id": str(uuid5(NAMESPACE_URL, f"{NAME}:{digest}")),
        "name": _policy_name(audit),
        "version": digest,
        "status": "active",
        "schema": [
            _object(audit, table, name) for name, table in (audit.release.tables or {"": audit.release}).items()
        ],
        "customProperties": [_property("tcdpAudit", dict(audit.metadata()))],
    }
    return str(yaml.safe_dump(contract, sort_keys=False, allow_unicode=True, width=120))


def _object(audit: Audit, table: Table, name: str) -> dict[str, Any]:
    columns = {} if name else {one.name: one for one in audit.columns if one.is_present}
    rules: dict[str | None, list[dict[str, Any]]] = {}
    for outcome in _judged(audit, name):
        owner = outcome.attribute if outcome.attribute in columns else None
        rules.setdefault(owner, []).append(_rule(outcome))
    properties = [
        {
            "name": visible(column),
            "logicalType": "number" if declared.scale is Scale.NUMERIC else "string",  # a judge of values sees no more
            **({"businessName": visible(declared.label)} if declared.label else {}),
            **({"quality": rules[column]} if column in rules else {}),
            **({} if declared.role is None else {"customProperties": [_property("role", declared.role.value)]}),
        }
        for column, declared in columns.items()
    ]
    return {
        "name": visible(name or table.name),
        "physicalName": visible(table.uri),
        **({"properties": properties} if properties else {}),
        "quality": rules.get(None, []),
    }


def _rule(outcome: Outcome) -> dict[str, Any]:
    """A demand as a quality rule of this engine, as a policy writes it, with its result."""
    result = {
        "status": outcome.status.value,
        "observed": number(outcome.observed),
        "demanded": _demand(outcome),
        "groupsFailing": None if outcome.classes is None else outcome.classes.failing,
        "recordsFailing": None if outcome.records is None else outcome.records.failing,
    }
    parameters = {name: number(value) for name, value in outcome.parameters.items()}
    implementation = visible_json(json.dumps({outcome.check: parameters}, ensure_ascii=False))
    return {
        "name": visible(outcome.name),
        "description": prose(outcome.message) or outcome.title,
        "type": "custom",
        "engine": NAME,
        "implementation": implementation,
        "severity": outcome.severity.value,
        "customProperties": [_property(name, value) for name, value in result.items() if value is not None],
    }


def _property(name: str, value: Any) -> dict[str, Any]:
    return {"property": name, "value": value}
