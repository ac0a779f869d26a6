"""Sensitive values that an expectation names, and what missing ones mean where they are a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import AttributeParameters, ClassEvidence, Histogram, Parameters
from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.engine import CheckError, Domain
from tcdp_audit.plugin.sentences import Outcome, agree, count

if TYPE_CHECKING:
    from tcdp_audit.plugin.check import TableView


def among(evidence: ClassEvidence, names: Sequence[str]) -> NDArray[np.bool_]:
    """The codes of the domain that are named; a name that the domain lacks marks none. Shape (reference values,)."""
    _, marginal = evidence.sensitive
    marked = np.zeros(marginal.size, dtype=bool)
    wanted = set(names)
    marked[[code for code, label in enumerate(evidence.labels) if label in wanted]] = True
    return marked


def known(evidence: ClassEvidence, names: Sequence[str], parameter: str) -> NDArray[np.bool_]:
    """The codes that are named, where each must have a weight in the reference.

    Raises:
        CheckError: a name is no value there: a search for it would find nothing and pass.
    """
    _, marginal = evidence.sensitive
    present = {label for label, weight in zip(evidence.labels, marginal.weights.tolist(), strict=False) if weight}
    lacking = [name for name in names if name not in present]
    if lacking:
        raise CheckError(f"the reference distribution has no record with the {parameter} value {lacking[0]!r}")
    return among(evidence, names)


def ambiguous(parameters: AttributeParameters, document: PolicyDocument, *fields: str) -> Iterator[tuple[str, str]]:
    """A fault for each field that names values where it is open which attribute's they are."""
    sensitive = [one for one in document.attributes.values() if one.role is Role.SENSITIVE]
    if parameters.attribute is None and len(sensitive) > 1:
        for name in fields:
            if getattr(parameters, name):
                yield name, "names values of one attribute; say which in `attribute`"


def violation_of(view: TableView, sensitive: Iterable[Domain]) -> str:
    """The reason why a check fails under the policy, a missing sensitive value; nothing where it does not."""
    violations = (violation_of_missing(view, one.attribute, one.missing) for one in sensitive)
    return next(filter(None, violations), "")


def violation_of_missing(view: TableView, attribute: str, missing: int, noun: str = "record") -> str:
    """The same for a number of records, or of what the noun names, that lack a value of one attribute."""
    if view.policy.conventions.missing_sensitive != "fail" or not missing:
        return ""
    return f"{count(missing, noun)} {agree(missing, 'has', 'have')} no value in the sensitive attribute {attribute!r}"


SINGLE_VALUE = (  # an entity may have other values next to it
    "[{worst_size=1?}{attribute} is known for certain"
    "|{several_rows?}a value of {attribute} that every {unit} has is known for certain"
    "|all have the same {attribute}, which is then known for certain]"
)
VALUES_LEFT = (
    "[{observed=0?}none has a value of {attribute}|{observed>1?}only {observed} values of {attribute} are possible|"
    + SINGLE_VALUE
    + "]"
)


SHARED = "shared_value"  # the detail of the worst group on a value that many of its members have
FEW_ENOUGH = 100  # below this a number reveals no more than its rounded share, from which it follows
DIGITS = 2  # of a share in the whole table: an exact one would reveal the value
LEAST_MEMBERS = 10  # of a group whose mean and moves are given: those of fewer would be close to a cell
FEW_STEPS = 20  # a share in the whole table next to a smaller group is rounded to twentieths: several values have it


def commonest_value(evidence: ClassEvidence, _: Parameters) -> dict[str, Any]:
    """The detail `shared_value` of the worst class: how many members have its commonest value, and how many others do.

    Returns:
        `have` of the class's `of` members with a value, for a hundred or more members their rounded share `in_group`;
        and the rounded share `in_reference` of the whole table, coarser next to a class below
        `LEAST_MEMBERS`. The value is not named. Empty where members have
        several values. O(domain).
    """
    histogram, marginal = evidence.sensitive
    return {} if marginal.units is not None else _on_value(evidence, int(np.argmax(histogram.counts)))


def over_represented_value(evidence: ClassEvidence) -> dict[str, Any]:
    """The same of the value whose share exceeds its share in the whole table most. O(domain)."""
    histogram, marginal = evidence.sensitive
    if marginal.units is not None:
        return {}
    excess = histogram.counts / histogram.total[0] - marginal.weights[histogram.values] / marginal.total
    return _on_value(evidence, int(np.argmax(excess)))


def _on_value(evidence: ClassEvidence, pair: int) -> dict[str, Any]:
    histogram, marginal = evidence.sensitive
    have, of = int(histogram.counts[pair]), int(histogram.total[0])
    in_group = {"have": have, "of": of} if of < FEW_ENOUGH else {"in_group": round(have / of, DIGITS)}
    whole = float(marginal.weights[histogram.values[pair]] / marginal.total)
    in_reference = round(whole, DIGITS) if of >= LEAST_MEMBERS else round(whole * FEW_STEPS) / FEW_STEPS
    return {SHARED: {**in_group, "in_reference": in_reference}}


def on_shared_value(outcome: Outcome) -> dict[str, Any]:
    """The values for `SAME_VALUE`: whether the detail is there, all members are alike, and none lacks a value."""
    detail: Mapping[str, Any] = outcome.details.get(SHARED, {})
    known = bool(detail) and not may_be_shared(outcome)
    of, counted = detail.get("of"), bool(outcome.worst) and detail.get("of") == outcome.worst[0].records
    return {
        "is_counted": known,
        "all_alike": known and (counted and detail["have"] == of),
        "all_counted": counted,
        "few": of is not None and of < LEAST_MEMBERS,
        "whole": REFERENCES[outcome.conventions.get("reference", "release")],
    }


REFERENCES = {"release": "the whole file", "original": "the original file", "declared": "the declared distribution"}
SAME_VALUE = (  # of the members of the worst group; its values are those of `on_shared_value`
    "[{shared_value.of=1?}{attribute} is known for certain|{shared_value.have=1?}no two have the same {attribute}"
    "|{all_alike?}all have the same {attribute}{elsewhere}"
    "|{all_counted?}{shared_value.have} {shared_value.have:has|have} the same {attribute}{elsewhere}"
    "|{shared_value.of?}{shared_value.have} of the {shared_value.of} with a value {shared_value.have:has|have} the "
    "same {attribute}{elsewhere}|about {shared_value.in_group:%} have the same {attribute}{elsewhere}]"
)
IN_THE_WHOLE = (
    "; in {whole} [{shared_value.in_reference=0?}fewer than 1 in [{few?}20|200] do|{shared_value.in_reference=1?}"
    "nearly all do|about {shared_value.in_reference:one in} do]"
)


SHARED_PARTS = {"same_value": SAME_VALUE, "elsewhere": IN_THE_WHOLE}


def uncertain_values(histogram: Histogram) -> Counts:
    """The number of different values that each class has; 1 where one is certain. int64, shape (classes,). O(pairs)."""
    if histogram.entities is None and histogram.wholes is None:
        return histogram.distinct  # a value is certain where it is the only one
    return np.where(histogram.certain, 1, histogram.distinct)


def may_be_shared(outcome: Outcome) -> bool:
    """Whether an outcome is of entities that may have several values, so that all may share one of several."""
    return outcome.conventions.get("unit", "row") != "row"
