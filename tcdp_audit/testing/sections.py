"""The properties of a section that a plugin adds to reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property

from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.reporter import ReportSection, Rows
from tcdp_audit.testing.conformance import Subject, Suite
from tcdp_audit.testing.sample import CELL, sample_audits


class SectionSuite(Suite):
    """A section of audits of every status."""

    def __init__(self, section: ReportSection) -> None:
        self.subject, self.section = Subject("section", section.name), section

    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the section against each property."""
        return {
            "name": lambda: self.subject.require_name(self.section.name),
            "specification": lambda: self.subject.require_texts({"title": self.section.title}, "specification"),
            "blocks": self._blocks_conform,
            "determinism": self._repeats,
            "no cell in evidence": self._tells_no_cell,
        }

    def _blocks_conform(self) -> None:
        for where, blocks, _ in self._written:
            sound = all(isinstance(one, str | Rows) for one in blocks)
            self.subject.require(sound, "blocks", f"they must be texts and tables ({where})")

    def _repeats(self) -> None:
        for where, blocks, again in self._written:
            self.subject.require(blocks == again, "determinism", f"the same audit gave other blocks ({where})")

    def _tells_no_cell(self) -> None:
        for where, blocks, _ in self._written:
            text = json.dumps([str(one) for one in blocks], ensure_ascii=False)
            self.subject.require(CELL not in text, "no cell in evidence", f"a cell of the release is shown ({where})")

    @cached_property
    def _written(self) -> list[tuple[str, list[object], list[object]]]:
        return [self._blocks(audit) for audit in sample_audits(datetime(2024, 2, 29, tzinfo=UTC))]

    def _blocks(self, audit: Audit) -> tuple[str, list[object], list[object]]:
        where = f"an audit with the status {audit.status}"
        try:
            return where, list(self.section.blocks(audit)), list(self.section.blocks(audit))
        except Exception as error:
            raise self.subject.lacks("blocks", f"{where} raised {type(error).__name__}: {error}") from error
