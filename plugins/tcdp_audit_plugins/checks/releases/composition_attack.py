"""Composition attack: what is left of a person's sensitive value once several releases are laid over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, fold, numbered
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.releases.boxes import overlapping
from tcdp_audit_plugins.checks.releases.candidates import (
    Candidates,
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

NOT_COMPARED = np.iinfo(np.int64).max  # of a person about whom nothing is compared


class CompositionParameters(SensitiveParameters):
    """Parameters of `composition_attack`."""

    at_least: Annotated[
        int | None, Field(ge=1, description="The least number of values that must be left for each person: 2 or more.")
    ] = None


@dataclass(frozen=True)
class Left:
    """What is left of the values of some people, or of some classes of the release."""

    number: Counts  # how many values are left for each; `NOT_COMPARED` where nothing is compared
    entropy: float  # their least conditional entropy in bits, infinite where no value is left
    records: Counts  # how many records of the release each is

    @classmethod
    def worst_of(cls, parts: Sequence[Left]) -> Left:
        """The least that is left of several attributes."""
        number = np.min([one.number for one in parts], axis=0)
        return cls(number, min(one.entropy for one in parts), parts[0].records)


def composition_attack(view: TableView, parameters: CompositionParameters) -> TableFigure:
    """The least number of sensitive values that the classes of a person have in common, over all releases.

    With a key, the classes are those of each person's own records. Without one, any two classes of this release and an
    earlier one whose quasi-identifiers overlap may be one person's, if they have a value in common at all.

    Returns:
        A number of values; 0 for a person whose value is another one in each release.

    Raises:
        CheckError: there is no earlier release, or no one is in two.

    Cost: with a key O(people x values of their smallest class); without one, that for each pair of overlapping classes.

    Source: Ganta, Kasiviswanathan, Smith (2008).
    """
    names, key = sensitive_attributes(parameters, view), view.policy.document.key
    releases = classes_of_releases(view, [*names, *([] if key is None else [key])], counted=key is None)
    values = {name: values_of_releases(view, releases, name) for name in names}
    if key is None:
        left = _of_classes(view, releases, values)
        place = np.arange(len(left.number))
    else:
        rows = rows_of_people(releases, key, followed_by(view, key))
        left = Left.worst_of([_of_people(releases, rows, own, view.memory) for own in values.values()])
        place = np.append(releases[0].class_of, -1)[rows[0]]
    outcome = _figure(left, place, parameters.at_least, by_key=key is not None)
    return replace(outcome, details={**outcome.details, "sensitive": names})


def _of_people(
    releases: Sequence[ReleaseClasses], rows: Sequence[Positions], values: Sequence[ClassValues], memory: int | None
) -> Left:
    """What is left of everyone who is in this release and in an earlier one, by the code of their key.

    Anyone who has no value in a release is not in it.
    """
    number = np.full(len(rows[0]), NOT_COMPARED)
    lives = Lifespans.of(releases, rows, values)
    outcome = candidates(values, lives.classes, memory)
    number[lives.people[lives.now]] = outcome.number[lives.combination[lives.now]]
    some = lives.classes[0] >= 0
    entropy = _least_entropy(Candidates(outcome.number[some], outcome.entropy[some]))
    return Left(number, entropy, np.ones(len(number), dtype=np.int64))


def _least_entropy(outcome: Candidates) -> float:
    return float(np.min(outcome.entropy, where=outcome.number > 0, initial=np.inf))


def _of_classes(
    view: TableView, releases: Sequence[ReleaseClasses], values: Mapping[str, Sequence[ClassValues]]
) -> Left:
    """What is left of a person in each class of this release who may be in a class of an earlier one.

    Classes without a value in common hold no one who is in both.
    """
    this = releases[0]
    parts = []
    for place, earlier in enumerate(releases[1:], 1):
        own, theirs = overlapping(view, this, earlier, suppressed_is_anything=True)
        for of_attribute in values.values():
            outcome = candidates([of_attribute[0], of_attribute[place]], [own, theirs], view.memory)
            number = np.full(len(this.records), NOT_COMPARED)
            some = outcome.number > 0
            np.minimum.at(number, own[some], outcome.number[some])
            parts.append(Left(number, _least_entropy(outcome), this.records))
    return Left.worst_of(parts)


def _figure(left: Left, place: Positions, demanded: int | None, *, by_key: bool) -> TableFigure:
    """The figure of everyone about whom something is compared."""
    known_number = left.number < NOT_COMPARED
    if not known_number.any():
        raise CheckError(NO_COMMON_PERSON if by_key else NO_COMMON_CLASS)
    number, records, place = left.number[known_number], left.records[known_number], place[known_number]
    people = int(records.sum())
    few = None if demanded is None else number < demanded
    return TableFigure(
        value=int(number.min()),
        records=people,
        failing=None if few is None else int(records[few].sum()),
        classes=(len(np.unique(place)), None if few is None else len(np.unique(place[few]))),
        details={
            "with_none": int(records[number == 0].sum()),
            "with_one": int(records[number == 1].sum()),
            "least_entropy": left.entropy if np.isfinite(left.entropy) else None,
            "by_key": by_key,
        },
        distribution=_distribution(number, records, place),
    )


def _distribution(number: Counts, records: Counts, place: Positions) -> Sequence[Sequence[float]]:
    """[values left, classes of this release, people], ascending."""
    keys = fold([number, place], [int(number.max()) + 1, int(place.max()) + 1])
    distinct, which = numbered(keys.values, keys.span)
    figures, _ = keys.decode(distinct.astype(np.int64))
    return distribution_of(figures, np.bincount(which, records, len(distinct)).astype(np.int64))


NO_COMMON_PERSON = (
    "no one who is in this release is in an earlier one, with a sensitive value in both, so nothing is intersected; "
    "check that the `key` is written alike in all releases"
)
NO_COMMON_CLASS = (
    "no class of this release overlaps with a class of an earlier one that has a sensitive value in common with it, "
    "so nothing is intersected; check that both write their quasi-identifiers and values alike, or declare "
    "hierarchies"
)


CHECKS: list[Check] = [
    TableCheck(
        name="composition_attack",
        history_reading=lambda _: "linked",
        validate=faults_of_followed,
        title="Composition attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=CompositionParameters,
        measure=composition_attack,
        threshold="at_least",
        comparison=Comparison.AT_LEAST,
        label="least number of sensitive values left by all releases",
        needs={Need.PREVIOUS, Need.ROWS, Need.SENSITIVE},
        sentences=Sentences(
            passed="Each {record} in several releases has at least {observed:value} {left}.",
            failed=(
                "{failing/records:{record}} {failing:has|have} fewer than {threshold:value} {left}[; for "
                "{with_one/records:{record}} a single one is]."
            ),
            impact=(
                "{intruder}, and that they are in several releases, [{observed=0?}may find groups without a common "
                "value: their value is another one in each|{observed=1?}can know their value of {details.sensitive} "
                "for certain|is left with {observed} values of {details.sensitive} where the fewest are left]."
            ),
            parts={"left": ("of {details.sensitive} left, once this release and the earlier ones are intersected")},
        ),
        guide=built_in_guide(__file__, "composition_attack.md"),
    )
]
