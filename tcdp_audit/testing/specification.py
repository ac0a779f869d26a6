"""Conformance of what a check says of itself: name, guide, parameters and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from tcdp_audit.api import CheckOnClasses, Specification
from tcdp_audit.plugin.check import AttributeParameters, Comparison, DisclosureType, Parameters
from tcdp_audit.plugin.remedy import Remedy
from tcdp_audit.testing.conformance import Subject

GUIDE = ("definition", "formula", "reading", "choosing", "source", "example")


def examinations_of(subject: Subject, check: Specification[Any]) -> dict[str, Callable[[], None]]:
    """What holds everything that a check says of itself against what policies, `explain` and reports need."""
    return {
        "name": lambda: subject.require_name(check.name),
        "specification": lambda: _titles_conform(subject, check),
        "guide": lambda: subject.require_texts({name: getattr(check.guide, name) for name in GUIDE}, "guide"),
        "parameters": lambda: _parameters_conform(subject, check),
        "thresholds": lambda: _thresholds_conform(subject, check),
        "example": lambda: _example_conforms(subject, check),
    }


def _titles_conform(subject: Subject, check: Specification[Any]) -> None:
    subject.require_texts({"title": check.title}, "specification")
    subject.require(
        isinstance(check.disclosure_type, DisclosureType), "specification", "`disclosure_type` must be a DisclosureType"
    )


def _example_conforms(subject: Subject, check: Specification[Any]) -> None:
    example_of(subject, check)


def _parameters_conform(subject: Subject, check: Specification[Any]) -> None:
    base = AttributeParameters if check.on_attribute and not check.joint else Parameters
    parameters_conform(subject, check.parameters, base)


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
        subject.require(isinstance(limit.comparison, Comparison), "thresholds", "a comparison is no Comparison")
    subject.require(all(map(callable, measures_of(check))), "thresholds", "a measure is no function")


def measures_of(check: Specification[Any]) -> list[Any]:
    """The functions that measure."""

    def of_classes(one: CheckOnClasses[Any]) -> list[Any]:
        return [threshold.measure for threshold in one.measures]

    return check.by_kind(of_classes, lambda one: [one.measure])


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
