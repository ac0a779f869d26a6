"""What is wrong with a document of sound parts: parts that contradict each other, or name what is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.core.policy.faults import MOST, nearest
from tcdp_audit.core.policy.model import PolicyDocument, Role, Scale

Place = tuple[str | int, ...]
Located = tuple[Place, str]


def faults_of_document(document: PolicyDocument, questions: Sequence[str] | None) -> Iterator[Located]:
    """What is wrong with a document as a whole, each with its location.

    Args:
        document: the document.
        questions: the keys of the questions that its profiles ask; None where a profile is unknown.
    """
    yield from _unit_apart(document)
    if document.keep_key and document.key is None:
        yield ("keep_key",), "the policy names no `key:` that could be kept"
    yield from _unit_released(document)
    yield from _weight_numeric(document)
    yield from _losses_measured(document)
    if questions is not None:
        yield from _answers_asked(document, questions)
    yield from _utility_usable(document)


def _unit_apart(document: PolicyDocument) -> Iterator[Located]:
    declared = document.attributes.get(document.unit or "")
    if declared is not None and declared.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        role = declared.role.value.replace("_", "-")
        yield ("unit",), f"the unit of privacy cannot be a {role} as well"


def _unit_released(document: PolicyDocument) -> Iterator[Located]:
    """Only a unit that is named can be dropped, and not one that is the key to be kept."""
    if document.unit_released:
        return
    if document.unit is None:
        yield ("unit_released",), "the policy names no `unit:` that could be dropped"
    elif document.keep_key and document.key == document.unit:
        yield ("unit_released",), "the unit is the key as well, which `keep_key: true` keeps; say one of them"


def _weight_numeric(document: PolicyDocument) -> Iterator[Located]:
    """What can be known of the weight without data: it is a number."""
    weight = document.attributes.get(document.weight or "")
    if weight is not None and weight.scale is not Scale.NUMERIC:
        example = f"{document.weight}: {{role: {weight.role.value}, scale: numeric}}"
        yield ("weight",), f"{document.weight!r} is not declared as numeric; a weight is: `{example}`"


def _losses_measured(document: PolicyDocument) -> Iterator[Located]:
    """Of the columns that `min_utility` names the loss is measured."""
    lossy = dict.fromkeys((*document.with_role(Role.QUASI_IDENTIFIER), *document.with_role(Role.SENSITIVE)))
    unknown = [name for name in document.min_utility or {} if name not in lossy]
    for name in unknown[: MOST + 1]:
        asked = "is not declared as a quasi-identifier or as sensitive, so nothing is measured of it"
        yield ("min_utility", name), f"{name!r} {asked}{nearest(name, lossy)}"


def _answers_asked(document: PolicyDocument, questions: Sequence[str]) -> Iterator[Located]:
    """An answer belongs to a question that a profile asks."""
    unknown = [key for key in document.answers or {} if key not in questions]
    for key in unknown[: MOST + 1]:
        known = nearest(key, questions) or (f"; asked are {', '.join(dict.fromkeys(questions))}" if questions else "")
        nothing = "no profile of the policy asks" if questions else "the policy names no profile that asks"
        yield ("answers", key), f"{nothing} a question {key!r}{known}"


def _utility_usable(document: PolicyDocument) -> Iterator[Located]:
    """What is wrong with `utility`, each with its location."""
    utility = document.utility
    for index, table in enumerate(utility.counts):
        yield from _unusable(document, ("utility", "counts", index, "by"), table.by)
    for index, regression in enumerate(utility.regressions or []):
        location = ("utility", "regressions", index)
        yield from _of_and_by(document, location, regression.of, regression.by)
        declared = document.attributes.get(regression.of)
        if declared is not None and declared.role is not Role.IDENTIFIER and not declared.is_ordered:
            asked = "the outcome of a linear regression has `scale: numeric`, or `scale: ordinal` with an order"
            yield (*location, "of"), f"{regression.of!r} has neither numbers nor ranks; {asked}"
    for index, model in enumerate(utility.models):
        yield from _of_and_by(document, ("utility", "models", index), model.of, model.by)


def _of_and_by(document: PolicyDocument, location: Place, of: str, by: Sequence[str]) -> Iterator[Located]:
    yield from _unusable(document, (*location, "of"), [of])
    yield from _unusable(document, (*location, "by"), by)
    if of in by:
        yield (*location, "by"), f"{of!r} cannot stand under `of` and under `by`"


def _unusable(document: PolicyDocument, location: Place, names: Sequence[str]) -> Iterator[Located]:
    """Attributes that are not declared, are identifiers, or stand there twice."""
    usable = [name for name, one in document.attributes.items() if one.role is not Role.IDENTIFIER]
    for name in dict.fromkeys(names):
        if name not in document.attributes:
            yield location, f"{name!r} is not declared under `attributes`{nearest(name, usable)}"
        elif name not in usable:
            yield location, f"{name!r} is an identifier, which nobody may find in a release"
        if list(names).count(name) > 1:
            yield location, f"{name!r} stands there twice"
