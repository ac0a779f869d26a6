"""The view of checks on released figures: every table, what they say together, and the records behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.core.base.errors import CheckError, DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import CONTRADICTION, IMPOSSIBLE_FIGURE, NAMED_CELLS, FailingCell
from tcdp_audit.core.base.words import count, listing, visible
from tcdp_audit.core.cells.joint import JointFigures, Key, Link, join_figures
from tcdp_audit.core.cells.narrowing import narrow
from tcdp_audit.core.cells.reading import read_table
from tcdp_audit.core.cells.system import Contradiction
from tcdp_audit.core.cells.table import (
    UNBOUNDED,
    Finding,
    PublishedTable,
    Sum,
    say_label,
    say_labels,
    sums_of,
    true_limits,
)
from tcdp_audit.core.policy.policy import Policy

if TYPE_CHECKING:
    from tcdp_audit.core.cells.contributors import Records
    from tcdp_audit.core.cells.derived import Derivation
    from tcdp_audit.core.engines.base import Engine

KINDS_OF_KEY = ("not", "rest", "of")  # of categories that no table has
LISTED = 6  # terms of a computation, or relations of a contradiction, that a sentence lists
CORRECT = "correct the figures, or declare `rounding`, `noise` or `totals: shown` if that is why"
SHOWN_ONLY = (
    "every line with hidden figures adds up without them: either they are all 0, or totals are of what is shown; "
    "declare `totals: shown` if they are"
)
OTHER_PEOPLE = (
    "; their grand totals differ, so they may not be about the same people: declare other people as `about: {who: …}`, "
    "or add the category of a subgroup to `about`, such as `sex: male`"
)


@dataclass(frozen=True, repr=False)
class CellsView:
    """The released tables of figures under a policy, read once for all checks.

    Args:
        policy: what the release must satisfy.
        tables: the tables by name.
        previous: the views of earlier releases about the same people, the oldest first.
        records: the records behind the tables; None where they are not known.
        show_values: whether figures of failing cells may be given.
        progress: called with a step, what is done of it, and its total.
        explains: whether a failing cell comes with its computation.
    """

    policy: Policy
    tables: Mapping[str, PublishedTable]
    previous: Sequence[CellsView] = ()
    records: Records | None = None
    show_values: bool = False
    progress: Callable[[str, int, int], None] | None = None
    explains: bool = True

    @classmethod
    def of(
        cls,
        policy: Policy,
        engines: Mapping[str, Engine],
        microdata: Engine | None = None,
        previous: Sequence[CellsView] = (),
        *,
        show_values: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> CellsView:
        """Read the tables of a policy.

        Args:
            policy: what the release must satisfy.
            engines: the tables of figures by name, open.
            microdata: the records behind them.
            previous: the views of earlier releases, the oldest first.
            show_values: whether figures of failing cells may be given.
            progress: called with a step, what is done of it, and its total.

        Raises:
            DataError: tables cannot be read; all of them are named.
            PolicyError: a hierarchy or the bands of microdata cannot be read.
        """
        tables, faults = {}, list[str]()
        for name, declaration in (policy.document.aggregates or {}).items():
            try:
                tables[name] = read_table(name, declaration, engines[name], policy)
            except DataError as error:
                faults.append(str(error))
        if faults:
            raise DataError("\n".join(faults))
        records = None
        if microdata is not None:
            from tcdp_audit.core.cells.contributors import Records  # noqa: PLC0415 - only with microdata

            records = Records.of(policy, microdata)
        return cls(policy, tables, tuple(previous), records, show_values, progress)

    def under(self, policy: Policy) -> CellsView:
        """The same tables under a policy with other demands on them; what was computed of the tables is shared."""
        if policy is self.policy:
            return self
        other = replace(self, policy=policy)
        shared = {"findings": self.findings, "hints": self.hints}
        if "_joined" in self.__dict__:  # figures of too many digits are not joined, which is a finding
            shared |= {"_joined": self._joined, "derivations": self.derivations}
        other.__dict__.update(shared)  # what a cached property would compute of the same tables
        return other

    @property
    def has_microdata(self) -> bool:
        """Whether the records behind the tables are known."""
        return self.records is not None

    @cached_property
    def _joined(self) -> tuple[tuple[JointFigures, ...], tuple[Link, ...]]:
        return join_figures(list(self.tables.values()))

    @property
    def joint(self) -> tuple[JointFigures, ...]:
        """The systems of figures that add up, of all tables about the same people together."""
        return self._joined[0]

    @property
    def links(self) -> tuple[Link, ...]:
        """All pairs of tables: whether they are judged together, and the reason."""
        return self._joined[1]

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The faults of the tables: of each by itself, with one another, and compared with the records."""
        own = [finding for table in self.tables.values() for finding in table.findings]
        agreement = () if self.records is None else self.records.agreement(self.tables).findings
        return (*own, *self._contradictions(), *agreement)

    def _contradictions(self) -> Sequence[Finding]:
        try:
            return list(contradictions_of(self.joint))
        except CheckError as error:  # figures of too many digits
            return [Finding(IMPOSSIBLE_FIGURE, ", ".join(self.tables), f"The tables cannot be added up: {error}.")]

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """Sentences about tables whose totals may be of what is shown, though nothing contradicts them."""
        return tuple(
            f"{table.place}: {visible(name)}: {SHOWN_ONLY}."
            for table in self.tables.values()
            for name, figures in table.figures.items()
            if figures.measure.is_additive and adds_up_without_hidden(table, name)
        )

    @property
    def not_compared(self) -> tuple[str, ...]:
        """Sentences about figures that could not be compared with the records, such as those with noise."""
        return () if self.records is None else self.records.agreement(self.tables).not_compared

    def failing_cell(
        self, table: str, measure: str, cell: int, says: str = "", figures: Mapping[str, Any] | None = None
    ) -> FailingCell:
        """A cell that misses a demand, named by its labels and its line.

        Args:
            table: the table.
            measure: its measure.
            cell: the number of the cell.
            says: why it fails, without any figure of it.
            figures: figures that are shown if they were asked for.
        """
        read = self.tables[table]
        shown = figures if self.show_values else None
        return FailingCell(table, read.labels(cell), measure, int(read.line[cell]), says, read.say(cell), shown)

    def failing_variable(
        self, joint: JointFigures, variable: int, says: str = "", figures: Mapping[str, Any] | None = None
    ) -> FailingCell:
        """A variable of a system that misses a demand: the first cell that it is, or the categories that it has.

        A group that no table has, such as what men leave of all, is reported for the last table that has part of it.

        Args:
            joint: the system.
            variable: the variable.
            says: why it fails, without any figure of it.
            figures: figures that are shown if they were asked for.
        """
        places = joint.where(variable)
        if places:
            hiding = [one for one in places if not self.tables[one[0]].figures[one[1]].shown[one[2]]]
            return self.failing_cell(*(hiding or places)[0], says, figures)
        labels = {name: _bare_key(name, key) for name, key in joint.labels(variable).items()}
        rows = joint.system.rows
        parts = rows.cells[rows.entries_of(rows.rows_with(np.array([variable])))]
        table, measure, _ = next(place for part in parts[::-1].tolist() for place in joint.where(part))
        shown = figures if self.show_values else None
        return FailingCell(table, labels, measure, 0, says, say_variable(joint, variable), shown)

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """The derivation from each system of figures that add up."""
        from tcdp_audit.core.cells.derived import Derivation  # noqa: PLC0415 - imports linear programs

        return tuple(Derivation(one, self.progress, self.explains) for one in self.joint)


def say_variable(joint: JointFigures, variable: int, apart: Sequence[str] = ()) -> str:
    """A variable in words: `ward A, age 80+`, `the total of ward A`, `sex male`.

    Args:
        joint: its system.
        variable: its number.
        apart: dimensions whose category is left out, since the sentence has named it.
    """
    labels = {name: key for name, key in joint.labels(variable).items() if name not in apart}
    return say_labels([say_key(*one) for one in labels.items()], total=joint.has_totals(variable) or not labels)


def say_computation(joint: JointFigures, terms: Sequence[tuple[Fraction | int, int]]) -> str:
    """A sum of variables in words: `the total of ward A less age 60-79 and age 70-79`.

    Args:
        joint: the system.
        terms: a coefficient, which is not 0, and a variable each.

    Returns:
        What a reader adds, then what is taken off. The categories that all terms have in common are named once, and the
        table of each term where no table has all of them.
    """
    common = _common([joint.labels(variable) for _, variable in terms])
    ordered = sorted(terms, key=lambda one: len(joint.labels(one[1])))
    several = not set.intersection(*({place[0] for place in _published(joint, one)} for _, one in terms))
    first = next((one for one in ordered if one[0] > 0), ordered[0])

    def said(factor: Fraction | int, variable: int, *, whole: bool) -> str:
        places = _published(joint, variable)
        words = say_variable(joint, variable, () if whole or len(joint.labels(variable)) == len(common) else common)
        table = f" of {visible(places[0][0])!r}" if several and places else ""
        return f"{words}{table}" if factor in (1, -1) else f"{_factor(factor)} {words}{table}"

    added = [said(*first, whole=True)]
    added += [said(*one, whole=False) for one in terms if one[0] > 0 and one is not first]
    taken = [said(*one, whole=False) for one in terms if one[0] < 0 and one is not first]
    words = " plus ".join(_listed(added))
    return f"{words} less {listing(_listed(taken))}" if taken else words


def _published(joint: JointFigures, variable: int) -> list[tuple[str, str, int]]:
    """The cells that show a variable; all that it is where none does."""
    places = joint.where(variable)
    return [one for one in places if joint.tables[one[0]].figures[one[1]].shown[one[2]]] or places


def _common(labels: Sequence[Mapping[str, Key]]) -> list[str]:
    first, *others = labels
    return [name for name, key in first.items() if all(one.get(name) == key for one in others)]


def _listed(names: Sequence[str]) -> list[str]:
    if len(names) <= LISTED + 1:
        return list(names)
    return [*names[:LISTED], count(len(names) - LISTED, "other figure")]


def _factor(factor: Fraction | int) -> str:
    size = max(Fraction(factor), -Fraction(factor))
    return "twice" if size == 2 else f"{size} times" if size.denominator == 1 else f"{size} of"


def say_key(dimension: str, key: Key) -> str:
    """A category in words: a label, a band, or what another one leaves."""
    if isinstance(key, str):
        return say_label(dimension, key)
    if key[0] == "not":
        return f"{visible(dimension)} other than {_bare(key[1])}"
    if key[0] == "rest":
        return "without " + " and ".join(say_key(name, one) for name, one in key[1])
    if key[0] == "of":
        return f"{say_key(dimension, key[2])} of {_bare(key[1])}"
    return f"{visible(dimension)} {_bare(key)}"


def _bare(key: Key) -> str:
    if isinstance(key, str):
        return visible(key)
    low, high = key
    if low == -inf:
        return f"<{_number(high)}"
    if high == inf:
        return f"{_number(low)}+"
    if Fraction(low).denominator == Fraction(high).denominator == 1:
        return str(low) if high == low + 1 else f"{low}-{high - 1}"
    return f"[{_number(low)}, {_number(high)})"


def _bare_key(dimension: str, key: Key) -> str:
    """A category without its dimension: a label, a band, or what another one leaves."""
    return say_key(dimension, key) if not isinstance(key, str) and key[0] in KINDS_OF_KEY else _bare(key)


def _number(end: Fraction | float) -> str:
    return str(end) if Fraction(end).denominator == 1 else str(float(end))


def contradictions_of(systems: Sequence[JointFigures]) -> Iterator[Finding]:
    """The relations that no numbers satisfy: of single tables, between two, and of several relations together.

    Cost: O(coefficients) a round of narrowing.
    """
    for joint in systems:
        plain = [*_sums_that_fail(joint), *_tables_that_differ(joint)]
        yield from plain
        contradiction = None if plain else narrow(joint.system).contradiction
        if contradiction is not None:
            yield contradiction_finding(joint, contradiction)


def _sums_that_fail(joint: JointFigures) -> Iterator[Finding]:
    """The sums of each table that its own figures contradict, one finding a dimension."""
    for table_name, measure in joint.variables:
        table = joint.tables[table_name]
        for one in sums_of(table):
            wrong = one.of_true_figures(table, measure)
            wrong = wrong.only(_is_wrong(wrong, table, measure))
            if len(wrong.parents):
                yield _failing_sum(wrong, table, measure)


def _is_wrong(one: Sum, table: PublishedTable, measure: str) -> Any:
    """Whether the ends of the parts exclude those of the whole. Shape (combinations,)."""
    low, high = true_limits(table, measure)
    least, largest = low[one.children], high[one.children]
    over = _added(least, -UNBOUNDED) > high[one.parents]
    return over | (_added(largest, UNBOUNDED) < low[one.parents]) if one.complete else over


def _added(ends: Any, unbounded: int) -> Any:
    """Sums over the parts; `unbounded` where a part is. The system was made, so that no sum leaves 64 bits."""
    sums = np.where(np.abs(ends) >= UNBOUNDED, 0, ends).sum(axis=0)
    return np.where((ends == unbounded).any(axis=0), unbounded, sums)


def _failing_sum(one: Sum, table: PublishedTable, measure: str) -> Finding:
    figures, first = table.figures[measure], int(one.parents[0])
    cells = np.append(one.children[:, 0], first)
    difference = ""
    if figures.shown[cells].all() and (figures.low[cells] == figures.high[cells]).all():
        steps = int(figures.low[first]) - int(figures.low[one.children[:, 0]].sum())
        difference = f" (it is {_decimal(abs(steps), figures.scale)} {'more' if steps > 0 else 'less'})"
    parts = count(len(one.children), "category")
    problem = f"is not the sum of its {parts} of {visible(one.dimension)}{difference}"
    if not one.complete:
        problem = f"is less than the sum of its listed {parts} of {visible(one.dimension)}"
    advice = CORRECT
    if adds_up_without_hidden(table, measure):
        advice = SHOWN_ONLY
    elif not table.line[cells].all() and table.declaration.absent == "zero":
        advice = "a combination without a row is 0; declare `absent: unknown` if it is only not published"
    return table.finding(CONTRADICTION, one.parents, problem, advice, measure)


def _decimal(steps: int, scale: int) -> str:
    value = Fraction(steps, scale)
    return str(value) if value.denominator == 1 else str(float(value))


def adds_up_without_hidden(table: PublishedTable, measure: str) -> bool:
    """Whether every total with hidden figures below it, of which there is one, is the sum of the shown ones alone."""
    figures, lines = table.figures[measure], 0
    if table.declaration.totals == "shown":
        return False
    hidden = figures.unknown
    low, high = (np.where(hidden, 0, ends) for ends in (figures.low, figures.high))
    for one in sums_of(table):
        judged = one.only(hidden[one.children].any(axis=0) & ~hidden[one.parents])
        least, largest = low[judged.children].sum(axis=0), high[judged.children].sum(axis=0)
        if ((least > high[judged.parents]) | (largest < low[judged.parents])).any():
            return False
        lines += len(judged.parents)
    return lines > 0


def _tables_that_differ(joint: JointFigures) -> Iterator[Finding]:
    """The cells that two tables show differently, one finding a pair of tables."""
    by_pair: dict[tuple[tuple[str, str], tuple[str, str]], list[tuple[int, int]]] = {}
    for variable in np.flatnonzero(joint.system.low > joint.system.high).tolist():
        places = joint.where(variable)
        first, second = _disjoint(joint, places)
        by_pair.setdefault((first[:2], second[:2]), []).append((first[2], second[2]))
    for (first_member, second_member), cells in by_pair.items():
        (name, measure), table, other = first_member, joint.tables[first_member[0]], joint.tables[second_member[0]]
        totals = any(not _named(table, one) and not _named(other, two) for one, two in cells)
        advice = f"correct one of them{OTHER_PEOPLE if totals and name != other.name else ''}"
        where = f"differs between the tables {name!r} and {other.name!r} ({other.place_of(cells[0][1])})"
        own = np.array([one for one, _ in cells])
        finding = table.finding(CONTRADICTION, own, where, advice, measure)
        others = other.failing_cells([two for _, two in cells], second_member[1], where)
        yield Finding(CONTRADICTION, name, finding.says, measure, (*finding.cells, *others)[:NAMED_CELLS], len(cells))


def _named(table: PublishedTable, cell: int) -> dict[str, str]:
    return {name: label for name, label in table.labels(cell).items() if label != table.total_of(name)}


def _disjoint(
    joint: JointFigures, places: Sequence[tuple[str, str, int]]
) -> tuple[tuple[str, str, int], tuple[str, str, int]]:
    """Two cells of one variable whose intervals have no number in common."""
    ends = {}
    for place in places:
        table, measure, cell = place
        factor = joint.scale // joint.tables[table].figures[measure].scale
        low, high = true_limits(joint.tables[table], measure)
        ends[place] = int(low[cell]) * factor, int(high[cell]) * factor
    return max(places, key=lambda one: ends[one][0]), min(places, key=lambda one: ends[one][1])


def contradiction_finding(joint: JointFigures, contradiction: Contradiction) -> Finding:
    """A contradiction of several relations, which are named by their labels."""
    relations = [joint.relation(row) for row in contradiction.relations]
    said = []
    for one in relations:
        if one.table:
            said.append(f"{joint.tables[one.table].say(one.cell)} over {visible(one.dimension)} (in {one.table!r})")
        else:
            said.append(f"{say_variable(joint, one.cell)} over {visible(one.dimension)}")
    names = sorted({one.table for one in relations if one.table}) or sorted(joint.tables)
    places = [place for cell in contradiction.cells for place in joint.where(cell)]
    cells = [joint.tables[table].failing_cells([cell], measure, "takes part")[0] for table, measure, cell in places]
    smallest = "" if contradiction.is_smallest else "some of "
    says = (
        f"{', '.join(joint.tables[name].place for name in names)}: {smallest}these sums cannot all hold: "
        f"{listing(_listed(said)) if said else 'a figure and its own limits'}; {CORRECT}."
    )
    return Finding(CONTRADICTION, names[0], says, "", tuple(cells[:NAMED_CELLS]), len(cells))
