"""The homogeneity attack: where all members of a class share a value, finding the class is enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import groups, unit_noun, values_left
from tcdp_audit.plugin.check import AttackCheck, ClassEvidence, DisclosureType, ShareParameters
from tcdp_audit.plugin.report import Tally
from tcdp_audit.plugin.sentences import (
    Outcome,
    agree,
    column_of,
    in_worst_group,
    intruder_who_knows,
    record_noun,
    records_of,
)
from tcdp_audit_plugins.guides import built_in_guide


class HomogeneityParameters(ShareParameters):
    """Parameters of `homogeneity`."""


def homogeneous(evidence: ClassEvidence, _: HomogeneityParameters) -> NDArray[np.bool_]:
    """Which classes have a sensitive value that all their members have, be it the only one or not.

    Returns:
        bool, shape (classes,).

    Cost: O(classes).

    Source: Machanavajjhala et al. (2007), homogeneity attack; Torra (2022).

    Example:
        >>> from tcdp_audit.plugin.check import ReferenceDistribution
        >>> from tcdp_audit.plugin.check import Histogram
        >>> rows = Histogram(*map(np.array, ([0, 1, 3], [0, 0, 1], [2, 1, 2])))
        >>> evidence = ClassEvidence(np.array([2, 3]), rows, ReferenceDistribution(np.array([3, 2])))
        >>> homogeneous(evidence, HomogeneityParameters())
        array([ True, False])
    """
    return evidence.sensitive[0].certain


def _sentence(outcome: Outcome) -> str:
    assert outcome.records is not None  # noqa: S101 - outcomes on classes have them
    exposed, classes = outcome.details["victims"], outcome.details["victim_classes"]
    if "units" in outcome.details:
        people = Tally(outcome.details["units"], outcome.details["victim_units"])
        where = f"{records_of(people, unit_noun(outcome))} in {groups(classes or 1)}"
        known = ": finding the group is enough to know it" if exposed else ""
        return f"{where} in which everybody has the same value of {column_of(outcome)}{known}."
    if not exposed:
        noun = record_noun(outcome)
        return f"Every {noun} is in a group with several values of {column_of(outcome)}: finding it gives none away."
    where = f"{records_of(Tally(outcome.records.total, exposed), record_noun(outcome))} in {groups(classes)}"
    value = f"{agree(classes, 'has', 'have')} a single value of {column_of(outcome)}"
    return f"{where} that {value}: finding the group is enough to know it."


def _person(outcome: Outcome) -> str:
    if not outcome.details["victims"]:
        several = "no value that everybody has" if "units" in outcome.details else "several values"
        return f"{intruder_who_knows(outcome)} finds {several} of {column_of(outcome)} in every group."
    return f"{in_worst_group(outcome)} {values_left(outcome, 1)}."


CHECKS = [
    AttackCheck(
        name="homogeneity",
        title="Homogeneity attack",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=HomogeneityParameters,
        victims=homogeneous,
        label="share of records or units in homogeneous groups",
        monotone=lambda _: True,  # a union with a single value has only parts with that value
        on_attribute=True,
        sentence=_sentence,
        person=_person,
        guide=built_in_guide(__file__, "homogeneity.md"),
    ),
]
