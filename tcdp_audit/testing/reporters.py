"""Conformance of a reporter: it renders any audit, twice the same, and nothing that a name says is obeyed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from xml.etree import ElementTree as ET

from tcdp_audit.api import PolicyError
from tcdp_audit.core.results.reporter import Reporter
from tcdp_audit.core.results.unaudited import Unaudited
from tcdp_audit.testing.conformance import Subject, Suite
from tcdp_audit.testing.sample import CELL, HOSTILE, SCRIPT, TEMPLATE_RESULT, sample_audits

RENDERING = ("rendering", "determinism", "no cell in evidence", "hostile names")
SUFFIX = re.compile(r"(\.[^.]+){1,2}")
MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg", ".md")


class ReporterSuite(Suite):
    """A reporter on audits of every status whose columns have hostile names."""

    def __init__(self, reporter: Reporter) -> None:
        self.subject, self.reporter = Subject("reporter", reporter.name), reporter

    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the reporter against each property."""
        return {
            "name": lambda: self.subject.require_name(self.reporter.name),
            "specification": lambda: self.subject.require_texts({"title": self.reporter.title}, "specification"),
            "suffix": self._suffix_conforms,
            **{name: partial(self._renderings_conform, name) for name in RENDERING},
        }

    def _suffix_conforms(self) -> None:
        suffix = self.reporter.suffix
        fits = suffix == suffix.lower() and SUFFIX.fullmatch(suffix)
        self.subject.require(fits, "suffix", "it must be a lower-case file extension with its dot, such as `.html`")

    def _renderings_conform(self, property_: str) -> None:
        """Hold all renderings against one property; none can be held where one is no text."""
        for where, text, again in self._renderings:
            for name, sentence in _complaints(text, again, self.reporter.suffix):
                if name == property_ or not isinstance(text, str):
                    raise self.subject.lacks(name, f"{sentence} ({where})")

    @cached_property
    def _renderings(self) -> list[tuple[str, object, object]]:
        audits = list(sample_audits(datetime(2024, 2, 29, tzinfo=UTC)))
        render, render_several = self.reporter.render, self.reporter.render_several
        rendered = [self._rendered(f"an audit with the status {one.status}", partial(render, one)) for one in audits]
        if render_several is None:
            return rendered
        broken = Unaudited(Path(f"{HOSTILE[0].replace('/', '')}.tcdp.yaml"), PolicyError(HOSTILE[1]))
        return [*rendered, self._rendered("a run of several policies", partial(render_several, [*audits, broken]))]

    def _rendered(self, where: str, render: Callable[[], object]) -> tuple[str, object, object]:
        try:
            return where, render(), render()
        except Exception as error:
            raise self.subject.lacks("rendering", f"{where} raised {type(error).__name__}: {error}") from error


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
    if suffix.endswith(MARKUP) and SCRIPT in text:
        yield "hostile names", "a column's name became markup; escape it"
    if not _is_well_formed(text, suffix):
        yield "rendering", f"it is not well-formed {suffix[1:].upper()}"


def _is_well_formed(text: str, suffix: str) -> bool:
    try:
        text.encode()
        if suffix.endswith((".json", ".sarif")):
            json.loads(text)
        if suffix.endswith((".xml", ".svg", ".xhtml")):
            ET.fromstring(text)  # noqa: S314 - the reporter's own output
    except (ValueError, ET.ParseError):
        return False
    return True
