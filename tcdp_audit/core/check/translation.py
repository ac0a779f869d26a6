"""Sentences in the language of a report: the formatter of translated templates, and `say` for those of reports.

A translation of a template is a template with the same values. Its grammar is that of `sentences`, but the words next
to a number are the translation's own, since languages differ in their cases and articles:

`{k}`, `{a/b}`                  a number as the language writes it, and so many of all: `3 von 4`
`{k:Gruppe|Gruppen}`            the form that the number asks for, without the number
`{k:{unit}}`                    so many people or records, in the noun of the policy
`{k:{unit} dative}`, `{a/b:{record} dative}`   the same in a case that the catalogue names
`{record:many}`                 a noun in one of its forms
`{k:%}`, `{k:chance}`, `{name:column}`, `{words:text}`, `{names:names}`, all tests and optional parts are as in English

A noun has its forms in the catalogue. One that only the policy has is written as there, in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.language import COUNTED, NUMBER, UntranslatedError, active_translations
from tcdp_audit.core.base.outcome import KNOWN_ROWS, Comparison, Outcome, Status
from tcdp_audit.core.base.phrases import (
    LIMITS,
    NAMED,
    SEVERAL,
    allowance,
    bound,
    laxness_sentence,
    record_noun,
    unit_noun,
)
from tcdp_audit.core.base.words import decimal, figure, noun_of_column, one_in, percent, sentence_case
from tcdp_audit.core.check.missing_values import fails_only_without_values, values_on_missing, with_values
from tcdp_audit.core.check.sentences import (
    AGAINST,
    STANDARD_PARTS,
    Filling,
    Parts,
    Sentences,
    parsed,
    written_plainly,
)

if TYPE_CHECKING:
    from tcdp_audit.core.base.language import Translations

REPORT = Outcome(check="report", status=Status.MEASURED)  # that of a sentence which is of no outcome
COMBINATION = "the combination of "  # how the label of several columns that are read together begins
WITH_NOUN = re.compile(r"\{(?P<name>\w+)\}(?: (?P<form>\w+))?")
NESTED = re.compile(r"\{(\w+)\}")

PHRASES: Parts = {
    "intruder": "An intruder who knows {person}'s {known}",
    **STANDARD_PARTS,
    "worst_group": "the worst of all groups",
    "average_group": "{mean_members:{record}}",
    "worst_people": "{worst_members:{record}}",
    "every_record": "[{records=1?}only {record}|{records:{record}}]",
    "victims": (
        "{failing/records:{record}} {failing/records:is|are} in {failing_classes:a group|{failing_classes} groups}"
    ),
    "allowed": "[{fails?}{allowance}]",
    "allowance": "[{threshold>0?}{limit} {threshold:%} is allowed|none is allowed]",
    "bound": "[{fails?}{boundary}]",
    "boundary": "{limit} {threshold} is [{higher_is_safer?}demanded|allowed]",
    "limit": {
        "by": "comparison",
        Comparison.AT_LEAST.value: "at least",
        Comparison.AT_MOST.value: "at most",
        Comparison.BELOW.value: "less than",
        Comparison.ABOVE.value: "more than",
    },
}
"""The parts of sentences that `phrases` writes in English, as templates for translations."""

NOUNS: Mapping[str, Callable[[Outcome], str]] = {
    "record": record_noun,
    "unit": unit_noun,
    "person": lambda outcome: outcome.naming.unit_name or _named_entity(outcome) or "person",
}
WORDS = (
    "certainty",
    "no chance",
    "a chance of 1 in {number}",
    "a chance of {share}",
    "{part} of {total}",
    "'{name}'",
    "{number} other columns",
    "of {name}",
    "whole history of {known}",
    "composition by {known}",
    "An intruder",
    "an intruder",
)
"""Short texts that the values of sentences are written with."""
LAXER = "The policy demands {limit} {number}; {usual}."
USUAL = "{limit} {number} is {says} ({source})"
STRICTNESS = (LAXER, USUAL, *LIMITS.values())
"""The texts of the sentence on a demand that is laxer than usual; see `laxness_sentence`."""


def say(template: str, outcome: Outcome = REPORT, /, **values: Any) -> str:
    """Make a sentence of a report, and offer its translation to the report that is being written.

    Args:
        template: the sentence with placeholders, as `Sentences` has them; a literal, which catalogues are made from.
        outcome: one whose columns and nouns the sentence names, as those of its check do; without it, of none.
        values: their values: numbers, and texts, which stay as they are. `{words:text}` is a text of the program,
            which a translation needs in its language, too.

    Returns:
        The sentence in English. A report in another language looks it up as a whole.

    Example:
        >>> say("{failed/total:demand} {failed/total:fails|fail}", failed=1, total=3)
        '1 of 3 demands fails'
    """
    english = Filling(outcome, {}, values).fill(template)
    translations = active_translations()
    if translations is not None:
        with suppress(UntranslatedError):  # otherwise the sentence stays English
            translations.offer(english, TranslatedFilling(outcome, {}, values, translations).fill(template))
    return english


def offer_outcome(title: str, sentences: Sentences, outcome: Outcome) -> None:
    """Offer the translations of what is said about an outcome, where its check says it.

    Args:
        title: the check's title; the outcome's may go on with a variant.
        sentences: the check's sentences.
        outcome: the outcome.
    """
    translations = active_translations()
    if translations is None:
        return
    variant = outcome.title.removeprefix(f"{title}, ")
    if variant != outcome.title:
        names = [translations.values.get(one) or translations.whole(one) for one in (title, variant)]
        if all(names):
            translations.offer(outcome.title, ", ".join(map(str, names)))
    if outcome.threshold is not None:
        for name, english in (("allowance", allowance(outcome)), ("boundary", bound(outcome))):
            with suppress(UntranslatedError):
                translations.offer(english, _translated(sentences, str(PHRASES[name]), outcome, translations))
    _offer_strictness(outcome, translations)
    about = with_values(outcome)
    of_message = outcome if fails_only_without_values(outcome) else about
    pairs = (
        (sentences.message, sentences.message_templates, outcome.message, of_message),
        (sentences.individual_impact, sentences.impact_templates, outcome.individual_impact, about),
    )
    for write, templates, text, subject in pairs:
        try:
            english = write(outcome)
            of_each = [
                (sentences.filled(one, subject), _translated(sentences, one, subject, translations))
                for one in templates(outcome)
            ]
        except Exception:  # noqa: BLE001, S112 - untranslated, or not measured: the sentence stays as it is
            continue
        if english and text.startswith(english):
            for one, translated in of_each:  # a report may leave one of them out
                translations.offer(one, translated)
            translations.offer(english, " ".join(translated for _, translated in of_each))


def _offer_strictness(outcome: Outcome, translations: Translations) -> None:
    """Offer the sentence on a demand that is laxer than usual."""
    english = laxness_sentence(outcome.laxer_than, outcome.threshold, outcome.comparison)
    if not english or outcome.comparison is None or outcome.threshold is None:
        return
    message, number = translations.message, translations.number
    with suppress(UntranslatedError):
        limit = message(LIMITS[outcome.comparison])
        usual = [
            message(USUAL).format(
                limit=limit, number=number(decimal(one.threshold)), says=message(one.says), source=one.source
            )
            for one in {bool(one.profile): one for one in outcome.laxer_than}.values()
        ]
        own = number(decimal(outcome.threshold))
        translated = message(LAXER).format(limit=limit, number=own, usual=translations.listing(usual))
        translations.offer(english, translated)


def _translated(sentences: Sentences, template: str, outcome: Outcome, translations: Translations) -> str:
    values = {**_values(outcome), **values_on_missing(outcome), **sentences.values(outcome)}
    filling = TranslatedFilling(outcome, {**PHRASES, **sentences.parts}, values, translations)
    text = sentence_case(filling.fill(template).strip())
    if not outcome.naming.intruder_name:
        return text
    for intruder in map(translations.message, ("An intruder", "an intruder")):
        text = text.replace(intruder, f"{intruder} ({outcome.naming.intruder_name})")
    return text


def _values(outcome: Outcome) -> dict[str, Any]:
    """The values that the templates of phrases name."""
    classes, records, comparison = outcome.classes, outcome.records, outcome.comparison
    mean = 0.0 if classes is None or records is None else records.total / max(classes.total, 1)
    return {
        "mean_members": float(round(mean)) if mean >= SEVERAL else mean,
        "worst_members": outcome.worst[0].records if outcome.worst else 0,
        "comparison": "" if comparison is None else comparison.value,
        "higher_is_safer": comparison is not None and comparison.higher_is_safer,
        "fails": outcome.status is Status.FAILED,
    }


def _named_entity(outcome: Outcome) -> str:
    """The noun of what the policy's unit identifies; empty where its name says nothing."""
    unit = outcome.conventions.get("unit", "row")
    noun = "" if unit == "row" else noun_of_column(unit)
    return "" if noun == "entity" else noun


@dataclass
class TranslatedFilling(Filling):
    """The formatter of a template's translation.

    Raises:
        UntranslatedError: a template, a text or a noun has no translation.
    """

    translations: Translations

    def fill(self, template: str) -> str:
        """Fill the translation of a template."""
        return self._text(parsed(self.translations.message(template)))

    def _value(self, name: str, *, optional: bool = False) -> Any:
        if name in NOUNS and name not in self.values and self.outcome is not REPORT:
            return NOUNS[name](self.outcome)
        if name == "attribute":
            return self._column(self.outcome.attribute or "")
        if name == "known" and "known" not in self.values:
            return self._known()
        return super()._value(name, optional=optional)

    def _formatted(self, value: Any, node: Any) -> str:
        translations, spec = self.translations, node.spec
        if node.name in self.parts:
            return str(value)  # translated, and with its numbers in the language's signs
        noun = WITH_NOUN.fullmatch(spec)
        if node.total:
            return self._share(value or 0, self._value(node.total), spec, noun)
        if noun is not None:
            return f"{self._number(value)} {self._form(noun, value)}"
        if "|" in spec:
            return self._agreeing(value, spec)
        if spec == "%" or spec.startswith(AGAINST):
            return translations.number(super()._formatted(value, node))
        named: dict[str, Callable[[Any], str]] = {
            "chance": self._chance,
            "one in": self._one_in,
            "date": translations.date,
            "text": self._listed_text,
            "names": self._names,
        }
        if spec in named:
            return named[spec](value)
        return self._plainly(value, spec)

    def _plainly(self, value: Any, spec: str) -> str:
        """A column, a noun in a form, a text as it is, a list of columns or a number."""
        if isinstance(value, str):
            if spec:
                return self._column(value) if spec == "column" else self._noun(value, spec)
            is_number = COUNTED.fullmatch(value) or NUMBER.fullmatch(value)
            return self.translations.number(value) if is_number else value
        return self._columns(value) if isinstance(value, Sequence) else self._number(value)

    def _names(self, names: Sequence[str]) -> str:
        """Names as they are, except the one that a report itself writes in the place of the last: `3 more`."""
        return self.translations.listing([self.translations.offered.get(one, one) for one in names])

    def _listed_text(self, text: str | Sequence[str]) -> str:
        """A text of the program, or several that are in a list or separated by semicolons or commas."""
        if not isinstance(text, str):
            return self.translations.listing([self._listed_text(one) for one in text])
        if not text:
            return ""
        for separator in ("", "; ", ", ", " and "):
            parts = text.split(separator) if separator else [text]
            known = (self.translations.values.get(one) or self.translations.whole(one) for one in parts)
            translated = [one for one in known if one is not None]
            if len(translated) == len(parts):
                return self.translations.listing(translated) if separator == " and " else separator.join(translated)
        raise UntranslatedError(text)

    def _share(self, value: float, total: int, spec: str, noun: re.Match[str] | None) -> str:
        """A part of all: `3 von 4 Datensätzen`."""
        if "|" in spec:
            return self._agreeing(value, spec)
        if spec == "%":
            return self.translations.number(percent(value / total, self.outcome.threshold))
        if spec == "chance":
            return self._chance(value / total)
        part = self.translations.message("{part} of {total}")
        numbers = part.format(part=self._number(value), total=self._number(total))
        return numbers if noun is None else f"{numbers} {self._form(noun, total)}"

    def _agreeing(self, value: Any, spec: str) -> str:
        one, many = spec.split("|")
        chosen = one if self.translations.form_of(float(value or 0)) == "one" else many
        return NESTED.sub(lambda match: self._nested(self._value(match[1])), chosen)

    def _nested(self, value: Any) -> str:
        return self._noun(value, "one") if isinstance(value, str) else self._number(value)

    def _number(self, value: Any) -> str:
        """A number; that of a report's own sentence is rounded as one that no threshold is near."""
        if isinstance(value, float) and self.outcome is REPORT:
            return self.translations.number(figure(value))
        return self.translations.number(written_plainly(value, self.outcome))

    def _form(self, noun: re.Match[str], number: float) -> str:
        form = "one" if self.translations.form_of(float(number)) == "one" else noun["form"] or "many"
        return self._noun(self._value(noun["name"]), form)

    def _noun(self, noun: str, form: str) -> str:
        of_policy = self.outcome is REPORT or noun in (self.outcome.naming.unit_name, _named_entity(self.outcome))
        return self.translations.noun(noun, form, of_policy=of_policy)

    def _chance(self, value: Any) -> str:
        message, number = self.translations.message, self.translations.number
        if value in (0, 1):
            return message("certainty" if value else "no chance")
        text = one_in(value)
        if text.startswith("1 in "):
            return message("a chance of 1 in {number}").format(number=number(text.removeprefix("1 in ")))
        return message("a chance of {share}").format(share=number(text))

    def _one_in(self, value: Any) -> str:
        """A share as people say it: `1 von 11`, `82,6 %`."""
        text = one_in(value)
        if text.startswith("1 in "):
            part = self.translations.message("{part} of {total}")
            return part.format(part="1", total=self.translations.number(text.removeprefix("1 in ")))
        return self.translations.number(text if value not in (0, 1) else percent(float(value)))

    def _column(self, name: str) -> str:
        label = self.outcome.naming.labels.get(name)
        if label is None:
            return self.translations.message("'{name}'").format(name=name)
        if label.startswith(COMBINATION):
            raise UntranslatedError(label)
        return label

    def _columns(self, names: Sequence[str]) -> str:
        named = [self._column(str(name)) for name in names]
        if len(named) > NAMED:
            others = self._number(len(named) - NAMED + 1)
            further = self.translations.message("{number} other columns").format(number=others)
            named = [*named[: NAMED - 1], further]
        if not named:
            raise UntranslatedError("nothing")
        return self.translations.listing(named)

    def _known(self) -> str:
        """The columns that the intruder knows, or the whole history of them."""
        naming = self.outcome.naming
        known = self._columns(naming.in_order(self.outcome.known))
        if self.outcome.conventions.get(KNOWN_ROWS) != "all":
            return known
        return self.translations.message(f"{naming.history_name} {{known}}").format(known=known)
