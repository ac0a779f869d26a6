"""Mend the mistakes of a policy in every known way, so that mistakes of a later stage are reported in the same run.

The stages of a policy build on each other: a value has a form, a form has parameters, parameters fit a document. The
faults after a mistake depend on the intended value. So each mistake is mended in every known way, each way is judged,
and only the faults that all ways have in common are reported: they are wrong whatever value was intended.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from tcdp_audit.core.policy.faults import MOST, faults_of_scenarios, nearest
from tcdp_audit.core.policy.model import AttributeDeclaration, CompanionTable, PolicyDocument, Role, Scale
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
    """Every certain fault of one value, and the sound values that may have been intended.

    Args:
        model: the form of the value.
        data: the value as it was typed.
        values: possible values of its fields, in addition to the choices that they have.
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
    """The items that all of several lists have, in the order of the first."""
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
    """One declared column of each kind, as possible values of a parameter that names a column."""
    kinds: dict[tuple[Any, ...], str] = {}
    for name, one in attributes.items():
        kind = (one.role, one.scale, one.order is None, one.hierarchy is None, one.distribution is None)
        kinds.setdefault(kind, name)
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
    """The possible replacements of a faulty field: one of its values, the field that was misspelt, or nothing."""
    if name not in known:
        nearest = get_close_matches(name, missing, n=1, cutoff=0.6)
        value = next((value for key, value in data.items() if str(key) == name), None)
        return [*({other: value} for other in nearest if _fits(model, other, value)), {}]
    candidates = (*_listed(known[name]), *values, *ANY)
    fitting: list[Mapping[str, Any]] = [{name: value} for value in candidates if _fits(model, name, value)]
    required = any(one.is_required() for key, one in model.model_fields.items() if (one.alias or key) == name)
    return fitting if required else [*fitting, {}]


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


OF_A_CALL = ("original", "population")  # tables that a call can name
Place = tuple[str | int, ...]
Located = tuple[Place, str]


def faults_of_document(document: PolicyDocument, questions: Sequence[str] | None) -> Iterator[Located]:
    """The faults of a document as a whole, each with its location.

    `questions` are the keys of the questions that its profiles ask; None where a profile is unknown.
    """
    if document.has_figures or document.microdata is not None or document.previous_policies:
        from tcdp_audit.core.policy.aggregate_faults import faults_of_figures  # noqa: PLC0415 - only for figures

        yield from faults_of_figures(document)
    if not document.has_records:
        yield from () if questions is None else _answers_asked(document, questions)
        return
    yield from _unit_apart(document)
    if document.keep_key and document.key is None:
        yield ("keep_key",), "the policy names no `key:` that could be kept"
    if document.keep_links and document.tables is None:
        yield ("keep_links",), "the policy has no `tables:` that columns could link"
    yield from _unit_released(document)
    if document.tables is not None:
        from tcdp_audit.core.policy.tables import faults_of_tables  # noqa: PLC0415 - only for several tables

        yield from faults_of_tables(document, document.tables)
    yield from faults_of_scenarios(document)
    yield from _companions_sound(document)
    yield from _histories_sound(document)
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


def _companions_sound(document: PolicyDocument) -> Iterator[Located]:
    """The faults of the names and codes of further tables, without data."""
    for name, place, one in document.companion_entries():
        if not isinstance(one, CompanionTable):
            continue
        if one.file is None and name not in OF_A_CALL:
            yield place, "names no `file:`, which no call can name instead"
        for key, named in (("columns", one.columns), ("codes", one.codes)):
            for attribute in named:
                if attribute not in document.attributes and attribute != document.unit:
                    suggestion = nearest(attribute, document.attributes)
                    yield (*place, key, attribute), f"{attribute!r} is not declared under `attributes`{suggestion}"
        yield from _named_once(place, one)


def _named_once(place: Place, table: CompanionTable) -> Iterator[Located]:
    """The faults of columns and codes of a table that are named twice. A code may be a cell, so none is quoted."""
    attribute_of: dict[str, str] = {}
    for attribute, column in table.columns.items():
        if column in attribute_of:
            sentence = f"column {column!r} is {attribute_of[column]!r} already; a column is one attribute"
            yield (*place, "columns", attribute), sentence
        attribute_of.setdefault(column, attribute)
    for attribute, codes in table.codes_of_values.items():
        named = set[str]()
        for value, own in codes.items():
            if len({*own}) < len(own) or not named.isdisjoint(own):
                yield (*place, "codes", attribute, value), "a code is named twice; a code means one value"
            named |= {*own}


def _histories_sound(document: PolicyDocument) -> Iterator[Located]:
    """The faults of households, times and attributes of units, and what they need of the rest of the policy."""
    household = document.attributes.get(document.household or "")
    if household is not None and household.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        role = household.role.value.replace("_", "-")
        advice = "give the column that is known a different name"
        yield ("household",), f"the household joins people, so it cannot be a {role} as well; {advice}"
    if document.household is not None and document.household == document.unit:
        yield ("household",), "the household is the unit as well; the unit is a person, so name another column or none"
    if document.time is not None and document.time not in document.attributes:
        suggestion = nearest(document.time, document.attributes)
        yield ("time",), f"{document.time!r} is not declared under `attributes`{suggestion}"
    if document.time is not None and document.root is None:
        yield ("time",), "the policy names no `unit:` whose rows have a time"
    if document.unit is None:
        yield from (
            (("attributes", name, "of"), "the policy names no `unit:` whose rows could agree")
            for name, one in document.attributes.items()
            if one.of is not None
        )


def _weight_numeric(document: PolicyDocument) -> Iterator[Located]:
    """The faults of the weights without data: they are numbers, and those of households are of households."""
    for key, name in (("weight", document.weight), ("household_weight", document.household_weight)):
        weight = document.attributes.get(name or "")
        if weight is not None and weight.scale is not Scale.NUMERIC:
            example = f"{name}: {{role: {weight.role.value}, scale: numeric}}"
            yield (key,), f"{name!r} is not declared as numeric; a weight is: `{example}`"
    if document.household_weight is not None and document.household is None:
        yield ("household_weight",), "the policy names no `household:` that could have a weight"


def _losses_measured(document: PolicyDocument) -> Iterator[Located]:
    """Insist that the loss of the columns that `min_utility` names is measured."""
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
    """The faults of `utility`, each with its location."""
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
        yield (*location, "by"), f"{of!r} cannot be under `of` and under `by`"


def _unusable(document: PolicyDocument, location: Place, names: Sequence[str]) -> Iterator[Located]:
    """Attributes that are not declared, are identifiers, or are named twice."""
    usable = [name for name, one in document.attributes.items() if one.role is not Role.IDENTIFIER]
    for name in dict.fromkeys(names):
        if name not in document.attributes:
            yield location, f"{name!r} is not declared under `attributes`{nearest(name, usable)}"
        elif name not in usable:
            yield location, f"{name!r} is an identifier, which no release may contain"
        if list(names).count(name) > 1:
            yield location, f"{name!r} is named twice"
