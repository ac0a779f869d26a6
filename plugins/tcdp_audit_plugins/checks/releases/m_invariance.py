"""m-invariance: the classes of a person show the same sensitive values in all releases, each value once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.releases.candidates import (
    SensitiveParameters,
    candidates,
    faults_of_followed,
    sensitive_attributes,
)
from tcdp_audit_plugins.checks.releases.classes import (
    ClassValues,
    Lifespans,
    Positions,
    ReleaseClasses,
    classes_of_releases,
    followed_by,
    rows_of_people,
    values_of_releases,
)
from tcdp_audit_plugins.guides import built_in_guide

NO_COMMON_PERSON = (
    "no one who is in this release is in an earlier one, with a sensitive value in both, so that no signature can "
    "change; check that the `key` is written alike in all releases"
)


class InvarianceParameters(SensitiveParameters):
    """Parameters of `m_invariance`."""

    m: Annotated[
        int | None, Field(ge=1, description="The least number of records, with a value each, in a class that stays.")
    ] = None


@dataclass(frozen=True)
class Signatures:
    """What the classes of all releases show of a sensitive attribute."""

    unique: Sequence[Counts]  # for each release how many records each class has if their values all differ, else 0
    people: Positions  # the code of the key of everyone who is in two releases or more
    changed: NDArray[np.bool_]  # whose classes do not show the same values in all of them
    now: NDArray[np.bool_]  # who of them is in this release


def signatures(
    releases: Sequence[ReleaseClasses],
    rows: Sequence[Positions],
    values: Sequence[ClassValues],
    memory: int | None = None,
) -> Signatures:
    """The signatures of the classes of everyone: the sets of values that they show.

    Cost: O(records), and the values of the smallest class of each combination of classes.
    """
    unique = [np.where(one.records == one.number, one.number, 0) for one in values]
    lives = Lifespans.of(releases, rows, values)
    common = candidates(values, lives.classes, memory).number
    changed = np.zeros(len(common), dtype=np.bool_)
    for one, classes in zip(values, lives.classes, strict=True):
        changed |= (classes >= 0) & (np.append(one.number, 0)[classes] != common)
    return Signatures(unique, lives.people, changed[lives.combination], lives.now)


def m_invariance(view: TableView, parameters: InvarianceParameters) -> TableFigure:
    """The largest m for which all releases together are m-invariant.

    Returns:
        The size of the smallest class of any release; 0 where a class has a value twice, or where the classes of a
        person show other values in one release than in another.

    Raises:
        CheckError: there is no earlier release, people cannot be followed, or no one is in two releases.

    Cost: O(records log records), and the values of the smallest class of each combination of classes.

    Source: Xiao, Tao (2007): m-uniqueness and m-invariance.
    """
    names, key = sensitive_attributes(parameters, view), view.policy.document.key
    assert key is not None  # noqa: S101 - a policy without one is refused
    releases = classes_of_releases(view, [*names, key])
    rows = rows_of_people(releases, key, followed_by(view, key))
    shown = [signatures(releases, rows, values_of_releases(view, releases, name), view.memory) for name in names]
    if not any(one.now.any() for one in shown):
        raise CheckError(NO_COMMON_PERSON)
    unique = [np.min(own, axis=0) for own in zip(*(one.unique for one in shown), strict=True)]
    changed = np.zeros(len(rows[0]), dtype=np.bool_)
    for one in shown:
        changed[one.people[one.changed]] = True
    figure = _figure(view, releases[0], rows[0], unique, changed, parameters.m)
    return replace(figure, details={**figure.details, "sensitive": names})


def _figure(
    view: TableView,
    this: ReleaseClasses,
    rows: Positions,
    unique: Sequence[Counts],
    changed: NDArray[np.bool_],
    demanded: int | None,
) -> TableFigure:
    """The figure of all classes and all people; failing records are those of this release."""
    sizes = np.concatenate(unique)
    few = sizes < (1 if demanded is None else demanded)
    exposed = (unique[0] < (1 if demanded is None else demanded))[this.class_of]
    exposed[rows[changed & (rows >= 0)]] = True
    smallest = int(sizes.min())
    return TableFigure(
        value=0 if changed.any() else smallest,
        records=view.records,
        failing=None if demanded is None else int(exposed.sum()),
        classes=(len(sizes), None if demanded is None else int(few.sum())),
        details={
            "smallest_class": smallest,
            "classes_with_repeated_values": int((sizes == 0).sum()),
            "changed_signatures": int(changed.sum()),
        },
        distribution=distribution_of(unique[0], this.records),
    )


CHECKS: list[Check] = [
    TableCheck(
        name="m_invariance",
        history_reading=lambda _: "linked",
        validate=faults_of_followed,
        title="m-invariance",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=InvarianceParameters,
        measure=m_invariance,
        threshold="m",
        comparison=Comparison.AT_LEAST,
        label="largest m of all releases",
        needs={Need.PREVIOUS, Need.ROWS, Need.SENSITIVE, Need.KEY},
        sentences=Sentences(
            passed=(
                "[{observed>0?}Each group of each release has at least {observed:{record}}, all with different "
                "values of {details.sensitive}, and no one's group shows other values in another release|For "
                "{details.sensitive}, [{changed_signatures>0?}the groups of {changed_signatures:{record}} show "
                "other values in one release than in another[{classes_with_repeated_values>0?} and "
                "]][{classes_with_repeated_values>0?}{classes_with_repeated_values:group} of {record:plural} "
                "{classes_with_repeated_values:has|have} no value, or one of them twice]]."
            ),
            impact=(
                "{intruder} and follows them through the releases is left with the same {observed:value} each time "
                "where the fewest are left: a guess is right with {guess:chance} there."
            ),
            no_impact="{intruder} and follows them through the releases may rule values out until one is left.",
        ),
        guide=built_in_guide(__file__, "m_invariance.md"),
    )
]
