"""German reports of every kind have no English label: captions, heads, names of charts and their texts, summaries."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("babel")
sys.path.insert(0, str(Path(__file__).parents[1] / "frontiers"))

import report_words
from edition_samples import BUDGETS
from golden_checks import golden_plugins
from many_samples import many_attributes, many_scenarios
from remedied_samples import NEAR, REPAIRED, SIZE_AFTER, remedied
from report_samples import SALARY_POLICY, salaries
from test_frontier_reports import sample
from test_languages import demonstration

from tcdp_audit import audit
from tcdp_audit.core.base.language import translating
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit_reports.html_report import render_comparison, render_frontier

LABELS = {
    "th",
    "caption",
    "h1",
    "h2",
    "h3",
    "h4",
    "dt",
    "summary",
    "figcaption",
    "text",
    "title",
    "desc",
    "strong",
    "label",
}
ATTRIBUTES = {"aria-label", "data-label"}
SPOKEN = {"code", "pre", "style", "template", "math"}  # elements with what no language changes
SAME = {  # words that German has, too, and names of software
    *("Name", "Policy", "Status", "Plugin", "Python", "numpy", "duckdb", "pyarrow", "SHA-256", "k", "t", "l"),
    *("tcdp-audit", "Parameter", "Original", "Was"),
}
Page = Callable[[], Audit]


CATEGORIES = ("East", "North", "South", "ward South", "age 80+", "sex other than male", "age", "ward")
BOUNDS = ("where at least 5 is demanded", "where at most 20% is allowed")  # of outcomes that no check made
NAMES = {  # of values, of measures and of the questions of profiles, and what a test's plugin says
    "passing": {"teaching"},
    "profile": {"fit"},
    "scenarios": {"knows age", "age", "district", "marital", "sex"},
    "linked": {"patient", "date of the visit", "hospital"},  # of an invented row
    "outputs": {*CATEGORIES, "patients", "stay"},
    "repaired": {"Size of classes", "Commonest value", "Swapping", "Joining", "cutting", *BOUNDS},
}
EXPECT = [{"class_size": {"least": 4}}, {"commonest_value": {"most": "0.3", "severity": "warning"}}]


def salary(least: int = 4) -> Audit:
    """Six expectations on salaries by built-in checks."""
    expect = [{"k_anonymity": {"k": least}}, {"t_closeness": {"t": 0.2}}, {"distinct_l_diversity": {"l": 3}}]
    return audit(salaries(), {**SALARY_POLICY, "expect": expect}, all_conventions=True, column_risks=True)


AUDITS: dict[str, Page] = {
    **{name: budget[0] for name, budget in BUDGETS.items()},
    "demonstration": demonstration,
    "repaired": lambda: remedied(
        audit(salaries(), {**SALARY_POLICY, "expect": EXPECT}, plugins=golden_plugins()), REPAIRED, SIZE_AFTER, NEAR
    ),
    "many demands": lambda: many_attributes(columns=24),
    "many scenarios": many_scenarios,
}


class Labels(HTMLParser):
    """The labels of a page, each once: the texts of some elements, and of the attributes that are read out."""

    def __init__(self) -> None:
        """Begin outside of everything."""
        super().__init__()
        self.open: list[str] = []
        self.labels: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take its attributes, and what is inside."""
        if tag not in {"br", "meta", "link", "use", "line", "rect", "circle", "path"}:
            self.open.append(tag)
        self.labels |= {text for name, text in attrs if name in ATTRIBUTES and text}

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Take a text inside of a label."""
        if LABELS & {*self.open} and not SPOKEN & {*self.open}:
            self.labels.add(" ".join(data.split()))


def labels(page: str) -> set[str]:
    """The labels of a page that have words."""
    parser = Labels()
    parser.feed(page)
    return {one for one in parser.labels if re.search(r"[A-Za-z]{2}", one)}


def names_of(made: Audit) -> set[str]:
    """What the policy names: columns and their labels, values, tables, intruders, and the checks of a test's plugin."""
    document = made.policy.document
    written = {word for one in (made.policy.text, made.to_json()) for word in re.findall(r"[\w.]+", one)}
    columns = {name for one in made.columns for name in (one.name, one.label) if name}
    intruders = {one.intruder for one in made.scenarios} | {*(document.scenarios or {})}
    by = None if document.approval is None else document.approval.by
    texts = (document.purpose, document.recipients, by, made.run.by)
    stated = {part for one in texts if one for part in one.split(", ")}
    return {*columns, *intruders, *stated, *made.release.tables, *made.companions, made.release.name, *_values(written)}


def _values(words: set[str]) -> set[str]:
    """Words with a digit, an underscore or a dot, which are names and values."""
    return {one for one in words if re.search(r"[\d_.]", one)}


def english_in(german: str, english: str, names: set[str]) -> Iterator[str]:
    """The labels that are the same in both pages, and that are no names."""
    yield from same_in(labels(german), labels(english), names)


def same_in(german: set[str], english: set[str], names: set[str]) -> Iterator[str]:
    """The labels that are in both sets, and that are no names."""
    lower = {one.lower() for one in (*names, *SAME)}
    for one in sorted(german & english):
        words = re.split(r"; |, |: |\n| and | \(|\)|‘|’|'", one)
        if not all(not re.search(r"[A-Za-z]{2}", word) or word.strip().lower() in lower for word in words):
            yield one


@cache
def made(which: str) -> Audit:
    return AUDITS[which]()


@pytest.mark.parametrize("which", AUDITS)
def test_no_label_of_a_german_report_is_english(which: str) -> None:
    one = made(which)
    pages = [one.render(".html", language=language) for language in ("de", "en")]
    assert [*english_in(*pages, names_of(one) | NAMES.get(which, set()))] == []


def labels_of_word(document: bytes) -> set[str]:
    """The headings and captions of a document, and the first row and column of its tables."""
    docx = pytest.importorskip("docx")
    read = docx.Document(BytesIO(document))
    styled = {one.text for one in read.paragraphs if one.style.name.startswith(("Heading", "Caption", "Title"))}
    cells = {one.text for table in read.tables for one in (*table.rows[0].cells, *table.columns[0].cells)}
    texts = {re.sub(r"^[✓✗!○]\s|\b\d[\d.]*", "", one).strip() for one in styled | cells}
    return {one for one in texts if re.search(r"[A-Za-z]{2}", one)}


@pytest.mark.parametrize("which", AUDITS)
def test_no_label_of_a_german_word_document_is_english(which: str) -> None:
    one = made(which)
    german, english = (labels_of_word(one.render(".docx", language=language)) for language in ("de", "en"))
    assert len(german) > 40
    assert [*same_in(german, english, names_of(one) | NAMES.get(which, set()))] == []


TEXTS = {"title", "caption", "lead", "head", "name"}  # what the template of a PDF sets as a label


def labels_of_pdf(value: Any, key: str = "") -> set[str]:
    """The labels in what a PDF is typeset from, which is the document model of Word, too."""
    if isinstance(value, dict):
        return {one for name, part in value.items() for one in labels_of_pdf(part, name)}
    if isinstance(value, list):
        return {one for part in value for one in labels_of_pdf(part, key)}
    plain = str(value).replace("\u200b", "")
    return {plain} if key in TEXTS and re.search(r"[A-Za-z]{2}", plain) else set()


@pytest.mark.parametrize("which", AUDITS)
def test_no_label_of_a_german_pdf_is_english(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typst")
    from tcdp_audit_reports.documents import pdf_report

    seen = list[set[str]]()
    monkeypatch.setattr(pdf_report, "_typeset", lambda one: seen.append(labels_of_pdf(pdf_report._content(one))) or b"")
    for language in ("de", "en"):
        made(which).render(".pdf", language=language)
    german, english = seen
    assert len(german) > 20
    assert [*same_in(german, english, names_of(made(which)) | NAMES.get(which, set()))] == []


def test_no_label_of_a_german_frontier_or_comparison_is_english() -> None:
    written = [WrittenAudit(Path(f"{n}.json"), salary(n).as_json()) for n in (3, 4)]
    comparison = compare(written[0], written[1], {})
    pages = {}
    for language in ("de", "en"):
        with translating(language):
            pages[language] = render_frontier(sample()), render_comparison(comparison)
    for german, english in zip(*pages.values(), strict=True):
        assert [*english_in(german, english, {"release", "3.json", "4.json", "age", "salary", "zip", "disease"})] == []


@pytest.mark.long
def test_no_label_of_a_german_survey_is_english(data: Path) -> None:
    release, policy = data / "histories/eusilc.csv", report_words.SURVEY
    one = audit(release, policy, all_conventions=True, column_risks=True, try_remedies=True)
    pages = [one.render(".html", language=language) for language in ("de", "en")]
    assert [*english_in(*pages, names_of(one) | {"postcode", "main diagnosis", "asthma"})] == []  # an invented row
