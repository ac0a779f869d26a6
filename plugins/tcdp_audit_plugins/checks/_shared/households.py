"""People of households, who are re-identified through one another and by the composition of the whole household."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import Codes, Counts, Floats, boundaries, code_histories, fold, occurrences
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import agree
from tcdp_audit_plugins.checks._shared.class_risks import ClassRisks, household_risks
from tcdp_audit_plugins.checks._shared.sampling import exact_sum, fraction_of

EXACT = 20_000  # compositions up to which a sum over households is a fraction
NO_POPULATION = (
    "nothing says how large the population is; add `weight:` with the attribute of sampling weights, "
    "`sampling_fraction:` or `population:` to the policy"
)


@dataclass(frozen=True)
class HouseholdPeople:
    """The people of a release's households.

    Args:
        home: the household of each person, from 0 on. Shape (people,).
        class_of_person: by what is known of each alone. Shape (people,).
        classes: the classes of people.
        composition: of each household. Shape (households,).
        compositions: the classes of households; None where a missing cell matches every value, so that there are none.
    """

    home: Counts
    class_of_person: Counts
    classes: ClassRisks
    composition: Counts
    compositions: ClassRisks | None

    @property
    def households(self) -> int:
        """The number of households."""
        return len(self.composition)


def household_people(view: TableView) -> HouseholdPeople:
    """The people of the households that the policy declares. A person with several rows is known by all of them.

    Args:
        view: of the rows of the release.

    Raises:
        CheckError: nothing says how large the population is; someone is in several households; a weight differs within
            a person or a household.

    Cost: O(n log n), and the codes of each record.
    """
    document = view.policy.document
    household, unit, weight = document.household, document.unit, document.weight
    assert household is not None  # noqa: S101 - asked only where the policy declares one
    own_weight = document.household_weight or weight
    further = dict.fromkeys(one for one in (household, unit, weight, own_weight) if one is not None)
    (table,) = view.coded([*view.quasi_identifiers, *further])
    home = _numbered(table.codes[household])
    of_home = None if own_weight is None else _in_homes(own_weight, home, table.numbers(own_weight))
    if unit is not None and table.domains[unit].repeats:
        home, class_of_person, classes = _people_of_units(view, table, unit, home, weight)
    else:
        class_of_person, classes = _people_of_rows(view, table)
    coded = code_histories(home, class_of_person, int(home.max()) + 1, len(classes.sample))
    compositions = None
    if not (view.wildcard and any(table.domains[name].missing for name in view.quasi_identifiers)):
        sizes = occurrences(coded.codes, coded.distinct)
        people = occurrences(coded.codes[home], coded.distinct)
        sums = None if of_home is None else _sums(coded.codes, of_home, coded.distinct)
        compositions = ClassRisks(people, sizes, population_of(view, sizes, sums))
    return HouseholdPeople(home, class_of_person, classes, coded.codes, compositions)


def population_of(view: TableView, sample: Counts, weight: Floats | None) -> Floats:
    """F-hat of each class: the sum of weights of what it may be taken for, or their number over the fraction.

    Raises:
        CheckError: nothing says how large the population is.
    """
    if weight is not None:
        return weight
    fraction = fraction_of(view)
    if fraction is None:
        raise CheckError(NO_POPULATION)
    return np.asarray(sample / fraction)


def _people_of_rows(view: TableView, table: CodedTable) -> tuple[Counts, ClassRisks]:
    """The class of each row, and the classes: both in the order of their codes."""
    classes = view.classes
    sizes = ClassRisks(classes.records, classes.matched, population_of(view, classes.matched, classes.weight))
    return _numbered(labels_of(view, table)[0]), sizes


def _people_of_units(
    view: TableView, table: CodedTable, unit: str, home: Counts, weight: str | None
) -> tuple[Counts, Counts, ClassRisks]:
    """The household and the class of each person with several rows, and the classes."""
    person, (label, labels) = _numbered(table.codes[unit]), labels_of(view, table)
    people = int(person.max()) + 1
    homes, moved = _same_within(person, home, people)
    if moved:
        raise CheckError(f"{moved:,} {agree(moved, 'unit is', 'units are')} in several households; correct {unit!r}")
    coded = code_histories(person, label, people, labels)
    sizes, sums = occurrences(coded.codes, coded.distinct), None
    if weight is not None:
        weights = _positive(weight, table.numbers(weight))
        of_person, differing = _same_within(person, weights, people)
        if differing:
            raise CheckError(f"the weight is not the same in all rows of {differing:,} units")
        sums = _sums(coded.codes, of_person, coded.distinct)
    return homes, coded.codes, ClassRisks(sizes, sizes, population_of(view, sizes, sums))


def labels_of(view: TableView, table: CodedTable) -> tuple[Codes, int]:
    """The class of each row by the quasi-identifiers as a number, and a number above all of them."""
    names = view.quasi_identifiers
    keys = fold([table.codes[name] for name in names], [table.domains[name].size + 1 for name in names])
    return keys.values, keys.span


def _numbered(codes: Codes) -> Counts:
    """The rank of each code among those that occur."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _in_homes(name: str, home: Counts, weights: Floats) -> Floats:
    """The weight of each household."""
    of_home, differing = _same_within(home, _positive(name, weights), int(home.max()) + 1)
    if differing:
        raise CheckError(
            f"the weight {name!r} is not the same for all people of {differing:,} households; name the column with the "
            "weights of households as `household_weight:`"
        )
    return of_home


def _positive(name: str, weights: Floats) -> Floats:
    """Weights that are numbers above 0."""
    if np.isnan(weights).any() or (weights <= 0).any():
        raise CheckError(f"the weight {name!r} must be a positive number in every record")
    return weights


def _same_within(owner: Counts, values: Floats | Counts, owners: int) -> tuple[Any, int]:
    """The value of each owner, and how many have several."""
    last = np.zeros(owners, dtype=values.dtype)
    last[owner] = values
    return last, len(np.unique(owner[last[owner] != values]))


def _sums(codes: Counts, weights: Floats, distinct: int) -> Floats:
    """The sum of weights of each code, added in one order, which that of the rows does not change."""
    order = np.lexsort((weights, codes))
    sums = np.zeros(distinct)
    starts = boundaries(codes[order])
    sums[codes[order][starts]] = np.add.reduceat(weights[order], starts)
    return sums


def risks_of_households(
    people: HouseholdPeople,
) -> tuple[Fraction | float, Fraction | float, Fraction | float]:
    """People found through anyone of their household, households found, and the highest chance of one.

    R = 1 - product of (1 - r_i) over the members; the sum of n R, the sum of R, and the largest R. Members are looked
    for one at a time, and whether one is found does not depend on the others.

    Returns:
        Fractions where each r is one and there are at most 20,000 compositions; otherwise floats.

    Cost: O(people log people).

    Source: Franconi, Polettini (2004), Individual risk estimation in mu-Argus, section 4; sdcMicro, its hierarchical
    risk.
    """
    sizes = occurrences(people.home, people.households)
    if people.classes.certain.all() and int(people.composition.max()) < EXACT:
        return _exactly(people, sizes)
    chances = household_risks(people.classes.of_classes[people.class_of_person], people.home)
    return fsum((chances * sizes).tolist()), fsum(chances.tolist()), float(chances.max())


def _exactly(people: HouseholdPeople, sizes: Counts) -> tuple[Fraction, Fraction, Fraction]:
    """Compute the same in fractions: households of one composition have the same chance, so each is computed once."""
    order = np.argsort(people.home, kind="stable")
    starts = boundaries(people.home[order])
    _, one_of_each, times = np.unique(people.composition, return_index=True, return_counts=True)
    f = people.classes.sample[people.class_of_person[order]].astype(object)  # Python integers do not overflow
    missed = np.multiply.reduceat(f - 1, starts)[one_of_each]
    all_of = np.multiply.reduceat(f, starts)[one_of_each]
    chances = [1 - Fraction(one, of) for one, of in zip(missed.tolist(), all_of.tolist(), strict=True)]
    households = times.tolist()
    members = (times * sizes[one_of_each]).tolist()
    through = exact_sum(number * one for number, one in zip(members, chances, strict=True))
    return through, exact_sum(number * one for number, one in zip(households, chances, strict=True)), max(chances)
