"""The attack on rank swapping by an intruder who knows how far values were swapped."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, count
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.masking_attacks.candidate_figure import FIGURE, attack_figure, attack_sentences
from tcdp_audit_plugins.checks.masking_attacks.parameters import AttackParameters, ordered_attributes, ordered_faults
from tcdp_audit_plugins.checks.masking_attacks.ranks import Ranks, least_displacement, sets_of_ranges
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables
from tcdp_audit_plugins.guides import built_in_guide

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
        """The distance that values were moved, and what the intruder takes for it."""
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
    """The worst case: with a declared bound from end to end, everyone may be everyone, whatever the release is."""
    declared = parameters.p is not None or parameters.displacement is not None
    everywhere = min(figure.details["displacement"].values()) >= 1 / figure.details["random_baseline"] - 1
    return figure.value if declared and everywhere else Fraction(1)


def _values(outcome: Outcome) -> dict[str, int]:
    """The distance that values may have moved, and the farthest that any did where that is less."""
    farthest = max(int(ranks) for ranks in outcome.details["displacement"].values())
    largest = max(map(int, outcome.details.get("largest_displacement", {"": farthest}).values()))
    return {"farthest": farthest, "largest": largest if largest < farthest else 0}


CHECKS: list[Check] = [
    TableCheck(
        name="rank_swap_attack",
        concerns="masked",
        title="Attack on rank swapping",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=RankSwapParameters,
        measure=rank_swap_attack,
        label=FIGURE,
        worst=_worst,
        needs={Need.ORIGINAL},
        validate=_faults,
        sentences=attack_sentences(
            "An intruder who knows {known} and that values were moved by at most {farthest:rank}"
            "[ (none was by more than {largest})]",
            "how far values were swapped",
            _values,
        ),
        guide=built_in_guide(__file__, "rank_swap_attack.md"),
    )
]
