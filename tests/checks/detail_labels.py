"""The keys of an outcome's details that reports would show as they are: without a label in the check's guide."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tcdp_audit.core.auditor.tasks import Measurements, Task
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Check
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_reports.fact_labels import Labels
from tcdp_audit_reports.finding_tables import ELSEWHERE

BUILT_IN = frozenset(Plugins.load(external=False).checks)
PICTURED = ELSEWHERE | {"worst_group", "flow"}
own_outcome = Task.outcome


def unlabelled(check: Check, details: Mapping[str, Any], columns: Collection[str] = ()) -> set[str]:
    """The keys without a label, those of nested tables among them; there a name of the policy's columns needs none."""
    labels = Labels.of(check).labels
    return {key for key, is_nested in _keys(details) if key not in labels and not (is_nested and key in columns)}


def _keys(details: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The keys, each with whether it is one of a nested table."""
    for key, value in details.items():
        if key in PICTURED:
            continue
        yield key, False
        rows = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
        yield from ((head, True) for row in rows if isinstance(row, Mapping) for head in row)


def outcome_with_labels(task: Task[Any], measurements: Measurements) -> Outcome:
    """The outcome of a task; a detail of a built-in check without a label fails the test that made it."""
    outcome = own_outcome(task, measurements)
    assert_labelled(task.check, outcome.details, task.naming.columns)
    return outcome


def assert_labelled(check: Check, details: Mapping[str, Any], columns: Collection[str] = ()) -> None:
    """Fail where a detail of a built-in check has no label; other checks are free to have none."""
    missing = unlabelled(check, details, columns) if check.name in BUILT_IN else set()
    assert not missing, f"the guide of {check.name} does not say what {sorted(missing)} mean"
