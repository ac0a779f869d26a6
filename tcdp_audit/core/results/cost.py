"""The consequences of remedies for users of a release, in sentences: the worst first, a mean over all cells last.

Every sentence is computed from figures of information loss. Columns are named, values are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import agree, count, figure, listing, sentence_case, share, visible
from tcdp_audit.core.check.translation import say

SEPARATOR = "."  # between the name of a table and that of its column
HARDLY = 0.05  # a lower share of a column's information, or of an overlap, is called "hardly any"
HALF = 0.5  # a lower share of a column's information is said
SHOWN = 3  # columns and effects that sentences name; results have all of them


@dataclass(frozen=True)
class Changed:
    """A column that changed and is not empty.

    Args:
        name: its name.
        cells: the share of its cells in retained records that changed.
        retained: the retained share of its information: the lesser of the mutual information and 1 minus the loss of
            its cells. Exchanged numbers retain all cell information, and set labels nearly all.
    """

    name: str
    cells: float
    retained: float

    @property
    def figures(self) -> str:
        """Both shares."""
        return f"{share(self.cells, 1)} of its entries changed, {share(self.retained, 1)} of its information retained"

    @property
    def suffers_most(self) -> str:
        """The clause on the column that suffers most, without a figure for its information."""
        return say(
            "{name} suffers most: {changed} of its entries changed"
            "[{hardly?}, and hardly anything is left of what it said|"
            "{half?}, and less than half is left of what it said|]",
            name=visible(self.name),
            changed=share(self.cells, 1),
            hardly=self.retained < HARDLY,
            half=self.retained < HALF,
        )


@dataclass(frozen=True)
class Effects:
    """The coefficients of a column in a regression.

    Args:
        of: the outcome.
        column: the column.
        each: the change of each coefficient, as in the result.
    """

    of: str
    column: str
    each: Sequence[Mapping[str, Any]]

    @property
    def least(self) -> float:
        """The least overlap of intervals."""
        return min(float(one["overlap"]) for one in self.each)

    @property
    def sentence(self) -> str:
        """The change: of a number with its value, of several values by their overlaps."""
        name, of = visible(self.column), visible(self.of)
        first = self.each[0]
        if len(self.each) > 1:
            gone = sum(one["after"] is None for one in self.each)
            lost = f"; {count(gone)} of them can no longer be estimated" if gone else ""
            mean = sum(float(one["overlap"]) for one in self.each) / len(self.each)
            overlaps = f"overlap {share(mean, 1)} on average and {share(self.least, 1)} at least"
            return f"The effects of {count(len(self.each), 'value')} of {name} on {of}: intervals {overlaps}{lost}."
        before = figure(float(first["before"]["estimate"]))
        if first["after"] is None:
            return f"The effect of {name} on {of}: {before}, and can no longer be estimated."
        after = figure(float(first["after"]["estimate"]))
        return f"The effect of {name} on {of}: {before} became {after}, intervals overlap {share(self.least, 1)}."


@dataclass(frozen=True)
class Cost:
    """The loss of a repaired release compared with its input.

    Args:
        loss: its figures, by the names of `InformationLoss.as_json`; a result of an earlier version lacks some.
        cells: for each column the number of changed cells in retained records.
        records: the number of records of the input.
        suppressed: the number of records dropped.
        constant_columns: the columns that remedies made constant.
    """

    loss: Mapping[str, Any]
    cells: Mapping[str, int]
    records: int
    suppressed: int
    constant_columns: Sequence[str]

    @property
    def clause(self) -> str:
        """The clause on records and entries, the worst consequence for a user, and the mean loss of a cell."""
        changed = sum(self.cells.values())
        lost = [one for one in self.effects if one.least < HARDLY]
        extent = say(
            "[{removed>0?}{removed:record} removed ({share})|no record removed], "
            "[{changed>0?}{changed:entry}|no entry] changed",
            removed=self.suppressed,
            share=share(self.suppressed, self.records) if self.suppressed else "",
            changed=changed,
        )
        empty = _visible(self.constant_columns)
        parts = [
            extent,
            *([say("nothing left of {names:names}", names=empty)] if empty else []),
            *(one.suffers_most for one in self.columns[:1]),
            *self._links,
            *self._counts("off by"),
            *([f"the {agree(len(lost), 'effect', 'effects')} of {_pairs(lost)} lost"] if lost else []),
            *(say("an entry loses {share} of its detail on average", share=total) for total in self._total),
        ]
        return "; ".join(parts)

    @property
    def sentences(self) -> list[str]:
        """The consequences for users of the release: columns, counts, effects, models, the mean loss of a cell."""
        mean = (f"An entry loses {total} of its detail on average." for total in self._total)
        return [
            *self._of_columns(),
            *self._of_links(),
            *self._of_counts(),
            *self._of_effects(),
            *self._of_models(),
            *mean,
        ]

    @property
    def _total(self) -> Sequence[str]:
        """The mean loss of a cell, if it was measured."""
        return [share(float(self.loss["total"]), 1)] if "total" in self.loss else []

    def records_left(self, column: str) -> int:
        """The number of records that stayed; of several tables those of a column's."""
        tables = [one for one in self.loss.get("tables", {}) if column.startswith(f"{one}{SEPARATOR}")]
        if not tables:
            return self.records - self.suppressed
        table = self.loss["tables"][max(tables, key=len)]
        return int(table["records"]) - int(table["records_suppressed"])

    @cached_property
    def columns(self) -> Sequence[Changed]:
        """The columns that changed and are not empty; those that retain least first."""
        changed = [
            Changed(name, self.cells[name] / self.records_left(name), _retained(one))
            for name, one in self.loss.get("attributes", {}).items()
            if self.cells.get(name) and name not in self.constant_columns
        ]
        return sorted(changed, key=lambda one: (one.retained, -one.cells))

    @cached_property
    def effects(self) -> Sequence[Effects]:
        """The effects of each column on each outcome; those with the least overlap of intervals first."""
        effects = [
            Effects(model["of"], column, list(each))
            for model in self.loss.get("regressions", {}).get("models", ())
            for column, each in groupby(model["effects"], lambda one: one["column"])
        ]
        return sorted(effects, key=lambda one: one.least)

    def _of_columns(self) -> Iterator[str]:
        if self.constant_columns:
            yield f"Nothing is left of {_names(self.constant_columns)}."
        for one in self.columns[:SHOWN]:
            little = "Hardly anything is left of " if one.retained < HARDLY else ""
            yield f"{little}{visible(one.name)}: {one.figures}."
        if rest := self.columns[SHOWN:]:
            least = share(rest[0].retained, 1)
            yield f"{count(len(rest), 'more column')} changed: each retains at least {least} of its information."

    @property
    def _links(self) -> Sequence[str]:
        """The change of the pairs of rows that a unit joins, if some are joined no longer."""
        tables = {name: one["links"] for name, one in self.loss.get("tables", {}).items() if "links" in one}
        joined = {"": self.loss.get("links") or {}, **tables}
        return [
            _lost_links(f" of {visible(table)}" if table else "", links)
            for table, links in joined.items()
            if links and links["after"] != links["before"]
        ]

    def _of_links(self) -> Iterator[str]:
        for one in self._links:
            yield f"{sentence_case(one)}."

    def _counts(self, off: str) -> Iterator[str]:
        counts = self.loss.get("counting_queries", {})
        if counts.get("value") is not None:
            yield say(
                "tables of counts by one or two columns {off:text} {share} on average",
                off=off,
                share=share(float(counts["value"]), 1),
            )
        for one in counts.get("tables", ()):
            if not one["reason"]:
                yield say(
                    "counts by {names:names} {off:text} {share} on average, {most} at most",
                    names=_visible(one["by"]),
                    off=off,
                    share=share(float(one["value"]), 1),
                    most=share(float(one["largest"]), 1),
                )

    def _of_counts(self) -> Iterator[str]:
        for one in self._counts("are off by"):
            yield f"{sentence_case(one)}."
        for one in self.loss.get("counting_queries", {}).get("tables", ()):
            if one["reason"]:
                yield f"Counts by {_names(one['by'])} are not compared: {visible(one['reason'])}."

    def _of_effects(self) -> Iterator[str]:
        for one in self.effects[:SHOWN]:
            yield one.sentence
        if rest := self.effects[SHOWN:]:
            overlap = share(rest[0].least, 1)
            yield f"{count(len(rest), 'more effect')} of columns on outcomes: intervals overlap {overlap} at least."
        for one in self.loss.get("regressions", {}).get("models", ()):
            if one["reason"]:
                reason = visible(one["reason"])
                yield f"The effects of {_names(one['by'])} on {visible(one['of'])} are not compared: {reason}."

    def _of_models(self) -> Iterator[str]:
        for one in self.loss.get("models", {}).get("models", ()):
            model = f"A model that predicts {visible(one['of'])} by {_names(one['by'])}"
            if one["reason"]:
                yield f"{model} is not trained: {visible(one['reason'])}."
                continue
            before, after = (share(float(one["accuracy"][side]), 1) for side in ("before", "after"))
            guess = share(float(one["guess"]), 1)
            yield f"{model} is right in {after} of cases, before in {before}; guessing is in {guess}."


def _lost_links(of_table: str, links: Mapping[str, Any]) -> str:
    """What a user meets where rows of a unit are joined no longer."""
    pairs = f"of {count(int(links['before']), 'pair')} of rows{of_table} that {visible(links['unit'])} joined"
    if not links["after"]:
        return f"{pairs}, none is joined any more, so that people can be neither counted nor followed"
    left = f"{int(links['after']):,} {agree(links['after'], 'is', 'are')} still joined"
    return f"{pairs}, {left} ({share(links['after'], links['before'])}), so that people can be followed less"


def _retained(attribute: Mapping[str, Any]) -> float:
    mutual, lost = attribute.get("mutual_information_retained"), float(attribute["cell_loss"])
    return 1 - lost if mutual is None else min(float(mutual), 1 - lost)


def _names(names: Sequence[str]) -> str:
    return listing(_visible(names))


def _visible(names: Sequence[str]) -> list[str]:
    return [visible(one) for one in names]


def _pairs(effects: Sequence[Effects]) -> str:
    return listing([f"{visible(one.column)} on {visible(one.of)}" for one in effects])
