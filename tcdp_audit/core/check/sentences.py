"""The sentences of a check: templates with named placeholders, and the one place that fills them.

A template is text with placeholders:

`{k}`                   a value: a number, the name of a column, a list of columns, a text
`{k:record}`            so many of something: `1 record`, `3 records`; the noun may be a placeholder, `{k:{unit}}`
`{k:is|are}`            the form that the number asks for
`{k:%}`, `{k:chance}`   a share as a percentage, or as how sure a guess is: `a chance of 1 in 4`
`{k:one in}`            a share as people say it: `1 in 11`, `82.6%`
`{k:% against limit}`   a percentage that never reads like that parameter, unless it is at it
`{a/b:record}`          so many of all: `3 of 4 records`, `both records`, `no record`; `{a/b:is|are}` agrees with it,
                        `{a/b:%}` and `{a/b:chance}` are the share
`{name:column}`         what a sentence calls the column of that name
`{record:plural}`       the plural of a noun
`{day:date}`            a date with its month in words
`{words:text}`          a text of the program, or a list of them, which a translation of the sentence needs in its
                        language, too
`{names:names}`         a list of names that stay as they are: `age, sex and zip`
`[text {k} text]`       a part that is left out where one of its values is missing, zero or empty
`[one|other]`           the first of several parts that has all its values; the last one otherwise
`{k?}`, `{k=1?}`        a test that writes nothing: the value is there and not false; it is 1, `{k>1?}` above 1,
                        `{k<1?}` below 1; where a part has tests, they alone decide whether it is left out

Values are looked up in this order: what the check's `values` gives, its `parts`, the names in `STANDARD`, the
parameters, the details. `{details.k}` and `{parameters.k}` name one of them where both have it. No figure is written
so that it reads like a threshold that it is not at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice
from math import isinf
from typing import Any, NamedTuple

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass, freeze
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.base.phrases import (
    allowance,
    average_group,
    bound,
    chance_of,
    column_of,
    columns_of,
    every_record,
    intruder_who_knows,
    known_columns,
    part_of,
    person_of,
    record_noun,
    unit_noun,
    victims,
    worst_people,
)
from tcdp_audit.core.base.words import (
    agree,
    count,
    decimal,
    figure,
    listing,
    noun_form,
    one_in,
    percent,
    percent_of,
    plural,
    sentence_case,
    with_article,
    written_date,
)
from tcdp_audit.core.check.missing_values import (
    MISSING_PARTS,
    fails_only_without_values,
    sentence_on_missing,
    values_on_missing,
    with_values,
)

Parts = Mapping[str, str | Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """The sentences of a check about an outcome, as templates.

    Args:
        passed: the message where the demand is kept.
        failed: the message where it is not; without it that of `passed`.
        measured: the message where nothing is demanded; without it that of `passed`.
        impact: what the outcome means for one person: what an intruder knows, and what it reveals. Without it nothing
            is said.
        no_impact: the same where the observed figure is 0; without it that of `impact`.
        parts: templates that others name; where a part is a mapping, the template for the value that has its name, or
            the name under `by`; the empty key is for all other values.
        values: further values of an outcome, for what is truly computed. It sees no cell.
    """

    passed: str = ""
    failed: str = ""
    measured: str = ""
    impact: str = ""
    no_impact: str = ""
    parts: Parts = field(default_factory=dict)
    values: Callable[[Outcome], Mapping[str, Any]] = field(default=lambda _: {})

    def __post_init__(self) -> None:
        """Lock its parts, and read every template once, so that a broken one is seen where it is written."""
        freeze(self, "parts")
        for template in self.templates():
            parsed(template)

    def templates(self) -> Iterator[str]:
        """Every template, as a translation has them."""
        parts = (one.items() if isinstance(one, Mapping) else [("", one)] for one in self.parts.values())
        of_parts = (template for name, template in chain(*parts) if name != "by")
        yield from filter(None, (self.passed, self.failed, self.measured, self.impact, self.no_impact, *of_parts))

    def message(self, outcome: Outcome) -> str:
        """The message of an outcome; empty where the check has none.

        Raises:
            CheckError: a template names a value that the outcome does not have.
        """
        about = outcome if fails_only_without_values(outcome) else with_values(outcome)
        sentences = [self.filled(one, about) for one in self.message_templates(outcome)]
        return " ".join(sentences) if not sentences or sentences[0] else " "  # a blank one, which conformance refuses

    def individual_impact(self, outcome: Outcome) -> str:
        """The meaning of an outcome for one person; empty where the check does not say.

        Raises:
            CheckError: a template names a value that the outcome does not have.
        """
        about = with_values(outcome)
        return " ".join(self.filled(one, about) for one in self.impact_templates(outcome))

    def message_templates(self, outcome: Outcome) -> list[str]:
        """The templates of the message, a sentence each; empty where the check has none."""
        of_status = {Status.FAILED: self.failed, Status.PASSED: self.passed}.get(outcome.status, self.measured)
        own = of_status or self.passed
        if own and fails_only_without_values(outcome):
            own = STANDARD_PARTS["only_without_value"]
        missing = sentence_on_missing(outcome)
        return [own, *([STANDARD_PARTS[missing]] if missing else [])] if own else []

    def impact_templates(self, outcome: Outcome) -> list[str]:
        """The templates of the individual impact, a sentence each; empty where the check does not say."""
        own = self.no_impact if self.no_impact and not with_values(outcome).observed else self.impact
        is_certain = outcome.naming.attempt == 1 or "attempt" in outcome.details
        conditions = [] if is_certain else ["if_tried"]
        conditions += ["if_in_release"] if outcome.naming.is_blind else []
        return [own, *(STANDARD_PARTS[one] for one in conditions)] if own else []

    def filled(self, template: str, outcome: Outcome) -> str:
        """One of the templates with the values of an outcome, as a sentence.

        Raises:
            CheckError: it names a value that the outcome does not have.
        """
        values = {**values_on_missing(outcome), **self.values(outcome)}
        text = sentence_case(Filling(outcome, self.parts, values).fill(template).strip())
        return by_name(text, outcome.naming.intruder_name)


def by_name(text: str, intruder: str) -> str:
    """A text on an intruder with the name of the one whom a scenario is of; unchanged without a name."""
    if not intruder:
        return text
    return text.replace("An intruder", sentence_case(intruder)).replace("an intruder", intruder)


STANDARD: Mapping[str, Callable[[Outcome], Any]] = {
    "observed": lambda outcome: outcome.observed,
    "threshold": lambda outcome: outcome.threshold,
    "infinite": lambda outcome: outcome.observed is not None and isinf(outcome.observed),
    "guess": lambda outcome: Fraction(1, max(int(outcome.observed or 0), 1)),  # among so many as were observed
    "records": lambda outcome: outcome.records and outcome.records.total,
    "failing": lambda outcome: outcome.records and outcome.records.failing,
    "classes": lambda outcome: outcome.classes and outcome.classes.total,
    "failing_classes": lambda outcome: outcome.classes and outcome.classes.failing,
    "cells": lambda outcome: outcome.cells and outcome.cells.total,
    "failing_cells": lambda outcome: outcome.cells and outcome.cells.failing,
    "record": record_noun,
    "unit": unit_noun,
    "several_rows": lambda outcome: outcome.conventions.get("unit", "row") != "row",  # of an entity
    "person": person_of,  # with its article
    "attribute": column_of,
    "known": known_columns,
    "intruder": intruder_who_knows,
    "victims": victims,
    "worst_group": lambda _: "the worst of all groups",
    "every_record": every_record,
    "worst_people": worst_people,
    "average_group": average_group,
    "worst_size": lambda outcome: outcome.worst[0].records if outcome.worst else 0,
    "allowed": lambda outcome: allowance(outcome) if outcome.status is Status.FAILED else "",
    "bound": lambda outcome: bound(outcome) if outcome.status is Status.FAILED else "",
}
"""The values that every outcome has, by the name of the placeholder."""

STANDARD_PARTS: Mapping[str, str] = {
    **MISSING_PARTS,
    "in_worst_group": (
        "{intruder} finds [{classes=1?}the only group, of {worst_people}; there|the matching group; in {worst_group}, "
        "of {worst_people},]"
    ),
    "if_tried": "This holds if the attack is tried.",
    "if_in_release": "This counts the file alone, as if the intruder knew that the {unit} is in it.",
}
"""The parts that every check has; one may say in its part `worst_group` which group that is."""


class Field(NamedTuple):
    """A placeholder: the value or two values that it names, a test on it, and how it is written."""

    name: str
    total: str
    test: str
    spec: str


class _Segment(NamedTuple):
    """The alternatives of an optional part."""

    alternatives: tuple[tuple[Any, ...], ...]


AGAINST = "% against "
TOKENS = re.compile(
    r"""
    \{ (?P<name> [A-Za-z_] [\w.]* )
        (?: / (?P<total> [\w.]+ ) )?
        (?P<test> (?: [=<>] [^?{}]* )? \? )?
        (?: : (?P<spec> (?: [^{}] | \{\w+\} )* ) )?
    \}
    | [][|{}]
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def parsed(template: str) -> tuple[Any, ...]:
    """The texts, placeholders and optional parts of a template.

    Raises:
        ValueError: a bracket or a brace is not closed.
    """
    tokens = _tokens(template)
    alternatives, end = _alternatives(tokens)
    if end or len(alternatives) > 1:
        raise ValueError(f"a bracket or a bar is outside an optional part: {template!r}")
    return alternatives[0]


def _tokens(template: str) -> Iterator[str | Field]:
    position = 0
    for match in TOKENS.finditer(template):
        yield template[position : match.start()]
        if match["name"]:
            yield Field(match["name"], match["total"] or "", match["test"] or "", match["spec"] or "")
        elif match[0] in "{}":
            raise ValueError(f"a brace has no counterpart: {template!r}")
        else:
            yield match[0]
        position = match.end()
    yield template[position:]


def _alternatives(tokens: Iterator[str | Field]) -> tuple[list[tuple[Any, ...]], str]:
    """The texts between bars, up to a closing bracket or the end; and that bracket."""
    alternatives: list[list[Any]] = [[]]
    for item in tokens:
        if item == "]":
            return [tuple(one) for one in alternatives], "]"
        if item == "|":
            alternatives.append([])
        elif item == "[":
            inner, end = _alternatives(tokens)
            if not end:
                raise ValueError("an optional part is not closed")
            alternatives[-1].append(_Segment(tuple(inner)))
        elif item:
            alternatives[-1].append(item)
    return [tuple(one) for one in alternatives], ""


@dataclass
class Filling:
    """The values of one outcome, and how they are written."""

    outcome: Outcome
    parts: Parts
    values: Mapping[str, Any]

    def fill(self, template: str) -> str:
        """Fill a template."""
        return self._text(parsed(template))

    def _text(self, nodes: Sequence[Any]) -> str:
        return "".join(self._written(node) for node in nodes)

    def _written(self, node: str | Field | _Segment) -> str:
        if isinstance(node, str):
            return node
        if isinstance(node, _Segment):
            last = node.alternatives[-1] if len(node.alternatives) > 1 else None
            chosen = (one for one in node.alternatives if self._is_complete(one, otherwise=one is last))
            return "".join(map(self._text, islice(chosen, 1)))
        if node.test:
            return ""
        return self._formatted(self._value(node.name), node)

    def _is_complete(self, nodes: Sequence[Any], *, otherwise: bool) -> bool:
        """Whether an alternative is to be written: its tests hold or, where it has none, all its values are there."""
        fields = [node for node in nodes if isinstance(node, Field)]
        tests = [node for node in fields if node.test]
        if tests:
            return all(self._holds(node) for node in tests)
        return otherwise or all(self._value(node.name, optional=True) for node in fields)

    def _holds(self, node: Field) -> bool:
        value = self._value(node.name, optional=True)
        sign, wanted = node.test[:1], node.test[1:-1]
        if sign == "?" or value is None:
            return value is not None and value is not False and value not in ("", [], ())
        if sign == "=":
            return bool(str(value) == wanted if isinstance(value, str) else value == float(wanted))
        return bool(value > float(wanted) if sign == ">" else value < float(wanted))

    def _value(self, name: str, *, optional: bool = False) -> Any:
        """The value of a placeholder; None where it is missing and may be."""
        if name in self.parts:
            return self._part(self.parts[name], name)
        if name in self.values:
            return self.values[name]
        if name in STANDARD_PARTS:
            return self._part(STANDARD_PARTS[name], name)
        if name in STANDARD:
            return STANDARD[name](self.outcome)
        source, *path = name.split(".") if name.startswith(("details.", "parameters.")) else ("", *name.split("."))
        if source != "details" and path[0] in self.outcome.parameters:
            return self.outcome.parameters[path[0]]
        value: Any = {} if source == "parameters" else self.outcome.details
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is None and not optional:
            raise CheckError(f"a sentence names {name!r}, and the outcome of {self.outcome.check} has no such value")
        return float(value) if isinstance(value, Fraction) else value  # only what is demanded stays a fraction

    def _part(self, part: str | Mapping[str, str], name: str) -> str:
        if isinstance(part, str):
            return self.fill(part)
        others = Filling(self.outcome, {}, self.values)
        chosen = str(others._value(part.get("by", name), optional=True))
        return self.fill(part[chosen] if chosen in part else part.get("", ""))

    def _formatted(self, value: Any, node: Field) -> str:
        spec = re.sub(r"\{(\w+)\}", lambda match: written_plainly(self._value(match[1]), self.outcome), node.spec)
        if node.total:
            return self._part_of(value or 0, self._value(node.total), spec)
        if "|" in spec:
            return agree(value, *spec.split("|"))
        if spec in _WRITTEN and not (spec == "column" and not isinstance(value, str)):
            return _WRITTEN[spec](value, self.outcome)
        if spec.startswith(AGAINST):
            return percent(value, self._value(spec.removeprefix(AGAINST), optional=True))
        return _counted(value, spec, self.outcome)

    def _part_of(self, value: float, total: int, spec: str) -> str:
        if "|" in spec:
            return agree(value or 1, *spec.split("|"))
        if spec in ("%", "chance"):
            return _WRITTEN[spec](value / total, self.outcome)
        return part_of(value, total, spec)


def written_plainly(value: Any, outcome: Outcome) -> str:
    """A value without a specification; a list is one of columns."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return columns_of(outcome, value)
    if isinstance(value, Fraction):
        return decimal(value)
    return count(value) if isinstance(value, int) else figure(value, outcome.threshold)


def _as_percentage(value: Any, outcome: Outcome) -> str:
    return percent_of(value) if isinstance(value, Fraction) else percent(value, outcome.threshold)


def _counted(value: Any, noun: str, outcome: Outcome) -> str:
    """A number of something, which need not be whole in the mean."""
    if value == int(value):
        return count(int(value), noun)
    return f"{written_plainly(value, outcome)} {noun_form(noun, value)}"


_WRITTEN: Mapping[str, Callable[[Any, Outcome], str]] = {
    "": written_plainly,
    "%": _as_percentage,
    "chance": lambda value, _: chance_of(value),
    "one in": lambda value, _: one_in(value),
    "column": lambda value, outcome: column_of(outcome, str(value)),
    "plural": lambda value, _: plural(value),
    "article": lambda value, _: with_article(value),
    "text": lambda value, _: value if isinstance(value, str) else listing(value),
    "names": lambda value, _: listing(value),
    "date": lambda value, _: written_date(value),
}
