"""The verdict of a result that was written, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.results.conditions import Condition, Finding, Kind, conditions_of
from tcdp_audit.core.results.verdict import title_of
from tcdp_audit.core.results.written.audit import useless_in, verdict_in


def is_approval(result: Mapping[str, Any]) -> bool:
    """Whether a written result approves of the very file that it is about, and not of what becomes of it by a step."""
    return verdict_in(result) == "passed" and not any(one.kind is Kind.ONCE for one in conditions_in(result))


def title_in(result: Mapping[str, Any]) -> str:
    """The verdict of a written result, put together anew: the title that stands in it is not believed.

    Args:
        result: in the published JSON contract.
    """
    return title_of(verdict_in(result), useless_in(result), conditions_in(result))


def conditions_in(result: Mapping[str, Any]) -> tuple[Condition, ...]:
    """The conditions under which the release of a written result is fit.

    Args:
        result: in the published JSON contract.
    """
    return conditions_of(
        Finding(str(one["check"]), one["source"], Status(one["status"]), one["details"]) for one in result["outcomes"]
    )
