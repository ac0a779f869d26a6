"""What charts of an outcome are drawn from, chosen by its figures and never by its check's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from tcdp_audit.plugin.report import Rows
from tcdp_audit.plugin.sentences import Comparison, Outcome, plural

Distribution = Sequence[tuple[float, int, int]]  # figure, classes, records; in ascending order of the figure


def figure_table(caption: str, head: tuple[str, ...], body: Sequence[Sequence[str]], note: str = "") -> Rows:
    """A table of figures: its first column names the rows, all others are figures."""
    return Rows(head, body, caption, note, numeric_from=1)


@dataclass(frozen=True)
class Measured:
    """What a chart is drawn from.

    Args:
        distribution: classes and records by figure.
        threshold: the demanded figure, if any.
        comparison: how figures must compare with it.
        failing: classes and records that fail, by the outcome's own count; None where nothing is demanded.
        label: what the figure is called.
        others: whether classes may also fail another figure of the same check.
        noun: what a record is called, in the singular.
    """

    distribution: Distribution
    threshold: Fraction | None
    comparison: Comparison
    failing: tuple[int, int] | None
    label: str
    others: bool = False
    noun: str = "record"

    @property
    def people(self) -> str:
        """What records are called."""
        return plural(self.noun)

    @property
    def classes(self) -> int:
        """All classes."""
        return sum(classes for _, classes, _ in self.distribution)

    @property
    def records(self) -> int:
        """All records."""
        return sum(records for _, _, records in self.distribution)

    @property
    def counts_whole_numbers(self) -> bool:
        """True where figure and threshold are whole numbers, and more is safer."""
        figures = [figure for figure, _, _ in self.distribution]
        whole = all(isfinite(figure) and figure >= 0 and float(figure).is_integer() for figure in figures)
        demand = self.threshold is None or self.threshold.denominator == 1
        return whole and demand and self.comparison is Comparison.AT_LEAST


def distribution_of(outcome: Outcome) -> Distribution:
    """The distribution in an outcome's details; empty where it has none, or something else by that name."""
    distribution = outcome.details.get("distribution")
    if not isinstance(distribution, list | tuple):
        return ()
    rows = [tuple(row) for row in distribution if isinstance(row, list | tuple) and len(row) == 3]
    sound = [row for row in rows if all(isinstance(cell, int | float) for cell in row)]
    return sorted(sound) if len(sound) == len(distribution) else ()
