"""Templates are compiled once, and what was kept gives the same page."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from jinja2 import Environment

from tcdp_audit_reports import html_report
from tcdp_audit_reports.templating import TEMPLATES, compile_template

PAGE = '{% include "part.html" %}{% for one in names %}<b>{{ one }}</b>{% endfor %}'


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A template that includes another, where Python may keep what it compiles."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "part.html").write_text("<i>{{ names | length }}</i>", encoding="utf-8")
    return tmp_path / "page.html"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that were compiled."""
    names: list[str] = []
    before = Environment.compile

    def compile_(self: Environment, source: str, name: str, *more: object, **options: object) -> object:
        names.append(name)
        return before(self, source, name, *more, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", compile_)
    return names


def _rendered(path: Path) -> str:
    return compile_template(path).render(names=["a", "<"])


def _cached(page: Path) -> list[Path]:
    return sorted((page.parent / "__pycache__").glob("*"))


def test_the_second_process_compiles_nothing_and_says_the_same(page: Path, compilations: list[str]) -> None:
    first, second = _rendered(page), _rendered(page)
    assert first == second == "<i>2</i><b>a</b><b>&lt;</b>"
    assert compilations == ["page.html", "part.html"]


def test_a_changed_template_is_compiled_again(page: Path, compilations: list[str]) -> None:
    _rendered(page)
    page.write_text("{{ names[0] }}", encoding="utf-8")
    assert _rendered(page) == "a"
    assert compilations == ["page.html", "part.html", "page.html"]


@pytest.mark.parametrize("content", [b"", b"no bytecode", None])
def test_what_is_damaged_is_replaced(content: bytes | None, page: Path, compilations: list[str]) -> None:
    first = _rendered(page)
    for path in _cached(page):
        path.write_bytes(path.read_bytes()[:60] if content is None else content)
    assert _rendered(page) == _rendered(page) == first
    assert compilations == ["page.html", "part.html"] * 2


def test_nothing_is_retained_where_python_keeps_nothing(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _rendered(page) == "<i>2</i><b>a</b><b>&lt;</b>"
    assert _cached(page) == []


def test_where_nothing_can_be_written_the_page_is_the_same(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", os.devnull)  # a folder below it cannot be made, not even by root
    assert _rendered(page) == "<i>2</i><b>a</b><b>&lt;</b>"


def test_the_report_is_the_same_from_what_was_cached(salary_audit, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    templates = shutil.copytree(TEMPLATES, page.parent / "templates", ignore=lambda *_: ["__pycache__"])
    pages = []
    for _ in range(2):
        template = compile_template(templates / "report.html.j2")
        monkeypatch.setattr(html_report, "template", lambda template=template: template)
        pages.append(salary_audit.render(".html"))
    assert pages[0] == pages[1]
    assert _cached(templates / "report.html.j2") != []
