"""What a policy would be if its mistakes were mended, so that mistakes of a later stage are reported in the same run.

The stages of a policy build on each other: a value has a form, a form has parameters, parameters fit a document. What
comes after a mistake depends on what was meant. So a mistake is mended in every way that is at hand, each way is
judged, and only what all ways have in common is reported: that is wrong whatever was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from tcdp_audit.core.policy.model import AttributeDeclaration
from tcdp_audit.core.policy.source import PolicyFault

M = TypeVar("M", bound=BaseModel)
F = TypeVar("F", bound=Hashable)
Choices = Sequence[Mapping[str, Any]]

ANY_TEXT = "?"  # the name of no column
ANY: tuple[Any, ...] = (ANY_TEXT, 1, True, "0.5", 2, [ANY_TEXT], {ANY_TEXT: "0.5"})
WAYS = 48  # of mending that are judged; each costs a validation and one call of each check
ROUNDS = 3  # of faults that show one after the other within one value


class Way(NamedTuple, Generic[M]):
    """One way to mend a value: as it would be typed, and as it is read then."""

    data: Any
    sound: M


def mended(
    model: type[M],
    data: Any,
    values: Callable[[], Sequence[Any]],
    report: Callable[[ValidationError], Iterable[PolicyFault]],
) -> tuple[list[PolicyFault], list[Way[M]]]:
    """Every certain fault of one value, and the values that it may have been meant to be.

    Args:
        model: the form of the value.
        data: the value as it was typed.
        values: what its fields may have been meant to be, besides the choices that they have.
        report: the faults in a complaint of pydantic.

    Returns:
        The faults, and the sound values: one where the value itself is sound, none where no way to mend it is known.
    """
    faults: dict[PolicyFault, None] = {}
    ways: list[Any] = [data]
    for _ in range(ROUNDS):
        sound, errors = _validated(model, ways)
        if sound:
            return list(faults), sound
        faults |= dict.fromkeys(in_common(list(report(error)) for _, error in errors))
        best, error = min(errors, key=lambda one: one[1].error_count())
        ways = list(_ways(model, best, error, values()))
        if not ways:
            break
    return list(faults), _validated(model, ways)[0]


def otherwise(model: type[M], data: Any, names: Sequence[str], values: Callable[[], Sequence[Any]]) -> list[Way[M]]:
    """The same sound value with other values in the fields of these names."""
    if not isinstance(data, Mapping):
        return []
    rest = {name: value for name, value in data.items() if name not in names}
    known = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    choices = [_choices(model, name, known, data, [], values()) for name in names if name in known]
    return _validated(model, [{**rest, **way} for way in combined([one for one in choices if one])])[0]


def in_common(lists: Iterable[Sequence[F]]) -> list[F]:
    """What all of several lists have, in the order of the first."""
    first, *others = [list(dict.fromkeys(one)) for one in lists] or [[]]
    sets = [set(one) for one in others]
    return [one for one in first if all(one in other for other in sets)]


def combined(choices: Sequence[Choices]) -> Iterator[dict[str, Any]]:
    """Ways to choose one of each: all of one number, then each one in turn while the others are the first.

    All combinations would be too many. A complaint that mending several mistakes at once would end is about one of
    them at a time, so it ends in one of these ways as well. At most `WAYS`.
    """
    longest = max(map(len, choices), default=1)
    ways = [_merged(one[number % len(one)] for one in choices) for number in range(longest)]
    for place, one in enumerate(choices):
        for other in one[1:]:
            ways.append(_merged(other if place == index else those[0] for index, those in enumerate(choices)))
            if len(ways) >= WAYS:
                yield from ways
                return
    yield from ways[:WAYS]


def typical_names(attributes: Mapping[str, AttributeDeclaration]) -> list[str]:
    """One declared column of each kind: what a parameter that names a column may have meant."""
    kinds: dict[tuple[Any, ...], str] = {}
    for name, one in attributes.items():
        kinds.setdefault(
            (one.role, one.scale, one.order is None, one.hierarchy is None, one.distribution is None), name
        )
    return list(kinds.values())


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def _validated(model: type[M], ways: Iterable[Any]) -> tuple[list[Way[M]], list[tuple[Any, ValidationError]]]:
    sound, errors = [], []
    for way in ways:
        try:
            sound.append(Way(way, model.model_validate(way)))
        except ValidationError as error:
            errors.append((way, error))
    return sound, errors


def _ways(model: type[BaseModel], data: Any, error: ValidationError, values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The same value with its faulty fields mended; where it is faulty as a whole only, with each field in turn."""
    places = [detail["loc"] for detail in error.errors(include_url=False, include_input=False, include_context=False)]
    names = list(dict.fromkeys(str(place[0]) for place in places if place))
    known = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    if names and isinstance(data, Mapping):
        sound = {name: value for name, value in data.items() if str(name) not in names}
        missing = [name for name in known if name not in data]
        choices = [_choices(model, name, known, data, missing, values) for name in names]
        yield from ({**sound, **way} for way in combined([one for one in choices if one]))
        return
    typed = dict(data) if isinstance(data, Mapping) else {}
    every = {name: _choices(model, name, known, typed, [], values) for name in known}
    if not typed:
        yield from combined([one for one in every.values() if one])
    for name in typed:
        rest = {other: value for other, value in typed.items() if other != name}
        yield from ({**rest, **choice} for choice in every.get(name, [{}]))


def _choices(
    model: type[BaseModel],
    name: str,
    known: Mapping[str, Any],
    data: Mapping[Any, Any],
    missing: Sequence[str],
    values: Sequence[Any],
) -> list[Mapping[str, Any]]:
    """What may stand in place of a faulty field: one of its values, the field that was misspelt, or nothing."""
    if name not in known:
        nearest = get_close_matches(name, missing, n=1, cutoff=0.6)
        value = next((value for key, value in data.items() if str(key) == name), None)
        return [*({other: value} for other in nearest if _fits(model, other, value)), {}]
    candidates = (*_listed(known[name]), *values, *ANY)
    fitting: list[Mapping[str, Any]] = [{name: value} for value in candidates if _fits(model, name, value)]
    return fitting if _required(model, name) else [*fitting, {}]


def _required(model: type[BaseModel], name: str) -> bool:
    return any(one.is_required() for key, one in model.model_fields.items() if (one.alias or key) == name)


def _fits(model: type[BaseModel], name: str, value: Any) -> bool:
    """Whether a field takes a value, whatever else is missing."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        return not any(detail["loc"][:1] == (name,) for detail in error.errors(include_url=False, include_input=False))
    return True


def _listed(annotation: Any) -> list[Any]:
    """The values that a type lists: the members of an enumeration, the choices of a literal."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [one.value for one in annotation]
    inner = getattr(annotation, "__args__", ())
    return [one for part in inner for one in ([part] if isinstance(part, str | bool) else _listed(part))]
