"""Reports as PDF and for Word: they hold what the audit found, twice the same, and no cell."""

from __future__ import annotations

import io
import json
import re
import traceback
import zipfile
from dataclasses import replace
from importlib import util
from pathlib import Path

import docx
import pytest
import typst
from document_text import joined, pages_of, text_of
from figure_samples import figure_audit
from linked_samples import clinic
from report_samples import SALARY_POLICY, named_policy, named_table, salaries
from test_frontier_reports import sample as frontier_sample

import tcdp_audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.reporter import FilledSection
from tcdp_audit.core.results.written import read_audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.engine import PluginError, UsageError
from tcdp_audit.plugin.report import Definitions, Group, Heading, Items, Lines, Paragraph, Rows
from tcdp_audit.plugin.sentences import prose, visible
from tcdp_audit_reports.documents import document_of_audit
from tcdp_audit_reports.documents.word_styles import CUSTOM

SUFFIXES = (".pdf", ".docx")
PACKAGES = ((".pdf", "Typst"), (".docx", "python-docx"))
ACCESSIBLE = b"<pdfuaid:part>1</pdfuaid:part>"
WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
AUDITS = ("salary_audit", "repaired_audit", "hostile_audit", "figures", "linked")
REPORTERS = {one.suffix: one for one in Plugins.load(external=False).reporters.values()}


@pytest.fixture
def figures(fixed_time):  # noqa: ARG001 - the time of the audit
    return figure_audit()


@pytest.fixture
def linked(fixed_time):  # noqa: ARG001 - the time of the audit
    return clinic()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("which", AUDITS)
def test_every_finding_and_every_cell_of_every_table_is_there(which, suffix, request):
    audit = request.getfixturevalue(which)
    text = joined(text_of(audit.render(suffix)))
    written = json.loads(audit.to_json())
    said = audit.with_known_facts().outcomes  # the same, with a name for the known columns
    sentences = [prose(one.message) for one in said if one.message]
    assert [bool(one["message"]) for one in written["outcomes"]] == [bool(one.message) for one in said]
    tables = [one for _, blocks in document_of_audit(audit).dissolved() for one in blocks if isinstance(one, Rows)]
    lines = [line for table in tables for row in table.body for cell in row for line in cell.split("\n")]

    assert len(sentences) > 1
    assert len(lines) > 20
    with_plain_names = [re.sub(r"'([^\W\d_]+)'", r"\1", one) for one in (*sentences, *lines)]  # all without a label
    assert [one for one in with_plain_names if not _holds(text, visible(one))] == []


def _holds(text, sentence):
    """Whether a text has a sentence; what is written from right to left stands in a PDF in the order of its signs."""
    return all(part in text for part in re.split(r"\W*[\u0590-\u08ff]+\W*", joined(sentence)))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_audit_gives_the_same_bytes_with_the_date_of_the_audit(suffix, salary_audit):
    content = salary_audit.render(suffix)

    assert isinstance(content, bytes)
    assert content == salary_audit.render(suffix)
    assert content != replace(salary_audit, audited_at=salary_audit.audited_at.replace(year=2020)).render(suffix)
    assert "1 January 2026" in text_of(content)


def test_no_part_of_a_word_report_has_a_date_of_its_own(salary_audit):
    with zipfile.ZipFile(io.BytesIO(salary_audit.render(".docx"))) as parts:
        assert {one.date_time for one in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    properties = docx.Document(io.BytesIO(salary_audit.render(".docx"))).core_properties

    assert properties.created.year == properties.modified.year == 2026
    assert properties.title.startswith("Disclosure audit report: Not fit for release")
    assert properties.language == "en"


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("values", [False, True])
def test_cells_are_there_only_if_asked_for_and_then_said_first(suffix, values):
    table = named_table(("a", "b"), lambda name, group: f"planted{name}x{group}")
    text = text_of(tcdp_audit.audit(table, named_policy(("a", "b")), show_values=values).render(suffix))

    assert ("planted" in text) is values
    assert ("This report contains cells of the release. It was made with" in text) is values


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_other_cells_give_the_same_bytes(suffix, fixed_time):  # noqa: ARG001 - the time of the audit
    first, second = (
        tcdp_audit.audit(
            named_table(("a", "b"), lambda name, group, word=word: f"{word}{name}x{group}"), named_policy(("a", "b"))
        )
        for word in ("planted", "another")
    )

    assert first.release != second.release  # by the digest, which a report states
    assert first.render(suffix) == replace(second, release=first.release).render(suffix)


@pytest.mark.parametrize(("suffix", "package"), PACKAGES)
def test_a_missing_library_names_its_extra_before_the_audit(suffix, package, monkeypatch, salary_audit, tmp_path):
    monkeypatch.setattr("tcdp_audit_reports.find_spec", lambda name: None if name != "re" else util.find_spec(name))
    sentence = f'a report in {suffix} needs {package}; pip install "tcdp-audit[{suffix[1:]}]"'

    with pytest.raises(UsageError, match=re.escape(sentence)):
        salary_audit.render(suffix)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        salary_audit.write(tmp_path / f"x{suffix}")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("command", ["check", "fix", "frontier", "diff"])
@pytest.mark.parametrize(("suffix", "package"), PACKAGES)
def test_a_missing_library_is_said_before_any_table_or_result_is_read(
    suffix, package, command, monkeypatch, tmp_path, capfd
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tcdp_audit_reports.find_spec", lambda _: None)
    Path("x.tcdp.yaml").write_text(json.dumps(SALARY_POLICY))
    files = {"check": ["absent.csv"], "frontier": ["absent.csv"], "diff": ["absent.json", "gone.json"]}
    arguments = files.get(command, ["absent.csv", "--output", "fixed.csv"])

    assert run(command, [*arguments, "--report", f"x{suffix}"]) == 2
    assert f"a report in {suffix} needs {package}" in capfd.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["x.tcdp.yaml"]


def test_an_error_of_typst_is_a_sentence_without_its_text_and_leaves_the_former_file(
    salary_audit, monkeypatch, tmp_path
):
    attempts = []

    def compile_(*_, **further):
        attempts.append(further)
        raise typst.TypstError("planted")

    monkeypatch.setattr(typst, "compile", compile_)
    (tmp_path / "x.pdf").write_text("former")
    with pytest.raises(PluginError, match="the report format 'pdf' raised TypstError") as caught:
        salary_audit.write(tmp_path / "x.pdf")

    assert "planted" not in "".join(traceback.format_exception(caught.value))
    assert len(attempts) == 1
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("x.pdf", "former")]


EMPTY = (
    Definitions(()),
    Rows((), ()),
    Rows(("a", "b"), ()),
    Items(()),
    Paragraph(""),
    Heading(""),
    Lines(""),
    Group(()),
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_blocks_of_a_plugin_stop_no_report(suffix, salary_audit, monkeypatch):
    monkeypatch.setattr(type(salary_audit), "sections", lambda _: [FilledSection("x", "The section", EMPTY)])
    content = salary_audit.render(suffix)

    assert joined("The section") in joined(text_of(content))
    assert (ACCESSIBLE in content) is (suffix == ".pdf")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_written_files_hold_the_same_bytes(suffix, salary_audit, tmp_path):
    salary_audit.write(tmp_path / f"x{suffix}")

    assert (tmp_path / f"x{suffix}").read_bytes() == salary_audit.render(suffix)


def test_every_page_of_a_pdf_has_its_number_and_the_file_is_accessible(salary_audit):
    content = salary_audit.render(".pdf")
    pages = pages_of(content)

    assert len(pages) > 3
    for number, page in enumerate(pages, 1):
        assert f"page {number} of {len(pages)}" in " ".join(page.split())
    assert ACCESSIBLE in content
    assert b"/StructTreeRoot" in content
    assert b"/Lang(en)" in content


def test_a_sign_that_no_font_has_stops_no_report(fixed_time):  # noqa: ARG001 - the time of the audit
    for columns in (("\U000f1234", "\ufffeb"), ("中文", "ع")):
        audit = tcdp_audit.audit(named_table(columns, lambda _, group: f"v{group}"), named_policy(columns))
        for suffix in SUFFIXES:
            assert "Not fit for release" in " ".join(text_of(audit.render(suffix)).split())


@pytest.mark.parametrize("which", AUDITS)
def test_word_has_headings_whole_rows_repeated_heads_and_fields(which, request):
    audit = request.getfixturevalue(which)
    file = docx.Document(io.BytesIO(audit.render(".docx")))
    titles = [one.text for one in file.paragraphs if one.style.name == "Heading 1"]

    assert titles[: len(audit.sections())] == [one.title for one in audit.sections()]
    tables = [one for _, blocks in document_of_audit(audit).dissolved() for one in blocks if isinstance(one, Rows)]
    rows = [row for table in file.tables for row in table._tbl.tr_lst]
    assert len(rows) > 20
    assert all(row.find(f"{WORDS}trPr/{WORDS}cantSplit") is not None for row in rows)
    assert sum(row.find(f"{WORDS}trPr/{WORDS}tblHeader") is not None for row in rows) == len(tables)
    foot = file.sections[0].footer._element.xml
    assert '"PAGE"' in foot
    assert '"NUMPAGES"' in foot
    assert (round(file.sections[0].page_width.mm), round(file.sections[0].page_height.mm)) == (210, 297)
    assert {name for name in CUSTOM if name not in [one.name for one in file.styles]} == set()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_fields_to_sign_are_high_enough(suffix, salary_audit):
    if suffix == ".docx":
        file = docx.Document(io.BytesIO(salary_audit.render(suffix)))
        heights = [row.height.mm for table in file.tables for row in table.rows if row.height is not None]
        assert heights
        assert min(heights) > 14
    assert "Date and signature" in text_of(salary_audit.render(suffix))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_frontier_has_its_map_and_its_tables(suffix):
    content = REPORTERS[suffix].render_frontier(frontier_sample())
    text = joined(text_of(content))

    assert (ACCESSIBLE in content) is (suffix == ".pdf")
    assert joined("What other thresholds would cost") in text
    assert joined("Policy lines of point 1") in text
    assert joined("The figures behind the charts") in text


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_comparison_says_what_changed(suffix, salary_audit, tmp_path):
    stricter = {**SALARY_POLICY, "expect": [{"k_anonymity": {"k": 4}}]}
    for name, one in (("old", salary_audit), ("new", tcdp_audit.audit(salaries(), stricter))):
        one.write(tmp_path / f"{name}.json")
    comparison = compare(read_audit(tmp_path / "old.json"), read_audit(tmp_path / "new.json"), {})
    content = REPORTERS[suffix].render_comparison(comparison)
    text = joined(text_of(content))

    assert (ACCESSIBLE in content) is (suffix == ".pdf")
    assert joined(comparison.title) in text
    assert joined(comparison.sentence) in text
    assert content == REPORTERS[suffix].render_comparison(comparison)


def test_the_library_of_word_finds_no_relation_to_the_outside(salary_audit):
    with zipfile.ZipFile(io.BytesIO(salary_audit.render(".docx"))) as parts:
        relations = "".join(parts.read(name).decode() for name in parts.namelist() if Path(name).suffix == ".rels")

    assert 'TargetMode="External"' not in relations


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_report_in_another_language_has_every_text_looked_up_and_says_its_language(suffix, salary_audit, monkeypatch):
    monkeypatch.setattr("tcdp_audit_reports.documents.localised", lambda text: text.replace("release", "R"))
    content = salary_audit.render(suffix, "de")
    text = " ".join(text_of(content).split())

    assert "Not fit for R" in text
    assert "Not fit for release" not in text
    assert (b"/Lang(de)" in content) if suffix == ".pdf" else '<w:lang w:val="de"' in _styles(content)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_on_every_page_is_in_the_language_of_the_report(suffix, salary_audit):
    pytest.importorskip("babel")
    content = salary_audit.render(suffix, "de")
    text = joined(text_of(content))
    page = "Seite1von" if suffix == ".docx" else f"Seite1von{len(pages_of(content))}"

    assert joined("Bericht über die Prüfung auf Offenlegungsrisiken · release") + page in text
    assert joined("Die Zahlen hinter den Diagrammen") in text
    assert joined("Diagramm 1.") in text
    assert joined("9 Datensätze, 4 Spalten") in text
    assert [one for one in ("Disclosure audit report", "No. ", "Seal:", "Chart 1.") if joined(one) in text] == []


def _styles(content):
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        return parts.read("word/styles.xml").decode()
