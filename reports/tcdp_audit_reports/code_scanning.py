"""Findings for services that scan code, at the line of the policy that asks for them: SARIF 2.1.0 and GitLab's format.

All policies of a run are one SARIF run: services refuse a file that has several of one tool.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tcdp_audit.plugin._internal import Level, Place, findings_of, name_in_repository, visible_json
from tcdp_audit.plugin.check import Check
from tcdp_audit.plugin.report import Audit, ToolFinding, Unaudited, tool
from tcdp_audit.plugin.sentences import visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "SRCROOT"
FIGURES = (  # as in the JSON result
    *("status", "attribute", "observed", "comparison", "threshold", "classes", "records", "cells"),
)
OURS = {
    "policy": ("Policy is wrong", "A policy that has faults cannot be audited."),
    "audit": ("Audit incomplete", "Nothing may be concluded from an incomplete audit."),
}

SEVERITIES = {Level.ERROR: "critical", Level.WARNING: "minor", Level.NOTE: "info"}  # in GitLab's words
INCOMPLETE = "blocker"


def render(results: Sequence[Audit | Unaudited]) -> str:
    """The results of a run as SARIF; the same results give the same bytes. Cost: linear in the outcomes."""
    findings = findings_of(results)
    rules = _rules(results, findings)
    positions = {rule["id"]: position for position, rule in enumerate(rules)}
    shared = _shared_places(results)
    run = {
        "tool": {"driver": _driver(rules)},
        "invocations": [_invocation(result) for result in results],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository that holds the policies."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, positions[one.rule], shared) for one in findings],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return visible_json(json.dumps(log, ensure_ascii=False, indent=1)) + "\n"


def _driver(rules: list[dict[str, Any]]) -> dict[str, Any]:
    about = tool()
    return {
        "name": about["name"],
        "version": about["version"],
        "semanticVersion": about["version"],
        "shortDescription": {"text": "Audits a table of people before it is published."},
        "rules": rules,
    }


def _rules(results: Sequence[Audit | Unaudited], findings: Sequence[ToolFinding]) -> list[dict[str, Any]]:
    """A rule for each check that was asked for, and for whatever else a finding is about, by name."""
    checks: dict[str, Check | None] = {}
    titles: dict[str, str] = {}
    for audit in (one for one in results if isinstance(one, Audit)):
        for outcome in audit.outcomes:
            checks[outcome.check] = audit.plugins.checks.get(outcome.check)
            titles.setdefault(outcome.check, outcome.title or outcome.check)
    for finding in findings:
        checks.setdefault(finding.rule, None)
    return [_rule(name, checks[name], titles.get(name, name)) for name in sorted(checks)]


def _rule(name: str, check: Check | None, title: str) -> dict[str, Any]:
    if check is None:
        short, full = OURS.get(name, (title, title))
        return {"id": name, "name": _pascal(name), "shortDescription": _plain(short), "fullDescription": _plain(full)}
    guide = check.guide
    parts = [guide.definition, guide.formula, guide.reading, guide.choosing, guide.limits, f"Source: {guide.source}."]
    return {
        "id": name,
        "name": _pascal(name),
        "shortDescription": _plain(check.title),
        "fullDescription": _plain(guide.definition),
        "help": _plain("\n\n".join(part for part in parts if part)),
        "properties": {"tags": ["privacy", *check.disclosure_type.value.split(", ")]},
    }


def _pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _invocation(result: Audit | Unaudited) -> dict[str, Any]:
    """The invocation of one audit. It was successful if something may be concluded from it."""
    if isinstance(result, Unaudited):
        path = name_in_repository(result.path)
        notes = [_note(sentence, Place(path, line or 1)) for line, _, sentence in result.reasons]
        return {"executionSuccessful": False, "toolExecutionNotifications": notes}
    incomplete = [one for one in findings_of([result]) if one.is_incomplete]
    return {
        "executionSuccessful": result.exit_code() != 3,
        "endTimeUtc": result.audited_at.isoformat().replace("+00:00", "Z"),
        "toolExecutionNotifications": [_note(f"{one.title}: {one.message}", one.place) for one in incomplete],
        "properties": {
            "status": result.status,
            "policy": {"name": visible(result.policy.name), "sha256": result.policy.sha256},
            "release": {"name": visible(result.release.name), "sha256": result.release.sha256},
            **({"records": result.release.records} if result.has_records else {}),
            **({"tables_of_figures": result.sizes_of_figures} if result.figures else {}),
        },
    }


def _note(text: str, place: Place | None) -> dict[str, Any]:
    where = {} if place is None else {"locations": [_location(place)]}
    return {"level": "error", "message": _message(text), **where}


def _shared_places(results: Sequence[Audit | Unaudited]) -> set[tuple[str, int | None]]:
    """Checks and lines of several outcomes, of any status."""
    audits = (one for one in results if isinstance(one, Audit))
    tally = Counter((one.check, one.line) for audit in audits for one in audit.outcomes)
    return {place for place, outcomes in tally.items() if outcomes > 1}


def _result(finding: ToolFinding, rule: int, shared: set[tuple[str, int | None]]) -> dict[str, Any]:
    outcome = finding.outcome
    marks = {"tcdpAuditFinding/v1": finding.mark}
    if outcome is not None and ((outcome.check, outcome.line) in shared or finding.cell is not None):
        # GitHub distinguishes findings by a digest of their line unless this is given: these share theirs
        marks["primaryLocationLineHash"] = f"{finding.mark[:16]}:1"
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": finding.level.value,
        "message": _message(f"{finding.title}: {finding.message}"),
        "partialFingerprints": marks,
    }
    if finding.place is not None:
        result["locations"] = [_location(finding.place)]
    if finding.cell is not None:
        result["properties"] = finding.cell.as_json()
    elif outcome is not None:
        figures = outcome.as_json()
        result["properties"] = {name: figures[name] for name in FIGURES if name in figures}
    return result


def _location(place: Place) -> dict[str, Any]:
    region: Mapping[str, int] = {"startLine": place.line}
    if place.column is not None:
        region = {**region, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    """A file by its place in the repository, or where it is in none by its whole path."""
    uri = quote(path, errors="surrogateescape")
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": ROOT}


def _plain(text: str) -> dict[str, str]:
    return {"text": text}


def _message(text: str) -> dict[str, str]:
    """A message whose braces are no placeholders and whose brackets are no link, as section 3.11 asks."""
    return {"text": visible(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def render_code_quality(results: Sequence[Audit | Unaudited]) -> str:
    """The findings of a run as GitLab's Code Quality report; an empty list where there are none."""
    listed = [_issue(one) for one in findings_of(results)]
    return visible_json(json.dumps(listed, ensure_ascii=False, indent=1)) + "\n"


def _issue(finding: ToolFinding) -> dict[str, Any]:
    place = finding.place
    incomplete = finding.is_incomplete and finding.level is Level.ERROR
    return {
        "description": f"{finding.title}: {finding.message}",
        "check_name": finding.rule,
        "fingerprint": finding.mark,
        "severity": INCOMPLETE if incomplete else SEVERITIES[finding.level],
        "location": {
            "path": "policy" if place is None else place.path,
            "lines": {"begin": 1 if place is None else place.line},
        },
    }
