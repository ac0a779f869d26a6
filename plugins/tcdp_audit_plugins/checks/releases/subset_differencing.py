"""Subset differencing: classes whose counts in two tables of the same people differ by only a few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf, isinf
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences, agree, count
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.releases.classes import ReleaseClasses, require_own_category
from tcdp_audit_plugins.checks.releases.release_differencing import Differences, compared_classes
from tcdp_audit_plugins.guides import built_in_guide


class SubsetParameters(Parameters):
    """Parameters of `subset_differencing`."""

    k: Annotated[int | None, Field(ge=1, description="The least number of people that a difference must be about.")] = (
        None
    )
    tables: Annotated[
        list[Text],
        Field(description="Two tables of the policy with one row for each person."),
    ]
    subset: Annotated[
        bool,
        Field(description="Every person of the second table is in the first one; more of a class there are an error."),
    ] = False


def subset_differencing(view: TableView, parameters: SubsetParameters) -> TableFigure:
    """The smallest difference, other than none, between the counts of a class in two tables of the same people.

    Classes are those of the quasi-identifiers that both tables have. Where one is coarser, its class is compared with
    all classes below it.

    Returns:
        A number of people; infinite where no class differs.

    Raises:
        CheckError: a table has no rows or nothing that could be compared, a column links the rows of both, or under
            `subset` a class has more people in the second table.

    Cost: O(rows), and O(overlapping classes) where one table is coarser.
    """
    first, second = parameters.tables
    common = common_names(view.policy.document, first, second)
    _require_no_link(view, first, second)
    tables = [_coded(view, table, common) for table in parameters.tables]
    require_own_category(view, tables, "tables")
    one, other = (ReleaseClasses.of(table, [*table.domains], "give it its rows") for table in tables)
    compared = compared_classes(view, one, other, (one.table.name, other.table.name))
    if parameters.subset:
        _require_subset(compared, first, second)
    few = None if parameters.k is None else compared.sizes < parameters.k
    sizes, first_counts, second_counts = compared.sizes, compared.now, compared.before
    details: dict[str, Any] = {
        "tables": [first, second],
        "compared": common,
        "differing": len(sizes),
        "more_in_first": int((first_counts > second_counts).sum()),
        "more_in_second": int((first_counts < second_counts).sum()),
        "only_in_first": int((second_counts == 0).sum()),
        "only_in_second": int((first_counts == 0).sum()),
    }
    return TableFigure(
        value=int(sizes.min()) if len(sizes) else inf,
        records=int(np.maximum(first_counts, second_counts).sum()),
        failing=None if few is None else int(sizes[few].sum()),
        classes=(len(first_counts), None if few is None else int(few.sum())),
        details=details,
        distribution=distribution_of(sizes, sizes),
    )


def common_names(document: PolicyDocument, first: str, second: str) -> list[str]:
    """The quasi-identifiers that both tables have, without their tables, sorted."""
    known = document.with_role(Role.QUASI_IDENTIFIER)
    of_first = (name.removeprefix(f"{first}.") for name in known if name.startswith(f"{first}."))
    return sorted(name for name in of_first if f"{second}.{name}" in known)


def _coded(view: TableView, table: str, names: list[str]) -> CodedTable:
    (coded,) = view.counted([f"{table}.{name}" for name in names])
    return replace(coded, name=repr(table))


def _require_no_link(view: TableView, first: str, second: str) -> None:
    """Insist that no other column of both tables joins their rows: with it, more is seen than counts.

    Raises:
        CheckError: one has a different value in each row of either table, and a value of it is in both.
    """
    attributes = view.policy.document.attributes
    for name in sorted(one.removeprefix(f"{first}.") for one in attributes if one.startswith(f"{first}.")):
        pair = f"{first}.{name}", f"{second}.{name}"
        if pair[1] not in attributes or any(attributes[one].role is Role.QUASI_IDENTIFIER for one in pair):
            continue
        domains = [view.counted([one])[0].domains[one] for one in pair]
        single = all(one.size and not one.missing and int(one.counts.max()) == 1 for one in domains)
        if single and {*domains[0].labels} & {*domains[1].labels}:
            raise CheckError(
                f"column {name!r} has another value in every row of {first!r} and of {second!r}, and joins their rows; "
                "name it as `unit:` and demand `k_anonymity` of whole histories, or drop it"
            )


def _require_subset(compared: Differences, first: str, second: str) -> None:
    more = np.maximum(compared.before - compared.now, 0)
    if more.any():
        groups, people = int((more > 0).sum()), int(more.sum())
        raise CheckError(
            f"{second!r} is no subset of {first!r}: {count(groups, 'class')} {agree(groups, 'has', 'have')} "
            f"{people:,} more there; write the columns of both alike, or leave `subset` out"
        )


def _faults(parameters: SubsetParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    if document.tables is None:
        return
    if len(parameters.tables) != 2:
        yield "tables", "name two tables, such as [patients, treated]"
        return
    unknown = [one for one in parameters.tables if one not in document.tables]
    for name in unknown:
        yield "tables", f"the policy has no table {name!r}; it has {', '.join(document.tables)}"
    if unknown:
        return
    first, second = parameters.tables
    files = [document.tables[one].file for one in parameters.tables]
    if first == second or (files[0] is not None and files[0] == files[1]):
        yield "tables", f"{first!r} is compared with itself; name two tables with a file each"
        return
    common = common_names(document, first, second)
    if not common:
        yield "tables", f"{first!r} and {second!r} have no quasi-identifier in common, so no count can be compared"
    for name in common:
        pair = (document.attributes[f"{table}.{name}"] for table in parameters.tables)
        if len({one.reading for one in pair}) > 1:
            yield "tables", f"{name!r} is declared with another scale, order or hierarchy in each; declare it alike"


def _values(outcome: Outcome) -> Mapping[str, Any]:
    """Whether the counts are equal, the tables, and the columns that both have."""
    first, second = outcome.details["tables"]
    return {
        "unchanged": outcome.observed is None or isinf(outcome.observed),
        "first": repr(first),
        "second": repr(second),
        "number_apart": outcome.details["only_in_first"] + outcome.details["only_in_second"],
    }


CHECKS: list[Check] = [
    TableCheck(
        name="subset_differencing",
        title="Subset differencing",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=SubsetParameters,
        measure=subset_differencing,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        label="smallest difference between the counts of a class in two tables",
        worst=lambda _, __: Fraction(1),
        needs={Need.UNLINKED_TABLES, Need.PARTITION},
        validate=_faults,
        sentences=Sentences(
            passed=(
                "[{unchanged?}No group with the same {compared} has {differs}|{differing/classes:group} with "
                "the same {compared} {differing:has|have} {differs}, by {observed:{record}} or more].{apart}"
            ),
            failed=(
                "{failing_classes/classes:group} with the same {compared} {failing_classes:has|have} "
                "{differs}, by fewer than {threshold:{record}}, which isolates {failing:{record}}; the smallest "
                "difference is {observed:{record}}.{apart}"
            ),
            impact=(
                "An intruder who subtracts the counts of two tables learns [{unchanged?}of no one who is in one of "
                "them only: they are equal|from the smallest difference that {person} is [{observed=1?}the only one|"
                "one of {observed}] of a group who is in one of them only]."
            ),
            parts={
                "differs": "more or fewer {record:plural} in {first} than in {second}",
                "apart": "[ {number_apart} of these groups {number_apart:is|are} in one of the tables only.]",
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "subset_differencing.md"),
    )
]
