"""Reports as pages: accessible in light and dark, valid HTML, and every formula within its column."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import DARK, FLAGS, asked
from figure_samples import figure_audit
from html_page import Page
from lay_samples import census
from linked_samples import clinic
from many_samples import many_attributes, many_scenarios
from test_demo_report import FOOT, depths, framed
from test_frontier_reports import sample

from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.demo import POLICY, make_discharges
from tcdp_audit_reports.html_report import render_comparison, render_frontier, stylesheet

import tcdp_audit  # isort: skip

pytestmark = pytest.mark.long
TOOLS = Path(__file__).with_name("tools") / "node_modules"
INSTALL = "npm ci --prefix tests/reports/tools"
AXE = """
document.querySelectorAll('details').forEach(one => one.open = true);
const found = await axe.run(document, {resultTypes: ['violations']});
return {dark: matchMedia('(prefers-color-scheme: dark)').matches, rules: found.passes.map(one => one.id),
        faults: found.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))])};
"""


@pytest.fixture(scope="module")
def demo_page(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("demo")
    for name, text in make_discharges().items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        asked_for = {"all_conventions": True, "column_risks": True, "try_remedies": True}
        return tcdp_audit.audit(None, POLICY, **asked_for).render(".html")


@pytest.fixture(scope="module")
def linkage_page(data) -> str:
    return census(data).render(".html")


@pytest.fixture(scope="module")
def tables_page() -> str:
    return clinic().render(".html")


@pytest.fixture(scope="module")
def figures_page() -> str:
    return figure_audit(values=True).render(".html")


@pytest.fixture(scope="module")
def many_demands_page() -> str:
    return many_attributes(columns=12).render(".html").replace("<details", "<details open")


@pytest.fixture(scope="module")
def many_scenarios_page() -> str:
    return many_scenarios().render(".html")


@pytest.fixture(scope="module")
def frontier_page() -> str:
    return render_frontier(sample())


@pytest.fixture
def comparison_page(hostile_audit, salary_audit, tmp_path) -> str:
    written = [WrittenAudit(tmp_path / "x.json", one.as_json()) for one in (hostile_audit, salary_audit)]
    return render_comparison(compare(*written, {}))


@pytest.fixture
def repaired_page(repaired_audit) -> str:
    return str(repaired_audit.render(".html"))


@pytest.fixture
def tools(skip_or_fail) -> Path:
    if not (TOOLS / "axe-core").is_dir():
        skip_or_fail(f"what judges pages is not installed: {INSTALL}")
    return TOOLS


MANY = ["many_demands_page", "many_scenarios_page"]
REPORTS = ["demo_page", "linkage_page", "repaired_page", "tables_page", "figures_page"]
PAGES = pytest.mark.parametrize("which", [*REPORTS, *MANY, "frontier_page", "comparison_page"])


@pytest.mark.parametrize("flags", [(), DARK], ids=["light", "dark"])
@PAGES
def test_axe_finds_nothing(which, flags, request, tools, chromium, tmp_path):
    axe = (tools / "axe-core/axe.min.js").read_text(encoding="utf-8")
    result = asked(request.getfixturevalue(which), axe + AXE, chromium, tmp_path, *flags)
    assert result["dark"] is (flags is DARK)
    assert len(result["rules"]) > 20
    assert "color-contrast" in result["rules"]
    assert result["faults"] == []


def test_axe_would_find_something(tools, chromium, tmp_path):
    axe = (tools / "axe-core/axe.min.js").read_text(encoding="utf-8")
    body = "<main><h1>x</h1><img src='data:,'><p style='color:#ccc'>x y z</p></main>"
    page = f"<!doctype html><title>x</title><body style='background:#fff'>{body}"
    actual = {rule for rule, _ in asked(page, axe + AXE, chromium, tmp_path)["faults"]}
    assert {"html-has-lang", "image-alt", "color-contrast"} <= actual


@PAGES
def test_the_markup_is_valid(which, request, tools, tmp_path):
    assert faults_of_markup(request.getfixturevalue(which), tools, tmp_path) == ""


def test_markup_that_is_not_valid_would_be_detected(tools, tmp_path):
    assert "close-order" in faults_of_markup("<!DOCTYPE html><p><div>x</div></p>", tools, tmp_path)


def faults_of_markup(page, tools, folder):
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    node = shutil.which("node")
    assert node is not None, "npm brings it"
    run = [node, tools / "html-validate/bin/html-validate.mjs", "--preset", "recommended", path]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) is (not done.stdout.strip()), done.stderr
    return done.stdout.strip()


WIDE = """
document.querySelectorAll('details').forEach(one => one.open = true);
const boxes = [...document.querySelectorAll('.formula, .formula math')];
return {formulas: document.querySelectorAll('.formula math').length,
        wide: boxes.filter(one => one.scrollWidth > one.clientWidth + 1 ||
            one.getBoundingClientRect().right > one.closest('.definition').getBoundingClientRect().right + 1)
        .map(one => `${one.textContent.slice(0, 60)} ${one.scrollWidth} in ${one.closest('.definition').clientWidth}`)};
"""


@pytest.mark.parametrize("width", [390, 643, 1280, 1920])  # 643: the width of a printed page
def test_every_formula_fits_its_column(width, demo_page, chromium, tmp_path):
    formulas = {name: one.guide.mathml for name, one in Plugins.load(external=False).checks.items()}
    every = "".join(f'<div class="formula" id="{name}">{one}</div>' for name, one in formulas.items())
    first = re.compile(r'(<div class="definition">)(?=\s*<p>.*?<div class="formula")', re.DOTALL)
    page, places = first.subn(lambda result: result[1] + every, demo_page, count=1)
    assert places == 1
    result = asked(page, WIDE, chromium, tmp_path, width=width)
    assert result["formulas"] > sum(one.count("<math ") for one in formulas.values()) > 60
    assert result["wide"] == []
    assert ".formula" in stylesheet("report.css")


SIDES = """
document.querySelectorAll('details').forEach(one => one.open = true);
const page = document.documentElement;
return {width: page.clientWidth, over: page.scrollWidth - page.clientWidth};
"""


@pytest.mark.parametrize("width", [390, 1280, 1920])
@PAGES
def test_a_report_is_as_wide_as_its_window_and_can_be_looked_at(which, width, request, chromium, tmp_path):
    page = request.getfixturevalue(which)
    assert asked(page, SIDES, chromium, tmp_path, width=width) == {"width": width, "over": 0}
    if width != 390 and "TCDP_AUDIT_SCREENSHOTS" not in os.environ:
        return  # a picture of the narrowest is enough, but for people
    frame, folder = tmp_path / "frame.html", Path(os.environ.get("TCDP_AUDIT_SCREENSHOTS", tmp_path))
    frame.write_text(framed(page, width), encoding="utf-8")
    picture = folder / f"{which}-{width}.png"
    places = (f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width + 40},1000", f"--screenshot={picture}")
    subprocess.run([chromium, *FLAGS, *places, frame.as_uri()], capture_output=True, timeout=120, check=True)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 20_000  # an empty page has a tenth of that


@PAGES
def test_at_most_one_printed_page_in_ten_is_less_than_half_full(which, request, chromium, tmp_path, skip_or_fail):
    reached = [*depths(printed(which, request, chromium, tmp_path, skip_or_fail))]
    assert len(reached) > (3 if which in REPORTS else 0)
    assert sum(one < 0.5 for one in reached[:-1]) <= max(1, len(reached) // 10), reached  # the last ends with the text


@PAGES
def test_no_heading_and_no_head_of_a_table_is_at_the_foot_of_a_page(which, request, chromium, tmp_path, skip_or_fail):
    pdf = printed(which, request, chromium, tmp_path, skip_or_fail)
    page = Page(request.getfixturevalue(which))
    heads = {
        letters(re.sub(r"^\d+\. ", "", one.text)) for name in ("h2", "h3", "h4", "thead") for one in page.named(name)
    }
    lines = [line for one in pdf for line in lowest_lines(one)]
    assert lines
    assert [line for line in lines if letters(line) in heads] == []


def printed(which, request, chromium, tmp_path, skip_or_fail):
    try:
        import pypdfium2 as pdfium
    except ImportError:
        skip_or_fail("pypdfium2 is not installed")
    folder = Path(os.environ.get("TCDP_AUDIT_SCREENSHOTS", tmp_path))
    report, pdf = tmp_path / "report.html", folder / f"{which}.pdf"
    report.write_text(request.getfixturevalue(which), encoding="utf-8")
    places = (f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={pdf}")
    subprocess.run([chromium, *FLAGS, *places, report.as_uri()], capture_output=True, timeout=120, check=True)
    return pdfium.PdfDocument(pdf)


def letters(text):
    return re.sub(r"\W", "", text)


def lowest_lines(page):
    """The last line of each half of a printed page, and of its whole width, above the running foot."""
    text, height, width = page.get_textpage(), page.get_height(), page.get_width()
    rects = [text.get_rect(place) for place in range(text.count_rects())]
    rects = [one for one in rects if 1 - one[1] / height < FOOT]
    for left, right in ((0, width / 2), (width / 2, width), (0, width)):
        inside = [one for one in rects if left <= one[0] < right]
        if inside:
            base = min(one[1] for one in inside)
            line = [one for one in inside if one[1] < base + 5]
            yield " ".join(text.get_text_bounded(*one) for one in sorted(line))


PAPER = """
document.querySelectorAll('details').forEach(one => one.open = true);
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), sizes = {};
const unseen = 'math, template, title, desc, .hidden, .skip';
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const parent = node.parentElement, range = document.createRange();
  range.selectNodeContents(node);
  if (!node.data.trim() || parent.closest(unseen) || !range.getClientRects().length) continue;
  const size = parseFloat(getComputedStyle(parent).fontSize) * parent.currentCSSZoom * 0.75;
  sizes[size.toFixed(1)] ??= parent.outerHTML.slice(0, 120);
}
const cells = [...document.querySelectorAll('.signatures :is(th, td)')].map(one => one.getBoundingClientRect());
return {sizes: sizes, width: document.documentElement.clientWidth, right: Math.max(0, ...cells.map(one => one.right)),
        heights: [...document.querySelectorAll('.signatures td')].map(one => one.getBoundingClientRect().height)};
"""
A4 = 688  # pixels between the margins of a printed page


def on_paper(page):
    """A page as it looks on paper, on a screen."""
    return page.replace("@media screen", "@media speech").replace("@media print", "@media all")


@PAGES
def test_nothing_on_paper_is_smaller_than_eight_and_a_half_points(which, request, chromium, tmp_path):
    result = asked(on_paper(request.getfixturevalue(which)), PAPER, chromium, tmp_path, width=A4)
    assert len(result["sizes"]) > 3
    assert {size: text for size, text in result["sizes"].items() if float(size) < 8.4} == {}


def test_who_signs_has_room_on_paper(demo_page, chromium, tmp_path):
    result = asked(on_paper(demo_page), PAPER, chromium, tmp_path, width=A4)
    assert 0 < result["right"] <= A4
    assert min(result["heights"]) > 40  # 11 mm


CONTENTS = """
const contents = getComputedStyle(document.querySelector('.contents'));
return [contents.position, document.querySelector('.sheet').getBoundingClientRect().top < 100];
"""


@pytest.mark.parametrize("which", ["demo_page", "frontier_page", "comparison_page"])
def test_the_contents_stay_at_the_side_of_a_wide_window(which, request, chromium, tmp_path):
    page = request.getfixturevalue(which)
    assert asked(page, CONTENTS, chromium, tmp_path, width=1200) == ["sticky", True]
    assert asked(page, CONTENTS, chromium, tmp_path, width=1190)[0] == "static"
