"""Conformance of a remedy: a complete specification."""

from __future__ import annotations

from typing import Any

from tcdp_audit.remedy import Remedy
from tcdp_audit.testing.conformance import Subject


def remedy_conforms(remedy: Remedy[Any]) -> None:
    """Hold a remedy's specification against what `explain` and the report show of it.

    Raises:
        ConformanceError: its name, a text or its function is missing.
    """
    subject = Subject("remedy", remedy.name)
    subject.require_name(remedy.name)
    texts = {"title": remedy.title, "summary": remedy.summary, "source": remedy.source}
    subject.require_texts(texts, "specification")
    subject.require(
        remedy.summary.rstrip().endswith("."),
        "specification",
        "`summary` must be a sentence with a full stop",
    )
    subject.require(callable(remedy.apply), "specification", "`apply` must be a function")
