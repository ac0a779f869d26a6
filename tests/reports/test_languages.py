"""Reports in other languages: catalogues are complete, sentences are of one language, results are the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from report_samples import SALARY_POLICY, salaries

from tcdp_audit import UsageError, audit
from tcdp_audit.core.base.language import PATTERN, Pattern, known_languages, translating
from tcdp_audit.core.check.sentences import STANDARD, TOKENS
from tcdp_audit.core.check.translation import NOUNS, PHRASES, REPORT, TranslatedFilling, say
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.demo import POLICY, make_discharges

babel = pytest.importorskip("babel")
from babel.messages.catalog import Catalog  # noqa: E402
from babel.messages.pofile import read_po  # noqa: E402

from tools import languages as tool  # noqa: E402


def catalogue_of(language: str) -> Catalog:
    """The catalogue of a language."""
    with (tool.CATALOGUES / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


GERMAN = catalogue_of("de")
EXTRA = {*STANDARD, *NOUNS, *PHRASES, "mean_members", "worst_members"}  # values that every sentence may name
OPTIONAL = {*NOUNS, "noun", "someone", "released"}  # nouns, which a language may do without


@pytest.fixture(scope="module")
def texts() -> Catalog:
    """Every text that can be translated."""
    return tool.all_texts()


def test_german_has_every_text_of_checks(texts: Catalog) -> None:
    required = [one for one in texts if one.id and tool.is_required(one.auto_comments)]
    assert len(required) > 600
    entries = {(one.context, one.id): one for one in GERMAN}
    missing = [
        one.id
        for one in required
        if (entry := entries.get((one.context, one.id))) is None or not entry.string or entry.fuzzy
    ]
    assert missing == []


def test_what_profiles_ask_is_german_but_for_lines_of_a_policy() -> None:
    asked = {text for text, _ in tool.texts_of_profiles()}

    assert len(asked) > 40
    assert [one for one in sorted(asked) if not getattr(GERMAN.get(one), "string", "")] == []


def test_german_has_no_stale_text_of_checks(texts: Catalog) -> None:
    known = {(one.context, one.id) for one in texts}
    stale = [one.id for one in GERMAN if one.id and tool.is_required(one.auto_comments)]
    assert [one for one in stale if not {(context, one) for context in (None, "noun", "value")} & known] == []
    assert [*GERMAN.obsolete] == []


def test_the_tool_says_what_is_missing_and_stale(texts: Catalog) -> None:
    catalogue = tool.updated(tool.CATALOGUES / "de.po", texts)
    assert [one.id for one in catalogue if one.fuzzy] == []
    assert {one.id for one in catalogue} == {one.id for one in GERMAN}


@pytest.mark.parametrize("language", [one for one in known_languages() if one != "en"])
def test_a_translation_names_the_values_of_its_template(language: str) -> None:
    wrong = []
    for one in catalogue_of(language):
        if one.id and one.string and one.context is None:
            original, translated = names_in(str(one.id)), names_in(str(one.string))
            lacking, more = original - translated - OPTIONAL, translated - original - EXTRA
            if lacking or more:
                wrong.append((one.id, lacking, more))
    assert wrong == []


def names_in(template: str) -> set[str]:
    """The values that a template names."""
    names: set[str] = set()
    for match in TOKENS.finditer(template):
        if match["name"]:
            names |= {match["name"], *re.findall(r"\{(\w+)\}", match["spec"] or "")}
            names |= {match["total"]} if match["total"] else set()
    return names


@pytest.fixture
def german(salary_audit: Audit) -> str:
    """The HTML report of an audit in German."""
    return salary_audit.render(".html", language="de")


def test_a_german_page_says_so_and_has_the_same_result(salary_audit: Audit, german: str) -> None:
    assert '<html lang="de">' in german
    assert "Nicht zur Veröffentlichung geeignet" in german
    english = salary_audit.render(".html")
    assert result_in(german) == result_in(english)
    assert salary_audit.render(".json", language="de") == salary_audit.render(".json")


def result_in(page: str) -> str:
    """The machine-readable result inside of a page."""
    return page.split('<template id="tcdp-audit-result"')[1].split("</template>", maxsplit=1)[0]


def test_sentences_of_checks_are_german_with_german_numbers(salary_audit: Audit, german: str) -> None:
    with translating("de") as translations:
        assert translations is not None
        salary_audit._offer_translations()
        for one in salary_audit.expectations:
            (segment,) = translations.segments(one.message)
            assert segment.is_translated, one.message
    assert "deren Verteilung von salary um mehr als 0,2" in german


def test_what_stays_english_is_marked(german: str) -> None:
    marked = re.findall(r'<span lang="en">([^<]*)</span>', german)
    assert marked
    for text in marked:
        assert not re.search(r"\b(der|die|das|und|ist|sind|eine[rmn]?|nicht|Ein)\b", text), text


@pytest.mark.parametrize(("language", "words"), [("fr", "n’a pas été relue"), ("es", "no ha sido revisada")])
def test_a_first_screen_that_was_not_reviewed_says_so(salary_audit: Audit, language: str, words: str) -> None:
    page = salary_audit.render(".html", language=language)
    header = page.split("<header")[1].split("</header>")[0]
    assert words in header
    assert not re.search(
        r"\b(demands?|fails?|records|audit report|Not fit)\b", re.sub("<span lang.*?</span>", "", header)
    )


def test_markdown_is_german_too(salary_audit: Audit) -> None:
    text = salary_audit.render(".md", language="de")
    assert text.startswith("# Nicht zur Veröffentlichung geeignet")
    assert "Sätze dieses Berichts, die nicht übersetzt sind" in text


def test_an_unknown_language_is_refused(salary_audit: Audit, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no reports in the language 'xx'; known are de, en, es, fr$"):
        salary_audit.write(tmp_path / "report.html", language="xx")


def test_a_part_without_a_translation_keeps_the_sentence_english() -> None:
    with translating("de") as translations:
        assert translations is not None
        sentence = say("{title:text} of {column}", title="a title of somebody's plugin", column="age")
        assert translations.whole(sentence) is None
        assert translations.whole(say("{title:text} of {column}", title="k-anonymity", column="age")) == (
            "k-Anonymität: age"
        )


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("de", ["1.173", "14,7\u00a0%", "≥ 0,5"]),
        ("fr", ["1\u202f173", "14,7\u00a0%", "≥ 0,5"]),
        ("es", ["1.173", "14,7\u00a0%", "≥ 0,5"]),
    ],
)
def test_numbers_are_written_as_the_language_writes_them(language: str, written: list[str]) -> None:
    with translating(language) as translations:
        assert translations is not None
        assert [translations.whole(one) for one in ("1,173", "14.7%", "≥ 0.5")] == written


def test_numbers_inside_of_parts_are_written_once() -> None:
    with translating("de") as translations:
        assert translations is not None
        texts = {"{part}.": "{part}.", "{n} of {total} records": "{n} von {total} Datensätzen"}
        filling = TranslatedFilling(
            REPORT, {"part": "{n} of {total} records"}, {"n": 84, "total": 8000}, replace(translations, messages=texts)
        )
        assert filling.fill("{part}.") == "84 von 8.000 Datensätzen."


def test_names_stay_as_they_are_and_texts_do_not() -> None:
    with translating("de") as translations:
        assert translations is not None
        sentence = say("Must stay secret: {names:names}.", names=["age", "sex and zip"])
        assert sentence == "Must stay secret: age and sex and zip."
        assert translations.whole(sentence) == "Geheim bleiben muss: age und sex and zip."
        sentence = say("{titles:text}.", titles=["k-anonymity", "Entropy l-diversity", "a title of somebody's plugin"])
        assert translations.whole(sentence) is None
        sentence = say("{titles:text}.", titles=["k-anonymity", "Entropy l-diversity"])
        assert translations.whole(sentence) == "k-Anonymität und Entropie-l-Diversität."


FIRST_HALF = ("attacks", "columns", "unexamined", "basis")


def test_the_first_half_of_the_demonstration_is_german() -> None:
    made = demonstration()
    page, labels = made.render(".html", language="de"), {one.label for one in made.columns}
    head = page.split("<header")[1].split("</header>")[0]
    sections = [page.split(f'<section id="section-{one}"')[1].split("</section>")[0] for one in FIRST_HALF]
    english = [text for part in (head, *sections) for text in re.findall(r'<span lang="en">([^<]*)</span>', part)]
    document = made.policy.document
    assert document.approval is not None
    own = {*labels, document.purpose, document.recipients, document.approval.by}
    assert [one for one in english if one not in own] == []  # texts of the policy stay as they are
    assert "<title>Prüfung auf Offenlegung: Nicht zur Veröffentlichung geeignet – discharges.csv</title>" in page
    assert "<p>Nr. " in page


def demonstration() -> Audit:
    """The audit of the demonstration under all conventions, as `tcdp-audit demo` makes it."""
    with TemporaryDirectory() as folder:
        for name, text in make_discharges().items():
            Path(folder, name).write_text(text, encoding="utf-8")
        plugins = Plugins.load(external=False)
        return audit(None, Path(folder, POLICY), plugins=plugins, all_conventions=True, column_risks=True)


def test_nouns_of_the_policy_stand_in_quotes() -> None:
    policy = {**SALARY_POLICY, "unit_name": "hermit"}
    page = audit(salaries(), policy).render(".html", language="de")
    assert "Einheiten „hermit“" in page


def test_sentences_of_all_checks_can_be_filled_in_german() -> None:
    """Fill every template that some outcome of the suite has; a separate process, since its tables are elsewhere."""
    code = (
        "import sys; sys.path.insert(0, 'tests/checks'); sys.path.insert(0, 'tests/reports')\n"
        "from test_languages import untranslated\n"
        "import json; print(json.dumps(sorted(untranslated())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []


def untranslated() -> Iterator[str]:
    """The messages of outcomes of many checks that are not German in a German report."""
    from asked_tables import outcomes

    from tcdp_audit.core.check.translation import offer_outcome

    checks = Plugins.load(external=False).checks
    for table, unit in (("one alone", False), ("one alone", True), ("three groups", False)):
        for one in outcomes(table, unit=unit, named=not unit):
            sentences = checks[one.check].sentences
            if one.status.value in ("passed", "failed", "measured") and one.message.startswith(sentences.message(one)):
                with translating("de") as translations:
                    assert translations is not None
                    offer_outcome(one.title, sentences, one)
                    texts = [sentences.message(one), sentences.individual_impact(one)]
                    yield from (text for text in texts if text and translations.whole(text) is None)


def test_texts_with_gaps_are_translated_if_all_in_their_gaps_is() -> None:
    with translating("de") as translations:
        assert translations is not None
        pattern = Pattern.of("{} of {} are above {}", "Über {2}: {0} von {1}")
        named = Pattern.of("Share of each value of {}", "Anteil jedes Werts von {0:name}")
        listed = Pattern.of("by {}", "durch {0:names}")
        columns = Pattern.of("{} is the key", "{0:columns} ist der Schlüssel")
        between = Pattern.of("{} on {}", "{0:name} auf {1:name}")
        made = replace(translations, patterns=(pattern, named, listed, columns, between))
        assert made.whole("k_anonymity on 'zip'") == "k_anonymity auf „zip“"
        assert made.whole("He knows two facts and finds 6 people on average; a guess is right.") is None  # no name
        assert made.whole("11 of 1,360 groups are above 0.5") == "Über 0,5: 11 von 1.360 Gruppen"
        assert made.whole("11 of 1,360 somethings are above 0.5") is None  # no text mixes two languages
        assert made.whole("Share of each value of hidden cells") == "Anteil jedes Werts von hidden cells"
        assert made.whole("by age, sex and 'zip'") == "durch age, sex und „zip“"
        assert made.whole("column 'zip' is the key") == "Spalte „zip“ ist der Schlüssel"
        assert made.whole("Column 'zip' is the key") == "Spalte „zip“ ist der Schlüssel"
        assert made.whole("3.11.7") == "3.11.7"


@pytest.mark.parametrize("language", [one for one in known_languages() if one != "en"])
def test_a_pattern_fills_gaps_that_its_text_has(language: str) -> None:
    entries = [(str(one.id), str(one.string)) for one in catalogue_of(language) if one.context == PATTERN]
    numbers = [(english, {int(one) for one in re.findall(r"\{(\d+)(?::\w+)?\}", text)}) for english, text in entries]
    assert [english for english, used in numbers if used - {*range(english.count("{}"))}] == []
    filled = re.compile(r"([^{}]|\{\d+(:(name|names|columns|texts))?\})*")
    assert [text for _, text in entries if not filled.fullmatch(text)] == []
