"""A check on the release as a whole, and on the tables that it can be compared with.

A figure of all pairs may be estimated from a sample, with an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from math import inf, log
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.base.words import count, percent
from tcdp_audit.core.check.evidence import keeps, sound_figure, worst_share
from tcdp_audit.core.check.specification import P, Specification, T
from tcdp_audit.core.check.threshold import Limit, Target, Verdict
from tcdp_audit.core.policy.model import SEPARATOR, PolicyDocument

if TYPE_CHECKING:
    from tcdp_audit.core.check.aggregate_check import AggregateCheck
    from tcdp_audit.core.check.class_check import CheckOnClasses
    from tcdp_audit.core.check.table_view import TableView
    from tcdp_audit.core.release.pairs import Pairs


ERROR = Fraction(1, 100)  # how often an interval may miss the whole table's figure
STEPS = 64  # of a bisection


@dataclass(frozen=True)
class Estimate:
    """An estimate of the figure of all pairs from a sample of them."""

    low: float  # lower end of the interval
    high: float  # upper end
    pairs: int  # how many pairs were compared
    records: int  # how many records the release has
    seed: int  # of the draw
    more: str  # what would make the sample larger, or needless: half a sentence

    def as_details(self) -> dict[str, Any]:
        """The entry `estimate` of an outcome's details."""
        ends = {"low": self.low, "high": self.high, "confidence": 1 - ERROR}
        return {**ends, "pairs": self.pairs, "of_records": self.records, "seed": self.seed}

    def sentence(self, threshold: Fraction | None) -> str:
        """A sentence of what it is, to follow a check's own sentence."""
        low, high = percent(self.low, threshold), percent(self.high, threshold)
        return (
            f"Estimated from {self.pairs:,} of {count(self.records, 'released record')}, drawn by seed {self.seed}: "
            f"with {percent(float(1 - ERROR))} confidence the share is between {low} and {high}."
        )


def estimate_of_mean(mean: Fraction | float, pairs: Pairs) -> Estimate | None:
    """The interval of a mean, over the matched pairs, of a number from 0 to 1; None where the pairs are no sample."""
    return estimate_of_largest([mean], pairs)


def estimate_of_largest(means: Sequence[Fraction | float], pairs: Pairs) -> Estimate | None:
    """The interval of the largest of several such means: each has one, which together are right 99 times in 100."""
    if pairs.sample is None:
        return None
    number = len(pairs.matched)
    ends = [interval_of_mean(float(mean), number, float(ERROR) / len(means)) for mean in means]
    low, high = max(low for low, _ in ends), max(high for _, high in ends)
    return Estimate(low, high, number, pairs.sample.records, pairs.sample.seed, pairs.sample.more)


def interval_of_mean(mean: float, number: int, error: float) -> tuple[float, float]:
    """Between what the mean of all numbers lies, from the mean of some of them.

    Args:
        mean: of the numbers that were drawn, each from 0 to 1.
        number: how many were drawn, without replacement.
        error: how often the interval may be wrong, above 0.

    Source: Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963), theorems 1 and 4.

    Example:
        >>> low, high = interval_of_mean(0.2, 1_000, 0.01)
        >>> round(low, 3), round(high, 3)
        (0.161, 0.243)
    """
    divergence = log(2 / error) / number
    return _farthest(mean, 0.0, divergence), _farthest(mean, 1.0, divergence)


def _farthest(mean: float, end: float, divergence: float) -> float:
    """The value between a mean and an end of [0, 1] from which the mean diverges so much; on its far side."""
    near, far = mean, end
    if _divergence(mean, far) <= divergence:
        return far
    for _ in range(STEPS):
        middle = (near + far) / 2
        near, far = (middle, far) if _divergence(mean, middle) <= divergence else (near, middle)
    return far


def _divergence(p: float, q: float) -> float:
    """KL(p, q) of two coins."""
    return _term(p, q) + _term(1 - p, 1 - q)


def _term(p: float, q: float) -> float:
    if not p:
        return 0.0
    return p * log(p / q) if q else inf


ALL_COUNTED = (
    "it counts every record, and `suppressed: exempt` would leave some out; use `counted`, or drop the suppressed "
    "records from the release"
)
NO_PAIRING = (
    "which released record came from which original is not declared; add `key:` with the attribute that both tables "
    "share, or `rows_aligned: true` if row i of one is row i of the other"
)


@dataclass(frozen=True)
class TableFigure:
    """The figure that a table check measured.

    Args:
        value: the figure: exact where it can be, infinite or finite, never NaN.
        records: how many records it is about.
        failing: how many of them are exposed, where that is a matter of yes or no.
        classes: how many equivalence classes it is about, and how many of them are exposed, where it is about classes.
        details: further figures by documented names; no cell among them.
        distribution: [figure, classes, records] triples for the chart, in ascending order of the figure.
        estimate: where the figure is that of a sample, what it says of the whole table's.
        further: the figure of each of the check's `further` limits, by its parameter.
        violation: why the check fails whatever it measured, where a convention of the policy says so.
    """

    value: Fraction | float
    records: int
    failing: int | None = None
    classes: tuple[int, int | None] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    distribution: Sequence[Sequence[float]] = ()
    estimate: Estimate | None = None
    further: Mapping[str, Fraction | float] = field(default_factory=dict)
    violation: str = ""


@dataclass(frozen=True, kw_only=True)
class TableCheck(Specification[P]):
    """A check on the release as a whole, and on the tables that it can be compared with.

    A figure of all pairs may be estimated from a sample, with an interval.

    Args:
            measure: the figure, from a view that reads what it is asked for.
            threshold: the parameter with the largest (or least) figure allowed.
            comparison: how the figure must compare with it.
            label: what the figure is called.
            worst: the worst figure that a release could have, of as many records as the figure is about; None if
                there is none. It shows which demands nothing can fail. By default 1 (or 0, where more is safer) if the
                threshold is declared to lie from 0 to 1, as a share does; otherwise none.
            further: thresholds of other figures, which must be kept too; a share's worst is 1 (or 0), others have none.
            compares: the further tables whose records it compares with the release's by what is known, for its
                parameters. Where one of them has no column for a quasi-identifier, and the policy declares its schema,
                the check sees a release without that quasi-identifier. By default all that it needs.
    """

    measure: Callable[[TableView, P], TableFigure]
    threshold: str = "at_most"
    comparison: Comparison = Comparison.AT_MOST
    label: str = "share of records"
    worst: Callable[[TableFigure, P], Fraction | float | None] | None = None
    further: tuple[Limit, ...] = ()
    compares: Callable[[P], Collection[str]] | None = None

    def compared(self, parameters: P) -> frozenset[str]:
        """The further tables whose records it compares with the release's, by what they are."""
        if self.compares is not None:
            return frozenset(self.compares(parameters))
        return self.requires | {"original"} if "holdout" in self.requires else self.requires

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The threshold of the figure, then those of further figures."""
        return (Limit(self.threshold, self.comparison, self.label), *self.further)

    def by_kind(
        self,
        of_classes: Callable[[CheckOnClasses[Any]], T],  # noqa: ARG002 - the other kinds'
        of_table: Callable[[TableCheck[Any]], T],
        of_cells: Callable[[AggregateCheck[Any]], T],  # noqa: ARG002 - likewise
    ) -> T:
        """The result of the second function for this check."""
        return of_table(self)

    def unfailable(self, figure: TableFigure, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand is kept by every release of as many records."""
        demands = self.demands(parameters)
        return tuple(
            one.parameter
            for one in self.limits
            if one.parameter in demands
            and keeps(self._worst_figure(one, figure, parameters), demands[one.parameter], one.comparison)
        )

    def _worst_figure(self, limit: Limit, figure: TableFigure, parameters: P) -> Fraction | float | None:
        if self.worst is not None and limit.parameter == self.threshold:
            return self.worst(figure, parameters)
        return worst_share(self.parameters.model_fields[limit.parameter], limit.comparison)

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """The reasons why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        yield from Specification.faults(self, parameters, document)
        if document.conventions.suppressed == "exempt":
            yield "", ALL_COUNTED
        paired = document.key is not None or document.rows_aligned or document.tables is not None
        if "original" in self.requires and not paired:
            yield "", NO_PAIRING

    def known(self, parameters: P, document: PolicyDocument, target: Target) -> list[str]:
        """The columns that the parameters name, or the quasi-identifiers.

        Of events in one of several tables: these of that table, and the quasi-identifiers of the rows above.
        """
        named, known = getattr(parameters, "attributes", None), super().known(parameters, document, target)
        if document.tables is None or self.history_reading is None or not hasattr(parameters, "table"):
            return sorted(named or known)
        events = getattr(parameters, "table")  # noqa: B009 - not every check has it
        above = document.lineage(document.table_of_events(events))
        own, *above = above or [""]
        tables = above if named else [own, *above]
        return sorted({*(named or ()), *(one for one in known if one.partition(SEPARATOR)[0] in tables)})

    def verdict(self, figure: TableFigure, parameters: P) -> Verdict:
        """The figures, compared exactly with their thresholds; of an estimate both ends of the interval."""
        demands, ends = self.demands(parameters), {self.threshold: _ends(figure)}
        for one in self.further:
            ends[one.parameter] = (sound_figure(figure.further.get(one.parameter)),)
        outcomes = [_outcomes_at(one, ends[one.parameter], demands.get(one.parameter)) for one in self.limits]
        failed = None if not demands else any(one == {False} for one in outcomes)
        undecided = not failed and any(len(one) > 1 for one in outcomes)
        return Verdict(
            float(figure.value),
            demands.get(self.threshold),
            self.comparison,
            None if undecided else failed,
            figure.details,
            undecided=undecided,
        )


def _outcomes_at(limit: Limit, ends: Sequence[Fraction | float], demanded: Fraction | None) -> set[bool]:
    """Whether a demand is kept at each end of an interval, which may be one figure; nothing without a demand."""
    if demanded is None:
        return set()
    return {bool(limit.comparison.holds((end > demanded) - (end < demanded))) for end in ends}


def _ends(figure: TableFigure) -> Sequence[Fraction | float]:
    """Between what the whole table's figure lies.

    Raises:
        CheckError: the figure is none, or the interval of an estimate does not hold it.
    """
    value = sound_figure(figure.value)
    if figure.estimate is None:
        return (value,)
    low, high = figure.estimate.low, figure.estimate.high
    if not low <= value <= high:
        raise CheckError("the check gave an interval that its own figure is not in")
    return (low, high)
