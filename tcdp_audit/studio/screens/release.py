"""The fifth screen: the demands before and after, what changes, and the files that are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.verdict import verdict_sentence, verdict_title
from tcdp_audit.plugin.sentences import Outcome, count, decimal, figure, share
from tcdp_audit.studio.choices import LIMITS
from tcdp_audit.studio.release import (
    POLICY,
    RELEASE,
    REPORT,
    RESULT,
    TEXTS,
    TRYING,
    WRITING,
    Trial,
    files_of_release,
    what_decides,
)
from tcdp_audit.studio.workbench import Workbench

WORDS = {"passed": "Holds", "failed": "Fails", "warning": "Warning", "measured": "Measured", "error": "Not checked"}
LABELS = {
    "purpose": "What is the release for?",
    "recipients": "Who receives it, under which terms, and until when?",
    "approved_by": "Who approves it? Name and office",
}


def release_screen(bench: Workbench) -> dict[str, Any]:
    """The release as it would be written, and the names of its files."""
    trial: Trial | None = bench.trial
    is_current = trial is not None and trial.decides == what_decides(bench.editor.data)
    files = files_of_release(bench)
    data = bench.editor.data
    return {
        "trial": _shown(trial) if trial is not None and is_current else None,
        "is_written": is_current and bench.written_as == bench.editor.text,
        "is_stale": trial is not None and not is_current,
        "work": bench.work,
        "is_working": bench.work.is_running and bench.work.name in (TRYING, WRITING),
        "files": {name: str(path) for name, path in files.items()},
        "policy_is_new": not files[POLICY].exists(),
        "policy_changes": bool(bench.editor.decisions) or not files[POLICY].exists(),
        "has_records": RELEASE in files,
        "names": {"report": REPORT, "result": RESULT},
        "written": bench.choices.written,
        "texts": [(name, LABELS[name], _text(data.get(name))) for name in TEXTS],
    }


def _text(value: Any) -> str:
    """A text of the policy; of an approval the name."""
    if isinstance(value, str):
        return value
    return str(value.get("by", "")) if value is not None and hasattr(value, "get") else ""


def _shown(trial: Trial) -> dict[str, Any]:
    after, remediation = trial.after, trial.remediation
    before = after if remediation is None else remediation.before
    log = None if remediation is None else remediation.log
    return {
        "rows": list(_rows(before, after)),
        "verdict": verdict_title(after),
        "state": after.verdict,
        "sentence": verdict_sentence(after),
        "reason": "" if log is None else log.reason,
        "passes": after.passed,
        "changes": [] if log is None else _changes(log),
        "records": "" if log is None else f"{count(log.records, 'record')} in, {log.records - log.suppressed:,} out",
        "remedies": [] if log is None else [one.name for one in log.steps],
        "dropped": [] if log is None else [one.name for one in log.dropped],
        "warnings": [f"{one.title}: {one.note}" for one in after.warnings],
    }


def _rows(before: Audit, after: Audit) -> Iterator[dict[str, Any]]:
    for old, new in zip(before.expectations, after.expectations, strict=False):
        state = "warning" if new.is_warning else new.status.value
        limit = "" if new.comparison is None or new.threshold is None else LIMITS[new.comparison]
        yield {
            "state": state,
            "word": WORDS.get(state, state),
            "title": new.title if new.attribute is None else f"{new.title} of {new.attribute}",
            "before": _figure(old),
            "after": _figure(new),
            "demanded": f"{limit} {decimal(new.threshold)}" if limit else "nothing",
        }


def _figure(outcome: Outcome) -> str:
    return "–" if outcome.observed is None else figure(outcome.observed, outcome.threshold)


def _changes(log: Any) -> Sequence[dict[str, Any]]:
    """The changed columns: how many cells, and the share of their information on others that is left."""
    attributes = dict(log.loss.get("attributes", {}))
    left_of = {name: one.get("mutual_information_retained") for name, one in attributes.items()}
    records = max(log.records - log.suppressed, 1)
    return [
        {
            "name": name,
            "cells": f"{cells:,}",
            "share": share(cells / records, 1),
            "left": None if left_of.get(name) is None else f"{100 * float(left_of[name] or 0):.1f}%",
        }
        for name, cells in log.cells.items()
    ]
