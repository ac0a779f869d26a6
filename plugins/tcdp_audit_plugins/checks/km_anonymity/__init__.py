"""k^m-anonymity: anyone who knows a few items of a person's set finds enough others who have them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences, listing
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.km_anonymity.item_sets import item_sets_of, least_of_each, supports
from tcdp_audit_plugins.guides import built_in_guide


class KmParameters(Parameters):
    """Parameters of `km_anonymity`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of records that have any items that one of them has.")
    ] = None
    m: Annotated[int, Field(ge=1, description="How many items of a person an intruder knows, at the most.")] = 2
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The columns whose cells hold items; by default all quasi-identifiers."),
    ] = None
    delimiter: Annotated[Text, Field(min_length=1, description="The separator between two items of a cell.")] = ";"


def km_anonymity(view: TableView, parameters: KmParameters) -> TableFigure:
    """The least number of records that have some at most m items which one of them has.

    Returns:
        An exact whole number, of records (or of entities, where the policy names a unit).

    Raises:
        CheckError: no record has an item, or combinations of more than two items outgrow the memory.

    Cost: a product of sparse matrices for pairs; for more items O(combinations that records have).

    Source: Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, PVLDB 1(1), 2008,
    definition 1.
    """
    columns, unit = sorted(parameters.attributes or view.quasi_identifiers), view.policy.document.unit
    (table,) = view.counted(columns if unit is None else [*columns, unit])
    sets = item_sets_of(table, columns, parameters.delimiter, unit, view.policy.conventions.suppressed_tokens)
    if not len(sets.items):
        raise CheckError(f"no record has an item in {listing([repr(name) for name in columns])}")
    least = np.full(len(sets.records), np.iinfo(np.int64).max)
    smallest: dict[str, int] = {}
    different: dict[str, int] = {}
    rare: dict[str, int] = {}
    exposed: dict[str, int] = {}
    k = parameters.k or 0
    for size in range(1, min(parameters.m, int(sets.lengths.max())) + 1):
        held = supports(sets, size, view.memory)
        of_set = least_of_each(sets, held)
        np.minimum(least, of_set, out=least)
        smallest[str(size)], different[str(size)] = int(held.records.min()), len(held.numbers)
        rare[str(size)] = int((held.records < k).sum())
        exposed[str(size)] = int(sets.records[of_set < k].sum())
    has_items = sets.lengths > 0
    demanded = {"rare_combinations": rare, "exposed": exposed} if parameters.k is not None else {}
    return TableFigure(
        Fraction(min(smallest.values())),
        int(sets.records.sum()),
        int(sets.records[least < k].sum()) if parameters.k is not None else None,
        details={
            "items": sets.different,
            "largest_set": int(sets.lengths.max()),
            "without_items": int(sets.records[~has_items].sum()),
            "combinations": different,
            "smallest_supports": smallest,
            **demanded,
        },
        distribution=distribution_of(least[has_items], sets.records[has_items]),
    )


def _known(parameters: KmParameters, document: PolicyDocument) -> list[str] | None:
    """The quasi-identifiers, whose cells are items; None where the parameters say which columns hold them."""
    return document.with_role(Role.QUASI_IDENTIFIER) if parameters.attributes is None else None


def _faults(parameters: KmParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    known = [name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    names = known if parameters.attributes is None else parameters.attributes
    if not names:
        yield "attributes", "no attribute has the role quasi_identifier; say which columns hold the items"
    for name in names:
        if name == document.unit:
            yield "attributes", f"{name!r} is the unit of privacy, which holds no items"


CHECKS: list[Check] = [
    TableCheck(
        name="km_anonymity",
        title="k^m-anonymity",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=KmParameters,
        measure=km_anonymity,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        label="least number of records with the same few items",
        worst=lambda _, __: Fraction(1),
        needs_quasi_identifiers=False,
        reads_known=_known,
        validate=_faults,
        needs={Need.PARTITION, Need.DECLARED, Need.DISTINCT},
        sentences=Sentences(
            passed=(
                "An intruder who knows {items} of a person in {known} finds at least {observed:{unit}} with the same."
            ),
            failed=(
                "{failing/records:{unit}} {failing:has|have} {items} in {known} that fewer than {k:{unit}} have; "
                "the least is {observed:{unit}}."
            ),
            impact=(
                "An intruder who knows {items} of {person} in {known} narrows them down to {observed:{unit}} "
                "where the fewest match; a guess is right with {guess:chance} there."
            ),
            parts={"items": "[{m=1?}one item|{m} items or fewer]"},
        ),
        guide=built_in_guide(__file__, "km_anonymity.md"),
    )
]
