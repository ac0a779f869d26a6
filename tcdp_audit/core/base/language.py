"""Languages of reports: catalogues in gettext's form, and the translated sentences of the report that is being written.

Every sentence is made in English first. While a report is written in another language, `translating` holds its
`Translations`: what makes an English sentence offers its translation there, and what writes the report looks up each
text as a whole. A text that was not offered, and that the catalogue does not have, stays English. So no sentence mixes
two languages, and the machine-readable result is the same in every language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import field
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import listing, plural, prose, sentence_case

if TYPE_CHECKING:
    from babel import Locale

ENGLISH = "en"
CATALOGUES = Path(__file__).parents[2] / "languages"  # a file `de.po` for German
NOUN = "noun"  # the context of nouns with their forms
VALUE = "value"  # the context of texts that are only inside of sentences, in the case that those ask for
POLICY_NOUN = "unit"  # the noun that precedes one of the policy's own, in quotes
NUMBER = re.compile(r"([≥≤<>±−-]?\s?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)( ?%|×)?")
COUNTED = re.compile(r"((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?) ([^\d].*)")
QUOTED = re.compile(r"'([^']+)'")
SEPARATORS = ("; ", ", ", ": ")
VERSION = re.compile(r"\d\.\d+\.\d")
LETTERS = re.compile(r"[^\W\d_]")
COLUMNS = re.compile(r"(columns?) (.+)")
ARROW = " →"  # at the end of the label of an axis
LISTED = re.compile(r", | and ")
TEXTS = re.compile(r"(?:, | and )(?!'|[^(]*\))")  # not between names in quotes, nor inside brackets
SENTENCE_END = re.compile(r"(?<=[.?!]) ")
PATTERN = "pattern"  # the context of texts with gaps, of which the program writes each with its own figures and names
PROSE = re.compile(r"[;.?!] |(?:\w+ ){10}")  # in no name
LONGEST_RUN = 6  # sentences of a paragraph that are looked up as one text


class UntranslatedError(Exception):
    """A part of a sentence has no translation, so that the sentence stays English."""


@dataclass(frozen=True)
class Segment:
    """A part of a text: one or more whole sentences in one language."""

    text: str
    is_translated: bool


@dataclass(frozen=True)
class Pattern:
    """A text with gaps in English, such as `{} of {} cells fail`, and in another language.

    Args:
        expression: what finds the texts in the gaps.
        longest: the longest part between gaps, which every text of the pattern has.
        translation: the text with the number of each gap, `{0}`; `{0:name}` keeps what is there as it is, `{0:names}`
            is a list of such names, `{0:columns}` one of columns with that noun before it, `{0:texts}` a list of texts
            that need a translation each, and what is in any other gap needs one, too.
    """

    expression: re.Pattern[str]
    longest: str
    translation: str

    @classmethod
    def of(cls, english: str, translation: str) -> Pattern:
        """A pattern of the catalogue."""
        parts = english.split("{}")
        return cls(re.compile("(.+?)".join(map(re.escape, parts)), re.DOTALL), max(parts, key=len), translation)


class _Gaps(Formatter):
    """Fills the gaps of a pattern's translation."""

    def __init__(self, translations: Translations) -> None:
        self.translations = translations

    def format_field(self, value: Any, format_spec: str) -> str:
        """The text in a gap.

        Raises:
            UntranslatedError: it has no translation and is no name.
        """
        text, translations = str(value), self.translations
        if format_spec.startswith("name") and PROSE.search(text):
            raise UntranslatedError(text)
        if format_spec == "name":
            return translations.name(text)
        if format_spec == "names":
            return translations.listing([translations.name(one) for one in LISTED.split(text)])
        if format_spec == "columns" and (columns := COLUMNS.fullmatch(text)) is not None:
            names = translations.listing([translations.name(one) for one in LISTED.split(columns[2])])
            return f"{translations.noun_alone(columns[1])} {names}"
        if format_spec == "texts":
            return translations.listing([self.format_field(one, "") for one in TEXTS.split(text)])
        translated = translations.values.get(text) or translations.whole(text)
        return translations.noun_alone(text) if translated is None else translated


@dataclass
class Translations:
    """The translations of a report: those of the catalogue, and those of the sentences that were made for it.

    Args:
        language: the code of the language, such as `de`.
        locale: how numbers, dates and lists are written.
        messages: the translation of each text and template of the catalogue.
        nouns: the forms of each noun by their names, such as `one` and `many`.
        values: the translation of each text that is only inside of sentences.
        patterns: the texts with gaps, those with the longest part between gaps first.
        offered: the translation of each sentence of this report.
    """

    language: str
    locale: Locale
    messages: Mapping[str, str]
    nouns: Mapping[str, Mapping[str, str]]
    values: Mapping[str, str]
    patterns: Sequence[Pattern] = ()
    offered: dict[str, str] = field(default_factory=dict)
    _matched: dict[str, str | None] = field(default_factory=dict, repr=False)

    def message(self, text: str) -> str:
        """The catalogue's translation of a text or a template.

        Raises:
            UntranslatedError: it has none.
        """
        if text not in self.messages:
            raise UntranslatedError(text)
        return self.messages[text]

    def offer(self, english: str, translated: str) -> None:
        """Offer the translation of a sentence, as it is and as reports show it (`prose`)."""
        self.offered[english] = translated
        self.offered[prose(english)] = prose(translated)
        self._matched.clear()  # a gap may hold it

    def offer_renamed(self, texts: Sequence[str], renamed: Callable[[str], str]) -> None:
        """Offer the translations of what texts begin with for the same sentences with other names of columns."""
        for text in texts:
            for english, translated in [*self.offered.items()]:
                if text.startswith(english):
                    self.offer(renamed(english), translated)

    def whole(self, text: str) -> str | None:
        """The translation of a text as a whole: a sentence, a label, a number, a counted noun; None without one."""
        known = self.offered.get(text) or self.messages.get(text)
        if known is not None:
            return known
        if not LETTERS.search(text):
            return text if VERSION.search(text) else self.number(text)
        if (sentence := self.offered.get(f"{text}.")) is not None:
            return sentence.removesuffix(".")
        for end in (ARROW, ":"):
            if text.endswith(end) and (label := self.whole(text.removesuffix(end))) is not None:
                return f"{label}{end}"
        for lookup in (self._small_or_shortened, self._counted, self._by_pattern, self._listed):
            if (translated := lookup(text)) is not None:
                return translated
        return None

    def _listed(self, text: str) -> str | None:
        """The translation of several texts in a row, each of which has one."""
        for separator in SEPARATORS:
            if separator in text:
                parts = [self.values.get(one) or self.whole(one) for one in text.split(separator)]
                if None not in parts:
                    return separator.join(filter(None, parts))
        return None

    def _by_pattern(self, text: str) -> str | None:
        """The translation by the first pattern whose gaps have translations. Cost: linear in the patterns."""
        if text not in self._matched:
            self._matched[text] = self._first_match(text)
        return self._matched[text]

    def _first_match(self, text: str) -> str | None:
        clause = text.removesuffix(".")  # a message as a sentence has a capital and a full stop
        for english in dict.fromkeys((text, text[:1].lower() + text[1:], clause, clause[:1].lower() + clause[1:])):
            for one in self.patterns:
                if one.longest not in english or (match := one.expression.fullmatch(english)) is None:
                    continue
                with suppress(UntranslatedError):
                    filled = _Gaps(self).format(one.translation, *match.groups())
                    filled = f"{filled}." if len(english) < len(text) else filled
                    return filled if english[:1] == text[:1] else sentence_case(filled)
        return None

    def name(self, name: str) -> str:
        """A name of the policy as it is, with the language's quotes around it if it has any."""
        quoted = QUOTED.fullmatch(name)
        return self.messages.get("'{name}'", "'{name}'").format(name=quoted[1]) if quoted else name

    def segments(self, text: str) -> list[Segment]:
        """A text as runs of sentences that are translated, and those that stay English.

        Cost: O(n) for n sentences.
        """
        whole = self.whole(text)
        if whole is not None:
            return [Segment(whole, is_translated=True)]
        sentences, segments, at = SENTENCE_END.split(text), list[Segment](), 0
        while at < len(sentences):
            size, translated = self._longest_run(sentences[at : at + LONGEST_RUN])
            segments.append(Segment(translated or sentences[at], is_translated=translated is not None))
            at += size
        return segments

    def _longest_run(self, sentences: Sequence[str]) -> tuple[int, str | None]:
        """The most first sentences that have a translation together, and it; else one sentence and None."""
        for size in range(len(sentences), 0, -1):
            translated = self.whole(" ".join(sentences[:size]))
            if translated is not None:
                return size, translated
        return 1, None

    def _small_or_shortened(self, text: str) -> str | None:
        """The translation of a text that begins with another case, or was cut off with an ellipsis."""
        small = text[:1].lower() + text[1:]
        known = self.offered.get(small) or self.messages.get(small)
        if known is not None:
            return sentence_case(known)
        if text.endswith("…") and len(text) > 100:
            whole = next((one for key, one in self.offered.items() if key.startswith(text[:-1])), None)
            return None if whole is None else whole[: len(text) - 1] + "…" * (len(whole) > len(text))
        if text.endswith("…") and any(one.startswith(text[:-1]) for one in self.offered.values()):
            return text  # a label that was cut after it had been translated
        return None

    def _counted(self, text: str) -> str | None:
        """A number by itself or with a noun, and several of those."""
        if NUMBER.fullmatch(text):
            return self.number(text)
        if ", " in text:
            counted = [one for one in map(self._counted, text.split(", ")) if one is not None]
            return ", ".join(counted) if len(counted) == text.count(", ") + 1 else None
        match = COUNTED.fullmatch(text)
        noun = None if match is None else self._noun_in_english.get(match[2])
        if match is None or noun is None:
            return None
        return f"{self.number(match[1])} {self.nouns[noun][self.form_of(float(match[1].replace(',', '')))]}"

    @cached_property
    def _noun_in_english(self) -> Mapping[str, str]:
        return {form: noun for noun in self.nouns for form in (noun, plural(noun))}

    def number(self, english: str) -> str:
        """A number as English writes it, or several in a text, in the language's signs: `1,173.5%` is `1.173,5 %`."""
        signs = self.locale.number_symbols["latn"]
        percent = self.locale.percent_formats[None].pattern.lstrip("#,0.")
        marks = {",": signs["group"], ".": signs["decimal"]}

        def local(match: re.Match[str]) -> str:
            digits = "".join(marks.get(one, one) for one in match[2])
            sign = {None: "", "×": "×"}.get(match[3], percent)
            return f"{match[1]}{digits}{sign}"

        return NUMBER.sub(local, english)

    def form_of(self, number: float) -> str:
        """The name of the form that a number asks for: `one` or `many`."""
        return "one" if self.locale.plural_form(number) == "one" else "many"

    def noun(self, noun: str, form: str, *, of_policy: bool) -> str:
        """A noun in one of its forms; one that the policy made up follows a general noun, in quotes.

        Raises:
            UntranslatedError: the catalogue does not have the noun, or not this form.
        """
        known = self.nouns.get(noun)
        kind, of, table = noun.partition(" of ")  # such as `record of visits`
        if known is None and of and form in self.nouns.get(kind, {}):
            return f"{self.nouns[kind][form]} {self.message('of {name}').format(name=table)}"
        if known is None and of_policy:
            own = self.nouns.get(POLICY_NOUN, {}).get(form)
            known = {} if own is None else {form: own.replace("{noun}", noun)}
        if known is None or form not in known:
            raise UntranslatedError(noun)
        return known[form]

    def noun_alone(self, english: str) -> str:
        """A noun in the singular or plural by itself: `records`, `records of visits`.

        Raises:
            UntranslatedError: the catalogue does not have it.
        """
        name, of, table = english.partition(" of ")
        noun = self._noun_in_english.get(name.lower())
        if noun is None or ";" in table or SENTENCE_END.search(table):  # more than the name of a table
            raise UntranslatedError(english)
        form = self.nouns[noun]["one" if name.lower() == noun else "many"]
        return f"{form} {self.message('of {name}').format(name=table)}" if of else form

    def listing(self, names: Sequence[str]) -> str:
        """`a`, `a und b`, `a, b und c`."""
        from babel.lists import format_list  # noqa: PLC0415 - an extra

        return format_list([*names], locale=self.locale) if len(names) > 1 else listing(names)

    def date(self, day: date) -> str:
        """A date with its month in words."""
        from babel.dates import format_date  # noqa: PLC0415 - an extra

        return format_date(day, "long", locale=self.locale)


_ACTIVE: ContextVar[Translations | None] = ContextVar("translations", default=None)


def active_translations() -> Translations | None:
    """The translations of the report that is being written; None in English."""
    return _ACTIVE.get()


def known_languages() -> tuple[str, ...]:
    """The codes of the languages of reports."""
    return tuple(sorted((ENGLISH, *(one.stem for one in CATALOGUES.glob("*.po")))))


@contextmanager
def translating(language: str) -> Iterator[Translations | None]:
    """Write reports in a language within the block; None in English.

    Raises:
        UsageError: there is no catalogue of this language, or Babel is not installed.
    """
    require_language(language)
    translations = None if language == ENGLISH else _translations(language)
    token = _ACTIVE.set(translations)
    try:
        yield translations
    finally:
        _ACTIVE.reset(token)


def require_language(language: str) -> None:
    """Require that reports can be written in a language.

    Raises:
        UsageError: there is no catalogue of this language, or Babel is not installed.
    """
    if language not in known_languages():
        raise UsageError(f"no reports in the language {language!r}; known are {', '.join(known_languages())}")
    if language != ENGLISH:
        _read(language)


def _translations(language: str) -> Translations:
    return Translations(language, *_read(language))


@cache
def _read(
    language: str,
) -> tuple[Locale, Mapping[str, str], Mapping[str, Mapping[str, str]], Mapping[str, str], Sequence[Pattern]]:
    """The locale, texts, nouns, values and patterns of a language. Entries that are marked fuzzy are not used."""
    try:
        from babel import Locale  # noqa: PLC0415 - an extra
        from babel.messages.pofile import read_po  # noqa: PLC0415 - likewise
    except ImportError:
        raise UsageError('reports in other languages need Babel; pip install "tcdp-audit[languages]"') from None
    with (CATALOGUES / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    entries: list[Any] = [one for one in catalogue if one.id and one.string and not one.fuzzy]
    messages = {str(one.id): str(one.string) for one in entries if one.context is None}
    nouns = {str(one.id): _forms(str(one.string)) for one in entries if one.context == NOUN}
    values = {str(one.id): str(one.string) for one in entries if one.context == VALUE}
    patterns = [Pattern.of(str(one.id), str(one.string)) for one in entries if one.context == PATTERN]
    patterns.sort(key=lambda one: -len(one.longest))
    return Locale.parse(language), messages, nouns, values, patterns


def _forms(entry: str) -> Mapping[str, str]:
    """The forms of a noun: `one: Gruppe; many: Gruppen`."""
    named = (form.partition(": ") for form in entry.split("; "))
    return {name.strip(): form.strip() for name, _, form in named}
