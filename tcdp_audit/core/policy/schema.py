"""The names that a policy may use, and its JSON Schema: the document's, with parameters of checks and remedies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import visible_json
from tcdp_audit.core.policy.model import AGGREGATES, PolicyDocument
from tcdp_audit.core.policy.scalars import as_text

if TYPE_CHECKING:
    from pydantic_core import core_schema

HEAD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:tcdp-audit:policy:1",
    "title": "tcdp-audit policy",
    "description": "What a table of people must satisfy before it is published.",
}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def policy_schema(checks: Mapping[str, Registered], remedies: Mapping[str, Registered]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that a policy file keeps if these checks and remedies are registered.

    It is a necessary condition: what depends on two places of a policy, such as whether an attribute's
    scale suits a check, is decided when it is read.
    """
    document, references, definitions = _generated([*checks.values(), *remedies.values()])
    expectations = [_entry(one, one.guide.definition, references) for _, one in sorted(checks.items())]
    document["properties"]["expect"]["items"] = {"oneOf": expectations}
    treatments = [_entry(one, one.guide.method, references) for _, one in sorted(remedies.items())]
    remedy = next(one for one in document["properties"]["remedy"]["anyOf"] if one.get("type") == "array")  # or none
    remedy["items"] = {"oneOf": treatments} if treatments else False
    _separate_figures(document["properties"])
    document["required"] = [one for one in document["required"] if one not in ("expect", "attributes")]
    demands = [{"required": ["expect"]}, {"required": ["profile"]}]
    released = [{"required": ["attributes"]}, {"required": ["tables"]}, {"required": ["models"]}]
    document["allOf"] = [{"anyOf": demands}, {"anyOf": released}, {"not": {"required": ["attributes", "tables"]}}]
    own = {name: value for name, value in document.items() if name not in HEAD}
    return {**HEAD, **own, "$defs": definitions}


def _separate_figures(properties: dict[str, Any]) -> None:
    """A table of `tables` is one of records or of figures, and `microdata` may be the name of one."""
    of_figures = next(one for one in properties.pop(AGGREGATES)["anyOf"] if "additionalProperties" in one)
    tables = next(one for one in properties["tables"]["anyOf"] if "additionalProperties" in one)
    tables["additionalProperties"] = {"anyOf": [tables["additionalProperties"], of_figures["additionalProperties"]]}
    properties["microdata"]["anyOf"].insert(0, {"type": "string"})


def policy_schema_text(checks: Mapping[str, Registered], remedies: Mapping[str, Registered]) -> str:
    """The same as text, with its characters visible."""
    return visible_json(json.dumps(policy_schema(checks, remedies), ensure_ascii=False, indent=2)) + "\n"


def parameters_schema(registered: Registered) -> dict[str, Any]:
    """The JSON Schema of the parameters of one check or remedy, its definitions under `$defs`."""
    _, references, definitions = _generated([registered])
    return {**definitions[_target(references[registered.parameters])], "$defs": definitions}


def _generated(
    registered: Iterable[Registered],
) -> tuple[dict[str, Any], dict[type[BaseModel], JsonSchemaValue], dict[str, Any]]:
    """The document's schema, a reference to each model of parameters, and the remaining definitions."""
    models: list[type[BaseModel]] = [PolicyDocument, *(one.parameters for one in registered)]
    for model in models:
        model.model_rebuild()
    inputs: list[tuple[type[BaseModel], JsonSchemaMode]]
    inputs = [(model, "validation") for model in dict.fromkeys(models)]
    references, whole = models_json_schema(inputs, schema_generator=_Generator)
    definitions = _with_bounds(whole["$defs"])
    document = definitions.pop(_target(references[PolicyDocument, "validation"]))
    parameters = {model: references[model, "validation"] for model in models[1:]}
    return document, parameters, dict(sorted(definitions.items()))


def _target(reference: JsonSchemaValue) -> str:
    return str(reference["$ref"]).rsplit("/", 1)[-1]


def _entry(
    registered: Registered, description: str, references: Mapping[type[BaseModel], JsonSchemaValue]
) -> dict[str, Any]:
    """A mapping of one key, the name of a check or a remedy; without parameters it has its defaults."""
    return {
        "title": registered.title,
        "description": description,
        "type": "object",
        "properties": {registered.name: {"anyOf": [references[registered.parameters], {"type": "null"}]}},
        "required": [registered.name],
        "additionalProperties": False,
    }


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, with what this package's own scalars accept."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the signature is pydantic's
        """No titles such as "L": a field's name says as much."""
        return False

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """Names and values may be typed as numbers; they are read as the text in the file."""
        if schema["function"]["function"] is as_text:
            return {"type": ["string", "number"]}
        return super().function_before_schema(schema)


def _with_bounds(node: Any) -> Any:
    """Move bounds of exact numbers, which pydantic leaves next to the alternatives, to the one that is a number."""
    if isinstance(node, list):
        return [_with_bounds(one) for one in node]
    if not isinstance(node, dict):
        return node
    bounds = {key: node[key] for key in _BOUNDS if isinstance(node.get(key), int | float)}
    plain = {key: _with_bounds(value) for key, value in node.items() if key not in bounds}
    limits = {_BOUNDS[key]: value for key, value in bounds.items()}
    if bounds:
        plain["anyOf"] = [{**one, **limits} if one.get("type") == "number" else one for one in plain["anyOf"]]
    return plain


class Registered(Protocol):
    """A check or a remedy: named, with parameters of its own and a guide."""

    @property
    def name(self) -> str:
        """What a policy calls it."""
        ...

    @property
    def title(self) -> str:
        """What a person calls it."""
        ...

    @property
    def parameters(self) -> type[BaseModel]:
        """The model of its parameters."""
        ...

    @property
    def guide(self) -> Any:
        """What it is for, in words."""
        ...


class Broken(Protocol):
    """A plugin that does not work."""

    @property
    def name(self) -> str:
        """The name of its entry point."""
        ...

    @property
    def error(self) -> str:
        """The reason why it does not work."""
        ...


class Registry(Protocol):
    """Everything that a policy may name."""

    @property
    def checks(self) -> Mapping[str, Any]:
        """Every registered check by name."""
        ...

    @property
    def remedies(self) -> Mapping[str, Any]:
        """Every registered remedy by name."""
        ...

    @property
    def broken(self) -> Sequence[Broken]:
        """The plugins that do not work, any of which may define a name that is missing."""
        ...

    def only(self, allowed: Iterable[str]) -> Registry:
        """The same without the external plugins that a policy does not allow."""
        ...

    def require(self, name: str) -> None:
        """Insist on a plugin that a policy names."""
        ...

    def provider_of(self, hook: str, name: str) -> str:
        """The external plugin that yields a name for a hook; nothing for a built-in one."""
        ...


T = TypeVar("T")  # what the names denote: checks, or remedies


@dataclass(frozen=True)
class Section(Generic[T]):
    """One section, and what its names may be."""

    key: str  # its name in the document
    noun: str  # what a name in it is the name of
    hook: str  # the hook of plugins that yields them
    # everything registered, by name; asked for only where the section has an entry
    known: Callable[[], Mapping[str, T]]
    # of an entry's parameters under the policy: (parameter or "", sentence)
    faults: Callable[[T, Any, PolicyDocument], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class SectionEntry(Generic[T]):
    """One sound entry: what it names, its parameters, its line and column, and its place in the section."""

    registered: T
    parameters: Any
    line: int | None
    column: int | None
    index: int
