"""Conformance of a reporter: it renders any audit, twice the same, and nothing that a name says is obeyed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from tcdp_audit.results.audit import Audit
from tcdp_audit.results.reporter import Reporter
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.sample import CELL, SCRIPT, TEMPLATE_RESULT, sample_audits

MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg", ".md")


def reporter_conforms(reporter: Reporter) -> None:
    """Hold a reporter against audits of every status whose columns have hostile names.

    Raises:
        ConformanceError: it does not conform.
    """
    subject = Subject("reporter", reporter.name)
    subject.require_name(reporter.name)
    subject.require_texts({"title": reporter.title}, "specification")
    suffix = reporter.suffix
    fits = suffix.startswith(".") and len(suffix) > 1 and suffix == suffix.lower() and "." not in suffix[1:]
    subject.require(fits, "suffix", "it must be a lower-case file extension with its dot, such as `.html`")
    for audit in sample_audits(datetime(2024, 2, 29, tzinfo=UTC)):
        _rendering_conforms(subject, reporter, audit)


def _rendering_conforms(subject: Subject, reporter: Reporter, audit: Audit) -> None:
    where = f"an audit with the status {audit.status}"
    try:
        text, again = reporter.render(audit), reporter.render(audit)
    except Exception as error:
        raise subject.lacks("rendering", f"{where} raised {type(error).__name__}: {error}") from error
    for property_, sentence in _complaints(text, again, reporter.suffix):
        raise subject.lacks(property_, f"{sentence} ({where})")


def _complaints(text: object, again: object, suffix: str) -> Iterator[tuple[str, str]]:
    if not isinstance(text, str) or not text.strip():
        yield "rendering", "it must give a text that is not empty"
        return
    if text != again:
        yield "determinism", "the same audit rendered twice differs"
    if CELL in text:
        yield "no cell in evidence", "a cell of the release is shown"
    if TEMPLATE_RESULT in text:
        yield "hostile names", "a column's name was evaluated as a template"
    if suffix in MARKUP and SCRIPT in text:
        yield "hostile names", "a column's name became markup; escape it"
    if not _is_well_formed(text, suffix):
        yield "rendering", f"it is not well-formed {suffix[1:].upper()}"


def _is_well_formed(text: str, suffix: str) -> bool:
    try:
        text.encode()
        if suffix in (".json", ".sarif"):
            json.loads(text)
        if suffix in (".xml", ".svg", ".xhtml"):
            ET.fromstring(text)  # noqa: S314 - the reporter's own output
    except (ValueError, ET.ParseError):
        return False
    return True
