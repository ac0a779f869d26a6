"""The outcomes of released tables of figures: what is wrong with the tables, and the expectations on their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from tcdp_audit.core.auditor.tasks import Measurements, Task, plain_figures
from tcdp_audit.core.base.declared_types import require_type
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import (
    CELL_DEMANDS,
    CELLS_AGREE,
    CONTRADICTION,
    DUPLICATE_CELL,
    IMPOSSIBLE_FIGURE,
    STRUCTURE,
    UNDEMANDED_PARTS,
    UNKNOWN_CATEGORY,
    UNKNOWN_TOKEN,
    FailingCell,
    Outcome,
    Severity,
    Status,
    Tally,
)
from tcdp_audit.core.base.words import agree, count, listing, sentence_case, visible
from tcdp_audit.core.check.aggregate_check import AggregateCheck, CellFigure
from tcdp_audit.core.check.threshold import Target
from tcdp_audit.core.policy.policy import Expectation, Policy

if TYPE_CHECKING:
    from tcdp_audit.core.cells.table import Finding
    from tcdp_audit.core.cells.view import CellsView

MICRODATA = "microdata"  # the detail of an outcome that needs the records behind the tables and has none
NEEDS_MICRODATA = "it needs the records behind the tables; name them under `microdata:`"
TITLES = {
    UNKNOWN_TOKEN: ("Every figure is a number or a declared text", "Figures are neither numbers nor declared texts"),
    DUPLICATE_CELL: ("No cell stands twice", "Cells stand twice"),
    UNKNOWN_CATEGORY: ("Every label is a category of its dimension", "Labels are no categories of their dimension"),
    IMPOSSIBLE_FIGURE: ("Every figure is possible", "Impossible figures"),
    CONTRADICTION: ("The figures add up", "The figures contradict each other"),
    CELLS_AGREE: ("The figures are those of the records", "Figures differ from the records"),
}
NOT_COMPARED = "The figures were not compared with records"


def outcomes_of_figures(view: CellsView) -> tuple[Outcome, ...]:
    """All outcomes of tables of figures: of the tables first, then of the policy's expectations on them, in order."""
    return (*_structural_outcomes(view), *_undemanded(view.policy), *outcomes_of_demands(view))


def outcomes_of_demands(view: CellsView) -> tuple[Outcome, ...]:
    """The outcomes of the policy's expectations on tables of figures, in order."""
    judged = [one for one in view.policy.expectations if not one.check.on_records]
    tasks = (_FigureTask.of(one, view) for one in judged)
    return tuple(task.outcome(Measurements(_no_records)) for task in tasks)


def _no_records() -> NoReturn:
    raise CheckError("a table of figures has no records")


def _structural_outcomes(view: CellsView) -> Iterator[Outcome]:
    """An outcome for each kind of finding. What is wrong with a table is an error: nothing may be concluded from it."""
    if not view.tables:
        return
    cells = sum(one.published_cells for one in view.tables.values())
    for name in CELL_DEMANDS:
        findings = [one for one in view.findings if one.kind == name]
        if name == CELLS_AGREE and not view.has_microdata:
            yield _structural(name, Status.SKIPPED, (), cells, "The policy names no records behind the tables.")
        else:
            status = Status.ERROR if findings and name != CELLS_AGREE else Status.FAILED if findings else Status.PASSED
            notes = _notes(view, name)
            says = [*_sentences(findings), *(one for key in notes for one in _said(key, notes[key]))]
            yield _structural(name, status, findings, cells, " ".join(says), notes)


def _undemanded(policy: Policy) -> Iterator[Outcome]:
    """A warning where something is demanded of one part of a release alone: records, tables of figures, or models."""
    document = policy.document
    parts = {
        "the records": bool(document.attributes),
        "the tables of figures": bool(document.aggregates),
        "the fitted models": bool(document.models),
    }
    demanded = {_part(one) for one in policy.expectations if one.check.demands(one.parameters) and _counts(one)}
    left_out = [name for name, there in parts.items() if there and name not in demanded]
    if demanded and left_out:
        yield Outcome(
            check=UNDEMANDED_PARTS,
            title="Parts of the release of which nothing is demanded",
            status=Status.FAILED,
            severity=Severity.WARNING,
            observed=float(len(left_out)),
            details={"columns": [], "parts": left_out},
            message=f"nothing is demanded of {listing(left_out)}, which the policy releases; demand something of each",
            source=STRUCTURE,
        )


def _part(expectation: Expectation) -> str:
    if expectation.check.on_records:
        return "the records"
    return "the fitted models" if expectation.check.of_models else "the tables of figures"


def _counts(expectation: Expectation) -> bool:
    return expectation.parameters.severity is Severity.ERROR


SHOWN = 10  # findings that a sentence lists
NAMED_PAIRS = 3  # tables that are not judged together, which a sentence lists
HINTS, NOT_JOINED, NOT_COMPARED_KEY = "hints", "not_joined", "not_compared"  # details of the outcomes on tables


def _notes(view: CellsView, name: str) -> dict[str, list[str]]:
    """Remarks for the reader of an outcome on the tables though nothing is wrong, by the detail that has them."""
    if name == CELLS_AGREE:
        notes = {NOT_COMPARED_KEY: [*view.not_compared]}
    elif name == CONTRADICTION and not any(one.kind == IMPOSSIBLE_FIGURE for one in view.findings):
        apart = [f"{' and '.join(map(visible, one.tables))}: {one.why}" for one in view.links if not one.joined]
        notes = {HINTS: [*view.hints], NOT_JOINED: apart}
    else:
        notes = {}
    return {key: sentences for key, sentences in notes.items() if sentences}


def _said(key: str, sentences: Sequence[str]) -> Sequence[str]:
    """The sentences of a note; of many pairs of tables the first, and their number."""
    if key != NOT_JOINED:
        return sentences
    more = len(sentences) - NAMED_PAIRS
    listed = "; ".join([*sentences[:NAMED_PAIRS], *([f"and {count(more, 'more pair')}"] if more > 0 else [])])
    pairs = sentence_case(count(len(sentences), "pair of tables"))
    return [f"{pairs} {agree(len(sentences), 'is', 'are')} not judged together: {listed}."]


def _sentences(findings: Sequence[Finding]) -> Iterable[str]:
    more = len(findings) - SHOWN
    return [
        *(one.says for one in findings[:SHOWN]),
        *([f"There {agree(more, 'is', 'are')} {count(more, 'more such finding')}."] if more > 0 else []),
    ]


def _structural(
    name: str,
    status: Status,
    findings: Sequence[Finding],
    cells: int,
    message: str,
    notes: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Outcome:
    passed, broken = TITLES[name] if status is not Status.SKIPPED else (NOT_COMPARED, "")
    failing = tuple(cell for one in findings for cell in one.cells)
    return Outcome(
        check=name,
        title=broken if findings else passed,
        status=status,
        observed=float(len(findings)),
        cells=Tally(cells, sum(one.count for one in findings)),
        failing_cells=failing,
        details={"columns": [], "tables": sorted({one.table for one in findings}), **notes},
        message=message,
        source=STRUCTURE,
    )


@dataclass(frozen=True)
class _FigureTask(Task[AggregateCheck[Any]]):
    """An expectation on tables of figures.

    Args:
        view: the tables.
    """

    view: CellsView | None = None

    @classmethod
    def of(cls, expectation: Any, view: CellsView) -> _FigureTask:
        """The task of an expectation, with the conventions of its verdict."""
        document = view.policy.document
        own = document.conventions
        conventions = {"negative": own.negative, "boundary": own.boundary, "integers": own.integers}
        unit = None if document.microdata is None else document.microdata.unit
        noun = document.unit_name or "person"
        return cls(
            expectation.check,
            expectation,
            Target(),
            conventions={"unit": unit or "row", **conventions},
            naming=replace(view.policy.naming, unit_name=noun, record_name=noun),
            view=view,
        )

    def _outcome(self, measurements: Measurements) -> Outcome:  # noqa: ARG002 - a table of figures has no records
        parameters, view = self.expectation.parameters, self.view
        assert view is not None  # noqa: S101 - made with one
        blank = self._blank()
        if self.check.needs_microdata(parameters, view.policy.document) and not view.has_microdata:
            demanded = bool(self.check.demands(parameters))
            return replace(
                blank,
                status=Status.ERROR if demanded else Status.SKIPPED,
                details={MICRODATA: True},
                message=f"cannot be evaluated: {NEEDS_MICRODATA}" if demanded else f"Not looked at: {NEEDS_MICRODATA}.",
            )
        figure = self.check.measure(view, parameters)
        require_type(figure, CellFigure, "the check gave", CheckError)
        if not figure.cells:
            raise CheckError("it found no cell to judge, so that nothing would be demanded")
        task = replace(self, violation=figure.violation)
        verdict = self.check.verdict(figure, parameters)
        outcome = replace(
            blank,
            status=task._status(verdict),  # noqa: SLF001 - a task
            observed=verdict.observed,
            cells=Tally(figure.cells, len(figure.failing)),
            failing_cells=tuple(_checked(figure.failing, view)),
            details=plain_figures(figure.details),
        )
        unfailable = self.check.unfailable(figure, parameters) if outcome.status is Status.PASSED else ()
        judged = task._judged(outcome, unfailable, "by every release")  # noqa: SLF001 - likewise
        if verdict.undecided:
            undecided = f"{count(figure.undecided, 'cell')} could not be decided, so that nothing may be concluded."
            return replace(judged, message=f"{judged.message} {undecided}")
        return judged


def _checked(cells: Iterable[FailingCell], view: CellsView) -> Iterator[FailingCell]:
    """The failing cells without figures, unless these were asked for."""
    for one in cells:
        require_type(one, FailingCell, "the check gave", CheckError)
        yield one if view.show_values else replace(one, figures=None)


def without_figures(policy: Policy) -> Policy:
    """The same policy with its expectations on records alone."""
    of_records = tuple(one for one in policy.expectations if one.check.on_records)
    return replace(policy, expectations=of_records)
