"""The properties of report formats and of report sections: they render any audit, twice the same, and obey no name."""

from __future__ import annotations

import io
import json
import re
import zipfile
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.api import Expectation, Plugins, Policy, PolicyError, audit
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.document import BLOCKS
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.plugin.check import AttributeParameters, ClassCheck, ClassEvidence, DisclosureType, Guide, Threshold
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit.testing.conformance import Suite

SUFFIX = re.compile(r"(\.[^.]+){1,2}")
MARKUP = (".html", ".htm", ".xhtml", ".xml", ".svg", ".md")
AT = datetime(2024, 2, 29, tzinfo=UTC)
CLOCK = "the clock, a random number or an order of a set in the output; `Audit.audited_at` has the time"
LABEL = "labels of `WorstClass` or details that hold cells; show ranks, figures and counts"


class RenderedSuite(Suite):
    """Rendering of audits of every status whose columns have hostile names, held against properties of its output."""

    examined: tuple[str, ...]  # properties of an output
    required: str  # the one without which no other can be examined

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        return {
            "specification": lambda: self.subject.require_texts({"title": self.specification.title}, "specification"),
            **{name: partial(self._conforms, name) for name in self.examined},
        }

    def _conforms(self, property_: str) -> None:
        for where, output, again in self._outputs:
            for name, sentence, cause in self.complaints(output, again):
                if name in (property_, self.required):
                    raise self.subject.at(where).lacks(name, sentence, cause)

    @cached_property
    def _outputs(self) -> list[tuple[str, Any, Any]]:
        return [(where, self._rendered(where, call), self._rendered(where, call)) for where, call in self.calls()]

    def _rendered(self, where: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            raise self.subject.lacks(self.required, f"{where} raised {type(error).__name__}: {error}") from error

    @abstractmethod
    def calls(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Calls that render, each with its name for messages."""

    @abstractmethod
    def complaints(self, output: Any, again: Any) -> Iterator[tuple[str, str, str]]:
        """Faults of an output and the same rendered again: the property, a sentence and the usual cause."""


class ReporterSuite(RenderedSuite):
    """A reporter."""

    kind, required = "reporter", "rendering"
    examined = ("suffix", "rendering", "determinism", "no cell in evidence", "hostile names")

    def calls(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Every audit, and a run of all of them and one policy that is wrong."""
        audits = list(sample_audits(AT))
        yield from (
            (f"an audit with the status {one.status}", partial(self.specification.render, one)) for one in audits
        )
        if self.specification.render_several is not None:
            broken = Unaudited(Path(f"{HOSTILE[0].replace('/', '')}.tcdp.yaml"), PolicyError(HOSTILE[1]))
            yield "a run of several policies", partial(self.specification.render_several, [*audits, broken])

    def complaints(self, output: Any, again: Any) -> Iterator[tuple[str, str, str]]:
        """Faults of a text."""
        suffix = self.specification.suffix
        if suffix != suffix.lower() or not SUFFIX.fullmatch(suffix):
            sentence = f"it must be a lower-case file extension with its dot, such as `.html`; got {suffix!r}"
            yield "suffix", sentence, ""
        if not isinstance(output, str | bytes) or not output.strip():
            sentence = f"it must give a text or bytes, and not empty ones, got {type(output).__name__}"
            yield "rendering", sentence, "no `return`"
            return
        if output != again:
            yield "determinism", "the same audit rendered twice differs", CLOCK
        if isinstance(output, bytes):
            output = _text_within(output)
        if CELL in output:
            yield "no cell in evidence", "a cell of the release is shown", LABEL
        if TEMPLATE_RESULT in output:
            yield "hostile names", "a column's name was evaluated as a template", "a template that is made of names"
        if suffix.endswith(MARKUP) and SCRIPT in output:
            yield "hostile names", "a column's name became markup; escape it", "a template without autoescape"
        if not _is_well_formed(output, suffix):
            yield "rendering", f"it is not well-formed {suffix[1:].upper()}", "names that are not escaped"


def _text_within(content: bytes) -> str:
    """The text in bytes that can be read without a library for their format: all files of an archive, or themselves."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return content.decode("latin-1")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "".join(archive.read(name).decode("latin-1") for name in archive.namelist())


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


class SectionSuite(RenderedSuite):
    """A section of reports."""

    kind, required = "section", "blocks"
    examined = ("blocks", "determinism", "no cell in evidence")

    def calls(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Every audit."""
        for audited in sample_audits(AT):
            yield f"an audit with the status {audited.status}", partial(self._blocks, audited)

    def _blocks(self, audited: Audit) -> list[Any]:
        return list(self.specification.blocks(audited))

    def complaints(self, output: Any, again: Any) -> Iterator[tuple[str, str, str]]:
        """Faults of blocks."""
        kinds = sorted({type(one).__name__ for one in output if not isinstance(one, BLOCKS)})
        if kinds:
            yield "blocks", f"they must be texts and tables, got {', '.join(kinds)}", "figures; write them as text"
        if output != again:
            yield "determinism", "the same audit gave other blocks", CLOCK
        if CELL in json.dumps([str(one) for one in output], ensure_ascii=False):
            yield "no cell in evidence", "a cell of the release is shown", LABEL


CELL = "zqcellzq"
SCRIPT = "<script>alert(1)</script>"


TEMPLATE, TEMPLATE_RESULT = "{{7191*7193}}", "51724863"


HOSTILE = (
    SCRIPT,
    TEMPLATE,
    "a|b,c;\"d'&e`\\",
    "line\nbreak \u202eright to left \u001b[31m {columns} %s ${x}",
)


class SampleParameters(AttributeParameters):
    """Parameters of the sample check."""

    n: Annotated[int | None, Field(ge=0, description="The least number of different values in a class.")] = None


def _distinct(evidence: ClassEvidence, _: SampleParameters) -> NDArray[np.int64]:
    return evidence.sensitive[0].distinct


SAMPLE = ClassCheck(
    name="sample_check",
    title=f"Sample {SCRIPT}",
    disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
    parameters=SampleParameters,
    thresholds=(Threshold("n", Comparison.AT_LEAST, _distinct, "values in the class"),),
    on_attribute=True,
    guide=Guide(
        definition="Counts the values of each class.",
        formula="min_E m_E ≥ n",
        reading="More is more varied.",
        choosing="2 or more.",
        source="tcdp_audit.testing",
        example="- sample_check: {n: 2}",
    ),
)


def sample_audits(at: datetime) -> Iterator[Audit]:
    """Audits that pass, fail, warn, only measure, demand what nothing can fail, and stay incomplete."""
    clean = HOSTILE[:3]
    for parameters, columns in (
        ({"n": 1}, clean),
        ({"n": 3}, HOSTILE),  # the last column is not declared
        ({"n": 3, "severity": "warning"}, clean),
        ({}, clean),
        ({"n": 1}, HOSTILE[:1]),  # columns that the policy declares are missing
    ):
        yield replace(_audited(parameters, columns), audited_at=at)
    monotone = replace(SAMPLE, monotone=lambda _: True)
    yield replace(_audited({"n": 1}, clean, monotone), audited_at=at)


def _audited(
    parameters: dict[str, Any], columns: tuple[str, ...], check: ClassCheck[SampleParameters] = SAMPLE
) -> Audit:
    roles = zip(HOSTILE[:3], ("quasi_identifier", "quasi_identifier", "sensitive"), strict=True)
    attributes = {name: {"role": role} for name, role in roles}
    document = {"version": 1, "attributes": attributes, "expect": [{SAMPLE.name: parameters}]}
    expectation = Expectation(check, SampleParameters.model_validate({**parameters, "attribute": HOSTILE[2]}), line=3)
    policy = Policy(PolicyDocument.model_validate(document), (expectation,), text=json.dumps(document))
    cells = [f"{CELL}{number % 3}" for number in range(12)]
    table = pa.table(dict.fromkeys(columns, cells))
    return audit(table, policy, plugins=Plugins.load(external=False))
