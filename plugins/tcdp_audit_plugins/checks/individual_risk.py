"""Individual risk (Benedetti and Franconi): how probable it is that a record is matched to its person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import fsum
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences, known_columns, record_noun, unit_noun
from tcdp_audit_plugins.checks._shared.class_risks import ClassRisks, household_risks
from tcdp_audit_plugins.checks._shared.households import (
    household_people,
    labels_of,
    population_of,
    risks_of_households,
)
from tcdp_audit_plugins.checks._shared.sampling import (
    TRIED,
    chances_tried,
    covering_population,
    details_of_attempt,
    mean_of_reciprocals,
)
from tcdp_audit_plugins.guides import built_in_guide

OF_HOUSEHOLDS = frozenset({"through_household", "by_composition"})
JUDGED = {"through_household": "through their household", "by_composition": "by its composition"}
SUMS = OF_HOUSEHOLDS | {"expected"}


class IndividualRiskParameters(Parameters):
    """Parameters of `individual_risk`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, description="The largest risk; for sums of risks, the largest number of re-identifications."),
    ] = None
    measure: Annotated[
        Literal["highest", "average", "expected", "through_household", "by_composition"],
        Field(
            description="The highest risk, the average one, or their sum: the expected number of re-identifications. "
            "Of households the number of people who are found through one of them, or by the whole household; "
            "`expected` is then the larger of the two."
        ),
    ] = "highest"


def _of_units(view: TableView, risks: ClassRisks, unit: str) -> tuple[Floats, Counts]:
    """The risk of each unit and the number of its records; records without one are a unit together."""
    (table,) = view.coded([*view.quasi_identifiers, unit])
    classes = np.unique(labels_of(view, table)[0], return_inverse=True)[1]
    units = np.unique(table.codes[unit], return_inverse=True)[1]
    return household_risks(risks.of_classes[classes], units), np.bincount(units)


def individual_risk(view: TableView, parameters: IndividualRiskParameters) -> TableFigure:
    """The highest, the average or the summed risk over records, over units, or over people of households.

    Raises:
        CheckError: neither weights nor a sampling fraction say how large the population is.

    Cost: O(n log n).
    """
    if view.policy.document.household is not None:
        return _of_households(view.of_rows or view, parameters)
    classes = view.classes
    risks = ClassRisks(classes.records, classes.matched, population_of(view, classes.matched, classes.weight))
    whole, document = risks.expected, view.policy.document
    unit = document.unit
    success = {"highest": risks.highest, "average": whole / view.records, "expected": whole}
    figures = chances_tried(success, document)
    details: dict[str, Any] = {**figures, "uniques": int((risks.sample == 1).sum())}
    details |= details_of_attempt(document, success)
    if unit is not None:
        of_units, records = _of_units(view, risks, unit)
        total = fsum(of_units.tolist())
        success = {"highest": float(of_units.max()), "average": total / len(of_units), "expected": total}
        figures = chances_tried(success, document)
        details |= details_of_attempt(document, success)
        details |= {"units": len(of_units), **{f"unit_{name}": value for name, value in figures.items()}}
        details |= chances_tried({"through_unit_expected": fsum((of_units * records).tolist())}, document)
    return TableFigure(
        value=figures[parameters.measure],
        records=view.records,
        failing=_above(risks, parameters, document.attempt) if unit is None else None,
        classes=(len(risks.sample), None),
        details=details | _in_population(view),
    )


def _in_population(view: TableView) -> dict[str, Any]:
    """The risks as they are counted in a population that has all quasi-identifiers, or which ones it lacks.

    Nothing without one, nor of histories of one table, which it does not have.
    """
    if view.of_rows is not None and view.policy.document.tables is None:
        return {}
    if lacking := view.lacking("population"):
        return {"lacking": {"population": lacking}}
    if "population" not in view.companions:
        return {}
    classes = covering_population(view)
    average = mean_of_reciprocals(classes.records, classes.population)
    exact = {"exact_highest": Fraction(1, int(classes.population.min())), "exact_average": average}
    return chances_tried(exact, view.policy.document)


def _of_households(view: TableView, parameters: IndividualRiskParameters) -> TableFigure:
    """The risks of people: alone, through one of their household, and by its whole composition.

    Raises:
        CheckError: compositions are asked for where a missing cell matches every value.
    """
    read = household_people(view)
    alone, whole = read.classes, read.compositions
    people = int(alone.records.sum())
    through, households, highest = risks_of_households(read)
    expected = alone.expected
    success: dict[str, Any] = {
        "highest": alone.highest,
        "average": expected / people,
        "expected": expected,
        "unit_highest": highest,
        "unit_average": households / read.households,
        "unit_expected": households,
        "through_household": through,
    }
    sums = {"through_household": through}
    if whole is not None:
        sums["by_composition"] = whole.expected
        of_households = replace(whole, records=whole.sample)  # as many households as there are of each composition
        success |= {
            "by_composition": whole.expected,
            "households_by_composition": of_households.expected,
            "highest_by_composition": whole.highest,
        }
        highest = max(highest, whole.highest)
    elif parameters.measure == "by_composition":
        raise CheckError(
            "under `missing_quasi_identifier: wildcard` households with a missing cell have no composition; use "
            "`own_category`, or measure `through_household`"
        )
    larger = max(sums, key=lambda one: sums[one])
    document = view.policy.document
    figures = {**sums, "highest": highest, "expected": sums[larger], "average": sums[larger] / people}
    details = {
        "people": people,
        "households": read.households,
        "uniques": int((alone.sample == 1).sum()),
        "larger": larger,
        **chances_tried(success, document),
        **details_of_attempt(document, success),
        **_in_population(view),
    }
    return TableFigure(
        value=chances_tried(figures, document)[parameters.measure],
        records=people,
        classes=(len(alone.sample), None),
        details=details,
    )


def _above(risks: ClassRisks, parameters: IndividualRiskParameters, attempt: Fraction) -> int | None:
    """Records whose own risk is too high, where the demand is on each record."""
    if parameters.at_most is None or parameters.measure != "highest":
        return None
    limit = Fraction(parameters.at_most) / attempt
    exact = risks.sample * limit.numerator < limit.denominator  # 1/f > limit
    inexact = risks.of_classes > float(limit)
    return int(risks.records[np.where(risks.certain, exact, inexact)].sum())


def _worst(measured: TableFigure, parameters: IndividualRiskParameters) -> Fraction:
    """Every record, unit or person is certain to be re-identified."""
    everyone = measured.details.get("people", measured.details.get("units", measured.records))
    attempt = Fraction(measured.details.get("attempt", 1))
    known = Fraction(1 if parameters.measure == "highest" else measured.details.get("known_fraction", 1))
    return attempt * known * (everyone if parameters.measure in SUMS else 1)


def _faults(parameters: IndividualRiskParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.measure not in SUMS and parameters.at_most is not None and parameters.at_most > 1:
        yield "at_most", "a risk is at most 1; only `measure: expected` may have more"
    if parameters.measure in OF_HOUSEHOLDS and document.household is None:
        yield "measure", "the policy names no `household:` whose people could be found together"


def _values(outcome: Outcome) -> dict[str, Any]:
    """The noun of what is counted, their number, and their highest and mean risk once the attack is tried.

    Where the details count people or entities, it is they who are counted.
    """
    details, known = outcome.details, known_columns(outcome).removeprefix(f"{outcome.naming.history_name} ")
    success: Mapping[str, Any] = details.get("success", {})
    tried = {**details, **success}
    if "people" in details:
        of_whom = f"{known} of everyone in a household" if "by_composition" in details else known
        figures = {one: tried[one] for one in OF_HOUSEHOLDS if one in tried}
        return {
            "noun": "person",
            "total": int(details["people"]),
            "known": of_whom,
            "columns": known,
            "top": max(tried["unit_highest"], tried.get("highest_by_composition", 0)),
            "mean": float(max(figures.values()) / details["people"]),
            "judged": JUDGED.get(outcome.parameters["measure"], JUDGED[details["larger"]]),
        }
    if "units" in details:
        of_units = success or {name: details[f"unit_{name}"] for name in ("highest", "average")}
        risks = {"top": of_units["highest"], "mean": of_units["average"]}
        return {"noun": unit_noun(outcome), "total": int(details["units"]), **risks}
    risks = {"top": tried["highest"], "mean": tried["average"]}
    return {"noun": record_noun(outcome), "total": 0 if outcome.records is None else outcome.records.total, **risks}


CHECKS = [
    TableCheck(
        name="individual_risk",
        history_reading=lambda _: "units",
        title="Individual risk",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=IndividualRiskParameters,
        measure=individual_risk,
        label="individual risk",
        worst=_worst,
        class_size=lambda _: 2,
        needs={Need.POPULATION, Need.POPULATION_SIZE},
        compares=lambda _: (),
        variant=lambda one: one.measure.replace("_", " "),
        validate=_faults,
        sentences=Sentences(
            passed="[{people?}{of_people}|{risk}, if an intruder knows {known}].{tried}",
            failed=(
                "[{people?}{of_people}; at most {limit} is allowed|{failing?}{failing/records:{record}} "
                "{failing/records:is|are} at a higher risk than {limit}, if an intruder knows {known}. {risk}|{risk}, "
                "where at most {limit} is allowed, if an intruder knows {known}].{tried}"
            ),
            impact=(
                "[{people?}An intruder who knows {known}|{intruder}], but not who is in the release, is estimated to "
                "find [{people?}someone of a household|the {noun}] with {top:chance} where the risk is highest"
                "[{people?}|, and with {mean:chance} on average][{attempt<1?}, if the attack is tried]."
                "[{people?}| Anyone who knows that the person is in the release can be right more often.]"
            ),
            parts={
                "tried": TRIED,
                "with_attempt": "[{attempt<1?}, with the chance of an attempt,]",
                "risk": {
                    "by": "measure",
                    "expected": (
                        "{observed:re-identification} {observed:is|are} expected among {total:{noun}}{with_attempt}"
                    ),
                    "": "The {measure} risk of {noun:article}{with_attempt} is {observed:%}",
                },
                "limit": {
                    "by": "measure",
                    "expected": "{threshold}",
                    "through_household": "{threshold}",
                    "by_composition": "{threshold}",
                    "": "{threshold:%}",
                },
                "of_people": {
                    "by": "measure",
                    "highest": (
                        "The highest risk that someone of a household is found{with_attempt} is {observed:%}, if an "
                        "intruder knows {known}"
                    ),
                    "average": (
                        "The average risk of a person{with_attempt} is {observed:%}, if an intruder knows {known}"
                    ),
                    "": (
                        "Of {people:person}, {expected} {expected:is|are} expected to be found by themselves[, "
                        "{through_household} through someone of their household and {by_composition} by the "
                        "composition of the household| and {through_household} through someone of their "
                        "household]{with_attempt}, if an intruder knows {columns}; the figure of those found "
                        "{judged} counts"
                    ),
                },
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "individual_risk.md"),
    )
]
