"""Parameters to try a check with: the example's, and every value of each choice in turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError

from tcdp_audit.api import Specification
from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.testing.conformance import Subject
from tcdp_audit.testing.specification import example_of

COMMON = ("severity", "attribute", "attributes")


def variants(subject: Subject, check: Specification[Any], given: Mapping[str, Any]) -> list[Parameters]:
    """Parameters without any threshold: the given ones over the example's, then each choice that they allow.

    Raises:
        ConformanceError: the check cannot be measured without a threshold.
    """
    demanded = {limit.parameter for limit in check.limits}
    example = {**example_of(subject, check), **given}
    # a suite gives checks on classes attributes of its own; one on tables measures that of its example
    common = COMMON if check.on_attribute else tuple(name for name in COMMON if name != "attribute")
    base = {name: value for name, value in example.items() if name not in demanded and name not in common}
    try:
        tried = [check.parameters.model_validate(base)]
    except ValidationError as error:
        raise subject.lacks(
            "parameters", "they must be valid without a threshold, which then is not compared"
        ) from error
    for name, value in _choices(check, {*demanded, *COMMON}):
        try:
            changed = check.parameters.model_validate({**base, name: value})
        except ValidationError:
            continue  # this choice does not go with the others
        if changed not in tried:
            tried.append(changed)
    return tried


def with_threshold(parameters: Parameters, name: str, value: Any) -> Parameters | None:
    """The same parameters with a threshold; None where the model refuses the value."""
    given = {one: getattr(parameters, one) for one in parameters.model_fields_set}
    for typed in (value, int(value) if value.denominator == 1 else float(value)):
        try:
            return type(parameters).model_validate({**given, name: typed})
        except ValidationError:
            continue
    return None


def scales_of(check: Specification[Any], parameters: Parameters) -> list[Scale]:
    """The scales to try a check on; one that takes every scale is tried on text and on numbers."""
    if not check.on_attribute:
        return [Scale.NOMINAL]
    allowed = check.scales(parameters)
    if allowed is None and check.needs_hierarchy(parameters):
        return [Scale.NOMINAL]
    tried = (Scale.NOMINAL, Scale.NUMERIC) if allowed is None else Scale
    return [scale for scale in tried if allowed is None or scale in allowed]


def _choices(check: Specification[Any], left_out: set[str]) -> Iterator[tuple[str, Any]]:
    for name, field in check.parameters.model_fields.items():
        if name not in left_out:
            for value in _values(field.annotation):
                yield name, value


def _values(annotation: Any) -> Iterator[Any]:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        yield from annotation
    elif annotation is bool:
        yield from (False, True)
    elif get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _values(part)
