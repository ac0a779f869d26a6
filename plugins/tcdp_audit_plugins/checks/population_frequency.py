"""Categories and regions of a release by the number of people of the population in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, fold
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences, agree, listing
from tcdp_audit_plugins.guides import built_in_guide

COUNT = "The population's column that says how many people each of its rows represents; without it a row is one."
ROWS = 2**53  # people that a float counts exactly


class CategoryFrequencyParameters(Parameters):
    """Parameters of `category_frequency`."""

    at_least: Annotated[int | None, Field(ge=1, description="The least number of people of the population.")] = None
    max_size: Annotated[int, Field(ge=1, le=3, description="How many attributes are combined, at most.")] = 1
    attributes: Annotated[
        list[Text] | None, Field(min_length=1, description="The columns; by default the quasi-identifiers.")
    ] = None
    count: Annotated[Text | None, Field(description=COUNT)] = None


class RegionPopulationParameters(Parameters):
    """Parameters of `region_population`."""

    at_least: Annotated[int | None, Field(ge=1, description="The least number of people who live there.")] = None
    column: Annotated[Text | None, Field(description="The column that says where a person lives.")] = None
    count: Annotated[Text | None, Field(description=COUNT)] = None


@dataclass(frozen=True)
class Coded:
    """Some columns of the release and of its population, equal codes for equal values."""

    names: Sequence[str]  # of the columns
    release: dict[str, NDArray[np.int64]]  # codes by column; `sizes` of it where a cell says nothing
    population: dict[str, NDArray[np.int64]]  # likewise; one more where the release lacks the value
    sizes: dict[str, int]  # how many values the release has of each column
    records: Counts  # records of the release in each row
    people: Counts  # people of the population in each row


def coded(view: TableView, names: Sequence[str], counted_in: str | None) -> Coded:
    """Release and population, coded alike.

    Raises:
        CheckError: there is no population, a column is not there, or its counts of people are no whole numbers.
    """
    (release,) = view.counted(names)
    further = [] if counted_in is None else [counted_in]
    population = view.of_companion("population", [*names, *further], further)
    people = population.rows.each if counted_in is None else population.rows.each * _people(population, counted_in)
    own: dict[str, NDArray[np.int64]] = {}
    theirs: dict[str, NDArray[np.int64]] = {}
    for name in names:
        domain, other = release.domains[name], population.domains[name]
        code = {label: number for number, label in enumerate(domain.labels)}
        codes_of = [domain.size + 1 if label not in code else code[label] for label in other.labels]
        nothing = np.where(domain.is_uninformative, domain.size, np.arange(domain.size + 1))
        own[name] = nothing[release.codes[name]]
        theirs[name] = np.array([*codes_of, domain.size + 1], dtype=np.int64)[population.codes[name]]
    sizes = {name: release.domains[name].size for name in names}
    return Coded(names, own, theirs, sizes, release.rows.each, people)


def _people(population: Any, column: str) -> Counts:
    numbers = population.numbers(column)
    if np.isnan(numbers).any() or (numbers < 0).any() or (numbers != np.floor(numbers)).any() or numbers.sum() > ROWS:
        raise CheckError(f"column {column!r} of the population must be a whole number of people in every row")
    return np.asarray(numbers, dtype=np.int64)


def people_of(tables: Coded, names: Sequence[str]) -> tuple[Counts, NDArray[np.bool_]]:
    """The number of people of the population with each row's values in some columns, and which rows have values.

    Returns:
        int64 and bool, shape (rows of the release,).
    """
    sizes = [tables.sizes[name] + 2 for name in names]
    keys = fold([np.concatenate([tables.release[name], tables.population[name]]) for name in names], sizes).values
    distinct, place = np.unique(keys, return_inverse=True)
    rows = len(tables.records)
    people = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(people, place[rows:], tables.people)
    has_region = np.all([tables.release[name] < tables.sizes[name] for name in names], axis=0)
    return people[place[:rows]], has_region


def least_people(view: TableView, names: Sequence[str], order: int, at_least: int | None, count_in: str | None) -> Any:
    """The least number of people who share a combination of values of the release."""
    tables = coded(view, names, count_in)
    few = np.zeros(len(tables.records), dtype=bool)
    least: int | None = None
    sets = [chosen for size in range(1, order + 1) for chosen in combinations(names, size)]
    below = 0
    for chosen in sets:
        people, has_region = people_of(tables, chosen)
        if has_region.any():
            smallest = int(people[has_region].min())
            least = smallest if least is None else min(least, smallest)
            failing = has_region & (people < (at_least or 0))
            few |= failing
            below += bool(failing.any())
    if least is None:
        raise CheckError(f"no record of the release has a value of {listing([repr(one) for one in names])}")
    return TableFigure(
        value=Fraction(least),
        records=view.records,
        failing=None if at_least is None else int(tables.records[few].sum()),
        details={"sets": len(sets), "sets_below": below, "population_records": int(tables.people.sum())},
    )


def category_frequency(view: TableView, parameters: CategoryFrequencyParameters) -> TableFigure:
    """The least number of people of the population that share a combination of values that the release has.

    A missing or suppressed cell is no value: combinations with it are those of the columns that are left.

    Raises:
        CheckError: there is no population, or the release has no value.

    Cost: O((n + N) log (n + N)) for each set of at most `max_size` columns.

    Source: ESSnet SDC, Handbook on Statistical Disclosure Control, rules at Statistics Netherlands.
    """
    names = sorted(parameters.attributes or view.quasi_identifiers)
    order = min(parameters.max_size, len(names))
    figure: TableFigure = least_people(view, names, order, parameters.at_least, parameters.count)
    return figure


def region_population(view: TableView, parameters: RegionPopulationParameters) -> TableFigure:
    """The least number of people of the population who live in a region that the release names.

    Raises:
        CheckError: there is no population, or the release has no value of the column.
    """
    assert parameters.column is not None  # noqa: S101 - a policy without it is at fault
    figure: TableFigure = least_people(view, [parameters.column], 1, parameters.at_least, parameters.count)
    return figure


def _category_faults(parameters: CategoryFrequencyParameters, document: PolicyDocument) -> Iterable[tuple[str, str]]:
    names = parameters.attributes or document.with_role(Role.QUASI_IDENTIFIER)
    yield from (("attributes", sentence) for sentence in _of_rows(names, document))


def _of_rows(names: Iterable[str], document: PolicyDocument) -> Iterable[str]:
    """The reason why columns of several tables cannot be counted: a person may have several rows there."""
    of_rows = [name for name in names if name.partition(".")[0] in document.event_tables]
    if of_rows:
        yield (
            f"it counts people, each in one row, and {listing([repr(name) for name in of_rows])} "
            f"{agree(len(of_rows), 'is a column', 'are columns')} of rows that a person may have several of; name "
            "columns of the table of units"
        )


def _region_faults(parameters: RegionPopulationParameters, document: PolicyDocument) -> Iterable[tuple[str, str]]:
    if parameters.column is None:
        yield "", "name the column that says where a person lives: `column: region`"
    elif parameters.column not in document.attributes:
        yield "column", f"the policy declares no attribute {parameters.column!r}"
    else:
        yield from (("column", sentence) for sentence in _of_rows([parameters.column], document))


@dataclass(frozen=True, kw_only=True)
class RegionCheck(TableCheck[RegionPopulationParameters]):
    """A check on the column that its parameters name."""

    def known(self, parameters: RegionPopulationParameters, document: PolicyDocument, target: Any) -> list[str]:  # noqa: ARG002
        """The column that the parameters name."""
        return [] if parameters.column is None else [parameters.column]


CHECKS: list[Check] = [
    TableCheck(
        name="category_frequency",
        title="Category frequency",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=CategoryFrequencyParameters,
        measure=category_frequency,
        threshold="at_least",
        comparison=Comparison.AT_LEAST,
        worst=lambda _, __: Fraction(0),  # a category that no one of the population has
        label="least number of people of the population with a combination of categories",
        validate=_category_faults,
        needs={Need.POPULATION, Need.POPULATION_ITSELF, Need.DECLARED},
        sentences=Sentences(
            passed=("Every {category} of {known} in the release covers at least {observed:person} of the population."),
            failed=(
                "{failing/records:{record}} {failing/records:is|are} of a {category} of {known} that covers "
                "fewer than {threshold:person} of the population; the least is {observed:person}."
            ),
            impact=(
                "{intruder} narrows them down to {observed:person} of the population by [{max_size>1?}up to "
                "{max_size} facts|one fact] of these, where the fewest match."
            ),
            parts={"category": "[{max_size>1?}combination of up to {max_size} categories|category]"},
        ),
        guide=built_in_guide(__file__, "category_frequency.md"),
    ),
    RegionCheck(
        name="region_population",
        title="Population of regions",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=RegionPopulationParameters,
        measure=region_population,
        threshold="at_least",
        comparison=Comparison.AT_LEAST,
        worst=lambda _, __: Fraction(0),
        label="least number of people of the population who live in a region",
        validate=_region_faults,
        needs={Need.POPULATION, Need.POPULATION_ITSELF},
        sentences=Sentences(
            passed=("Every region of {column:column} in the release has at least {observed:person} of the population."),
            failed=(
                "{failing/records:{record}} {failing/records:is|are} of a region of {column:column} that has fewer "
                "than {threshold:person} of the population; the least is {observed:person}."
            ),
            impact=(
                "An intruder who knows a person's {column:column} narrows them down to {observed:person} of the "
                "population in the smallest region."
            ),
        ),
        guide=built_in_guide(__file__, "region_population.md"),
    ),
]
