"""The attack on microaggregation by an intruder who knows how it was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import fold
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, without_key
from tcdp_audit_plugins.checks.masking_attacks.candidate_figure import FIGURE, attack_figure, attack_sentences
from tcdp_audit_plugins.checks.masking_attacks.parameters import (
    AttackParameters,
    ordered_attributes,
    ordered_faults,
    why_not_released,
)
from tcdp_audit_plugins.checks.masking_attacks.ranks import Ranks, sets_of_ranges
from tcdp_audit_plugins.checks.masking_attacks.tables import AttackedTables, known_groups
from tcdp_audit_plugins.guides import built_in_guide

BEYOND = (
    "masked values are up to {farthest:,} different ones away from the true value: the release was not microaggregated "
    "one attribute at a time, or means were rounded, for which `reach: {farthest}` accounts"
)
TOO_SMALL_GROUP = (
    "the policy says k = {k}, and {name} of the release has a group of {least}: it was not microaggregated with that "
    "k; correct `k`, or leave it out"
)


class MicroaggregationAttackParameters(AttackParameters):
    """Parameters of `microaggregation_attack`."""

    method: Annotated[
        Literal["individual_ranking", "known_groups"],
        Field(
            description="How the intruder attacks: attribute by attribute, where each was averaged by itself; or "
            "by the groups themselves, which an intruder who holds all values can form again."
        ),
    ] = "individual_ranking"
    k: Annotated[
        int | None,
        Field(ge=2, description="The published size of the groups: an error where the release has smaller ones."),
    ] = None
    reach: Annotated[
        int,
        Field(
            ge=1,
            description="How many different masked values to either side a value may have become: 1, or more where "
            "means were rounded.",
        ),
    ] = 1
    blocks: Annotated[
        list[Annotated[list[Text], Field(min_length=1)]] | None,
        Field(
            min_length=1,
            description="With `known_groups`, the attributes that were microaggregated together; without it, all of "
            "them at once.",
        ),
    ] = None


def microaggregation_attack(view: TableView, parameters: MicroaggregationAttackParameters) -> TableFigure:
    """The share of people whom an intruder finds who knows how the release was microaggregated.

    Groups of one attribute are intervals, so that x can only be in the group whose mean is the largest below x, any
    that equals x, or the smallest above x. Anyone who holds all values forms the groups again, and knows each person's.

    Returns:
        An exact fraction from 0 to 1 over the matched records.

    Raises:
        CheckError: the tables cannot be paired; the release has groups below k; the candidates outgrow the memory; or
            a demand is made of an intruder whose method was not that of the masking.

    Cost: a search in a tree for each distinct record, then O(records + candidates); O(records log records) for groups
    that are known.

    Source: Nin, Torra, Analysis of the univariate microaggregation disclosure risk, New Generation Computing 27(3),
    2009.
    """
    attacked = Microaggregated(view, parameters)
    return attack_figure(view, attacked.tables, attacked.sets(), parameters, attacked.details, attacked.remedy)


class Microaggregated:
    """A release under the attack: its groups, and the candidates that they leave."""

    def __init__(self, view: TableView, parameters: MicroaggregationAttackParameters) -> None:
        self.parameters, self.memory = parameters, view.memory
        names = attacked_attributes(parameters, view.policy.document)
        self.tables = AttackedTables(view.pairs(names), names)
        self.blocks = _blocks(parameters, names)
        self.smallest = smallest_groups(self.tables.pairs, self.blocks)
        self._require_k()
        domains = self.tables.pairs.released.domains
        self.ranks = {name: Ranks((domains[name].counts > 0).astype(np.int64)) for name in names}

    def sets(self) -> CandidateSets:
        """The released records that everyone may be."""
        if self.parameters.method == "known_groups":
            return self._groups()
        ranges = {name: one.ranges(self.parameters.reach) for name, one in self.ranks.items()}
        return sets_of_ranges(self.tables, self.ranks, ranges, self.memory)

    @property
    def details(self) -> Mapping[str, Mapping[str, int]]:
        """The size of the smallest group in each attribute or block."""
        return {"smallest_group": self.smallest}

    @property
    def remedy(self) -> str:
        """What to do where a person's own group is farther away than this method allows."""
        pairs, farthest = self.tables.pairs, 0
        for name, ranks in self.ranks.items():
            known = pairs.original.codes[name][pairs.partner[pairs.matched]]
            released = pairs.released.codes[name][pairs.matched]
            both = (known < len(ranks.counts)) & (released < len(ranks.counts))
            farthest = max(farthest, int(ranks.displacement(known[both], released[both]).max(initial=0)))
        return BEYOND.format(farthest=farthest)

    def _groups(self) -> CandidateSets:
        """The people in each person's groups of all blocks; people who agree in a block share the groups of all."""
        known, released = known_groups(self.tables, list(self.blocks.values()), self.memory)
        sizes = np.bincount(known, minlength=len(self.tables.known.first))
        return self.tables.sets(np.concatenate([[0], np.cumsum(sizes)]), released)

    def _require_k(self) -> None:
        """Insist that the release has no group below the k that was declared."""
        name, least = min(self.smallest.items(), key=lambda one: one[1])
        if self.parameters.k is not None and least < self.parameters.k:
            raise CheckError(TOO_SMALL_GROUP.format(k=self.parameters.k, name=name, least=count(least, "record")))


def smallest_groups(pairs: Pairs, blocks: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The fewest released records that agree in all attributes of each block, whether or not a cell is missing."""
    released = pairs.released
    smallest = {}
    for block, names in blocks.items():
        keys = fold([released.codes[name] for name in names], [released.domains[name].size + 1 for name in names])
        smallest[block] = int(np.unique(keys.values, return_counts=True)[1].min())
    return smallest


def attacked_attributes(parameters: MicroaggregationAttackParameters, document: PolicyDocument) -> list[str]:
    """The attributes that the intruder knows, sorted."""
    if parameters.method == "individual_ranking":
        return ordered_attributes(parameters, document)
    named = [name for block in parameters.blocks or [] for name in block] or parameters.attributes
    return known_attributes(named, without_key(document))


def _blocks(parameters: MicroaggregationAttackParameters, names: list[str]) -> dict[str, list[str]]:
    """The attributes that were microaggregated together, by the name of the block."""
    if parameters.method == "individual_ranking":
        return {name: [name] for name in names}
    blocks = parameters.blocks or [names]
    return {f"block {number}": sorted(set(block)) for number, block in enumerate(blocks, 1)}


def _faults(parameters: MicroaggregationAttackParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.method == "individual_ranking":
        yield from ordered_faults(parameters, document)
        if parameters.blocks is not None:
            yield "blocks", "`individual_ranking` has each attribute by itself; blocks need `method: known_groups`"
        return
    if parameters.reach != 1:
        yield "reach", "groups that are known have no reach; it is for `method: individual_ranking`"
    if parameters.blocks is not None and parameters.attributes is not None:
        yield "attributes", "`blocks` name the attributes already; leave `attributes` out"
    named = [name for block in parameters.blocks or [] for name in block]
    if len(set(named)) < len(named):
        yield "blocks", "an attribute is in two blocks, or twice in one"
    for name in attacked_attributes(parameters, document):
        reason = why_not_released(name, document)
        if reason:
            yield "attributes" if parameters.blocks is None else "blocks", reason


def _worst(figure: TableFigure, parameters: MicroaggregationAttackParameters) -> Fraction | float:
    """The worst case: with a reach from end to end, everyone may be everyone, whatever the release is."""
    return figure.value if parameters.reach >= 1 / figure.details["random_baseline"] > 1 else Fraction(1)


CHECKS: list[Check] = [
    TableCheck(
        name="microaggregation_attack",
        concerns="masked",
        title="Attack on microaggregation",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=MicroaggregationAttackParameters,
        measure=microaggregation_attack,
        label=FIGURE,
        worst=_worst,
        needs={Need.ORIGINAL},
        validate=_faults,
        sentences=attack_sentences(
            "[{method=known_groups?}An intruder who holds everyone's {known} and forms the groups again"
            "|An intruder who knows {known} and that each was averaged in groups of neighbours]",
            "[{method=known_groups?}forms the groups again|how values were averaged]",
        ),
        guide=built_in_guide(__file__, "microaggregation_attack.md"),
    )
]
