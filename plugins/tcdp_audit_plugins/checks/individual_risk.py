"""Individual risk (Benedetti and Franconi): how probable it is that a record is matched to its person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, Floats, boundaries, fold
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences, known_columns, record_noun, unit_noun
from tcdp_audit_plugins.checks._shared.households import household_people, population_of, risks_of_households
from tcdp_audit_plugins.checks._shared.sampling import covering_population, mean_of_reciprocals
from tcdp_audit_plugins.guides import built_in_guide

SERIES_BELOW = 0.1  # 1 - p below which the risk of a pair is summed as a series
SERIES_TERMS = 20
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


def benedetti_franconi(sample: Counts, population: Floats) -> Floats:
    """The posterior mean of 1/F given f records in the sample, F being negative binomial with p = f/F-hat.

    f = 1: p/(1-p) ln(1/p). f = 2: p/(1-p) - (p/(1-p))^2 ln(1/p). f > 2: p / (f - (1-p)). F-hat <= f: 1/f.

    Args:
        sample: f, the records of each class, at least 1. Shape (classes,).
        population: F-hat, the estimated number of records in the population, above 0. Same shape.

    Returns:
        Risks above 0 and at most 1, float64, shape (classes,); accurate also as p nears 1.

    Cost: O(classes).

    Source: Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination;
    Polettini (2003), section 3, for the approximation with f > 2.

    Example:
        >>> benedetti_franconi(np.array([1, 2, 5]), np.array([2.0, 4.0, 5.0])).round(6).tolist()
        [0.693147, 0.306853, 0.2]
    """
    p = np.minimum(sample / population, 1.0)
    q = 1 - p
    risk = p / (sample - q)
    for special, risk_of in ((1, lambda q: (1 - q) * -np.log1p(-q) / q), (2, _risk_of_two)):
        chosen = (sample == special) & (q > 0)
        risk[chosen] = risk_of(q[chosen])
    return np.asarray(np.where(p >= 1, 1 / sample, risk))


def _risk_of_two(q: Floats) -> Floats:
    """The sum of p q^(j-1) / (j (j+1)) over j; in closed form where that does not cancel."""
    odds = (1 - q) / q
    closed = odds + odds**2 * np.log1p(-q)
    series = np.zeros(len(q))
    for j in range(SERIES_TERMS, 0, -1):
        series = series * q + 1 / (j * (j + 1))
    return np.asarray(np.where(q < SERIES_BELOW, (1 - q) * series, closed))


def household_risks(risk: Floats, unit: Counts) -> Floats:
    """1 - product of (1 - r_i) over the records of each unit.

    Args:
        risk: r_i of each record. Shape (records,).
        unit: the code of its unit. Shape (records,).

    Returns:
        One risk for each unit, in ascending order of code; the order of records makes no difference.

    Cost: O(records log records).

    Source: Franconi, Polettini (2004), Individual risk estimation in mu-Argus, section 4.

    Example:
        >>> household_risks(np.array([0.5, 0.25, 0.5]), np.array([0, 1, 0])).round(6).tolist()
        [0.75, 0.25]
    """
    order = np.lexsort((risk, unit))
    with np.errstate(divide="ignore"):
        missed = np.log1p(-risk[order])
    return np.asarray(-np.expm1(np.add.reduceat(missed, boundaries(unit[order]))))


@dataclass(frozen=True)
class _Risks:
    """The risks of one release, by class; those of F <= f are exact fractions 1/f.

    Args:
        records: how many records, or people, are in each class.
        sample: f, the records, people or households that each may be taken for.
        population: F-hat, how many of these the population has.
    """

    records: Counts
    sample: Counts
    population: Floats

    @cached_property
    def of_classes(self) -> Floats:
        return benedetti_franconi(self.sample, self.population)

    @cached_property
    def certain(self) -> Any:
        """Classes that are in the release as a whole."""
        return self.population <= self.sample

    @property
    def highest(self) -> Fraction | float:
        inexact = float(self.of_classes[~self.certain].max(initial=0))
        if not self.certain.any():
            return inexact
        exact = Fraction(1, int(self.sample[self.certain].min()))
        return exact if exact >= Fraction(inexact) else inexact

    @property
    def expected(self) -> Fraction | float:
        """Sum over records; those that are certain add 1/f, exactly."""
        records, sample = self.records[self.certain], self.sample[self.certain]
        whole = mean_of_reciprocals(records, sample) * int(records.sum()) if len(records) else Fraction(0)
        rest = (self.records * self.of_classes)[~self.certain]
        return fsum([float(whole), *rest.tolist()]) if len(rest) else whole


def _of_units(view: TableView, risks: _Risks, unit: str) -> tuple[Floats, Counts]:
    """The risk of each unit and the number of its records; records without one are a unit together."""
    names = view.quasi_identifiers
    (table,) = view.coded([*names, unit])
    keys = fold([table.codes[name] for name in names], [table.domains[name].size + 1 for name in names]).values
    classes = np.unique(keys, return_inverse=True)[1]
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
    risks = _Risks(classes.records, classes.matched, population_of(view, classes.matched, classes.weight))
    whole, unit = risks.expected, view.policy.document.unit
    figures = {"highest": risks.highest, "average": whole / view.records, "expected": whole}
    details: dict[str, Any] = {**figures, "uniques": int((risks.sample == 1).sum())}
    if unit is not None:
        of_units, records = _of_units(view, risks, unit)
        total = fsum(of_units.tolist())
        figures = {"highest": float(of_units.max()), "average": total / len(of_units), "expected": total}
        details |= {"units": len(of_units), **{f"unit_{name}": value for name, value in figures.items()}}
        details["through_unit_expected"] = fsum((of_units * records).tolist())
    return TableFigure(
        value=figures[parameters.measure],
        records=view.records,
        failing=_above(risks, parameters) if unit is None else None,
        classes=(len(risks.sample), None),
        details=details | _in_population(view),
    )


def _in_population(view: TableView) -> dict[str, Fraction]:
    """The risks as they are counted in a population; nothing without one."""
    if "population" not in view.companions:
        return {}
    classes = covering_population(view)
    average = mean_of_reciprocals(classes.records, classes.population)
    return {"exact_highest": Fraction(1, int(classes.population.min())), "exact_average": average}


def _of_households(view: TableView, parameters: IndividualRiskParameters) -> TableFigure:
    """The risks of people: alone, through one of their household, and by its whole composition.

    Raises:
        CheckError: compositions are asked for where a missing cell matches every value.
    """
    read = household_people(view)
    alone = _Risks(read.classes.people, read.classes.sample, read.classes.population)
    people = int(alone.records.sum())
    through, households, highest = risks_of_households(read, alone.of_classes, alone.certain)
    expected = alone.expected
    details: dict[str, Any] = {
        "people": people,
        "households": read.households,
        "highest": alone.highest,
        "average": expected / people,
        "expected": expected,
        "uniques": int((alone.sample == 1).sum()),
        "unit_highest": highest,
        "unit_average": households / read.households,
        "unit_expected": households,
        "through_household": through,
    }
    sums = {"through_household": through}
    if read.compositions is not None:
        whole = _Risks(read.compositions.people, read.compositions.sample, read.compositions.population)
        sums["by_composition"] = whole.expected
        of_households = replace(whole, records=whole.sample)  # as many households as there are of each composition
        details |= {
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
    figures = {**sums, "highest": highest, "expected": sums[larger], "average": sums[larger] / people}
    return TableFigure(
        value=figures[parameters.measure],
        records=people,
        classes=(len(alone.sample), None),
        details={**details, "larger": larger, **_in_population(view)},
    )


def _above(risks: _Risks, parameters: IndividualRiskParameters) -> int | None:
    """Records whose own risk is too high, where the demand is on each record."""
    if parameters.at_most is None or parameters.measure != "highest":
        return None
    limit = parameters.at_most
    exact = risks.sample * limit.numerator < limit.denominator  # 1/f > limit
    inexact = risks.of_classes > float(limit)
    return int(risks.records[np.where(risks.certain, exact, inexact)].sum())


def _worst(measured: TableFigure, parameters: IndividualRiskParameters) -> Fraction:
    """Every record, unit or person is certain to be re-identified."""
    everyone = measured.details.get("people", measured.details.get("units", measured.records))
    return Fraction(everyone if parameters.measure in SUMS else 1)


def _faults(parameters: IndividualRiskParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if parameters.measure not in SUMS and parameters.at_most is not None and parameters.at_most > 1:
        yield "at_most", "a risk is at most 1; only `measure: expected` may have more"
    if parameters.measure in OF_HOUSEHOLDS and document.household is None:
        yield "measure", "the policy names no `household:` whose people could be found together"


def _values(outcome: Outcome) -> dict[str, Any]:
    """The noun of what is counted, and their number: people or entities where the details count them."""
    details, known = outcome.details, known_columns(outcome).removeprefix(f"{outcome.naming.history_name} ")
    if "people" in details:
        of_whom = f"{known} of everyone in a household" if "by_composition" in details else known
        figures = {one: details[one] for one in OF_HOUSEHOLDS if one in details}
        return {
            "noun": "person",
            "total": int(details["people"]),
            "known": of_whom,
            "columns": known,
            "top": max(details["unit_highest"], details.get("highest_by_composition", 0)),
            "mean": float(max(figures.values()) / details["people"]),
            "judged": JUDGED.get(outcome.parameters["measure"], JUDGED[details["larger"]]),
        }
    if "units" in details:
        return {"noun": unit_noun(outcome), "total": int(details["units"])}
    return {"noun": record_noun(outcome), "total": 0 if outcome.records is None else outcome.records.total}


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
        needs={Need.POPULATION},
        variant=lambda one: one.measure.replace("_", " "),
        validate=_faults,
        sentences=Sentences(
            passed="[{people?}{of_people}|{risk}, if an intruder knows {known}].",
            failed=(
                "[{people?}{of_people}; at most {limit} is allowed|{failing?}{failing/records:{record}} "
                "{failing/records:is|are} at a higher risk than {limit}, if an intruder knows {known}. {risk}|{risk}, "
                "where at most {limit} is allowed, if an intruder knows {known}]."
            ),
            impact=(
                "[{people?}An intruder who knows {known}|{intruder}] is estimated to find them with "
                "[{people?}{top:chance}|{units?}{unit_highest:chance}|{highest:chance}] at worst, and with "
                "[{people?}{mean:chance}|{units?}{unit_average:chance}|{average:chance}] on average."
            ),
            parts={
                "risk": {
                    "by": "measure",
                    "expected": ("{observed:re-identification} {observed:is|are} expected among {total:{noun}}"),
                    "": "The {measure} risk of {noun:article} is {observed:%}",
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
                    "highest": "The highest risk of a person is {observed:%}, if an intruder knows {known}",
                    "average": "The average risk of a person is {observed:%}, if an intruder knows {known}",
                    "": (
                        "Of {people:person}, {expected} {expected:is|are} expected to be found by themselves[, "
                        "{through_household} through someone of their household and {by_composition} by the "
                        "composition of the household| and {through_household} through someone of their household], if "
                        "an intruder knows {columns}; the figure of those found {judged} counts"
                    ),
                },
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "individual_risk.md"),
    )
]
