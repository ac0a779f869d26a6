"""Redistribution: its parameters, and the remedy from a view to one label for each class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import checkpoint, fold, numbered
from tcdp_audit.plugin.remedy import Attribute, Demands, MergedDemands, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Comparison, Outcome, percent
from tcdp_audit_plugins.remedies._shared.masking import by_content
from tcdp_audit_plugins.remedies._shared.recoding import recode
from tcdp_audit_plugins.remedies._shared.scope import only_by_size
from tcdp_audit_plugins.remedies._shared.search import step_of_size, treatment_of_size
from tcdp_audit_plugins.remedies.mondrian.apply import MondrianParameters, Task, axis_of
from tcdp_audit_plugins.remedies.mondrian.axes import mean_width
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import DistinctRows, Indices, Integers
from tcdp_audit_plugins.remedies.redistribution.division import Judge, KnownDivisions, Table, divide
from tcdp_audit_plugins.remedies.redistribution.strata import CountJudge, Mask, Strata

LARGE = 200_000  # records: dividing more takes minutes, too long for a suggestion
LITTLE = 0.05  # where another remedy loses no more, a plan does not wait for less


class RedistributionParameters(MondrianParameters):
    """Parameters of `redistribution`."""


def why_not_applicable(view: RemedyView, parameters: RedistributionParameters | None, outcome: Outcome) -> str:
    """Say why dividing the records cannot help a failing demand, or why it is not tried unasked; or nothing."""
    if (other := only_by_size(view, outcome)) or parameters is not None:
        return other
    if not outcome.attribute or outcome.comparison is not Comparison.AT_MOST:
        return "no better than mondrian except for closeness"
    return f"takes minutes beyond {LARGE:,} records" if view.records > LARGE else ""


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a sensitive attribute is too far in some class from what it is in the table."""
    if any(not why_not_applicable(view, None, one) for one in outcomes):
        yield {}


SCHEDULES: dict[str, Sequence[str]] = {
    "at_once": ("1",),
    "in_three": ("0.6", "0.8", "1"),
    "in_four": ("0.5", "0.6", "0.8", "1"),
    "early": ("0.35", "0.6", "0.8", "1"),
}


@dataclass(frozen=True)
class Classes:
    """A partition of the records."""

    of_record: Integers  # the class of each record in the order by content, shape (records,)
    count: int  # how many there are
    divisions: int  # how many divisions led to it


def redistribute(view: RemedyView, parameters: RedistributionParameters) -> Treatment:
    """Divide the table into classes that keep every demand, and give each one label in every quasi-identifier.

    Raises:
        RemedyError: nothing is demanded of a class, or the classes to start with do not keep the demands already; or,
            in a plan, another remedy loses so little that less is not worth the time.

    Cost: that of `divided` for every part of every schedule, in a loop over parts.
    """
    if (least := view.least_loss()) <= LITTLE:
        raise RemedyError(
            f"not tried: it takes several times as long, and another remedy loses only {percent(least)} of the detail"
        )
    return treatment_of_size(view, parameters.k, partial(of_size, view, parameters))


def of_size(view: RemedyView, parameters: RedistributionParameters, k: int | None) -> Treatment:
    """Divide the table into classes of at least k; see `redistribute`."""
    parameters = parameters.model_copy(update={"k": k})
    mondrian = Task(view, parameters, DistinctRows.of(view))
    mondrian.require_attainable()
    work = Work(view, parameters, mondrian.roots[mondrian.rows.of_record])
    done = {name: work.divided_in(name) for name in work.schedules}
    columns = {name: work.recoded(one) for name, one in done.items()}
    sound = {name: one for name, one in done.items() if work.satisfies_policy(columns[name])}
    penalties = {name: work.penalty(one) for name, one in sound.items()}
    best = min(penalties, key=penalties.__getitem__, default=None)
    classes = work.undivided if best is None else done[best]
    return Treatment(
        work.recoded(classes) if best is None else columns[best],
        notes={
            "classes": classes.count,
            "divisions": classes.divisions,
            "schedule": best or "undivided",
            "penalties": penalties,
        },
    )


@dataclass(frozen=True)
class Work:
    """A release to divide."""

    view: RemedyView
    parameters: RedistributionParameters
    roots: Integers  # the class of each record to start with, each allowed, shape (records,)

    @cached_property
    def attributes(self) -> list[Attribute]:
        """The quasi-identifiers to generalise."""
        chosen = self.parameters.attributes
        return [one for one in self.view.quasi_identifiers if chosen is None or one.name in chosen]

    @cached_property
    def schedules(self) -> dict[str, Sequence[str]]:
        """The shares of thresholds to keep to, by name, one after the other; one step where they change nothing."""
        ours, half = ([task.expectation.parameters for task in one.tasks] for one in (self._demands, self._half))
        return {"at_once": SCHEDULES["at_once"]} if ours == half else SCHEDULES

    @property
    def _demands(self) -> Demands:
        return self.view.demands

    @property
    def _half(self) -> Demands:
        return self._demands.stricter(Fraction(1, 2))

    @cached_property
    def order(self) -> Indices:
        """The records by how common their unordered values are, the most common first, and then by content."""
        content = by_content(self.view)
        rarity = np.zeros(len(content))
        for one in self.attributes:
            if not one.is_ordered:
                codes = one.codes[content]
                rarity -= np.log(np.bincount(codes)[codes] / len(codes))
        return content[np.argsort(np.round(rarity, 9), kind="stable")]

    @cached_property
    def table(self) -> Table:
        """The records in that order."""
        weights = self.parameters.weights or {}
        weight = np.array([float(weights.get(one.name, 1)) for one in self.attributes])
        axes = [axis_of(replace(one, codes=one.codes[self.order])) for one in self.attributes]
        strata = Strata.of(self._demands)
        return Table(axes, weight / weight.sum(), replace(strata, of_record=strata.of_record[self.order]))

    @cached_property
    def undivided(self) -> Classes:
        """The classes to start with."""
        return Classes(self.roots[self.order], int(self.roots.max()) + 1, 0)

    @cached_property
    def _place_in_order(self) -> Integers:
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(len(self.order))
        return places

    def divided_in(self, schedule: str) -> Classes:
        """The table divided as far as it can be, at one share of the thresholds after the other."""
        names = [*self.schedules]
        before, step = names[: names.index(schedule)], step_of_size("dividing parts", self.parameters.k)
        done, total = (sum(len(self.schedules[name]) for name in some) for some in (before, names))
        by_root = np.argsort(self.undivided.of_record, kind="stable")
        parts = np.split(by_root, np.cumsum(np.bincount(self.undivided.of_record))[:-1])
        divisions = -len(parts)
        for number, share in enumerate(self.schedules[schedule]):
            self.view.progress(step, done + number, total)
            parts = self._divided(parts, Fraction(share))
        of_record = np.empty(len(self.order), dtype=np.int64)
        of_record[np.concatenate(parts)] = np.repeat(np.arange(len(parts)), [len(one) for one in parts])
        return Classes(of_record, len(parts), divisions + len(parts))

    def _divided(self, parts: Sequence[Indices], share: Fraction) -> list[Indices]:
        """Parts divided until none can be. Those that are open are divided together, since each is divided by itself.

        The order is that in which dividing one after the other, the last first, comes to parts that stay whole.
        """
        demands = self._demands.stricter(share)
        merged = MergedDemands(demands, self._place_in_order, len(self.order))
        least = max(self.parameters.k or 1, merged.least_size)
        counts = CountJudge(demands, self.table.strata, least)

        def judge(records: Indices, classes: Integers, count: int) -> Mask:
            return merged.satisfied_by(classes, count, chosen=records)

        final: dict[tuple[int, ...], Indices] = {}
        open_: dict[tuple[int, ...], Indices] = {(-number,): part for number, part in enumerate(parts)}
        with self._known(demands) as known:
            while open_:
                checkpoint()
                final |= {path: part for path, part in open_.items() if len(part) < 2 * least}
                asked = {path: part for path, part in open_.items() if path not in final}
                open_ = {}
                outs = self._taken_out([*asked.values()], counts, judge, known)
                for (path, part), out in zip(asked.items(), outs, strict=True):
                    if out is None:
                        final[path] = part
                    else:
                        open_[(*path, 1)], open_[(*path, 0)] = part[out], part[~out]
        return [final[path] for path in sorted(final)]

    def _taken_out(
        self, parts: Sequence[Indices], counts: CountJudge, judge: Judge, known: KnownDivisions
    ) -> Iterator[Mask | None]:
        """The records that are taken out of each part; what is known already is not found again."""
        size = counts.least_size if self._depends_on_counts else None
        before = [None if size is None else known.find(part, size) for part in parts]
        made = divide(self.table, [part for part, one in zip(parts, before, strict=True) if one is None], counts, judge)
        for part, one in zip(parts, before, strict=True):
            division = next(made) if one is None else one
            if one is None and size is not None:
                known.keep(part, size, division)
            yield division.out

    @cached_property
    def _depends_on_counts(self) -> bool:
        """Whether demands depend on nothing but the counts of values, so that those on sizes depend on sizes alone."""
        tasks = self._demands.tasks
        return self._demands.release.unit is None and not any(one.target.known for one in tasks)

    def _known(self, demands: Demands) -> AbstractContextManager[KnownDivisions]:
        """The divisions that a session knows, by all that decides on them other than demands on sizes alone."""
        tasks = [one for one in demands.tasks if one.attribute is not None]
        read = [part for one in self.attributes for part in (one.domain, one.hierarchy, one.tree)]
        key = (
            "divisions",
            tuple((one.check.name, repr(one.target), repr(one.expectation.parameters)) for one in tasks),
            self.view.policy.document.model_dump_json(exclude={"expect", "remedy"}),
            repr(self.parameters.weights),
        )
        return self.view.release.cache.borrow_of([*read, *(one.attribute for one in tasks)], key, KnownDivisions)

    def penalty(self, classes: Classes) -> float:
        """Normalised certainty penalty: weighted mean over the attributes, mean over the records."""
        times = np.ones(len(self.order))
        widths = [mean_width(axis, classes.of_record, times) for axis in self.table.axes]
        return float(np.average(widths, weights=self.table.weights))

    def recoded(self, classes: Classes) -> dict[str, NewColumn]:
        """The quasi-identifiers with one label for each class, record by record."""
        of_record = classes.of_record[self._place_in_order]
        token = self.view.suppressed_token
        return {one.name: recode(one, of_record, classes.count, token) for one in self.attributes}

    def satisfies_policy(self, columns: dict[str, NewColumn]) -> bool:
        """Say whether the classes of the released columns keep the demands: some have the same label."""
        labels = [np.unique(one.cells.astype(str), return_inverse=True)[1][one.codes] for one in columns.values()]
        keys = fold([self.roots, *labels], [int(self.roots.max()) + 1, *(int(one.max()) + 1 for one in labels)])
        distinct, number = numbered(keys.values, keys.span)
        classes, count = number.astype(np.int64), len(distinct)
        large = np.bincount(classes) >= (self.parameters.k or 1)
        return bool((large & self._demands.satisfied_by(classes, count)).all())
