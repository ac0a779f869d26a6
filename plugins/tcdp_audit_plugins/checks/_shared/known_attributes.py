"""The attributes that an intruder knows: those that an expectation names, else the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.sentences import count, say


def known_attributes(attributes: Sequence[str] | None, quasi_identifiers: Iterable[str], *others: str) -> list[str]:
    """The attributes that are named, else all quasi-identifiers except `others`; sorted, each once."""
    return sorted(set(attributes or [name for name in quasi_identifiers if name not in others]))


def quasi_identifiers_of(document: PolicyDocument) -> list[str]:
    """The quasi-identifiers that a policy declares, in its order."""
    return [name for name, declaration in document.attributes.items() if declaration.role is Role.QUASI_IDENTIFIER]


def without_key(document: PolicyDocument) -> list[str]:
    """The quasi-identifiers except the key, which an intruder does not have."""
    return [name for name in quasi_identifiers_of(document) if name != document.key]


def why_unknown(name: str, document: PolicyDocument) -> str:
    """The reason why no intruder can know an attribute: it is not declared, or it is the key; empty where one can."""
    if name not in document.attributes:
        return f"the policy declares no attribute {name!r}"
    if name == document.key:
        return f"{name!r} is the key, which an intruder does not have; leave it out"
    return ""


SETS = 100_000  # at most


def sets_up_to(attributes: int, order: int) -> list[tuple[int, ...]]:
    """The sets of at most `order` attributes by their places, each beginning as the one before where it can.

    Example:
        >>> sets_up_to(3, 2)
        [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)]
    """
    return sorted(one for size in range(1, min(order, attributes) + 1) for one in combinations(range(attributes), size))


def number_of_sets(attributes: int, order: int) -> int:
    """The number of sets that `sets_up_to` gives."""
    return sum(comb(attributes, size) for size in range(1, min(order, attributes) + 1))


def require_few_sets(attributes: int, order: int, parameter: str) -> Iterator[tuple[str, str]]:
    """The reason why an expectation cannot hold for a policy: the sets are too many."""
    sets = number_of_sets(attributes, order)
    if sets > SETS:
        yield (
            parameter,
            f"{count(sets, 'set')} of attributes are too many, {SETS:,} at most; choose a smaller `{parameter}`",
        )


def few_columns(order: int) -> str:
    """What an intruder knows, in words."""
    return say("[{order=1?}a single column|{order} columns or fewer]", order=order)


Weight = Annotated[Exact, Field(ge=0, le=10**6)]


class ComparedAttributes(Parameters):
    """The attributes to compare."""

    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that are compared; without it, all quasi-identifiers."),
    ] = None


class ComparisonParameters(ComparedAttributes):
    """The attributes to compare, and the weight of each."""

    weights: Annotated[
        dict[Text, Weight] | None,
        Field(description="The weight of attributes in the squared distance; 1 for those that are not named."),
    ] = None

    @property
    def weighing(self) -> dict[str, Fraction]:
        """The weights that are given."""
        return dict(self.weights or {})


def comparable_attributes(parameters: ComparedAttributes, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reason why attributes cannot be compared under a policy."""
    names = known_attributes(parameters.attributes, quasi_identifiers_of(document))
    for name in names:
        reason = why_unknown(name, document)
        if reason:
            yield "attributes", reason
            continue
        declaration = document.attributes[name]
        if declaration.scale is None:
            example = f"`{name}: {{role: {declaration.role.value}, scale: nominal}}`"
            yield ("", f"{name!r} has no scale, so its values cannot be compared; declare it, for example {example}")
        elif declaration.scale is Scale.ORDINAL and declaration.order is None:
            yield "", f"{name!r} is compared by rank; declare its `order: [low, middle, high]`"


def comparable(parameters: ComparisonParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The same, and why they cannot be weighed."""
    yield from comparable_attributes(parameters, document)
    names = known_attributes(parameters.attributes, quasi_identifiers_of(document))
    for name in sorted(set(parameters.weights or {}) - set(names)):
        yield "weights", f"{name!r} is weighed but not compared"


LINKED = (  # ties count 1/t
    "{expected_correct/records:{record}} ({observed:%})[, where {allowed}]; guessing finds {random_baseline:%}"
)


def finds(how: str) -> str:
    """The template of what linkage means for one person: how often they are found, and how often by guessing."""
    return (
        f"{{intruder}} and {how} finds the right record with {{observed:chance}}; "
        "guessing is right with {random_baseline:chance}."
    )
