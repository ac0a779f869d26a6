"""(n, t)-closeness: how far a class is from the nearest group of at least n records around it.

The groups are made of other classes, so this is a check on the table: the figure of a class on classes must not depend
on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import (
    Counts,
    Distribution,
    add_up,
    ancestors_of,
    count_pairs,
    fold,
    numbered,
    order_of,
)
from tcdp_audit.plugin.check import (
    DisclosureType,
    Histogram,
    Need,
    ReferenceDistribution,
    TableCheck,
    TableFigure,
)
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences, count
from tcdp_audit_plugins.checks._shared.sensitive_values import violation_of
from tcdp_audit_plugins.checks.t_closeness.nearest import Nearest, Subject
from tcdp_audit_plugins.checks.t_closeness.t_closeness import KINDS, T_CLOSENESS, ClosenessParameters, Distance
from tcdp_audit_plugins.guides import built_in_guide

if TYPE_CHECKING:
    from tcdp_audit.plugin.check import TableView
    from tcdp_audit.plugin.engine import CodedTable, Domain, Hierarchy

Nodes = NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of a release, with the values of an attribute in each."""

    histogram: Histogram  # the attribute's values in each class
    records: Counts  # of each class, those without a value among them
    # for each quasi-identifier the node above each class's value at each level. Shapes (height + 1, classes).
    nodes: Sequence[Nodes]

    @property
    def steps(self) -> int:
        """The number of steps above the classes themselves."""
        return max(len(one) for one in self.nodes) - 1

    def groups(self) -> Iterator[tuple[NDArray[np.intp], int]]:
        """The group of each class at each step from the classes up to the table, and how many groups there are."""
        for step in reversed(range(1, self.steps)):
            columns = [one[max(len(one) - 1 - step, 0)] for one in self.nodes]
            keys = fold(columns, [int(one.max()) + 1 for one in columns])
            distinct, group = numbered(keys.values, keys.span)
            yield group.astype(np.intp), len(distinct)
        yield np.zeros(len(self.records), dtype=np.intp), 1


def classes_of(view: TableView, table: CodedTable, attribute: str, *, missing_is_a_value: bool) -> Classes:
    """The classes of a table's rows. O(rows log rows)."""
    names = view.quasi_identifiers
    domains = [table.domains[name] for name in names]
    keys = fold([table.codes[name] for name in names], [one.size + 1 for one in domains])
    size = table.domains[attribute].size
    counted = count_pairs(keys, table.codes[attribute], size + 1, table.times)
    codes = keys.decode(numbered(keys.values, keys.span)[0].astype(np.int64))
    nodes = [
        _nodes(domain, view.hierarchies.get(name))[:, own]
        for name, domain, own in zip(names, domains, codes, strict=True)
    ]
    return Classes(counted if missing_is_a_value else counted.without(size), counted.total, nodes)


def _nodes(domain: Domain, hierarchy: Hierarchy | None) -> Nodes:
    """The node above each value at each level, from 0 on; a missing value has nodes of its own below the root."""
    values = np.arange(domain.size + 1)
    if hierarchy is None:
        return np.array([values, np.zeros_like(values)])
    above = ancestors_of(hierarchy, domain.labels)
    levels = [np.unique(one, return_inverse=True)[1] for one in above[:-1]]
    return np.array([*(np.append(one, one.max(initial=-1) + 1) for one in levels), np.zeros_like(values)])


class NtClosenessParameters(ClosenessParameters):
    """Parameters of `nt_closeness`."""

    n: Annotated[int, Field(ge=2, description="How many records a group must have that a class is compared with.")]
    attribute: Annotated[
        Text | None, Field(description="The sensitive attribute; without it, the only one that there is.")
    ] = None


def nt_closeness(view: TableView, parameters: NtClosenessParameters) -> TableFigure:
    """The largest distance of a class from the nearest of the groups of at least n records around it.

    Returns:
        As `t_closeness`: exact fractions except for divergences and for numbers other than small integers; there the
        side of t on which the figure lies is exact.

    Raises:
        CheckError: the table has fewer than n records with a value, or the attribute cannot be measured.

    Cost: for every step of the hierarchies one grouping of the classes, and what the distance costs on the classes of
    each group of at least n records that is larger than the one before, of which there are at most records / n.

    Source: Li, Li, Venkatasubramanian (2010), (n, t)-closeness.
    """
    attribute = parameters.attribute or view.policy.with_role(Role.SENSITIVE)[0]
    (table,) = view.counted([*view.quasi_identifiers, attribute])
    subject = Subject.of(view, table, attribute, parameters)
    classes = classes_of(view, table, attribute, missing_is_a_value=subject.missing_is_a_value)
    sizes = classes.histogram.total
    if sizes.sum() < parameters.n:
        raise CheckError(
            f"the release has {count(int(sizes.sum()), 'record')} with a value of {attribute!r}, so there is no group "
            f"of {parameters.n:,}; choose a smaller n"
        )
    nearest = Nearest(subject, len(classes.records))
    nearest.compare_themselves(np.flatnonzero(sizes >= parameters.n))
    for classes_here, weights in _larger_groups(classes, parameters.n, subject.size):
        nearest.compare(classes_here, classes.histogram.take(classes_here), ReferenceDistribution(weights))
    fails = nearest.fails
    records = int(classes.records.sum())
    return TableFigure(
        value=nearest.worst(),
        violation=violation_of(view, [table.domains[attribute]]),
        records=records,
        failing=None if parameters.t is None else int(classes.records[fails].sum()),
        classes=(len(fails), None if parameters.t is None else int(fails.sum())),
        distribution=Distribution.of(nearest.values, classes.records).rows,
        details={
            "attribute": attribute,
            "steps": classes.steps,
            "groups_compared": nearest.groups,
            "large_classes": int((sizes >= parameters.n).sum()),
        },
    )


def _larger_groups(classes: Classes, n: int, size: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """The small classes of each group of at least n records, and how often each value occurs in the group.

    A group that has not grown since the step before is no other group.
    """
    histogram, sizes = classes.histogram, classes.histogram.total
    before = sizes
    for group, number in classes.groups():
        together = add_up(group[histogram.rows], histogram.values, histogram.counts, number, size)
        now = together.total[group]
        small = np.flatnonzero((sizes < n) & (sizes > 0) & (now >= n) & (now > before))
        small = small[order_of(group[small], number)]
        ends = np.flatnonzero(np.diff(group[small], append=-1)) + 1
        for one in np.split(small, ends[:-1]) if len(small) else []:
            weights, row = np.zeros(size, dtype=np.int64), together.take(group[one[:1]])
            weights[row.values] = row.counts
            yield one, weights
        before = now


def _faults(parameters: NtClosenessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    sensitive = sorted(name for name, one in document.attributes.items() if one.role is Role.SENSITIVE)
    if parameters.attribute is None and len(sensitive) > 1:
        yield "attribute", f"the policy has {len(sensitive):,} sensitive attributes; name one of them"
        return
    conventions = document.conventions.model_copy(update={"reference": "release"})  # a group is the reference
    given = {name: getattr(parameters, name) for name in ClosenessParameters.model_fields}
    of_closeness = replace(T_CLOSENESS, title="(n, t)-closeness")
    yield from of_closeness.faults(
        ClosenessParameters.model_validate(given), document.model_copy(update={"conventions": conventions})
    )


CHECKS = [
    TableCheck(
        name="nt_closeness",
        title="(n, t)-closeness",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=NtClosenessParameters,
        measure=nt_closeness,
        threshold="t",
        comparison=Comparison.AT_MOST,
        label="distance from the nearest large group",
        variant=lambda parameters: KINDS[parameters.distance].name,
        validate=_faults,
        needs={Need.ROWS, Need.PARTITION},
        sentences=Sentences(
            passed=(
                "Every {record} is in a group whose mix of {details.attribute:column} differs from some group of at "
                "least {n} around it [{infinite?}without bound|by at most {observed}] ({distance_name})."
            ),
            failed=(
                "{victims} whose mix of {details.attribute:column} differs by more than {threshold} from every "
                "group of {n} around it ({distance_name}); the furthest differs {far}."
            ),
            impact=(
                "In the group that deviates most, {details.attribute:column} differs from that of every group of "
                "{n} or more around them {far}."
            ),
            parts={"far": "[{infinite?}without bound|by {observed}]"},
            values=lambda outcome: {"distance_name": KINDS[Distance(outcome.parameters["distance"])].name},
        ),
        guide=built_in_guide(__file__, "nt_closeness.md"),
    )
]
