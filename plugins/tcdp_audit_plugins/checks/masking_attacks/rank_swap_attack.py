"""The attack on rank swapping by an intruder who knows how far values were swapped."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Check
from tcdp_audit.plugin.check import DisclosureType, Guide, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, count, known_columns
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.masking_attacks.candidate_figure import (
    CHOOSING,
    FIGURE,
    LIMITS,
    READING,
    attack_figure,
    attack_person,
    attack_sentence,
)
from tcdp_audit_plugins.checks.masking_attacks.parameters import AttackParameters, ordered_attributes, ordered_faults
from tcdp_audit_plugins.checks.masking_attacks.ranks import Ranks, least_displacement, sets_of_ranges
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables
from tcdp_audit_plugins.formulas import formula

TOO_SMALL = "values were moved by up to {largest} and not by {declared}: leave `displacement` and `p` out"


class RankSwapParameters(AttackParameters):
    """Parameters of `rank_swap_attack`."""

    p: Annotated[
        Exact | None,
        Field(
            gt=0,
            le=100,
            description="The published parameter: values are swapped within p % of the records that have one.",
        ),
    ] = None
    displacement: Annotated[
        int | None,
        Field(
            ge=0,
            description="By how many ranks a value was moved at the most; without it and `p`, the largest displacement "
            "of each attribute.",
        ),
    ] = None


def rank_swap_attack(view: TableView, parameters: RankSwapParameters) -> TableFigure:
    """The share of people whom an intruder finds who knows how far ranks were moved.

    B_j(x) are the released records whose rank of attribute j is within w_j of the rank that x_j would have; the
    candidates of x are the intersection of all B_j. It holds the own record of x where no value was moved farther.

    Returns:
        An exact fraction from 0 to 1 over the matched records.

    Raises:
        CheckError: the tables cannot be paired; the candidates outgrow the memory; or a demand is made of an intruder
            whose w is too small.

    Cost: a search in a tree for each distinct record, then O(records + candidates).

    Source: Nin, Herranz, Torra, Rethinking rank swapping to decrease disclosure risk, Data and Knowledge Engineering
    64(1), 2008.
    """
    attacked = RankSwapped(view, parameters)
    return attack_figure(view, attacked.tables, attacked.sets(), parameters, attacked.details, attacked.remedy)


class RankSwapped:
    """A release under the attack: how far values were moved, and the candidates that this leaves."""

    def __init__(self, view: TableView, parameters: RankSwapParameters) -> None:
        names = ordered_attributes(parameters, view.policy.document)
        self.memory, self.tables = view.memory, AttackedTables(view.pairs(names), names)
        domains = self.tables.pairs.released.domains
        self.ranks = {name: Ranks(np.asarray(domains[name].counts, dtype=np.int64)) for name in names}
        self.largest = {name: self._largest(name) for name in names}
        self.displacement = {name: self._taken(name, parameters) for name in names}

    def sets(self) -> CandidateSets:
        """The released records that everyone may be."""
        ranges = {name: one.ranges(self.displacement[name]) for name, one in self.ranks.items()}
        return sets_of_ranges(self.tables, self.ranks, ranges, self.memory)

    @property
    def details(self) -> dict[str, Any]:
        """How far values were moved, and what the intruder takes for it."""
        declared = {} if self.displacement == self.largest else {"largest_displacement": self.largest}
        least = least_displacement(self.tables, self.ranks)
        learned = {} if least is None else {"least_displacement": least}
        return {"displacement": self.displacement, **declared, **learned}

    @property
    def remedy(self) -> str:
        """What to do where the declared displacement is too small."""
        return TOO_SMALL.format(
            largest=count(max(self.largest.values()), "rank"), declared=f"{max(self.displacement.values()):,}"
        )

    def _largest(self, name: str) -> int:
        """The largest displacement of an attribute over all pairs that have both values."""
        pairs, size = self.tables.pairs, len(self.ranks[name].counts)
        released = pairs.released.codes[name][pairs.matched]
        known = pairs.original.codes[name][pairs.partner[pairs.matched]]
        both = (released < size) & (known < size)
        return int(self.ranks[name].displacement(known[both], released[both]).max())

    def _taken(self, name: str, parameters: RankSwapParameters) -> int:
        if parameters.displacement is not None:
            return parameters.displacement
        if parameters.p is not None:
            return int(parameters.p * int(self.ranks[name].counts.sum()) / 100)
        return self.largest[name]


def _faults(parameters: RankSwapParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from ordered_faults(parameters, document)
    if parameters.p is not None and parameters.displacement is not None:
        yield "displacement", "`p` and `displacement` say the same; give one of them"


def _worst(figure: TableFigure, parameters: RankSwapParameters) -> Fraction | float:
    """Where the declared bound reaches from end to end, everyone may be everyone, whatever the release is."""
    declared = parameters.p is not None or parameters.displacement is not None
    everywhere = min(figure.details["displacement"].values()) >= 1 / figure.details["random_baseline"] - 1
    return figure.value if declared and everywhere else Fraction(1)


def _sentence(outcome: Outcome) -> str:
    farthest = max(int(ranks) for ranks in outcome.details["displacement"].values())
    largest = max(map(int, outcome.details.get("largest_displacement", {"": farthest}).values()))
    moved = f"that values were moved by at most {count(farthest, 'rank')}"
    moved += f" (none was by more than {largest:,})" if largest < farthest else ""
    return attack_sentence(outcome, f"An intruder who knows {known_columns(outcome)} and {moved}")


def _person(outcome: Outcome) -> str:
    return attack_person(outcome, "how far values were swapped")


CHECKS: list[Check] = [
    TableCheck(
        name="rank_swap_attack",
        title="Attack on rank swapping",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=RankSwapParameters,
        measure=rank_swap_attack,
        label=FIGURE,
        worst=_worst,
        requires=frozenset({"original"}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="How many people are found by somebody who knows how far values were swapped?",
            risk="Swapping moves no value far; somebody who knows how far may rule out all records but one.",
            definition=(
                "Rank swapping exchanges each value with another one whose rank is at most w away. An intruder who "
                "knows w, and some true values of a person, keeps the released records whose rank is within w of the "
                "rank that each value would have. The person's own record is always among them; where it is the only "
                "one the link is certain. The closure then rules out candidates that no one-to-one matching of "
                "everybody leaves."
            ),
            **formula(
                r"B(x) = \bigcap_j \{y : |\text{rank}_j(x) - \text{rank}_j(y)| \le w_j\}",
                r"\frac{1}{n}\, \#\{x : |B(x)| = 1\} \le \text{at\_most}",
                r"\frac{1}{n} \sum_x \frac{1}{|B(x)|} \text{ with links: expected}",
                r"w_j = \lfloor p N_j / 100 \rfloor \text{, or the largest}",
                r"N_j \text{ released records with a value of } j",
                r"n \text{ matched records}",
            ),
            reading=(
                f"{READING} `displacement` is what the intruder takes for w in each attribute, `largest_displacement` "
                "what it was, where another one was declared. `least_displacement` is what an intruder finds out who "
                "is told nothing: the least w, one for all attributes, that leaves nobody without a candidate (left "
                "out where very many ties make it slow)."
            ),
            choosing=(
                f"{CHOOSING} Leave `p` and `displacement` out: w need not be published, since too small a w leaves "
                "hardly anybody a candidate, so that an intruder finds the least one that leaves everybody some."
            ),
            limits=(
                "Ranks are those in the sorted released column, equal values sharing theirs; a displacement is counted "
                "between the nearest ends. Where w is declared too small, so that somebody's own record is not among "
                "their candidates, the intruder is wrong: without a demand this is measured and told, a demand is an "
                f"error, and there is no closure. {LIMITS}"
            ),
            source=(
                "Nin, Herranz, Torra, Rethinking rank swapping to decrease disclosure risk, Data and Knowledge "
                "Engineering 64(1), 2008, 346-364, doi:10.1016/j.datak.2007.07.006; closure: Tassa, Finding all "
                "maximally-matchable edges in a bipartite graph, Theoretical Computer Science 423, 2012"
            ),
            example="- rank_swap_attack: {at_most: 0, attributes: [age, salary]}",
        ),
    ),
]
