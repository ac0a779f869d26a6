"""Uniqueness: who is alone in the release, and which of them are alone in the population."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import (
    AttackCheck,
    Check,
    ClassEvidence,
    DisclosureType,
    Need,
    Parameters,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError, PopulationClasses
from tcdp_audit.plugin.sentences import Outcome, Sentences, say, sentence_case
from tcdp_audit_plugins.checks._shared.pitman import (
    data_intrusion_simulation,
    log_linear_match,
    log_linear_uniques,
    zayatz,
)
from tcdp_audit_plugins.checks._shared.sampling import covering_population, fraction_of
from tcdp_audit_plugins.guides import built_in_guide

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
        Exact | None, Field(ge=0, le=1, description="The largest share of sample uniques that are population uniques.")
    ] = None
    estimator: Annotated[
        Literal["exact", "zayatz", "pitman", "log_linear"],
        Field(
            description="The figure that is compared; `exact` needs a population. The others are reported next to it."
        ),
    ] = "exact"


def alone(evidence: ClassEvidence, _: SampleUniquenessParameters) -> NDArray[np.bool_]:
    """The classes of a single record (a single entity, where the policy names a unit).

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
    """P(population unique | sample unique) by the estimator that the policy names, and by all others next to it.

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
    if lacking := view.lacking("population"):
        details["lacking"] = {"population": lacking}
    elif "population" in view.companions:
        details |= exact_figures(covering_population(view))
    fraction = fraction_of(view)
    if fraction is not None and not view.wildcard and view.policy.document.tables is None:
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


def _needs(parameters: PopulationUniquenessParameters, _: PolicyDocument) -> set[Need]:
    """The population; of an estimator its size, and a partition, over whose classes its model spreads it."""
    return {Need.POPULATION_ITSELF} if parameters.estimator == "exact" else {Need.POPULATION_SIZE, Need.PARTITION}


NO_ESTIMATE = (
    "an estimator spreads a population over combinations of single values, and several tables are judged as whole "
    "histories; use `exact`, with `population:`"
)


def _faults(parameters: PopulationUniquenessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if document.tables is not None and parameters.estimator != "exact":
        yield "estimator", NO_ESTIMATE


def _sample_values(outcome: Outcome) -> dict[str, int]:
    """The number alone, and the number of all: entities where the details count them."""
    details, records = outcome.details, outcome.records
    if "units" in details:
        return {"alone": details["victim_units"], "total": details["units"]}
    return {"alone": details["victims"], "total": 0 if records is None else records.total}


def _population_values(outcome: Outcome) -> dict[str, str]:
    """The name of the estimator, and what the others estimate."""
    estimator, details = outcome.parameters["estimator"], outcome.details
    others = [name for name in ESTIMATORS if name != estimator and details.get(name) is not None]
    figures = sorted(float(details[name]) for name in others)
    texts = []
    if estimator != "exact" and details.get("exact") is not None:
        texts.append(say("counted there, it is {share:%}", share=float(details["exact"])))
    if len(figures) == 1:
        texts.append(say("{name} estimates {share:%}", name=_name_of(others[0]), share=figures[0]))
    elif figures:
        texts.append(say("other estimates run from {low:%} to {high:%}", low=figures[0], high=figures[-1]))
    return {"method": _name_of(estimator), "others": "; ".join(texts)}


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
        required_class_size=lambda one, _: 2 if one.at_most == 0 else None,
        sufficient_class_size=lambda _, __: 2,
        sentences=Sentences(
            passed="{alone/total:{unit}} {alone/total:is|are} alone with {alone/total:its|their} {known}.",
            impact=(
                "{intruder} [{details.victims>0?}finds a single match for {alone/total:{unit}}, which is right if the "
                "person is in the release|finds more than one {unit} for everyone]."
            ),
            values=_sample_values,
        ),
        guide=built_in_guide(__file__, "sample_uniqueness.md"),
    ),
    TableCheck(
        name="population_uniqueness",
        history_reading=lambda _: "units",
        title="Population uniqueness",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=PopulationUniquenessParameters,
        measure=population_uniqueness,
        label="share of sample uniques that are population uniques",
        class_size=lambda _: 2,
        sufficient_class_size=lambda _, __: 2,  # no one is alone
        variant=lambda one: one.estimator,
        needs={Need.POPULATION, Need.ROWS},
        needs_if=_needs,
        validate=_faults,
        compares=lambda one: ("population",) if one.estimator == "exact" else (),
        sentences=Sentences(
            passed=(
                "[{undefined?}No {record} is alone with its {known}: the share of population uniques is undefined, "
                "the risk 0|{sample_uniques/records:{record}} {sample_uniques/records:is|are} alone in the release "
                "by {known}, and [{estimator=exact?}{observed:%}|an estimated {observed:%} ({method})] of these are "
                "alone in the population too[; {others}][; {allowed}]]."
            ),
            impact=(
                "{intruder}, but not whether they are in the release, may find exactly one matching record; it is "
                "really theirs with {observed:chance}."
            ),
            no_impact=(
                "{intruder}[{undefined?} finds more than one record for everyone|, but not whether they are in the "
                "release, may find exactly one matching record; others of the population match it as well]."
            ),
            values=_population_values,
        ),
        guide=built_in_guide(__file__, "population_uniqueness.md"),
    ),
]
