"""Uniqueness: who is alone in the release, and which of them are alone in the population."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Check, allowance, unit_noun
from tcdp_audit.plugin.check import (
    AttackCheck,
    CheckError,
    ClassEvidence,
    DisclosureType,
    Parameters,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import PopulationClasses
from tcdp_audit.plugin.report import Tally
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    chance_of,
    intruder_who_knows,
    known_columns,
    percent,
    record_noun,
    records_of,
    sentence_case,
)
from tcdp_audit_plugins.checks._shared.pitman import (
    data_intrusion_simulation,
    log_linear_match,
    log_linear_uniques,
    zayatz,
)
from tcdp_audit_plugins.checks._shared.sampling import (
    counts_rows,
    covering_population,
    fraction_of,
    needs_a_partition,
)
from tcdp_audit_plugins.checks._shared.uniqueness_guide import POPULATION_UNIQUENESS, SAMPLE_UNIQUENESS

ESTIMATORS = ("zayatz", "pitman", "log_linear")


class SampleUniquenessParameters(Parameters):
    """Parameters of `sample_uniqueness`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of records or units that are alone in their class."),
    ] = None


class PopulationUniquenessParameters(Parameters):
    """Parameters of `population_uniqueness`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of sample uniques that are population uniques."),
    ] = None
    estimator: Annotated[
        Literal["exact", "zayatz", "pitman", "log_linear"],
        Field(
            description="The figure that is compared; `exact` needs a population. The others are reported beside it."
        ),
    ] = "exact"


def alone(evidence: ClassEvidence, _: SampleUniquenessParameters) -> NDArray[np.bool_]:
    """Which classes have a single record (a single entity, where the policy names a unit).

    Returns:
        bool, shape (classes,).

    Cost: O(classes).

    Source: Bethlehem, Keller, Pannekoek (1990), Disclosure control of microdata, JASA 85(409).

    Example:
        >>> alone(ClassEvidence(np.array([1, 3])), SampleUniquenessParameters())
        array([ True, False])
    """
    return np.asarray(evidence.size == 1)


def population_uniqueness(view: TableView, parameters: PopulationUniquenessParameters) -> TableFigure:
    """P(population unique | sample unique) by the estimator that the policy names, and by all others beside it.

    Raises:
        CheckError: what the estimator needs is not given, or it has no answer for this release.

    Cost: O(n log n + N log N); Pitman's model a few thousand evaluations over the distinct class sizes.

    Source: Bethlehem et al. (1990); Zayatz (1991); Hoshino (2001); Skinner, Shlomo (2008); Skinner, Elliot (2002).
    """
    size = view.classes.matched
    uniques = int((size == 1).sum())
    details: dict[str, Any] = {
        "sample_uniques": uniques,
        "sample_uniques_over_records": Fraction(uniques, view.records),
    }
    if "population" in view.companions:
        details |= exact_figures(covering_population(view))
    fraction = fraction_of(view)
    if fraction is not None and not view.wildcard:
        details |= _estimates(view, fraction)
    figures = [float(details[name]) for name in ("exact", *ESTIMATORS) if details.get(name) is not None]
    if len(figures) > 1:
        details["disagreement"] = max(figures) - min(figures)
    value = _chosen(details, parameters.estimator, fraction)
    return TableFigure(value=value, records=view.records, classes=(len(size), None), details=details)


def _chosen(details: dict[str, Any], estimator: str, fraction: float | None) -> Fraction | float:
    """The figure of an estimator; 0, and said to be undefined, where there is no sample unique."""
    if estimator == "exact" and "population_records" not in details:
        raise CheckError(
            "the exact figure needs the population; name it as `population:`, or choose an estimator: "
            f"{', '.join(ESTIMATORS)}"
        )
    if estimator != "exact" and fraction is None:
        raise CheckError(
            "nothing says how large the population is; add `sampling_fraction:`, `weight:` or `population:` "
            "to the policy"
        )
    if not details["sample_uniques"]:
        details["undefined"] = "no record is alone in its class"
        return Fraction(0)
    value: Fraction | float | None = details.get(estimator)
    if value is None:
        raise CheckError(
            f"the estimator {estimator!r} has no answer for these class sizes: its likelihood has no maximum; "
            "choose another estimator"
        )
    return value


def exact_figures(classes: PopulationClasses) -> dict[str, Any]:
    """Uniqueness counted in a population, over each of its denominators.

    Args:
        classes: release and population by class; every class of the release is in the population.

    Returns:
        Exact fractions by names that say numerator and denominator; None where a denominator is 0.

    Cost: O(classes).

    Example:
        >>> found = exact_figures(PopulationClasses(np.array([1, 1]), np.array([1, 3]), np.array([1, 2])))
        >>> str(found["exact"]), str(found["match_probability"])
        ('1/2', '1/2')
    """
    lone = classes.sample == 1
    both = int((classes.population[lone] == 1).sum())
    uniques, records = classes.uniques, classes.people
    return {
        "population_records": records,
        "population_uniques": uniques,
        "released_population_uniques": both,
        "exact": _over(both, int(lone.sum())),
        "population_uniques_over_population": _over(uniques, records),
        "released_population_uniques_over_records": _over(both, int(classes.records.sum())),
        "released_population_uniques_over_population_uniques": _over(both, uniques),
        "match_probability": _over(int(lone.sum()), int(classes.population[lone].sum())),
    }


def _over(numerator: int, denominator: int) -> Fraction | None:
    return Fraction(numerator, denominator) if denominator else None


def _estimates(view: TableView, fraction: float) -> dict[str, Any]:
    """Every estimate from the sample alone."""
    size, expected = view.classes.records, view.classes.expected
    lone, population = size == 1, view.records / fraction
    from tcdp_audit_plugins.checks._shared.pitman import fit_pitman  # noqa: PLC0415 - imports scipy

    model = fit_pitman(size)
    estimates: dict[str, Any] = {"sampling_fraction": fraction, "estimated_population_records": population}
    if model is not None:
        estimates |= {
            "pitman_theta": model.theta,
            "pitman_alpha": model.alpha,
            "pitman_population_uniques": model.uniques(population),
            "pitman_population_uniques_asymptotic": model.uniques_asymptotic(population),
        }
    if not lone.any():
        return estimates
    uniques = int(lone.sum())
    among = zayatz(size, population)
    pitman = None if model is None else min(model.uniques(population) * fraction / uniques, 1.0)
    return estimates | {
        "zayatz": among,
        "zayatz_population_uniques": among * uniques / fraction,
        "pitman": pitman,
        "log_linear": log_linear_uniques(expected[lone], fraction),
        "match_probability_dis": data_intrusion_simulation(size, fraction),
        "match_probability_log_linear": log_linear_match(expected[lone], fraction),
    }


def _faults(parameters: PopulationUniquenessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from counts_rows(document)
    if parameters.estimator != "exact":
        yield from needs_a_partition(document, "its model spreads the population over classes that are apart")


def _sample_sentence(outcome: Outcome) -> str:
    assert outcome.records is not None  # noqa: S101 - outcomes on classes have them
    details = outcome.details
    tally = Tally(outcome.records.total, details["victims"])
    if "units" in details:
        tally = Tally(details["units"], details["victim_units"])
    its = agree(tally.failing or 1, "its", "their")
    return f"{records_of(tally, unit_noun(outcome))} alone with {its} {known_columns(outcome)}."


def _sample_person(outcome: Outcome) -> str:
    if not outcome.details["victims"]:
        return f"{intruder_who_knows(outcome)} finds more than one {unit_noun(outcome)} for everybody."
    single = f"finds a single {unit_noun(outcome)} with {chance_of(outcome.observed or 0)}"
    return f"{intruder_who_knows(outcome)} {single}, and can be sure of it if they are in the release."


def _population_sentence(outcome: Outcome) -> str:
    details, records = outcome.details, outcome.records
    assert records is not None  # noqa: S101 - outcomes of this check have them
    if "undefined" in details:
        nobody = f"No {record_noun(outcome)} is alone with its {known_columns(outcome)}"
        return f"{nobody}: the share of population uniques is undefined, the risk 0."
    estimator, alone = outcome.parameters["estimator"], details["sample_uniques"]
    estimate = percent(outcome.observed, outcome.threshold)
    how = estimate if estimator == "exact" else f"an estimated {estimate} ({_name_of(estimator)})"
    part = records_of(Tally(records.total, alone), record_noun(outcome))
    unique = f"{part} alone in the release by {known_columns(outcome)}, and {how} of these"
    others = {_name_of(name): details.get(name) for name in ("exact", *ESTIMATORS) if name != estimator}
    beside = [f"{name} {percent(float(one))}" for name, one in others.items() if one is not None]
    unique += " are alone in the population too" + (f" ({', '.join(beside)})" if beside else "")
    if outcome.status is not Status.FAILED:
        return f"{unique}."
    return f"{unique}; {allowance(outcome)}."


def _population_person(outcome: Outcome) -> str:
    if "undefined" in outcome.details:
        return f"{intruder_who_knows(outcome)} finds more than one record for everybody."
    sure = f"is right with {chance_of(outcome.observed or 0)} to take it for theirs"
    return (
        f"{intruder_who_knows(outcome)} and finds a single record {sure}, not knowing whether they are in the release."
    )


def _name_of(estimator: str) -> str:
    return estimator.replace("_", "-") if estimator in ("exact", "log_linear") else sentence_case(estimator)


CHECKS: list[Check] = [
    AttackCheck(
        name="sample_uniqueness",
        title="Sample uniqueness",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SampleUniquenessParameters,
        victims=alone,
        label="share of records or units alone in their group",
        monotone=lambda _: True,  # a union of classes has more than one record
        sentence=_sample_sentence,
        person=_sample_person,
        guide=SAMPLE_UNIQUENESS,
    ),
    TableCheck(
        name="population_uniqueness",
        title="Population uniqueness",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=PopulationUniquenessParameters,
        measure=population_uniqueness,
        label="share of sample uniques that are population uniques",
        class_size=lambda _: 2,
        requires=frozenset({"population"}),
        variant=lambda one: one.estimator,
        validate=_faults,
        sentence=_population_sentence,
        person=_population_person,
        guide=POPULATION_UNIQUENESS,
    ),
]
