"""k-map and delta-presence: the release seen from the population that it was drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    Check,
    DisclosureType,
    Limit,
    Need,
    Parameters,
    Ratios,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError, PopulationClasses
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sampling import covering_population, distribution_of
from tcdp_audit_plugins.guides import built_in_guide


class KMapParameters(Parameters):
    """Parameters of `k_map`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of people in the population that a record may be.")
    ] = None


class DeltaPresenceParameters(Parameters):
    """Parameters of `delta_presence`."""

    delta_max: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest probability that a person is in the release.")
    ] = None
    delta_min: Annotated[
        Exact | None, Field(ge=0, le=1, description="The least probability that a person is in the release.")
    ] = None


def k_map(view: TableView, parameters: KMapParameters) -> TableFigure:
    """The least number of people in the population that a released record may belong to, min F over classes.

    Raises:
        CheckError: there is no population, or the release cannot be a part of it.

    Cost: O((n + N) log (n + N)), once for all checks on the population.

    Source: Sweeney (2001), Computational disclosure control, section 4.6; El Emam, Dankar (2008).
    """
    classes = covering_population(view)
    matching = classes.population
    few = matching < (parameters.k or 0)
    return TableFigure(
        value=Fraction(int(matching.min())),
        records=view.records,
        failing=None if parameters.k is None else int(classes.records[few].sum()),
        classes=(len(matching), None if parameters.k is None else int(few.sum())),
        details={
            "records_at_the_least": int(classes.records[matching == matching.min()].sum()),
            **_population_figures(classes),
        },
        distribution=distribution_of(matching, classes.records),
    )


def presence(sample: NDArray[np.int64], population: NDArray[np.int64]) -> tuple[Ratios, Fraction, Fraction]:
    """The probability that a person of each population class is in the release, delta = f/F.

    Args:
        sample: f of each class, 0 where the release lacks it. Shape (classes,).
        population: F of the same classes, at least 1 and at least f.

    Returns:
        The exact fractions, the least and the largest of them.

    Cost: O(classes), and exact arithmetic where two fractions are as floats the same.

    Source: Nergiz, Atzori, Clifton (2007), definition 3.

    Example:
        >>> ratios, least, largest = presence(np.array([1, 0, 2]), np.array([3, 5, 4]))
        >>> str(least), str(largest)
        ('0', '1/2')
    """
    ratios = Ratios(sample, population)
    least, most = float(ratios.values.min()), float(ratios.values.max())
    # floats may not distinguish the fractions next to an end, so those are compared as fractions
    ends = [np.flatnonzero(np.isclose(ratios.values, end, rtol=1e-12, atol=0)) for end in (least, most)]
    pairs = [np.unique(np.stack([sample[end], population[end]]), axis=1).T.tolist() for end in ends]
    exact = [[Fraction(one, of) for one, of in end] for end in pairs]
    return ratios, min(exact[0]), max(exact[1])


def delta_presence(view: TableView, parameters: DeltaPresenceParameters) -> TableFigure:
    """The largest delta over the population's classes; those that the release lacks count, with delta 0.

    Raises:
        CheckError: there is no population, or the release cannot be a part of it; or a person is in two classes.
    """
    classes = covering_population(view)
    if classes.overlap is not None:
        raise CheckError(
            "cells of the release overlap, so that people of the population are in several classes, and no class says "
            "how likely they are in the release; recode by hierarchies or bins that do not overlap"
        )
    absent = len(classes.absent)
    sample = np.concatenate([classes.sample, np.zeros(absent, dtype=np.int64)])
    ratios, least, largest = presence(sample, np.concatenate([classes.population, classes.absent]))
    outside = np.zeros(len(sample), dtype=bool)
    if parameters.delta_max is not None:
        outside |= ratios.compare(parameters.delta_max) > 0
    if parameters.delta_min is not None:
        outside |= ratios.compare(parameters.delta_min) < 0
    demanded = parameters.delta_max is not None
    return TableFigure(
        value=largest,
        records=view.records,
        failing=int(sample[outside].sum()) if demanded else None,
        classes=(len(sample), int(outside.sum()) if demanded else None),
        details={"least": least, "classes_not_released": absent, **_population_figures(classes)},
        further={"delta_min": least},
    )


def _counted(outcome: Outcome) -> dict[str, str]:
    """The members of the release and the population: people, or households where whole ones are judged."""
    name = outcome.naming.record_name
    return {"someone": "household" if name == "household" else "person", "released": name or "record"}


def _population_figures(classes: PopulationClasses) -> dict[str, int]:
    """What both checks say of the population."""
    return {"population_records": classes.people}


def _faults(parameters: DeltaPresenceParameters, _: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.delta_min is None:
        return
    if parameters.delta_max is None:
        yield "delta_max", "a `delta_min` also needs a `delta_max`; 1 is no bound"
    elif parameters.delta_min > parameters.delta_max:
        yield "delta_min", "must not be above `delta_max`"


CHECKS: list[Check] = [
    TableCheck(
        name="k_map",
        history_reading=lambda _: "linked",
        title="k-map",
        expectation_name="ToSatisfyKMap",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=KMapParameters,
        measure=k_map,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        worst=lambda _, __: Fraction(1),  # the released record itself
        class_size=lambda _: 2,
        sufficient_class_size=lambda one, _: one.k,  # the records of a class are people who match it
        label="least number of people in the population that a record may be",
        needs={Need.POPULATION, Need.POPULATION_ITSELF, Need.ROWS},
        sentences=Sentences(
            passed="Every {released} matches at least {observed:{someone}} of the population in {known}.",
            failed=(
                "{failing/records:{record}} {failing/records:matches|match} fewer than {k:{someone}} of the population "
                "in {known}; the least is {observed:{someone}}."
            ),
            impact=(
                "An intruder who takes {released:article}'s {known} to a register of the population finds "
                "{observed:{someone}} who could be it where the fewest match; a guess is right with "
                "{guess:chance} there."
            ),
            values=_counted,
        ),
        guide=built_in_guide(__file__, "k_map.md"),
    ),
    TableCheck(
        name="delta_presence",
        history_reading=lambda _: "linked",
        title="δ-presence",
        expectation_name="ToSatisfyDeltaPresence",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=DeltaPresenceParameters,
        measure=delta_presence,
        threshold="delta_max",
        label="largest probability that a person is in the release",
        class_size=lambda _: 2,
        further=(Limit("delta_min", Comparison.AT_LEAST, "least probability that a person is in the release"),),
        validate=_faults,
        needs={Need.POPULATION, Need.POPULATION_ITSELF, Need.ROWS, Need.PARTITION},
        sentences=Sentences(
            passed="{chance}.",
            failed=("{chance}; {failing_classes/classes:group} {failing_classes/classes:is|are} outside the bounds."),
            impact="{intruder} learns that they are in the release with {observed:chance} where that is likeliest.",
            parts={
                "chance": (
                    "The probability that one of the {population_records:{someone}} in the population is in the "
                    "release is [{all_alike?}{least:%}|{least:%} to {observed:%}, depending on the group,] for an "
                    "intruder who knows {known}"
                )
            },
            values=lambda outcome: {"all_alike": outcome.details["least"] == outcome.observed, **_counted(outcome)},
        ),
        guide=built_in_guide(__file__, "delta_presence.md"),
    ),
]
