"""The page on what is outside an auditor's reach names each kind of privacy with its reason and with what to use."""

from __future__ import annotations

import re

from documents import anchors, read, rows, section

PAGE = "docs/outside-an-auditors-reach.md"
PARTS = ("**What an audit says.**", "**What to use instead.**")
REASON = re.compile(r"\*\*Why there is no (check|figure of ours)\.\*\*")


def explained(heading: str) -> str:
    """The section of a kind of privacy, which the table at the top links to, and which has a reason and an advice."""
    text, name = section(read(PAGE), f"## {heading}"), heading.lower().replace(" ", "-")
    assert any(f"(#{name})" in first for first, *_ in rows(read(PAGE)))
    assert REASON.search(text)
    assert all(one in text for one in PARTS)
    return " ".join(text.split())


def test_differential_privacy_of_a_query_is_proved_of_a_mechanism():
    text = explained("Differential privacy of a query")

    assert "cannot be seen in one output" in text
    assert "OpenDP" in text


def test_computational_anonymity_and_the_other_models_of_no_table():
    assert "every algorithm that an intruder could run" in explained("Computational anonymity")
    for heading in ("Result privacy", "Integral privacy", "Multiparty computation", "Homomorphic encryption"):
        assert explained(heading)


def test_graphs_are_named_with_what_tables_say_of_them():
    text = explained("Graphs")

    assert "k-degree anonymity" in text
    assert "Edges among the neighbours are not seen" in text


def test_the_figures_of_sweeney_are_named_with_the_counts_that_they_need():
    text = explained("The uniqueness of a nation")

    assert "87.1 %" in text
    assert "3.7 %" in text
    assert "counts of people by five-digit ZIP code and age group" in text


def test_every_row_has_its_section():
    links = [re.findall(r"\(#([^)]+)\)", first) for first, *_ in rows(read(PAGE))]

    assert len(links) == 8
    assert {one for row in links for one in row} <= anchors(read(PAGE))


def test_the_number_of_kinds_is_current():
    assert "checks of eight of" in read(PAGE)
