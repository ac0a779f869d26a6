"""Sensitive values that an expectation names, and what missing ones mean where they are a failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import AttributeParameters, ClassEvidence, Histogram
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
    "[{several_rows?}all have the same value of {attribute}, which is known for certain"
    "|{attribute} is the same throughout and known for certain]"
)
VALUES_LEFT = "[{observed>1?}only {observed} values of {attribute} are left for them|" + SINGLE_VALUE + "]"


def uncertain_values(histogram: Histogram) -> Counts:
    """The number of different values that each class has; 1 where one is certain. int64, shape (classes,). O(pairs)."""
    if histogram.entities is None and histogram.wholes is None:
        return histogram.distinct  # a value is certain where it is the only one
    return np.where(histogram.certain, 1, histogram.distinct)


def may_be_shared(outcome: Outcome) -> bool:
    """Whether an outcome is of entities that may have several values, so that all may share one of several."""
    return outcome.conventions.get("unit", "row") != "row"
