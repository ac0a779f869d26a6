"""l-diversity: how varied the sensitive attribute is within every equivalence class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil, gcd
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.check import (
    ApproximateFigure,
    AttributeParameters,
    Check,
    ClassCheck,
    ClassEvidence,
    DisclosureType,
    Ratios,
    Threshold,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role
from tcdp_audit.plugin.sentences import Comparison, Sentences, count
from tcdp_audit_plugins.checks._shared.sensitive_values import (
    VALUES_LEFT,
    commonest_value,
    on_shared_value,
    uncertain_values,
)
from tcdp_audit_plugins.guides import built_in_guide

FIRST_DIGITS = 40
LEAST_VARIED = "the least varied group"


def sign_of_perplexity(counts: Sequence[int], threshold: Fraction) -> int:
    """Sign of exp(H) - threshold for positive counts and a positive threshold: -1, 0 or 1, exact.

    Example:
        >>> sign_of_perplexity([7, 7, 7], Fraction(3)), sign_of_perplexity([8, 7, 7], Fraction(3))
        (0, -1)
    """
    n = sum(counts)
    powers = Counter({n: n})
    powers[threshold.denominator] += n
    powers[threshold.numerator] -= n
    for size in counts:
        powers[size] -= size
    if not any(_coprime(powers).values()):
        return 0
    digits = FIRST_DIGITS
    while True:
        value, error = _logarithm(powers, digits)
        if abs(value) > error:
            return 1 if value > 0 else -1
        digits *= 2


def _logarithm(powers: Counter[int], digits: int) -> tuple[Decimal, Decimal]:
    """Logarithm of a product of integer powers, and a bound on its error."""
    with localcontext() as context:
        context.prec = digits
        terms = [exponent * Decimal(base).ln() for base, exponent in powers.items() if base > 1]
        total = sum(terms, Decimal(0))
        bound = sum((abs(term) for term in terms), Decimal(1)) * (len(terms) + 2)
        return total, bound.scaleb(2 - digits)


def _coprime(powers: Counter[int]) -> Counter[int]:
    """The same product as powers of numbers above 1 without a common factor: it is 1 only if every exponent is 0.

    It needs greatest common divisors only: to find the primes of a threshold of thirty digits would take years.
    """
    rest, coprime = [(base, power) for base, power in powers.items() if base > 1], Counter[int]()
    while rest:
        number, exponent = rest.pop()
        shared = next((other for other in coprime if gcd(number, other) > 1), None)
        if shared is None:
            coprime[number] = exponent
        else:
            common, before = gcd(number, shared), coprime.pop(shared)
            split = [(common, exponent + before), (number // common, exponent), (shared // common, before)]
            rest += [(base, power) for base, power in split if base > 1]
    return coprime


TABULATED = 2**16  # counts below this have their logarithm in a table
TKDD = "Machanavajjhala et al., l-Diversity, ACM TKDD 1(1), 2007, doi:10.1145/1217299.1217302"


class DistinctParameters(AttributeParameters):
    """Parameters of `distinct_l_diversity`."""

    l: Annotated[int | None, Field(ge=1, description="The least number of distinct values in a class.")] = None


class EntropyParameters(AttributeParameters):
    """Parameters of `entropy_l_diversity`."""

    l: Annotated[Exact | None, Field(ge=1, description="The least effective number of values; any number.")] = None


def distinct_values(evidence: ClassEvidence, _: DistinctParameters) -> NDArray[Any]:
    """Number of distinct sensitive values in every class; 1 where all members have the same one, whatever else.

    Returns:
        int64, shape (classes,), at least 1.

    Cost: O(classes).

    Source: Machanavajjhala et al. (2007), section 3.3.
    """
    return uncertain_values(evidence.sensitive[0])


def effective_values(evidence: ClassEvidence, _: EntropyParameters) -> ApproximateFigure:
    """Effective number of values in every class: exp(H) with H = -sum p_i ln p_i; 1 where all members have one of them.

    Returns:
        float64, shape (classes,), from 1 to the domain size. Close to a threshold, l^n is compared with
        n^n / prod c_i^c_i in exact arithmetic, so three equally frequent values are exactly 3.

    Cost: O(pairs of class and value).

    Source: Machanavajjhala et al. (2007), definition 4.1.
    """
    histogram = evidence.sensitive[0]
    total = histogram.total.astype(np.float64)
    entropy = np.log(total) - histogram.sum(_times_logarithm(histogram.counts)) / total  # ln n - (sum c ln c) / n
    whole = histogram.certain | (histogram.max(histogram.counts) * histogram.distinct == histogram.total)
    number = uncertain_values(histogram)
    values = np.where(whole, number, np.exp(entropy))  # m equal shares are exactly m

    def decide(classes: NDArray[np.intp], threshold: Fraction) -> NDArray[np.int8]:
        signs = Ratios.whole(number[classes]).compare(threshold)
        mixed = np.flatnonzero(~whole[classes])
        for profile, positions in histogram.profiles(classes[mixed]):
            signs[mixed[positions]] = sign_of_perplexity(profile, threshold)
        return signs

    return ApproximateFigure(values, decide)


def _times_logarithm(counts: Counts) -> Floats:
    """Every count times its logarithm; from a table where they are small, as a logarithm takes longer."""
    if int(counts.max(initial=0)) < len(_table()):
        return _table().take(counts)
    numbers = counts.astype(np.float64)
    return np.asarray(numbers * np.log(numbers))


@cache
def _table() -> Floats:
    numbers = np.arange(TABULATED, dtype=np.float64)
    return np.append(0.0, numbers[1:] * np.log(numbers[1:]))


def _of_distinct(parameters: DistinctParameters, document: PolicyDocument) -> Iterator[tuple[str, dict[str, Any]]]:
    """The demand that it implies: l values need l records, where an entity has one."""
    if parameters.l and document.unit is None:
        yield "k_anonymity", {"k": parameters.l}


def _of_entropy(parameters: EntropyParameters, _: PolicyDocument) -> Iterator[tuple[str, dict[str, Any]]]:
    """The perplexity of some values is at most their number."""
    if parameters.l:
        yield "distinct_l_diversity", {"l": ceil(parameters.l), "attribute": parameters.attribute}


def _impossible(parameters: DistinctParameters | EntropyParameters, document: PolicyDocument) -> Iterator[str]:
    """An order of m values has m (m + 1) / 2 values and ranges; suppressed tokens and a missing value may be more."""
    if document.conventions.multiple_sensitive == "joint" and parameters.attribute is None:
        return
    further = len(document.conventions.suppressed_tokens) + 1
    for name, one in document.attributes.items():
        chosen = name == parameters.attribute if parameters.attribute else one.role is Role.SENSITIVE
        if chosen and one.order is not None and parameters.l is not None:
            values = len(one.order) * (len(one.order) + 1) // 2 + further
            if parameters.l > values:
                yield f"{name!r} has {count(len(one.order), 'value')}, with its ranges no more than {values:,}"


CHECKS: list[Check] = [
    ClassCheck(
        name="distinct_l_diversity",
        answers=("homogeneity", "background_knowledge"),
        title="Distinct l-diversity",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=DistinctParameters,
        thresholds=(Threshold("l", Comparison.AT_LEAST, distinct_values, "distinct values in the group", counts=True),),
        monotone=lambda _: True,  # a union has the values of all its parts
        implies=_of_distinct,
        impossible=_impossible,
        on_attribute=True,
        sentences=Sentences(
            passed="Every {record} is in a group with at least {observed:different value} of {attribute}.",
            failed=(
                "{victims} with fewer than {threshold} different values of {attribute}[{several_rows?}, or with one "
                "that all have]; [{several_rows?}{observed=1?}in the least varied group all share one|the "
                "least varied group has {observed}]."
            ),
            measured=(
                "[{several_rows?}{observed=1?}In {least_varied} all share a value of "
                "{attribute}|{least_varied} has {observed:different value} of {attribute}]."
            ),
            impact="{in_worst_group} {values_left}.",
            parts={
                "least_varied": (
                    "[{classes=1?}the only group|the least varied of {classes:group}], of {worst_people},"
                ),
                "worst_group": LEAST_VARIED,
                "values_left": VALUES_LEFT,
            },
        ),
        guide=built_in_guide(__file__, "distinct_l_diversity.md"),
    ),
    ClassCheck(
        name="entropy_l_diversity",
        title="Entropy l-diversity",
        disclosure_type=DisclosureType.ATTRIBUTE_MODEL,
        parameters=EntropyParameters,
        thresholds=(
            Threshold("l", Comparison.AT_LEAST, effective_values, "equally frequent values in the group", counts=True),
        ),
        monotone=lambda _: True,  # entropy is concave: a mixture has at least the least of its parts
        implies=_of_entropy,
        impossible=_impossible,
        worst_details=commonest_value,
        on_attribute=True,
        sentences=Sentences(
            passed=(
                "Every {record} is in a group at least as varied in {attribute} as {observed:equally frequent value}."
            ),
            failed=("{victims} less varied in {attribute} than {threshold:equally frequent value}; {most_have}."),
            measured=(
                "[{classes=1?}The only group|The least varied of {classes:group}], of {worst_people}, is as varied "
                "in {attribute} as {observed:equally frequent value}."
            ),
            impact=(
                "{in_worst_group} [{observed=0?}{values_left}|{observed=1?}{values_left}|{is_counted?}a guess of the "
                "commonest {attribute} is right for {right_for}|a guess of the commonest {attribute} is right with "
                "{chance:chance} or more]."
            ),
            parts={
                "worst_group": LEAST_VARIED,
                "values_left": VALUES_LEFT,
                "most_have": (
                    "[{observed=0?}in the least varied, none has a value|{is_counted?}in the least varied, "
                    "[{shared_value.of=1?}it is known for certain|{shared_value.have=1?}no two have the same"
                    "|{shared_value.of?}{shared_value.have/shared_value.of:{record}} have the same"
                    "|about {shared_value.in_group:%} have the same]|the least varied is as varied as {observed}]"
                ),
                "right_for": "[{shared_value.of?}{shared_value.have} of them|about {shared_value.in_group:%} of them]",
            },
            values=lambda outcome: {"chance": 1 / (outcome.observed or 1), **on_shared_value(outcome)},
        ),
        guide=built_in_guide(__file__, "entropy_l_diversity.md"),
    ),
]
