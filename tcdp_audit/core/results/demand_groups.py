"""Groups of demands: those of one check that differ in their columns, scenarios or tables only, as one entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tcdp_audit.core.base.audit_figures import ExposureCount, demand_groups, title_of_demand
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.base.phrases import doublings, part_of, record_noun, state_of, unit_noun
from tcdp_audit.core.base.words import agree, count, sentence_case, visible
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.results.tally import DemandCount, demands_of

if TYPE_CHECKING:
    from tcdp_audit.core.results.audit import Audit

GRAVITY = ("failed", "error", "warning", "passed", "measured", "skipped")


@dataclass(frozen=True, eq=False)
class DemandGroup:
    """Demands of one check with the same parameters, threshold, severity and unit.

    Args:
        numbers: the number of each among the audit's expectations, from 1.
        outcomes: their outcomes, in the policy's order.
        exposed: the records that its failing demands expose, each counted once, see `ExposureCount.by_group`; None
            where they were not counted, or where fewer than two fail.
    """

    numbers: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    exposed: ExposureCount | None = None

    @property
    def title(self) -> str:
        """The title of the demand, without any scenario."""
        return visible(title_of_demand(self.outcomes[0]))

    @property
    def subjects(self) -> str:
        """Its columns and scenarios in numbers: `54 columns`, `12 scenarios`, `2 columns in 12 scenarios`."""
        columns, scenarios = ({getattr(one, name) or "" for one in self.outcomes} for name in ("attribute", "scenario"))
        if len(columns) > 1 and len(scenarios) > 1:
            return say("{n:column} in {m:scenario}", n=len(columns), m=len(scenarios))
        parts = [count(len(columns), "column")] if len(columns) > 1 else []
        parts += [count(len(scenarios), "scenario")] if len(scenarios) > 1 else []
        return parts[0] if parts else count(len(self.outcomes), "demand")

    @staticmethod
    def column_of(outcome: Outcome) -> str:
        """The column that one of its demands is on, by its label or name; empty where it is on all."""
        name = outcome.attribute
        return "" if name is None else visible(outcome.naming.labels.get(name, name))

    def subject_of(self, outcome: Outcome) -> str:
        """The column and the scenario of one of its demands, or the one that it has."""
        return ", ".join(filter(None, (self.column_of(outcome), visible(outcome.scenario)))) or self.title

    @cached_property
    def tally(self) -> DemandCount:
        """The numbers of its demands by their results."""
        return demands_of(self.outcomes)

    @cached_property
    def ranked(self) -> Sequence[tuple[int, Outcome]]:
        """The number and outcome of each, the worst first: by state, by who is exposed, by what is closest."""
        return sorted(zip(self.numbers, self.outcomes, strict=True), key=lambda one: _rank(one[1]))

    @property
    def state(self) -> str:
        """The state of the worst."""
        return state_of(self.ranked[0][1])

    @property
    def result(self) -> str:
        """The number of failing demands, or that all hold: `11 of 54 fail`, `all 54 hold`, `54 measured`."""
        total, numbers = self.tally.total, self.tally
        parts = [
            (numbers.failed, agree(numbers.failed, "fails", "fail")),
            (numbers.warned, agree(numbers.warned, "warns", "warn")),
            (numbers.unchecked, "could not be checked"),
        ]
        wrong = [(number, verb) for number, verb in parts if number]
        if wrong:
            (number, verb), *others = wrong
            first = say("{n} of {total} {verb:text}", n=number, total=total, verb=verb)
            return ", ".join([first, *(say("{n} {verb:text}", n=number, verb=verb) for number, verb in others)])
        words = [say("all {n} hold", n=total)] if total else []
        rest = ((numbers.measured, "measured"), (numbers.not_examined, "not examined"))
        return ", ".join([*words, *(say("{n} {state:text}", n=number, state=word) for number, word in rest if number)])

    @property
    def exposed_people(self) -> str:
        """The people exposed by its failing demands, each counted once: `at least 3 of 80 people`; empty if not known.

        It is a least number if some demands give only a number of people, or were judged in other scenarios.
        """
        failing = [one for one in self.outcomes if one.status is Status.FAILED and one.records is not None]
        if not failing:
            return ""
        exposed, worst = self.exposed, max(failing, key=_records)
        if exposed is not None and exposed.people is not None:
            noun = unit_noun(worst) if exposed.units is not None else record_noun(worst)
            return _part(exposed.people, exposed.people_of, noun, is_least=exposed.is_least)
        total = 0 if worst.records is None else worst.records.total
        several = self.tally.failed + self.tally.warned > 1
        return _part(_records(worst), total, record_noun(worst), is_least=several)

    @property
    def sentence(self) -> str:
        """The failing demands, and the people exposed: `11 of 54 fail; exposed: 9 of 40 people, each counted once.`."""
        return say(
            "{result:text}[{people?}; exposed: {people:text}[{once?}, each counted once]].",
            result=sentence_case(self.result),
            people=self.exposed_people,
            once=self.tally.failed + self.tally.warned > 1,
        )


def _part(number: int, total: int, noun: str, *, is_least: bool) -> str:
    """`at least 3 of 80 people`, `all 80 people`."""
    if number == total:
        return part_of(number, total, noun)
    return say("[{least?}at least ]{n/total:{noun}}", least=is_least, n=number, total=total, noun=noun)


def groups_of(audit: Audit) -> tuple[DemandGroup, ...]:
    """The groups of an audit's demands, see `demand_groups`. Cost: linear in the outcomes."""
    before = {number: place for place, number in enumerate(_demands(audit.outcomes), 1)}
    counts = {} if audit.exposed is None else {_failing(one): one for one in audit.exposed.by_group}
    groups = []
    for positions in demand_groups(audit.outcomes):
        outcomes = tuple(audit.outcomes[one] for one in positions)
        failing = frozenset(one for one in positions if audit.outcomes[one].status is Status.FAILED)
        groups.append(DemandGroup(tuple(before[one] for one in positions), outcomes, counts.get(failing)))
    return tuple(groups)


def _demands(outcomes: Sequence[Outcome]) -> list[int]:
    """The positions of the policy's expectations among the outcomes."""
    return [number for number, one in enumerate(outcomes) if not one.is_structural]


def _failing(exposed: ExposureCount) -> frozenset[int]:
    return frozenset((*exposed.counted, *exposed.left_out))


def _rank(outcome: Outcome) -> tuple[int, int, float]:
    """By gravity, by the records or cells that fail, and then by what is closest to its demand or furthest below it."""
    margin = doublings(outcome)
    return GRAVITY.index(state_of(outcome)), -_records(outcome), 0.0 if margin is None else margin


def _records(outcome: Outcome) -> int:
    tally = outcome.records if outcome.cells is None else outcome.cells
    return 0 if tally is None or tally.failing is None else tally.failing
