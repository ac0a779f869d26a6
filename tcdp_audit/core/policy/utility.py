"""What a policy says people would do with a release: whether the attributes that it names can be used so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.model import PolicyDocument, Role

Located = tuple[list[str | int], str]


def faults_of_utility(document: PolicyDocument) -> Iterator[Located]:
    """What is wrong with `utility`, each with its location."""
    utility = document.utility
    for index, table in enumerate(utility.counts):
        yield from _unusable(document, ["utility", "counts", index, "by"], table.by)
    for index, regression in enumerate(utility.regressions or []):
        location: list[str | int] = ["utility", "regressions", index]
        yield from _of_and_by(document, location, regression.of, regression.by)
        declared = document.attributes.get(regression.of)
        if declared is not None and declared.role is not Role.IDENTIFIER and not declared.is_ordered:
            asked = "the outcome of a linear regression has `scale: numeric`, or `scale: ordinal` with an order"
            yield [*location, "of"], f"{regression.of!r} has neither numbers nor ranks; {asked}"
    for index, model in enumerate(utility.models):
        yield from _of_and_by(document, ["utility", "models", index], model.of, model.by)


def _of_and_by(document: PolicyDocument, location: list[str | int], of: str, by: Sequence[str]) -> Iterator[Located]:
    yield from _unusable(document, [*location, "of"], [of])
    yield from _unusable(document, [*location, "by"], by)
    if of in by:
        yield [*location, "by"], f"{of!r} cannot stand under `of` and under `by`"


def _unusable(document: PolicyDocument, location: list[str | int], names: Sequence[str]) -> Iterator[Located]:
    """Attributes that are not declared, are identifiers, or stand there twice."""
    usable = [name for name, one in document.attributes.items() if one.role is not Role.IDENTIFIER]
    for name in dict.fromkeys(names):
        if name not in document.attributes:
            yield location, f"{name!r} is not declared under `attributes`{nearest(name, usable)}"
        elif name not in usable:
            yield location, f"{name!r} is an identifier, which nobody may find in a release"
        if list(names).count(name) > 1:
            yield location, f"{name!r} stands there twice"
