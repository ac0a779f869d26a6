"""Reports as pages: accessible in light and dark, valid HTML, and every formula within its column."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import DARK, asked
from lay_samples import census

from tcdp_audit.demo import POLICY, make_discharges
from tcdp_audit.registry import Plugins
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


@pytest.fixture
def repaired_page(repaired_audit) -> str:
    return str(repaired_audit.render(".html"))


@pytest.fixture
def tools(skip_or_fail) -> Path:
    if not (TOOLS / "axe-core").is_dir():
        skip_or_fail(f"what judges pages is not installed: {INSTALL}")
    return TOOLS


PAGES = pytest.mark.parametrize("which", ["demo_page", "linkage_page", "repaired_page"])


@pytest.mark.parametrize("flags", [(), DARK], ids=["light", "dark"])
@PAGES
def test_axe_finds_nothing(which, flags, request, tools, chromium, tmp_path):
    axe = (tools / "axe-core/axe.min.js").read_text(encoding="utf-8")
    found = asked(request.getfixturevalue(which), axe + AXE, chromium, tmp_path, *flags)
    assert found["dark"] is (flags is DARK)
    assert len(found["rules"]) > 20
    assert "color-contrast" in found["rules"]
    assert found["faults"] == []


def test_axe_would_find_something(tools, chromium, tmp_path):
    axe = (tools / "axe-core/axe.min.js").read_text(encoding="utf-8")
    body = "<main><h1>x</h1><img src='data:,'><p style='color:#ccc'>x y z</p></main>"
    page = f"<!doctype html><title>x</title><body style='background:#fff'>{body}"
    found = {rule for rule, _ in asked(page, axe + AXE, chromium, tmp_path)["faults"]}
    assert {"html-has-lang", "image-alt", "color-contrast"} <= found


@PAGES
def test_the_markup_is_valid(which, request, tools, tmp_path):
    assert faults_of_markup(request.getfixturevalue(which), tools, tmp_path) == ""


def test_markup_that_is_not_valid_would_be_found(tools, tmp_path):
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
    page, places = first.subn(lambda found: found[1] + every, demo_page, count=1)
    assert places == 1
    found = asked(page, WIDE, chromium, tmp_path, width=width)
    assert found["formulas"] > sum(one.count("<math ") for one in formulas.values()) > 60
    assert found["wide"] == []
    assert ".formula" in stylesheet()
