"""(n, t)-closeness: how far a class is from the nearest group of at least n records around it.

The groups are made of other classes, so this is a check on the table: the figure of a class on classes must not depend
on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import add_up, order_of, summarise
from tcdp_audit.plugin.check import (
    CheckError,
    Comparison,
    DisclosureType,
    Guide,
    ReferenceDistribution,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.sampling import counts_rows, needs_a_partition
from tcdp_audit_plugins.checks._shared.sensitive_values import violation_of
from tcdp_audit_plugins.checks.t_closeness.nearest import Nearest, Subject
from tcdp_audit_plugins.checks.t_closeness.nt_sentences import person, sentence
from tcdp_audit_plugins.checks.t_closeness.supersets import Classes, classes_of
from tcdp_audit_plugins.checks.t_closeness.t_closeness import KINDS, T_CLOSENESS, ClosenessParameters
from tcdp_audit_plugins.formulas import formula


class NtClosenessParameters(ClosenessParameters):
    """Parameters of `nt_closeness`."""

    n: Annotated[int, Field(ge=2, description="How many records a group must have that a class is compared with.")]
    attribute: Annotated[
        Text | None, Field(description="The sensitive attribute; without it, the only one that there is.")
    ] = None


def nt_closeness(view: TableView, parameters: NtClosenessParameters) -> TableFigure:
    """The largest distance of a class from the nearest of the groups of at least n records around it.

    Returns:
        As `t_closeness`: exact fractions but for the divergences and for numbers that are no small integers; there the
        side of t on which the figure lies is exact.

    Raises:
        CheckError: the table has fewer than n records with a value, or the attribute cannot be measured.

    Cost: for every step of the hierarchies one grouping of the classes, and what the distance costs on the classes of
    each group of at least n records that is larger than the one before, of which there are at most records / n.

    Source: Li, Li, Venkatasubramanian (2010), (n, t)-closeness.
    """
    attribute = _attribute(parameters, view)
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
        distribution=summarise(nearest.values, classes.records, fails, Comparison.AT_MOST).distribution.rows,
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


def _attribute(parameters: NtClosenessParameters, view: TableView) -> str:
    """The sensitive attribute that is named, or the only one."""
    return parameters.attribute or view.policy.with_role(Role.SENSITIVE)[0]


def _faults(parameters: NtClosenessParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from counts_rows(document)
    yield from needs_a_partition(document, "a class would be in several groups of one step")
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
        sentence=sentence,
        person=person,
        guide=Guide(
            question="Does finding somebody's group tell more about their secret than a large group around it does?",
            risk="Whoever finds somebody's group may learn more about them than of any large group around it.",
            definition=(
                "For every equivalence class E there is a group P around it with at least n records, so that the "
                "distributions of the sensitive attribute in E and in P are within distance t. What holds of many "
                "people, such as of a region, is taken for common knowledge; t-closeness takes only what holds of the "
                "whole table for that. A class of n records or more is its own group. The distances are those of "
                "`t_closeness`."
            ),
            **formula(
                r"\max_E \min_{P \supseteq E, |P| \ge n} D(E, P) \le t",
                r"P_s = \{r : a_s(r_j) = a_s(E_j) \text{ for all } j\}",
                r"a_s(v) \text{ the ancestor of } v",
                r"s \text{ levels below the root}",
            ),
            reading=(
                "The observed value is the least distance of the class that is furthest from all its groups. 50 of 100 "
                "people from 20 to 29 have cancer, 100 of 300 from 30 to 39, and 850 of 2,500 of the others: the first "
                "are 9/58 from the table and 1/8 from the 400 people from 20 to 39, so t = 0.13 is kept for n = 400. "
                "Details: `attribute`; `steps`, levels of groups above the classes; `groups_compared`, groups of at "
                "least n records that a smaller class was compared with; `large_classes`, those that are groups "
                "themselves."
            ),
            choosing=(
                "n as many people as may be known together, such as those of a town: 1,000 in the paper. t as for "
                "`t_closeness`, which is this with only the whole table for a group; the figure is never larger."
            ),
            limits=(
                "Groups are taken along the declared hierarchies only, all quasi-identifiers together: at step s, the "
                "records that agree with the class in every quasi-identifier's ancestor s levels below its root, or in "
                "the value itself where that is nearer to the root; step 0 is the whole table. A quasi-identifier "
                "without a hierarchy stands one level below the root, and a missing value has no ancestor but the "
                "root. A smaller figure may be possible with other groups, so the figure is an upper bound: a pass is "
                "proved, a failure holds for these groups. Records without a sensitive value do not count for n where "
                "they are excluded. `missing_quasi_identifier: wildcard` and a `unit` are refused."
            ),
            source=(
                "Li, Li, Venkatasubramanian, Closeness: a new privacy measure for data publishing, IEEE TKDE 22(7), "
                "2010, 943-956, doi:10.1109/TKDE.2009.139"
            ),
            example="- nt_closeness: {n: 20, t: 0.2, attribute: disease}",
        ),
    ),
]
