"""The rows that a released unit joins: whose they are, when they were, and which demands judge them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import LinkedRows
from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale
from tcdp_audit.plugin.remedy import Attribute, RemedyError, RemedyView, Treatment, failing_demands
from tcdp_audit.plugin.sentences import Outcome, count, listing
from tcdp_audit_plugins.remedies._shared.search import reached

Numbers = NDArray[np.int64]
HISTORIES = "only for demands that judge all rows of a unit together"
SIMPLER = "coarser or shorter histories"  # help where too much would be suppressed
NO_TIME = "the policy names no `time:`"
LATEST = 2**62  # above every time


@dataclass(frozen=True)
class JoinedRows:
    """The rows of each unit. Rows without a unit are rows of one unit.

    Args:
        column: the column that joins them.
        noun: what a unit is called, in the singular.
    """

    column: Attribute
    noun: str

    @cached_property
    def unit(self) -> Numbers:
        """The unit of each row, from 0 to `units` - 1, some of which may have no row. Shape (records,)."""
        return self.column.codes.astype(np.int64)

    @property
    def units(self) -> int:
        """A number above the number of every unit."""
        return self.column.domain.size + 1

    @cached_property
    def sizes(self) -> Numbers:
        """The number of rows of each unit. Shape (units,)."""
        return np.bincount(self.unit, minlength=self.units).astype(np.int64)

    @property
    def present(self) -> int:
        """The number of units with a row."""
        return int((self.sizes > 0).sum())


def joining_column(document: PolicyDocument) -> str | None:
    """The column that joins what is judged as a whole: the household, or else the unit; None where it is dropped."""
    return document.household or (None if document.drops_unit else document.unit)


def tables_of_rows(document: PolicyDocument) -> list[str]:
    """The tables of a policy of several that have rows of units, and not one row for each."""
    return [name for name, one in (document.tables or {}).items() if one.belongs_to is not None]


def why_not_joined(view: RemedyView) -> str:
    """Say why no rows are joined in a release, or nothing."""
    document = view.policy.document
    if document.root is None:
        return "the policy names no `unit:`, so no column joins rows"
    name = joining_column(document)
    if name is None:
        return f"the unit {document.unit!r} is dropped before release, so it joins no rows"
    if view.joining is not None:  # rows of one of several linked tables, or units that have rows in others
        return ""
    if obstacle := view.release.obstacle(name):
        return obstacle
    return "" if view.release.domains[name].repeats else f"no value of {name!r} stands in two rows"


def joined_rows(view: RemedyView) -> JoinedRows:
    """The rows of each unit of a release.

    Raises:
        RemedyError: no rows are joined; the message has the condition that fails.
    """
    if reason := why_not_joined(view):
        raise RemedyError(reason)
    name = joining_column(view.policy.document)
    assert name is not None  # noqa: S101 - `why_not_joined` has seen it
    return JoinedRows(view.attribute(name) if view.joining is None else view.joining, view.unit_noun)


def rows_of_histories(view: RemedyView) -> LinkedRows | None:
    """The rows of all tables, or of one, by the units that join them; None where no whole histories are judged."""
    if view.linked is not None:
        return view.linked
    if why_not_joined(view) or not any(one.conventions.get("known_rows") == "all" for one in view.outcomes):
        return None
    return LinkedRows("", joined_rows(view).unit, {}, {}, {"": view.records})


def only_on_histories(view: RemedyView, outcome: Outcome) -> str:
    """Say why other histories cannot help a demand, or nothing."""
    if reason := why_not_joined(view):
        return reason
    return "" if view.judges_histories(outcome) else HISTORIES


@dataclass(frozen=True)
class Trials:
    """Treatments of a release, judged by the demands that fail on it and that a remedy acts on.

    Args:
        view: the release.
        outcomes: these demands, as they fail.
    """

    view: RemedyView
    outcomes: tuple[Outcome, ...]

    def suffice(self, treatment: Treatment) -> bool:
        """Say whether none of the demands fails after a treatment. Cost: an audit of these demands."""
        return not self.left(treatment)

    def left(self, treatment: Treatment) -> list[Outcome]:
        """The demands that fail after a treatment."""
        checks = frozenset(one.check for one in self.outcomes)
        asked = {(one.check, one.attribute) for one in self.outcomes}
        failing = failing_demands(self.view.outcomes_of(checks, treatment))
        return [one for one in failing if (one.check, one.attribute) in asked]

    def refusal(self, treatment: Treatment) -> str:
        """Say which demands fail after a treatment, with their figures."""
        return "; ".join(filter(None, map(reached, self.left(treatment))))


def trials(view: RemedyView, acts_on: Callable[[Outcome], bool]) -> Trials:
    """The trials of a remedy that chooses how far it goes.

    Args:
        view: the release.
        acts_on: whether the remedy acts on a failing demand.

    Raises:
        RemedyError: nothing that it acts on fails, so that nothing says how far it has to go.
    """
    outcomes = tuple(one for one in failing_demands(view.outcomes) if not one.is_structural and acts_on(one))
    if not outcomes:
        raise RemedyError("no demand fails that it acts on, so nothing says how far it has to go; give its parameters")
    return Trials(view, outcomes)


# Times


def time_column(view: RemedyView) -> Attribute:
    """The column that says when a row was.

    Raises:
        RemedyError: the policy names none, or the release does not have it.
    """
    name = view.policy.document.time
    if name is None:
        raise RemedyError(NO_TIME)
    return view.attribute(name)


def is_number(time: Attribute) -> bool:
    """Say whether times are numbers, such as days since an event, and not dates."""
    return time.scale is Scale.NUMERIC or time.is_numeric


def require_dates(time: Attribute) -> None:
    """Insist that a column of times has dates or other periods of the calendar.

    Raises:
        RemedyError: the times are numbers, or one is no date.
    """
    if is_number(time):
        raise RemedyError(
            f"the times {time.name!r} are numbers, and only dates have weeks, months and years; numbers are made "
            "coarser by rounding or global_recoding"
        )
    silent = time.domain.is_uninformative[:-1]
    wrong = [code for code, one in enumerate(time.periods) if one is None and not silent[code]]
    if wrong:
        rows = int(time.domain.counts[wrong].sum())
        raise RemedyError(
            f"the time {time.name!r} is no date (such as 2026-11-20 or 2026-11) in {count(rows, 'record')}"
        )


def require_whole(time: Attribute, reaching: Sequence[int], border: str, advice: str) -> None:
    """Insist that no date reaches over the border of a period.

    Args:
        time: the column.
        reaching: the codes of the values that do.
        border: what the period is called, with its article.
        advice: what to do.

    Raises:
        RemedyError: one does; the message has the number of records.
    """
    if reaching:
        rows = int(time.domain.counts[reaching].sum())
        raise RemedyError(
            f"a date of {time.name!r} reaches over the border of {border} in {count(rows, 'record')}; {advice}"
        )


def order_in_time(view: RemedyView) -> Numbers:
    """A number for each row that is larger for later rows; rows without a time have the largest.

    Without a `time:` in the policy the order of the file is that of time.

    Raises:
        RemedyError: a time is neither a number nor a date.
    """
    if view.policy.document.time is None:
        return np.arange(view.records)
    time = time_column(view)
    if is_number(time):
        ranks = np.append(np.argsort(np.argsort(time.numbers, kind="stable")), 0)
    else:
        require_dates(time)
        ranks = np.array([*(0 if one is None else one.first for one in time.periods), 0])
    return np.where(time.domain.is_uninformative[time.codes], LATEST, ranks[time.codes])


def content_of(view: RemedyView, *without: str) -> Numbers:
    """The rank of each row by its cells in all columns but some: equal where these are, whatever their order.

    Cost: a sort of the rows.
    """
    names = sorted(set(view.release.columns) - set(without))
    identifying = set(view.policy.with_role(Role.IDENTIFIER))
    return view.classes(view.attributes([name for name in names if name not in identifying]))[0]


def named(columns: Iterable[str]) -> str:
    """Names of columns in a sentence."""
    return listing([repr(one) for one in sorted(columns)])
