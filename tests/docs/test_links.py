"""Links lead somewhere, and nothing in the documentation belongs to one machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documents import ROOT, anchors, documents, links, name_of

PAGES = {name_of(path): path for path in documents()}
OF_A_MACHINE = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|opt)/|[A-Z]:\\")


@pytest.mark.parametrize("name", PAGES)
def test_relative_links_resolve(name: str):
    page = PAGES[name]
    broken = []
    for link in links(page.read_text(encoding="utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)

    assert broken == []


def test_there_are_links_to_follow():
    assert sum(len(links(path.read_text(encoding="utf-8"))) for path in PAGES.values()) > 50


@pytest.mark.parametrize("name", PAGES)
def test_no_path_of_a_machine(name: str):
    lines = PAGES[name].read_text(encoding="utf-8").splitlines()

    assert [number for number, line in enumerate(lines, 1) if OF_A_MACHINE.search(line)] == []


def test_links_from_the_readme_lead_to_every_page():
    seen: set[Path] = set()
    pending = [ROOT / "README.md"]
    while pending:
        page = pending.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        targets = links(page.read_text(encoding="utf-8"))
        pending += [(page.parent / link.partition("#")[0]).resolve() for link in targets if "://" not in link]

    assert sorted(set(PAGES.values()) - seen) == []
