"""LKC-privacy: what an intruder can do who knows a few quasi-identifiers of a person, whichever they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, count_in_classes, occurrences
from tcdp_audit.plugin.check import (
    Check,
    DisclosureType,
    Histogram,
    Limit,
    Need,
    Parameters,
    Ratios,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.remedy import MeasuredSubsets
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import require_few_sets, sets_up_to
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks._shared.sensitive_values import violation_of
from tcdp_audit_plugins.guides import built_in_guide

Flags = NDArray[np.bool_]
Subset = tuple[int, ...]


class LKCParameters(Parameters):
    """Parameters of `lkc_privacy`."""

    attribute: Annotated[
        Text | None, Field(description="The sensitive attribute; without it, each of them, the worst deciding.")
    ] = None
    L: Annotated[int, Field(ge=1, description="How many quasi-identifiers an intruder knows, at the most.")] = 2
    K: Annotated[
        int | None, Field(ge=1, description="The least number of records with the same values of any L of them.")
    ] = None
    C: Annotated[
        Exact | None, Field(gt=0, le=1, description="The largest share of one sensitive value among such records.")
    ] = None
    values: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The values of `attribute` that must not be inferred; by default every one."),
    ] = None


@dataclass
class _OfSize:
    """The figures of the sets of one size."""

    alone: Flags  # rows whose record some set makes unique
    small: Flags  # rows in a group of fewer than K records by some set
    homogeneous: Flags  # rows in a group with a single sensitive value by some set
    valueless: Flags  # rows in a group without any value of a sensitive attribute by some set
    sure: Flags  # rows in a group in which a value has a share above C by some set
    least: tuple[int, Subset] = (2**62, ())  # the smallest group, and the set that has it
    # the largest share, the set, and the sensitive attribute
    most: tuple[Fraction, Subset, str] = (Fraction(-1), (), "")

    @classmethod
    def of(cls, rows: int) -> _OfSize:
        """Before any set was looked at."""
        alone, small, homogeneous, valueless, sure = np.zeros((5, rows), bool)
        return cls(alone, small, homogeneous, valueless, sure)


def lkc_privacy(view: TableView, parameters: LKCParameters) -> TableFigure:
    """The size of the smallest group by any at most L quasi-identifiers, and the largest share of a value in one.

    A group by more attributes is never larger, so sizes are decided at L. A share may grow and shrink, so it is
    measured at every size from 1 to L.

    Returns:
        The number of records as an exact fraction; the share under the further limit `C`.

    Cost: numbering the distinct rows, and counting each sensitive attribute, once for each set of at most L.

    Source: Mohammed, Fung, Hung, Lee, Anonymizing healthcare data, KDD 2009, definition 3.1.
    """
    known = view.quasi_identifiers
    sensitive = view.policy.with_role(Role.SENSITIVE) if parameters.attribute is None else [parameters.attribute]
    (table,) = view.counted([*known, *sensitive])
    times, length = table.rows.each, min(parameters.L, len(known))
    secrets = [_Secret.of(table, name, view, parameters) for name in sensitive]
    sizes = {size: _OfSize.of(len(times)) for size in range(1, length + 1)}
    measured = MeasuredSubsets([table.codes[name] for name in known], times)
    smallest = np.full(len(times), view.records)
    for subset in sets_up_to(len(known), length):
        size = sizes[len(subset)]
        group, groups = measured.numbers(subset)
        records = occurrences(group, groups, times)
        size.least = min(size.least, (int(records.min()), subset))
        size.alone |= (records == 1)[group]
        size.small |= (records < (parameters.K or 0))[group]
        np.minimum(smallest, records[group], out=smallest)
        for secret in secrets:
            secret.measure(size, subset, (group, groups, times), parameters.C)
    figure = _figure(sizes, times, known, parameters)
    further = {**figure.details, "sensitive": sensitive}
    violation = violation_of(view, [table.domains[name] for name in sensitive])
    return replace(figure, details=further, distribution=_by_class(measured, smallest), violation=violation)


def _by_class(measured: MeasuredSubsets, of_row: Counts) -> list[list[float]]:
    """[figure, classes, records] of a figure that is the same in all rows of an equivalence class."""
    group, groups = measured.numbers(tuple(range(len(measured.columns))))
    figures = np.empty(groups, np.int64)
    figures[group] = of_row
    return distribution_of(figures, occurrences(group, groups, measured.times))


@dataclass(frozen=True)
class _Secret:
    """A sensitive attribute."""

    name: str
    codes: NDArray[Any]  # of each row
    radix: int  # a number above all codes
    excluded: int | None  # the code of a missing value, where such are left out; None where it is a value
    counts: Flags  # which codes must not be inferred. Shape (radix,).

    @classmethod
    def of(cls, table: CodedTable, name: str, view: TableView, parameters: LKCParameters) -> _Secret:
        """The attribute of a table.

        Raises:
            CheckError: no record has a value of it, or one that must not be inferred.
        """
        domain, missing = table.domains[name], view.policy.conventions.missing_sensitive
        excluded = None if missing == "own_category" else domain.size
        if not domain.size and excluded is not None:
            raise CheckError(f"column {name!r} has no value in any record")
        counted = np.ones(domain.size + 1, bool)
        if parameters.values is not None:
            lacking = [one for one in parameters.values if one not in set(domain.labels)]
            if lacking:
                raise CheckError(
                    f"no record has {lacking[0]!r} in column {name!r}, so no one could infer it; correct `values`"
                )
            wanted = set(parameters.values)
            counted = np.array([*(label in wanted for label in domain.labels), False])
        return cls(name, table.codes[name], domain.size + 1, excluded, counted)

    def measure(
        self, size: _OfSize, subset: Subset, grouped: tuple[NDArray[Any], int, Counts], most: Fraction | None
    ) -> None:
        """Add what the groups by one set say of it."""
        group, groups, times = grouped
        histogram = count_in_classes(group, groups, self.codes, self.radix, times)
        if self.excluded is not None:
            histogram = histogram.without(self.excluded)
        size.homogeneous |= (histogram.distinct == 1)[group]
        size.valueless |= ~histogram.filled()[group]
        shares = self._shares(histogram)
        largest = _largest(shares)
        if largest > size.most[0]:
            size.most = (largest, subset, self.name)
        if most is not None:
            size.sure |= (shares.compare(most) > 0)[group]

    def _shares(self, histogram: Histogram) -> Ratios:
        """The largest share of a value that must not be inferred in each group; 1 where no record has any value."""
        counts = np.where(self.counts[histogram.values], histogram.counts, 0)
        nothing = ~histogram.filled()
        return Ratios(histogram.max(counts) + nothing, histogram.total + nothing)


def _largest(shares: Ratios) -> Fraction:
    """The largest of some fractions, exactly."""
    near = np.flatnonzero(shares.values >= shares.values.max() * (1 - 1e-12))
    pairs = {*zip(shares.numerator[near].tolist(), shares.denominator[near].tolist(), strict=True)}
    return max(Fraction(*pair) for pair in pairs)


def _figure(
    sizes: Mapping[int, _OfSize], times: Counts, known: Sequence[str], parameters: LKCParameters
) -> TableFigure:
    def records(flags: Flags) -> int:
        return int(times[flags].sum())

    def names(subset: Subset) -> list[str]:
        return [known[place] for place in subset]

    least, smallest_set = min((one.least for one in sizes.values()), key=lambda one: (one[0], len(one[1]), one[1]))
    most = max((one.most for one in sizes.values()), key=lambda one: (one[0], -len(one[1])))
    demanded = parameters.K is not None or parameters.C is not None
    exposed = np.logical_or.reduce([one.small | one.sure for one in sizes.values()])
    by_size = {str(size): one for size, one in sizes.items()}
    details: dict[str, Any] = {
        "confidence": most[0],
        "smallest_set": names(smallest_set),
        "surest_set": names(most[1]),
        "surest_attribute": most[2],
        "sets": {size: comb(len(known), int(size)) for size in by_size},
        "smallest_groups": {size: one.least[0] for size, one in by_size.items()},
        "confidences": {size: one.most[0] for size, one in by_size.items()},
        "unique_records": {size: records(one.alone) for size, one in by_size.items()},
        "records_in_homogeneous_groups": {size: records(one.homogeneous) for size, one in by_size.items()},
    }
    valueless = records(np.logical_or.reduce([one.valueless for one in sizes.values()]))
    if valueless:
        details["records_without_value"] = valueless
    if parameters.K is not None:
        details["records_in_small_groups"] = {size: records(one.small) for size, one in by_size.items()}
    if parameters.C is not None:
        details["records_inferred"] = {size: records(one.sure) for size, one in by_size.items()}
    return TableFigure(
        Fraction(least),
        int(times.sum()),
        records(exposed) if demanded else None,
        details=details,
        further={"C": most[0]},
    )


def _faults(parameters: LKCParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    roles = [one.role for one in document.attributes.values()]
    sensitive = sum(role is Role.SENSITIVE for role in roles)
    yield from require_few_sets(sum(role is Role.QUASI_IDENTIFIER for role in roles), parameters.L, "L")
    if sensitive > 1 and document.conventions.multiple_sensitive != "per_attribute":
        yield (
            "",
            (
                "it measures each sensitive attribute by itself, and the policy says `multiple_sensitive: "
                f"{document.conventions.multiple_sensitive}`; use `per_attribute`, or declare one sensitive attribute"
            ),
        )
    if parameters.values is not None and parameters.attribute is None and sensitive > 1:
        yield "values", "names values of one attribute; say which in `attribute`"


CHECKS: list[Check] = [
    TableCheck(
        name="lkc_privacy",
        title="LKC-privacy",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=LKCParameters,
        measure=lkc_privacy,
        threshold="K",
        comparison=Comparison.AT_LEAST,
        label="number of records in the smallest group by at most L attributes",
        class_size=lambda one: one.K,
        worst=lambda _, __: Fraction(1),
        further=(Limit("C", Comparison.AT_MOST, "largest share of one sensitive value in such a group"),),
        validate=_faults,
        needs={Need.ROWS, Need.PARTITION, Need.SENSITIVE},
        sentences=Sentences(
            passed=(
                "An intruder who knows {few} narrows a person down to {observed:{record}} at least, of whom at most "
                "{confidence} share a value of {surest_attribute:column}.{without}"
            ),
            failed=(
                "By {few}, {failing/records:{record}} {failing/records:is|are} in {failing:a group|groups} [{K?}of "
                "fewer than {K:{record}}[{C?} or ]][{C?}in which one value makes up more than {C:%}]; "
                "{smallest_set} {smallest:leaves|leave} {observed:{record}}, and {surest_set} "
                "{surest:reveals|reveal} {surest_attribute:column} with {confidence} confidence.{without}"
            ),
            impact=(
                "An intruder who knows {smallest_set} of {person} may be left with {observed:{record}}; one who "
                "knows {surest_set} may name {surest_attribute:column} and be right with "
                "{details.confidence:chance}."
            ),
            parts={
                "few": "[{L=1?}a single column|{L} columns or fewer]",
                "confidence": "{details.confidence:% against C}",
                "without": (
                    "[{records_without_value>0?} The confidence counts groups in which no one has a value as 100%, and "
                    "{records_without_value:{record}} {records_without_value:is|are} in one.]"
                ),
            },
            values=lambda outcome: {
                "smallest": len(outcome.details["smallest_set"]),
                "surest": len(outcome.details["surest_set"]),
            },
        ),
        guide=built_in_guide(__file__, "lkc_privacy.md"),
    )
]
