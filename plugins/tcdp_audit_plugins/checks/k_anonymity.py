"""k-anonymity: how many records share every combination of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Any

from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import Check, ClassCheck, ClassEvidence, DisclosureType, Parameters, Threshold
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.guides import built_in_guide


class KAnonymityParameters(Parameters):
    """Parameters of `k_anonymity`."""

    k: Annotated[int | None, Field(ge=1, description="The least number of records in a class.")] = None


def class_sizes(evidence: ClassEvidence, _: KAnonymityParameters) -> NDArray[Any]:
    """Size of every class: min over classes is k.

    Returns:
        int64, shape (classes,), in records (or in entities, where the policy names a unit).

    Cost: O(classes).

    Source: Samarati (2001), definition 2.1; Sweeney (2002), definition 3.

    Example:
        >>> import numpy
        >>> class_sizes(ClassEvidence(size=numpy.array([3, 1])), KAnonymityParameters())
        array([3, 1])
    """
    return evidence.size


def _values(outcome: Outcome) -> dict[str, Any]:
    """The number alone, whether they are all that fail, and the mean chance of a guess; only where records count."""
    classes, records = outcome.classes, outcome.records
    if outcome.conventions.get("unit", "row") != "row" or classes is None or records is None:
        return {}
    alone = sum(int(number) for size, _, number in outcome.details["distribution"] if size == 1)
    mean = Fraction(classes.total, records.total)  # over records, the chance 1/n is groups over records
    return {"alone": alone, "all_alone": alone > 0 and alone == records.failing, "mean": mean}


def _implied(parameters: KAnonymityParameters, document: PolicyDocument) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Classes of k are a risk of 1/k at most, counted as they are."""
    if parameters.k and document.conventions.suppressed == "counted":
        yield "reidentification_risk", {"at_most": Fraction(1, parameters.k)}


CHECKS: list[Check] = [
    ClassCheck(
        name="k_anonymity",
        title="k-anonymity",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=KAnonymityParameters,
        thresholds=(Threshold("k", Comparison.AT_LEAST, class_sizes, "records in the group", counts=True),),
        monotone=lambda _: True,  # a union is no smaller than its parts
        implies=_implied,
        sentences=Sentences(
            passed="Every {record} is in a group of at least {observed:{unit}} with the same {known}.",
            failed=(
                "{victims} of fewer than {threshold:{unit}} with the same {known}[{all_alone?}: {alone:this "
                "{unit}|each of them} is alone|{alone>0?}; {alone} of them {alone:is|are} alone|; the smallest has "
                "{observed:{unit}}]."
            ),
            measured=(
                "[{classes=1?}The only group|The smallest of {classes:group}] with the same {known} has "
                "{observed:{unit}}."
            ),
            impact=(
                "{intruder} narrows them down to {observed:{unit}} at worst[{mean?} and to {average_group} on "
                "average; a guess is right with {guess:chance} at worst, and with {mean:chance} on average|; a "
                "guess is right with {guess:chance}]."
            ),
            values=_values,
        ),
        guide=built_in_guide(__file__, "k_anonymity.md"),
    )
]
