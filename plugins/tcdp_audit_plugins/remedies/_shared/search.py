"""Searches for the largest or the smallest number at which something holds, with few trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import checkpoint
from tcdp_audit.plugin.remedy import (
    Demands,
    DominatedError,
    MergedDemands,
    RemedyError,
    RemedyView,
    Treatment,
    failing_demands,
)
from tcdp_audit.plugin.sentences import Outcome, Status, figure, listing

Holds = Callable[[int], object]  # whether something holds at a number


def largest(holds: Holds, least: int, top: int) -> int | None:
    """Go down from `top` in steps that double until something holds, then halve the last step.

    Return the largest number at which it holds, wherever it then holds at all smaller ones; else one at which it holds
    while it does not at the next. None if no step met one.

    Cost: O(log (top - least)) trials.

    Example:
        >>> largest(lambda number: number <= 37, 1, 100), largest(lambda number: False, 1, 100)
        (37, None)
    """
    failing = top + 1
    for power in range((top - least + 1).bit_length() + 1):
        checkpoint()
        number = max(top + 1 - (1 << power), least)
        if number < failing and holds(number):
            return last_before(holds, number, failing)
        failing = number
    return None


def smallest(holds: Holds, least: int, top: int, *, growth: float = 2.0) -> int | None:
    """Go up from `least`, each time to `growth` times the number, until something holds, then halve the last step.

    A larger `growth`, above 1, takes fewer trials and tries larger numbers; `least` is at least 0. Return the smallest
    number at which it holds, wherever it then holds at all larger ones; else one at which it holds while it does not at
    the one before. None if it does not hold at `top` either.

    Cost: O(log (top - least)) trials.

    Example:
        >>> smallest(lambda number: number >= 37, 1, 100), smallest(lambda number: False, 1, 100)
        (37, None)
    """
    failing, number = least - 1, least
    while not holds(number):
        checkpoint()
        if number >= top:
            return None
        failing, number = number, min(max(number + 1, int(number * growth)), top)
    return last_before(holds, number, failing)


def last_before(holds: Holds, number: int, failing: int) -> int:
    """The last number at which something holds, on the way from one at which it holds to one at which it does not.

    It holds at `number`; at `failing`, larger or smaller, it does not hold or is not asked.

    Cost: O(log |failing - number|) trials.

    Example:
        >>> last_before(lambda number: number < 5, 0, 9), last_before(lambda number: number > 5, 9, 0)
        (4, 6)
    """
    while abs(failing - number) > 1:
        checkpoint()
        middle = number + (failing - number) // 2 if failing < number else failing - (failing - number) // 2
        number, failing = (middle, failing) if holds(middle) else (number, middle)
    return number


def smallest_near(holds: Holds, start: int, least: int, top: int) -> int | None:
    """Like `smallest`, from a number that is thought to be near: in steps that double, down or up, then halved.

    Returns:
        As `smallest`: the smallest number at which it holds, wherever it then holds at all larger ones.

    Cost: O(log |answer - start|) trials.

    Example:
        >>> [smallest_near(lambda number: number >= 37, start, 1, 100) for start in (30, 40)]
        [37, 37]
        >>> smallest_near(lambda number: False, 30, 1, 100) is None
        True
    """
    step, number = 1, start
    if holds(number):
        while number > least:
            below = max(number - step, least)
            if not holds(below):
                return last_before(holds, number, below)
            number, step = below, 2 * step
        return number
    while number < top:
        above = min(number + step, top)
        if holds(above):
            return last_before(holds, above, number)
        number, step = above, 2 * step
    return None


ClassSize = Annotated[
    int | None,
    Field(
        ge=1,
        description="The least number of records in a class, in addition to the policy's demands; by default what "
        "failing demands need that depend on the size of classes, such as one on an average risk.",
    ),
]


def reached(outcome: Outcome) -> str:
    """The figure of a failing demand and its threshold, in a sentence; empty if it has none."""
    if outcome.observed is None or outcome.threshold is None or outcome.comparison is None:
        return f"{outcome.check} could not be evaluated" if outcome.status is Status.ERROR else ""
    demanded = f"{outcome.comparison} {figure(float(outcome.threshold))}"
    return f"{outcome.check} {figure(outcome.observed, outcome.threshold)}, where {demanded} is demanded"


Treat = Callable[[int], Treatment]  # a remedy that makes classes of at least so many records


@dataclass(frozen=True)
class SizeTrials:
    """Sizes of classes that are tried for demands that depend on it, such as one on an average risk.

    Args:
        view: the release.
        treat: the remedy at a size.
        sizes: those that may do, ascending.
        checks: the names of the demands' checks.
        tried: what failed of these after each size, or why a size is not to be had.
        made: the treatments at 1 and at the size that sufficed last, by size.
    """

    view: RemedyView
    treat: Treat
    sizes: range
    checks: frozenset[str]
    tried: dict[int, Sequence[Outcome] | RemedyError] = field(default_factory=dict)
    made: dict[int, Treatment] = field(default_factory=dict)

    @classmethod
    def of(cls, view: RemedyView, outcomes: Iterable[Outcome], treat: Treat) -> SizeTrials | None:
        """The trials for some failing demands; None where none of them depends on a size that the release can have."""
        failing = [one for one in failing_demands(outcomes) if view.class_sizes([one])]
        sizes = view.class_sizes(failing)
        return cls(view, treat, sizes, frozenset(one.check for one in failing)) if sizes else None

    def run(self) -> int | None:
        """The least size after which these demands hold; None where none is found.

        Sizes double until one suffices, or is not to be had; the last step is then halved. Where larger classes do not
        always keep a demand, it is a size that suffices while one below it does not.

        Cost: O(log sizes) treatments, each with an audit of these demands.
        """
        size = smallest(self._ends, self.sizes[0], self.sizes[-1])
        return size if size is not None and self.tried[size] == [] else None

    def _ends(self, size: int) -> bool:
        """Whether a size suffices, or is too large to be had, as all larger ones then are."""
        if size not in self.tried:
            self.view.progress("choosing a class size", len(self.tried), 2 * len(self.sizes).bit_length())
            try:
                treatment = self.treat(size)
                self.tried[size] = self._left(self.view.outcomes_of(self.checks, treatment))
                if size == 1 or not self.tried[size]:
                    for other in self.made.keys() - {1}:
                        del self.made[other]
                    self.made[size] = treatment
            except RemedyError as error:  # such large classes are not to be had, or cost more than another remedy
                self.tried[size] = error
        return not self.tried[size] or isinstance(self.tried[size], RemedyError)

    def _left(self, outcomes: Iterable[Outcome]) -> Sequence[Outcome]:
        """The demands that still fail. One that cannot be evaluated any more ends the search: no larger class helps."""
        left = [one for one in failing_demands(outcomes) if one.check in self.checks]
        errors = [one for one in left if one.status is Status.ERROR]
        if errors:
            raise RemedyError(f"after it {errors[0].check} could not be evaluated: {errors[0].message}")
        return left

    def refusal(self) -> RemedyError:
        """Say why no size does, and what the largest that could be had leaves."""
        had = {size: left for size, left in self.tried.items() if not isinstance(left, RemedyError)}
        beyond = [one for one in self.tried.values() if isinstance(one, RemedyError)]
        if not had:
            return beyond[0]
        if beyond and isinstance(beyond[-1], DominatedError):
            return beyond[-1]
        left = "; ".join(filter(None, map(reached, had[max(had)])))
        said = f"no size of classes is enough: k = {max(had):,} leaves {left or listing(sorted(self.checks))}"
        return RemedyError(f"{said}; larger classes are not to be had: {beyond[-1]}" if beyond else said)


def sufficient_size(view: RemedyView, outcomes: tuple[Outcome, ...], treat: Treat) -> int | None:
    """The least k after which the failing demands that depend on the size of classes hold.

    Where none suffices it is the largest that was tried after which fewer of them fail than do now. None where no
    failing demand depends on a size.

    Raises:
        RemedyError: no k helps; the message says why.

    Cost: that of `SizeTrials.run`.
    """
    trials = SizeTrials.of(view, outcomes, treat)
    if trials is None:
        return None
    size = trials.run()
    if size is not None:
        return size
    now = sum(one.check in trials.checks for one in failing_demands(outcomes))
    left = {size: len(one) for size, one in trials.tried.items() if not isinstance(one, RemedyError)}
    fewest = min(left.values(), default=now)
    if fewest == now:
        raise trials.refusal()
    return max(size for size, number in left.items() if number == fewest)


def proposals_of_size(
    view: RemedyView, outcomes: tuple[Outcome, ...], ways: Iterable[tuple[Mapping[str, Any], Treat]]
) -> Iterator[Mapping[str, Any]]:
    """The parameters of each way of a remedy with the k that failing demands need; see `sufficient_size`.

    Where demands on classes fail as well the remedy chooses its k itself, and is proposed without one.

    Raises:
        RemedyError: no k helps in any way; the message says why not in the first one.
    """
    refusals, proposed = list[RemedyError](), False
    for given, treat in ways:
        try:
            size = sufficient_size(view, outcomes, treat)
        except RemedyError as error:
            refusals.append(error)
            continue
        if size is not None:
            proposed = True
            yield {**given, "k": size}
    if refusals and not proposed:
        raise refusals[0]


def chosen_size(view: RemedyView, k: int | None, treat: Treat) -> int | None:
    """The k of a remedy: the given one, or the least after which the failing demands that depend on it hold.

    None where none is needed beyond what the policy demands of classes, or none suffices and there is such a demand.

    Raises:
        RemedyError: none suffices, and the policy demands nothing of classes; the message says what comes nearest.

    Cost: that of `SizeTrials.run`, and one more treatment where the policy demands something of classes.
    """
    return _chosen(view, k, treat)[0]


def treatment_of_size(view: RemedyView, k: int | None, treat: Callable[[int | None], Treatment]) -> Treatment:
    """The treatment with the k that `chosen_size` gives, and its note where the remedy chose it by itself.

    What was made to try that k is not made again: `treat` makes the same of classes of 1 as of None.

    Raises:
        RemedyError: as `chosen_size`.

    Cost: that of `chosen_size`, or one treatment where no failing demand depends on the size of classes.
    """
    size, treatment = _chosen(view, k, treat)
    treatment = treatment or treat(size)
    chosen = {} if size is None or size == k else {"k": size}
    return replace(treatment, notes={**treatment.notes, **chosen})


def _chosen(view: RemedyView, k: int | None, treat: Treat) -> tuple[int | None, Treatment | None]:
    """The k of `chosen_size`, and the treatment with it if it was tried."""
    trials = None if k is not None else SizeTrials.of(view, view.outcomes, treat)
    if trials is None:
        return k, None
    if view.demands:
        if replace(trials, sizes=range(1, 2)).run() is not None:
            return None, trials.made[1]
        if isinstance(trials.tried[1], DominatedError):  # larger classes lose no less
            raise trials.tried[1]
    size = trials.run()
    if size is None and not view.demands:
        raise trials.refusal()
    return size, trials.made.get(size or 1)


def step_of_size(step: str, k: int | None) -> str:
    """A step of a remedy's progress that says which size of classes is tried, since each is done from the beginning.

    Example:
        >>> step_of_size("dividing parts", None), step_of_size("dividing parts", 7)
        ('dividing parts', 'dividing parts, k = 7')
    """
    return step if k is None or k == 1 else f"{step}, k = {k:,}"


def failed_as_one_class(demands: Demands) -> list[str]:
    """The titles of the demands that all records fail as one class, in the policy's order. Cost: one judgement."""
    records = len(next(iter(demands.columns.values())))
    return MergedDemands(demands, np.zeros(records, dtype=np.int64), 1).failed(np.zeros(1, dtype=np.int64), 1)


def refused_as_one_class(titles: Sequence[str], demands: Demands) -> str:
    """Part of a sentence that says why no grouping of the records can help, and what would be attainable.

    `titles` name what all records fail as one class, at least one demand. The figures of that class are what is
    attainable, where merging classes never does harm. Cost: one judgement.
    """
    figures = "; ".join(dict.fromkeys(attainable(demands)))
    nearest = f". Attainable by that class: {figures}" if figures else ""
    return f"{listing(titles)} would fail even if all records were one class{nearest}"


def attainable(demands: Demands) -> list[str]:
    """Say what all records attain as one class of demands that they fail: `k-anonymity 6, where >= 9 is demanded`."""
    return [
        f"{task.expectation.check.title}{'' if task.target.name is None else f' of {task.target.name!r}'} "
        f"{figure(observed, demanded)}, where {comparison} {figure(float(demanded))} is demanded"
        for task, observed, demanded, comparison in demands.attained_as_one_class()
    ]
