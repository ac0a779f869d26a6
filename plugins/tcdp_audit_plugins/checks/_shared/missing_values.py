"""What `missing_sensitive: fail` says of missing sensitive values: the check fails, whatever it measures."""

from __future__ import annotations

from collections.abc import Iterable

from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import Domain
from tcdp_audit.plugin.sentences import agree, count


def violation_of(view: TableView, sensitive: Iterable[Domain]) -> str:
    """Why a check fails under the policy: a value of a sensitive attribute is missing; nothing where it does not.

    Args:
        view: the release, with the policy's conventions.
        sensitive: the attributes that are measured.
    """
    incomplete = [one for one in sensitive if one.missing]
    if view.policy.conventions.missing_sensitive != "fail" or not incomplete:
        return ""
    first = incomplete[0]
    records = f"{count(first.missing, 'record')} {agree(first.missing, 'has', 'have')}"
    return f"{records} no value in the sensitive attribute {first.attribute!r}"
