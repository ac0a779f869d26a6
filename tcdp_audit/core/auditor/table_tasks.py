"""One expectation measured on the whole release and its companion tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.auditor.tasks import Measurements, Task, plain_figures
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.declared_types import require_type
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import ESTIMATE, Outcome, Status, Tally
from tcdp_audit.core.base.phrases import LIMITS, column_of, columns_of, unit_noun
from tcdp_audit.core.base.provenance import Proof
from tcdp_audit.core.base.words import agree, count, listing, noun_of_column, percent_of, plural, with_article
from tcdp_audit.core.check.needs import Need
from tcdp_audit.core.check.table_check import Estimate, TableCheck, TableFigure
from tcdp_audit.core.check.threshold import Verdict

if TYPE_CHECKING:
    from tcdp_audit.core.check.table_view import TableView
    from tcdp_audit.core.engines.base import Engine

COMPARED_BY = "compared_by"  # the columns of a comparison, where a table next to the release lacks others
LACKING = "lacking"  # by table the quasi-identifiers that it has no column for
UNNAMED = "unnamed"  # by table and attribute the records whose value no code names and the release does not have
ABSENT = "absent"  # the same of values that a code names
OF_ROWS = frozenset({"original", "holdout"})  # tables that are compared with the release row by row
SEVERAL_ROWS = (
    "cannot be evaluated: it counts rows, and some {people} have several in {table}, as its column {unit!r} says, "
    "which would not count as one; make one row of each"
)
OF_HOUSEHOLDS = (
    "cannot be evaluated: it counts rows, and whole households are judged; say `known_rows: one` of this demand, which "
    "then judges people one by one"
)


@dataclass(frozen=True)
class TableTask(Task[TableCheck[Any]]):
    """A check to run on tables.

    Args:
        several_rows: whether some units of the policy have several rows.
        of_single_rows: whether rows count although the policy names a unit, which none of them shares.
    """

    several_rows: bool = False
    of_single_rows: bool = False

    def _outcome(self, measurements: Measurements) -> Outcome:
        parameters, whole = self.expectation.parameters, measurements.view()
        counts_rows = self._counts_rows(whole)
        if counts_rows:
            self._require_single_rows(whole, measurements)
        view = self._known_by(whole)
        shared, strange = self._shared(whole, view), self._strange(whole)
        known = shared.get(COMPARED_BY, self.known)
        try:
            figure = self._figure(measurements, view)
        except CheckError as error:
            clauses = (sentence[0].lower() + sentence[1:-1] for sentence in _on_strange(self._blank(), strange))
            raise CheckError("; ".join([str(error), *clauses])) from None
        figure = replace(figure, details={**figure.details, **shared, **strange})
        task = replace(
            self,
            violation=self.violation or figure.violation,
            known=tuple(known),
            of_single_rows=counts_rows and whole.policy.document.unit is not None,
        )
        outcome = task._outcome_of_table(figure, self.check.verdict(figure, parameters))  # noqa: SLF001 - a task
        of_one_table = not self._compared(view) and Need.UNLINKED_TABLES not in self.check.needs
        outcome = replace(outcome, proof=_proof(figure, view, outcome.threshold) if of_one_table else None)
        unfailable = self.check.unfailable(figure, parameters) if outcome.status is Status.PASSED else ()
        return _with_estimate(task._judged(outcome, unfailable, "by every release"), figure.estimate)  # noqa: SLF001

    def _known_by(self, view: TableView) -> TableView:
        """The view of an intruder who knows only what is a column of the compared tables as well.

        Columns that the expectation names are not left out: a table that lacks one is an error.
        """
        if view.of_rows is not None or getattr(self.expectation.parameters, "attributes", None):
            return view
        return view.known_with(*self._compared(view))

    def _compared(self, view: TableView) -> list[str]:
        """The names of the tables whose records the check compares with the release's."""
        compared = self.check.compared(self.expectation.parameters)
        return [name for name in view.companions if name.partition(" ")[0] in compared]

    def _shared(self, whole: TableView, view: TableView) -> dict[str, Any]:
        """The columns that were compared and those that each table lacks, where one lacks any; else nothing."""
        if view is whole:
            return {}
        lacking = {name: whole.lacking(name) for name in self._compared(whole)}
        left = {*whole.quasi_identifiers} - {*view.quasi_identifiers}
        return {
            COMPARED_BY: [name for name in self.known if name not in left],
            LACKING: {name: names for name, names in lacking.items() if names},
        }

    def _strange(self, view: TableView) -> dict[str, Any]:
        """The number of records of each compared table with codes whose value the release does not have.

        By table and attribute, where there are any: those that no code names, and those that one does.
        """
        tables = {name: view.companions[name] for name in self._compared(view)}
        if not any(one.translation is not None and one.translation.codes for one in tables.values()):
            return {}
        from tcdp_audit.core.release.alignment import strange_records  # noqa: PLC0415 - few policies declare codes

        rows = view.of_rows or view
        records = {name: strange_records(rows.engine, one, rows.policy) for name, one in tables.items()}
        by_kind = zip((UNNAMED, ABSENT), zip(*records.values(), strict=True), strict=True)
        strange = {kind: {name: one for name, one in zip(records, each, strict=True) if one} for kind, each in by_kind}
        return {kind: one for kind, one in strange.items() if one}

    def _figure(self, measurements: Measurements, view: TableView) -> TableFigure:
        """The check's figure; for an equal question about the same tables and files, the one measured then."""
        parameters = self.expectation.parameters

        def measured() -> TableFigure:
            figure = self.check.measure(view, parameters)
            require_type(figure, TableFigure, "the check gave", CheckError)
            return figure

        if not measurements.cache.room:
            return measured()
        files = tuple(content_digest(Path(view.policy.resolve(location))) for *_, location in parameters.files())
        key = ("table figure", Identity(self.check), repr(parameters), files, measurements.tables)
        return measurements.cache.get(key, measured)

    def _counts_rows(self, view: TableView) -> bool:
        """Whether rows count, so that they must be those of different units, given the tables that there are."""
        document = view.policy.document
        if document.root is None or document.tables is not None:  # of several tables each unit is one row
            return False
        given = {name: name for name in view.companions if getattr(document, name, name) is None}
        needs_if = self.check.needs_if(self.expectation.parameters, document.model_copy(update=given))
        return Need.ROWS in {*self.check.needs, *needs_if}

    def _require_single_rows(self, view: TableView, measurements: Measurements) -> None:
        """Insist that no unit has several rows, in the release or in a table that its rows are compared with.

        Raises:
            CheckError: one has, or whole households are judged.

        Cost: the distinct values of the unit in each of the tables that have its column.
        """
        document = (view.of_rows or view).policy.document
        unit = document.unit or ""
        people = plural(document.unit_name or noun_of_column(unit))
        if self.several_rows:
            raise CheckError(SEVERAL_ROWS.format(people=people, table="the release", unit=unit))
        if view.of_rows is not None:
            raise CheckError(OF_HOUSEHOLDS)
        for name, engine in view.companions.items():
            if name.partition(" ")[0] not in self.check.requires or unit not in {one.name for one in engine.columns}:
                continue
            key = ("repeats", unit, repr(document.conventions), Identity(engine))
            if measurements.cache.get(key, partial(_repeats, unit, engine, view)):
                raise CheckError(SEVERAL_ROWS.format(people=people, table=engine.name, unit=unit))

    def _worded(self, outcome: Outcome) -> Outcome:
        """The outcome with its sentences, and the limitation of a comparison of rows if people have several."""
        worded = super()._worded(outcome)
        worded = replace(worded, message=" ".join([worded.message, *_sentences_on_columns(outcome)]))
        if self.of_single_rows:
            return replace(
                worded, message=f"{worded.message} No {unit_noun(outcome)} has two rows, so rows are counted."
            )
        if not (self.several_rows and self.check.requires & OF_ROWS):
            return worded
        an_intruder = with_article(unit_noun(outcome))
        several = f"Every row counts, however many {an_intruder} has, and what is known of {an_intruder} is one row."
        return replace(worded, message=f"{worded.message} {several}")

    def _outcome_of_table(self, figure: TableFigure, verdict: Verdict) -> Outcome:
        distribution = {"distribution": [list(one) for one in figure.distribution]} if figure.distribution else {}
        return replace(
            self._blank(),
            status=self._status(verdict),
            observed=verdict.observed,
            classes=None if figure.classes is None else Tally(*figure.classes),
            records=Tally(figure.records, figure.failing),
            details=plain_figures({**distribution, **figure.details}),
        )


def _proof(figure: TableFigure, view: TableView, threshold: Fraction | None) -> Proof | None:
    """The proof of an exact figure of the release's own classes; None of any other."""
    if figure.classes is None or figure.estimate is not None or not isinstance(figure.value, Fraction | int):
        return None
    sizes = Counter(view.classes.records.tolist())
    if (sizes.total(), sum(size * number for size, number in sizes.items())) != (figure.classes[0], figure.records):
        return None
    return Proof(figure.classes[0], figure.records, Fraction(figure.value), threshold, None, sizes)


def _sentences_on_columns(outcome: Outcome) -> Iterator[str]:
    """What was compared, and what a table lacks, as sentences; none where every table has all columns and values."""
    lacking, compared = outcome.details.get(LACKING, {}), outcome.details.get(COMPARED_BY)
    lacks = {name: f"has no column for {columns_of(outcome, names)}" for name, names in lacking.items()}
    if compared is not None:
        listed = listing([f"the {name} {has_none}" for name, has_none in lacks.items()])
        yield f"Compared by {columns_of(outcome, compared)}; {listed}."
    else:
        yield from (f"Nothing is counted in the {name}, which {has_none}." for name, has_none in lacks.items())
    yield from _on_strange(outcome, outcome.details)


def _on_strange(outcome: Outcome, details: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the values of each table and attribute that the release does not have."""
    for kind, how in ((UNNAMED, "no code names and"), (ABSENT, "a code names and")):
        for table, attributes in details.get(kind, {}).items():
            for name, records in attributes.items():
                yield (
                    f"In the {table}, {count(records, 'record')} {agree(records, 'has', 'have')} a value of "
                    f"{column_of(outcome, name)} that {how} that the release does not have."
                )


def _repeats(unit: str, engine: Engine, view: TableView) -> bool:
    """Whether the unit has several rows in a table."""
    from tcdp_audit.core.release.coded import separate_domains  # noqa: PLC0415 - rarely asked for

    ((domain,),) = separate_domains([engine], [unit], view.policy.attributes, view.policy.conventions)
    return domain.repeats


def _with_estimate(outcome: Outcome, estimate: Estimate | None) -> Outcome:
    """Add to an outcome whose figure comes from a sample what the sample represents."""
    if estimate is None:
        return outcome
    sentences = [outcome.message, estimate.sentence(outcome.threshold)]
    if outcome.status is Status.ERROR:
        sentences.append(f"So whether {_open_demand(outcome)} cannot be decided; {estimate.more}.")
    details = {**outcome.details, ESTIMATE: estimate.as_details()}
    return replace(outcome, details=plain_figures(details), message=" ".join(sentences))


def _open_demand(outcome: Outcome) -> str:
    """The demand that an estimate leaves undecided: `at most 20% is kept`."""
    assert outcome.comparison is not None  # noqa: S101 - the outcome of a demand has one
    return f"{LIMITS[outcome.comparison]} {percent_of(outcome.threshold)} is kept"
