"""Names that would act somewhere (markup, templates, terminals, spreadsheets) are text in every form of a report."""

from __future__ import annotations

import json
import subprocess
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from browser import FLAGS, asked
from html_page import Page
from markdown_it import MarkdownIt
from report_samples import named_table

from tcdp_audit import audit
from tcdp_audit.cli.document import console
from tcdp_audit.cli.printing import streams
from tcdp_audit.cli.terminal import print_audit
from tcdp_audit.core.base.words import ACTING_IN_LINES

NAMES = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "{{7*7}}{% include 'x' %}",
    "[x](javascript:alert(3)) **b** `c` | _d_ ![i](http://127.0.0.1:9/i.png)",
    "]]>\x1b[31m\x9b2J\u202eevil\u2066",
    '=HYPERLINK("http://127.0.0.1:9/","x")+cmd|\' /C calc\'!A0',
)
LABEL = "=1+1|@SUM(1)\u202e[y](javascript:1)"
TEXTS = (".html", ".md", ".junit.xml", ".sarif", ".json", ".codequality.json", ".openlineage.jsonl", ".odcs.yaml")


@pytest.fixture(scope="module")
def nasty():
    """An audit in which every name that anybody chooses is hostile."""
    roles = {name: {"role": "quasi_identifier", "label": f"{LABEL} {number}"} for number, name in enumerate(NAMES[:-2])}
    roles |= {NAMES[-2]: {"role": "identifier"}, NAMES[-1]: {"role": "sensitive", "label": f"{LABEL} x"}}
    expect = [{"k_anonymity": {"k": 5}}, {"entropy_l_diversity": {"l": 2}}, {"t_closeness": {"t": "0.1"}}]
    policy = {"version": 1, "unit_name": "person", "attributes": roles, "expect": expect}
    table = named_table(NAMES, lambda _, group: f"v{group}")
    return audit(table, policy, all_conventions=True, column_risks=True, try_remedies=True)


@pytest.mark.parametrize("suffix", TEXTS)
def test_no_character_acts_on_a_screen(suffix, nasty):
    text = nasty.render(suffix)
    assert ACTING_IN_LINES.findall(text) == []
    assert "u202e" in text  # the name stands there, written out


def test_nothing_acts_on_a_terminal(nasty, monkeypatch):
    out = StringIO()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout", out)
    with streams():
        print_audit(console(), nasty, [NAMES[3]])
    assert ACTING_IN_LINES.findall(out.getvalue()) == []
    assert "HYPERLINK" in out.getvalue()


def test_html_has_no_element_of_a_name(nasty):
    page = Page(nasty.render(".html"))
    assert page.open == []
    assert not {"script", "img", "b", "iframe", "object", "form"} & {one.name for one in page.elements}
    attributes = {name for one in page.elements for name in one.attributes}
    assert not [name for name in attributes if name.startswith("on")]
    targets = [one.attributes["href"] for one in page.named("a")]
    assert all(target.startswith("#") for target in targets)
    assert "49" not in page.named("h1")[0].text


def test_markdown_has_no_element_of_a_name(nasty):
    def tokens(some):
        for one in some:
            yield one
            yield from tokens(one.children or ())

    parsed = [*tokens(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(nasty.render(".md")))]
    kinds = {one.type for one in parsed}
    assert "table_open" in kinds
    assert not {"html_block", "html_inline", "image", "link_open"} & kinds
    assert any("{{7*7}}" in one.content for one in parsed if one.type == "text")
    assert [one for one in parsed if one.type == "code_inline" and one.content == "c"] == []


def test_junit_and_sarif_have_names_as_text(nasty):
    tree = ET.fromstring(nasty.render(".junit.xml"))  # noqa: S314 - our own
    assert not {"script", "img", "b"} & {one.tag for one in tree.iter()}
    for suffix in (".sarif", ".codequality.json"):
        assert "=1+1|@SUM(1)" in json.dumps(json.loads(nasty.render(suffix)))
    reported = [one["message"] for run in json.loads(nasty.render(".sarif"))["runs"] for one in run["results"]]
    assert reported
    assert all("](javascript:" not in one.get("markdown", "") for one in reported)
    assert all("](javascript:" not in one["text"].replace("\\]", "") for one in reported)  # links of SARIF's own


@pytest.mark.long
def test_a_browser_finds_text_only(nasty, chromium, tmp_path):
    script = """
    const acting = 'script, img, iframe, object, embed, form, b, [onerror], [onclick], a:not([href^="#"])';
    return {acting: document.querySelectorAll(acting).length, text: document.body.textContent.includes('{{7*7}}'),
            rule: document.querySelectorAll('h1').length};
    """
    result = asked(nasty.render(".html"), script, chromium, tmp_path)
    assert result == {"acting": 0, "text": True, "rule": 1}


@pytest.mark.long
def test_a_printed_report_has_text_only(nasty, chromium, tmp_path, skip_or_fail):
    try:
        import pypdfium2 as pdfium
    except ImportError:
        skip_or_fail("pypdfium2 is not installed")
    report, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    report.write_text(nasty.render(".html"), encoding="utf-8")
    places = (f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    subprocess.run([chromium, *FLAGS, *places, report.as_uri()], capture_output=True, timeout=120, check=True)
    content = printed.read_bytes()
    assert not [one for one in (b"/JavaScript", b"/JS ", b"javascript:", b"/Launch", b"127.0.0.1:9") if one in content]
    text = "".join(page.get_textpage().get_text_range() for page in pdfium.PdfDocument(printed))
    assert "{{7*7}}" in text.replace("\n", "").replace("\r", "")
    assert "<script>" in text
    assert "\u202e" not in text
