"""The pages become a site: no broken link, no page left out, and nothing asked of other servers."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from documents import ROOT

from tcdp_audit.plugin.check import DisclosureType
from tools.generate import guides

REQUESTED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(https?:)?//|<link\b[^>]*\bhref=\"?(https?:)?//")


LINKED = re.compile(r'<a href="(checks/\w+\.html)"[^>]*>\s*<span class="md-ellipsis">\s*(.*?)\s*</span>', re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, skip_or_fail: Callable[[str], None]) -> Path:
    """The built site."""
    if importlib.util.find_spec("mkdocs") is None:
        skip_or_fail("mkdocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SOURCE_DATE_EPOCH": "1"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.mark.long
def test_every_page_is_there(site: Path):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    pages = {path.with_name("index.html") if path.name == "README.html" else path for path in pages}

    pages |= {Path(kind, f"{name}.html") for kind in ("checks", "remedies") for name in guides(kind)}

    assert [str(path) for path in sorted(pages) if not (site / path).is_file()] == []


@pytest.mark.long
def test_files_of_the_project_that_pages_link_to_are_there(site: Path):
    assert "Changelog" in (site / "project" / "CHANGELOG.html").read_text(encoding="utf-8")
    assert "container.sh" in (site / "project" / "examples" / "ci.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_checks_are_in_the_navigation_by_title_and_kind_of_disclosure(site: Path):
    page = (site / "index.html").read_text(encoding="utf-8")
    linked = dict(LINKED.findall(page))

    assert linked.keys() >= {f"checks/{name}.html" for name in guides("checks")}
    assert linked["checks/km_anonymity.html"] == "k^m-anonymity"
    for disclosure in DisclosureType:
        assert disclosure.value.capitalize() in page


@pytest.mark.long
def test_the_search_works_from_a_folder(site: Path, skip_or_fail: Callable[[str], None]):
    chromium = shutil.which("chromium")
    if chromium is None:
        skip_or_fail("Chromium is not installed")
    address = f"{(site / 'index.html').as_uri()}?q=microaggregation"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]

    command = [str(chromium), *options, address]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)

    assert "matching documents" in ran.stdout
    assert "checks/microaggregation_attack.html?h=microaggregation" in ran.stdout


@pytest.mark.long
def test_nothing_is_asked_of_other_servers(site: Path):
    pages = sorted(site.rglob("*.html"))

    assert len(pages) > 100
    assert [page.name for page in pages if REQUESTED.search(page.read_text(encoding="utf-8"))] == []
