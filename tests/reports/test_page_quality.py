"""Reports as pages: accessible in light and dark, valid HTML, and every formula within its column."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import DARK, FLAGS, asked
from lay_samples import census
from linked_samples import clinic
from test_demo_report import depths, framed

from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.demo import POLICY, make_discharges
from tcdp_audit_reports.html_report import stylesheet

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


@pytest.fixture
def repaired_page(repaired_audit) -> str:
    return str(repaired_audit.render(".html"))


@pytest.fixture
def tools(skip_or_fail) -> Path:
    if not (TOOLS / "axe-core").is_dir():
        skip_or_fail(f"what judges pages is not installed: {INSTALL}")
    return TOOLS


PAGES = pytest.mark.parametrize("which", ["demo_page", "linkage_page", "repaired_page", "tables_page"])


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
    try:
        import pypdfium2 as pdfium
    except ImportError:
        skip_or_fail("pypdfium2 is not installed")
    folder = Path(os.environ.get("TCDP_AUDIT_SCREENSHOTS", tmp_path))
    report, printed = tmp_path / "report.html", folder / f"{which}.pdf"
    report.write_text(request.getfixturevalue(which), encoding="utf-8")
    places = (f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    subprocess.run([chromium, *FLAGS, *places, report.as_uri()], capture_output=True, timeout=120, check=True)
    reached = [*depths(pdfium.PdfDocument(printed))]
    assert len(reached) > 3
    assert sum(one < 0.5 for one in reached) <= max(1, len(reached) // 10), reached
