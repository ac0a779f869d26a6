"""Faults of a policy as sentences: what is wrong, where, and the nearest name that would have been right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.words import listing, visible
from tcdp_audit.core.policy.model import AGGREGATES, PolicyDocument, Role, Scenario
from tcdp_audit.core.policy.scalars import DIGITS, OddNumber, plain_number
from tcdp_audit.core.policy.source import PolicyFault, PolicySource

_SENTENCES = {
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "list_type": "must be a list; put the value in [brackets]",
    "dict_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of names to values",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "missing": "is required",
}

UNDECIDED = "TODO"  # the role that a draft leaves to a person

_NUMBERS = ("int_type", "float_type")
FEW = 9  # names that a sentence can list
MOST = 100  # faults that one message lists
COMPARED = 1000  # names that one name is compared with


def nearest(name: str, names: Iterable[str]) -> str:
    """A question about the name that was probably intended, or nothing."""
    matches = _alike(name, list(islice(names, COMPARED)))
    return f"; did you mean {' or '.join(map(repr, matches))}?" if matches else ""


def _alike(name: str, names: Sequence[str]) -> Sequence[str]:
    """The names that end in a name, if it is what several have in common; otherwise the one most like it."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for an unknown name

    compared = names if len(name) > 2 else ()
    longer = [one for one in compared if one.endswith(name) and one != name]
    if len(longer) > 1:
        return longer
    begins = re.compile(rf"{re.escape(name)}[^a-z0-9]", re.IGNORECASE)  # `salary-class`, of `salary`
    return get_close_matches(name, names, n=1, cutoff=0.6) or [*filter(begins.match, compared)][:1]


def located(source: PolicySource, prefix: Sequence[str | int], message: str) -> PolicyFault:
    """A fault at a location of the policy."""
    line, column = source.position(prefix)
    return PolicyFault(_path(source.written(prefix)), message, line, column)


def is_below(fault: PolicyFault, other: PolicyFault) -> bool:
    """Whether a fault is at the same place as another, or at a part of it."""
    place = other.location
    return fault.location == place or fault.location.startswith((f"{place}.", f"{place}["))


def from_validation(
    error: ValidationError, source: PolicySource, model: type[BaseModel], prefix: Sequence[str | int] = ()
) -> list[PolicyFault]:
    """The complaints of pydantic as faults, in the order of the file; one more than `MOST` at the most."""
    faults: dict[str, PolicyFault] = {}
    for detail in _without_misspelt([dict(one) for one in error.errors(include_url=False)])[: MOST + 1]:
        location = (*prefix, *_plain(detail["loc"], source, prefix))
        fault = located(source, location, _sentence(detail, model))
        same = faults.get(fault.location)
        if same is not None and fault.message not in same.message:  # a type with several forms complains once for each
            fault = replace(same, message=f"{same.message}, or {fault.message}")
        faults[fault.location] = fault if same is None or fault.message not in same.message else same
    return sorted(faults.values(), key=lambda fault: (fault.line, fault.column))


def _without_misspelt(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The complaints without that a name is missing where one most like it is unknown: that is one mistake."""
    missing: dict[Any, list[str]] = {}
    for one in details:
        if one["type"] == "missing":
            missing.setdefault(one["loc"][:-1], []).append(str(one["loc"][-1]))
    unknown = [one["loc"] for one in details if one["type"] == "extra_forbidden"]
    misspelt = {(*place[:-1], *_alike(str(place[-1]), missing.get(place[:-1], []))[:1]) for place in unknown}
    return [one for one in details if one["type"] != "missing" or one["loc"] not in misspelt]


def _sentence(detail: Mapping[str, Any], model: type[BaseModel]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return f"unknown name{_instead(str(detail['loc'][-1]), _names_beside(model, detail['loc']))}"
    if kind in ("enum", "literal_error"):
        return _no_choice(detail)
    if kind in _NUMBERS and isinstance(detail["input"], str):
        return _no_number(detail["input"], _SENTENCES[kind])
    if kind == "string_type" and isinstance(detail["input"], bool):
        return "must be text, and YAML reads this as true or false; put it in quotes"
    if kind == "string_type" and isinstance(detail["input"], int | float):
        return "must be text; put it in quotes"
    if kind == "model_type" and detail["loc"][:1] == ("attributes",) and len(detail["loc"]) == 2:
        return f"needs a role, such as `{{role: {_probable_role(detail['input'])}}}`"
    if kind == "dict_type" and detail["loc"][:1] in (("expect",), ("remedy",)) and isinstance(detail["input"], str):
        return "must be a name with its parameters, such as `- name: {parameter: value}`; without any, `- name: {}`"
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(**context)
    if kind == "value_error":
        return str(context["error"])
    return str(detail["msg"])


def _no_choice(detail: Mapping[str, Any]) -> str:
    """The fault of a value that is none of those that there are."""
    choices = detail["ctx"]["expected"]
    if detail["input"] == UNDECIDED and len(detail["loc"]) > 1 and detail["loc"][-1] == "role":
        return f"is still to be decided for column {detail['loc'][-2]!r}: write {choices} in place of {UNDECIDED}"
    listed = re.findall(r"'([^']*)'", choices)
    several = " or " in choices or ", " in choices
    return f"must be {'one of ' * several}{choices}{nearest(str(detail['input']), listed)}"


def _instead(name: str, names: Sequence[str]) -> str:
    """The name that was probably intended; where none is like it, those that there are if they are few."""
    few = f"; known here: {', '.join(sorted(names))}" if len(names) <= FEW else ""
    return nearest(name, names) or few


def _probable_role(typed: Any) -> str:
    """The role that a text in place of a declaration probably means: `quasi-identifier` is one of them."""
    text = str(typed).strip().lower().replace("-", "_").replace(" ", "_") if isinstance(typed, str) else ""
    return next(iter(_alike(text, [role.value for role in Role])), Role.QUASI_IDENTIFIER.value)


def _no_number(text: str, sentence: str) -> str:
    """The fault of a text in place of a number."""
    if isinstance(text, OddNumber):
        return text.fault
    quoted = f", and in quotes it is a text; write {text} without them" if DIGITS.fullmatch(text) else ""
    return f"{sentence}{quoted or plain_number(text)}"


def _names_beside(model: type[BaseModel], location: Sequence[Any]) -> list[str]:
    """The field names of the model that an unknown name is in."""
    current: Any = model
    for part in location[:-1]:
        fields = current.model_fields if _is_model(current) else {}
        named = [field for key, field in fields.items() if (field.alias or key) == str(part)]
        current = next((one for field in named for one in _models_in(field.annotation)), current)
    return [field.alias or name for name, field in current.model_fields.items() if name != AGGREGATES]


def _models_in(annotation: Any) -> Iterable[type[BaseModel]]:
    if _is_model(annotation):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models_in(part)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _plain(location: Sequence[Any], source: PolicySource, prefix: Sequence[str | int]) -> list[str | int]:
    """A location without pydantic's own tags for union members and keys: only parts that are in the file."""
    data: Any = source.data
    for part in prefix:
        data = data[part]
    plain: list[str | int] = []
    for index, part in enumerate(location):
        inside = (isinstance(data, Mapping) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            plain.append(part)
            data = data[part]
        elif index == len(location) - 1 and isinstance(data, Mapping) and part != "[key]":
            plain.append(part)  # a missing or unknown name
    return plain


def _path(location: Sequence[str | int]) -> str:
    """A location as people write it: `expect[1].entropy_l_diversity.l`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def render_faults(name: str, text: str, faults: Sequence[PolicyFault]) -> str:
    """The faults of a policy file, at most `MOST`, each with its line and a caret below the place."""
    lines, name = text.splitlines(), visible(name)
    blocks = []
    for fault in faults[:MOST]:
        where = f"{name}:{fault.line}:{fault.column}" if fault.line else name
        head = ": ".join(visible(part) for part in (where, fault.location, fault.message) if part)
        if 0 < fault.line <= len(lines):
            number = f"{fault.line:>5}"
            excerpt, column = _window(lines[fault.line - 1], fault.column)
            head += f"\n{number} | {visible(excerpt)}\n      | {' ' * len(visible(excerpt[: column - 1]))}^"
        blocks.append(head)
    if len(faults) > MOST:
        blocks.append(f"{name}: there are more faults; these are the first {MOST}")
    return "\n".join(blocks)


def unsound(name: str, text: str, faults: Sequence[PolicyFault]) -> PolicyError:
    """The error that reports all faults of a policy file."""
    located_faults = [
        (one.line, one.column, ": ".join(part for part in (one.location, one.message) if part)) for one in faults[:MOST]
    ]
    return PolicyError(render_faults(name, text, faults), located_faults)


def _window(line: str, column: int, width: int = 68) -> tuple[str, int]:
    """The part of a long line around a column, with an ellipsis where it is cut, and the column within it."""
    if len(line) <= width:
        return line, column
    start = max(0, min(column - width // 2, len(line) - width))
    end = start + width
    before, after = "…" if start else "", "…" if end < len(line) else ""
    return f"{before}{line[start:end]}{after}", column - start + len(before)


Place = tuple[str | int, ...]


def name_of_knowledge(knows: Iterable[str]) -> str:
    """The name of a scenario that only says what is known: `knows age and sex`."""
    return f"knows {listing([name if name.isidentifier() else repr(name) for name in sorted({*knows})])}"


def faults_of_knowledge(knows: Sequence[str], document: PolicyDocument) -> Iterator[str]:
    """The reasons why columns cannot be what an intruder knows."""
    purposes = {document.unit: "the unit", document.household: "the household", document.key: "the key"}
    for number, name in enumerate(knows):
        declared = document.attributes.get(name)
        if declared is None:
            yield f"the policy declares no attribute {name!r}{nearest(name, document.attributes)}"
        elif declared.role is Role.IDENTIFIER:
            yield f"{name!r} is an identifier, which no release may contain"
        elif name in purposes:
            yield f"{name!r} is {purposes[name]}; a scenario names what is known of a person"
        elif name in knows[:number]:
            yield f"{name!r} is named twice"


def faults_of_scenarios(document: PolicyDocument) -> Iterator[tuple[Place, str]]:
    """The faults of the scenarios that a policy declares, each with its location."""
    for name, one in (document.scenarios or {}).items():
        location = ("scenarios", name)
        yield from (((*location, "knows"), sentence) for sentence in faults_of_knowledge(one.knows, document))
        yield from (((*location, "at_stake"), sentence) for sentence in _faults_at_stake(one, document))
        if one.in_release == "unknown" and one.population is None and document.population is None:
            sentence = "who is in the release is looked for in a population; add `population:`, here or for the policy"
            yield (*location, "in_release"), sentence


def _faults_at_stake(scenario: Scenario, document: PolicyDocument) -> Iterator[str]:
    named = scenario.at_stake or ()
    for number, name in enumerate(named):
        declared = document.attributes.get(name)
        if declared is None:
            yield f"the policy declares no attribute {name!r}{nearest(name, document.attributes)}"
        elif declared.role is not Role.SENSITIVE:
            yield f"{name!r} is not sensitive: its role is {declared.role.value}"
        elif name in scenario.knows:
            yield f"{name!r} is known, so that it is not at stake; leave it out of `knows` or of `at_stake`"
        elif name in named[:number]:
            yield f"{name!r} is named twice"
