"""Conformance of what a check says of itself: name, guide, parameters and thresholds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from tcdp_audit.api import Specification
from tcdp_audit.plugin.check import AttributeParameters, Parameters
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.testing.conformance import Subject

GUIDE = ("definition", "formula", "reading", "choosing", "source", "example")
NOT_ADMISSIBLE = (
    "none of the observed figures is accepted as a threshold; let the parameter take exact numbers (`Exact`)"
)
EXPECTATION = re.compile("[A-Z][A-Za-z0-9]+")
COMMON = ("severity", "attribute", "attributes")


def examinations_of(subject: Subject, check: Specification[Any]) -> dict[str, Callable[[], None]]:
    """Examinations of everything that a check says of itself, by property."""
    base = AttributeParameters if check.on_attribute and not check.joint else Parameters
    return {
        "specification": lambda: _titles_conform(subject, check),
        "guide": lambda: subject.require_texts({name: getattr(check.guide, name) for name in GUIDE}, "guide"),
        "parameters": lambda: parameters_conform(subject, check.parameters, base),
        "thresholds": lambda: _thresholds_conform(subject, check),
        "example": lambda: parameters_of(subject, check, example_of(subject, check), "example"),
    }


def _titles_conform(subject: Subject, check: Specification[Any]) -> None:
    subject.require_texts({"title": check.title}, "specification")
    fits = not check.expectation_name or EXPECTATION.fullmatch(check.expectation_name)
    sentence = f"`expectation_name` must be words in capitals as in `ToSatisfyKMap`, got {check.expectation_name!r}"
    subject.require(fits, "specification", sentence)


def parameters_conform(subject: Subject, model: type[BaseModel], base: type[BaseModel]) -> None:
    """Hold a model of parameters: of the right base, described, with a schema, closed and frozen.

    Raises:
        ConformanceError: it is not.
    """
    subject.require(issubclass(model, base), "parameters", f"the model must derive from {base.__name__}")
    for name, field in model.model_fields.items():
        subject.require(field.description, "parameters", f"{name!r} needs a description")
    try:
        properties = model.model_json_schema().get("properties", {})
    except Exception as error:
        raise subject.lacks("parameters", f"they have no JSON schema ({type(error).__name__})") from error
    subject.require(set(properties) == set(model.model_fields), "parameters", "the JSON schema lacks a field")
    closed = model.model_config.get("extra") == "forbid"
    subject.require(closed, "parameters", "unknown names must be refused: leave `extra='forbid'` as it is")
    frozen = model.model_config.get("frozen")
    subject.require(frozen, "parameters", "they must not change: leave `frozen=True` as it is")


def _thresholds_conform(subject: Subject, check: Specification[Any]) -> None:
    limits = check.limits
    subject.require(limits, "thresholds", "there must be at least one figure")
    names = [one.parameter for one in limits]
    subject.require(len(set(names)) == len(names), "thresholds", "two of them name the same parameter")
    for limit in limits:
        field = check.parameters.model_fields.get(limit.parameter)
        subject.require(field is not None, "thresholds", f"{limit.parameter!r} is no field of the parameters")
        optional = field is not None and not field.is_required() and field.default is None
        sentence = f"{limit.parameter!r} must be None by default, so that a policy can measure without a demand"
        subject.require(optional, "thresholds", sentence)


def example_of(subject: Subject, registered: Specification[Any] | Remedy[Any]) -> Mapping[str, Any]:
    """The parameters of the guide's example, which must be one entry of a policy with this check or remedy.

    Raises:
        ConformanceError: it is not.
    """
    name = registered.name
    try:
        lines = yaml.safe_load(registered.guide.example)
    except yaml.YAMLError as error:
        raise subject.lacks("example", "it is not YAML") from error
    shaped = isinstance(lines, list) and len(lines) == 1 and isinstance(lines[0], dict) and list(lines[0]) == [name]
    subject.require(shaped, "example", f"it must be one line of a policy, such as `- {name}: {{…}}`")
    given = lines[0][name] or {}
    parameters_of(subject, registered, given, "example")
    return dict(given)


def parameters_of(
    subject: Subject, registered: Specification[Any] | Remedy[Any], given: Mapping[str, Any], of: str
) -> Any:
    """Parameters as the model takes them.

    Raises:
        ConformanceError: it refuses them.
    """
    try:
        return registered.parameters.model_validate(dict(given))
    except ValidationError as error:
        reasons = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise subject.lacks(of, f"the {subject.kind}'s own parameters refuse it: {reasons}") from error


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


def shown_parameters(parameters: Parameters) -> str:
    """Parameters that are no thresholds, as a place of a message begins with them."""
    return "".join(f"{name}={value}; " for name, value in parameters.figures().items())


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
