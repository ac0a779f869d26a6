"""GitLab's Code Quality report: what has to be acted on, at the line of the policy that asks for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tcdp_audit.plugin._internal import Level, findings_of, visible_json
from tcdp_audit.plugin.report import Audit, ToolFinding, Unaudited

SEVERITIES = {Level.ERROR: "critical", Level.WARNING: "minor", Level.NOTE: "info"}
INCOMPLETE = "blocker"


def render(results: Sequence[Audit | Unaudited]) -> str:
    """The findings of a run as JSON; an empty list where there are none."""
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
