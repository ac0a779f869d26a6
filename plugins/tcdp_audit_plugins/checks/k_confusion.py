"""k-confusion: how many records an attack leaves for everyone, whichever attack it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.masking_attacks import (
    likelihood_attacks,
    microaggregation_attack,
    rank_swap_attack,
)
from tcdp_audit_plugins.checks.masking_attacks.candidate_figure import candidates_of_everybody
from tcdp_audit_plugins.checks.masking_attacks.masked_values import PramParameters
from tcdp_audit_plugins.checks.masking_attacks.microaggregation_attack import (
    Microaggregated,
    MicroaggregationAttackParameters,
)
from tcdp_audit_plugins.checks.masking_attacks.noise import NoiseParameters
from tcdp_audit_plugins.checks.masking_attacks.rank_swap_attack import RankSwapParameters, RankSwapped
from tcdp_audit_plugins.guides import built_in_guide

OF_LINKS = ("at_most", "links", "direction", "probability", "severity", "reason")  # of an attack, without meaning here


class AttackChoice(BaseModel):
    """One attack by name, with its own parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rank_swap_attack: RankSwapParameters | None = None
    microaggregation_attack: MicroaggregationAttackParameters | None = None
    pram_attack: PramParameters | None = None
    noise_attack: NoiseParameters | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        """Insist that one attack is named."""
        if len(self.chosen) != 1:
            raise ValueError("name one attack: " + ", ".join(type(self).model_fields))
        return self

    @property
    def chosen(self) -> list[tuple[str, Any]]:
        """The attacks that are named, with their parameters."""
        every = ((name, getattr(self, name)) for name in type(self).model_fields)
        return [(name, one) for name, one in every if one is not None]


class ConfusionParameters(Parameters):
    """Parameters of `k_confusion`."""

    attack: Annotated[
        AttackChoice, Field(description="The attack with its own parameters, such as `{rank_swap_attack: {p: 15}}`.")
    ]
    k: Annotated[int | None, Field(ge=1, description="The least number of candidates that each person must have.")] = (
        None
    )
    probability: Annotated[
        Exact, Field(ge=0, lt=1, description="Candidates at or below this probability do not count; at most 1/k.")
    ] = Fraction(0)

    @property
    def named(self) -> tuple[str, Any]:
        """The attack's name and its parameters."""
        return self.attack.chosen[0]

    @property
    def attributes(self) -> list[str] | None:
        """The attributes that its intruder knows, where they are named."""
        own = self.named[1]
        blocks = getattr(own, "blocks", None) or []
        return own.attributes or sorted(name for block in blocks for name in block) or None

    def figures(self) -> dict[str, Any]:
        """As an outcome carries them, the attack by its own figures."""
        attack, parameters = self.named
        own = {name: value for name, value in parameters.figures().items() if name not in OF_LINKS}
        given = {} if self.k is None else {"k": self.k}
        return {"attack": {attack: own}, **given, "probability": self.probability}

    def files(self) -> Iterator[tuple[str, str | None, str]]:
        """The files of the attack."""
        yield from self.named[1].files()


def k_confusion(view: TableView, parameters: ConfusionParameters) -> TableFigure:
    """The least number of candidates that an attack leaves for anyone, each above a probability.

    Where no candidate is above it, all of them are alike to the intruder and count.

    Returns:
        A whole number of at least 1.

    Raises:
        CheckError: as the attack; or the attack is wrong about a person.

    Cost: that of the attack.

    Source: Stokes, Torra, n-Confusion: a generalization of k-anonymity, EDBT/ICDT Workshops 2012.
    """
    attack, own = parameters.named
    asked = own.model_copy(update={"probability": parameters.probability}) if attack in WEIGHED else own
    numbers = CANDIDATES[attack](view, asked)
    few = int((numbers < (parameters.k or 0)).sum())
    return TableFigure(
        value=Fraction(int(numbers.min())),
        records=len(numbers),
        failing=None if parameters.k is None else few,
        details={
            "at_the_least": int((numbers == numbers.min()).sum()),
            "alone": int((numbers == 1).sum()),
            "mean_candidates": float(numbers.mean()),
        },
        distribution=distribution_of(numbers, np.ones(len(numbers), dtype=np.int64)),
    )


CANDIDATES: Mapping[str, Callable[[TableView, Any], Counts]] = {
    "rank_swap_attack": lambda view, parameters: candidates_of_everybody(RankSwapped(view, parameters), parameters),
    "microaggregation_attack": lambda view, parameters: candidates_of_everybody(
        Microaggregated(view, parameters), parameters
    ),
    "pram_attack": likelihood_attacks.candidates_under_pram,
    "noise_attack": likelihood_attacks.candidates_under_noise,
}
WEIGHED = ("pram_attack", "noise_attack")  # attacks whose candidates are those above a probability
SPECIFICATIONS: Mapping[str, Check] = {
    one.name: one for family in (rank_swap_attack, microaggregation_attack, likelihood_attacks) for one in family.CHECKS
}


def _faults(parameters: ConfusionParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    name, own = parameters.named
    for field in OF_LINKS:
        if field in own.model_fields_set:
            yield "attack", f"`{field}` of {name} says nothing here, where candidates are counted; leave it out"
    for field, sentence in SPECIFICATIONS[name].faults(own, document):
        yield "attack", f"{field}: {sentence}" if field else sentence
    if parameters.probability * (parameters.k or 1) > 1:
        yield "probability", f"{parameters.k} candidates cannot all be above it; give at most 1/{parameters.k}"


CHECKS: list[Check] = [
    TableCheck(
        name="k_confusion",
        concerns="masked",
        title="k-confusion",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=ConfusionParameters,
        measure=k_confusion,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        worst=lambda _, __: Fraction(1),  # the own record alone
        label="candidates",
        validate=_faults,
        needs={Need.ORIGINAL, Need.ROWS},
        sentences=Sentences(
            passed="{left}.",
            failed="{left}, where {bound}[; {failing/records:{record}} {failing:has|have} fewer].",
            impact=(
                "{intruder} and how the release was masked is left with {mean_candidates:candidate} on average, and "
                "with {observed:candidate} where the fewest are left."
            ),
            parts={
                "left": (
                    "An intruder who knows {known} and how the release was masked is left with {observed:candidate} "
                    "for {at_the_least/records:{record}}[{others?} and with more for every other {record}]"
                )
            },
            values=lambda outcome: {
                "others": outcome.records is not None and outcome.details["at_the_least"] < outcome.records.total
            },
        ),
        guide=built_in_guide(__file__, "k_confusion.md"),
    )
]
