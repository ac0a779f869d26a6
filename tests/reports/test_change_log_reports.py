"""Whole reports of a remediation: inert and balanced, without a cell, and nothing of it where no remedy was."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape

import pytest
from html_page import Page
from remedied_samples import FAR, SIZE_AFTER, SIZE_BEFORE, log_of, remedied, step
from report_samples import HOSTILE
from test_result_schema import faults

from tcdp_audit_reports.templating import stylesheet

ACTED = "Cutting changed 11 entries in 2 columns and removed 1 of 9 records (11.1%)."


@pytest.fixture
def hostile(hostile_audit):
    """A remediation whose every name would do harm where it is not escaped."""
    bad = step(HOSTILE[0], loss=0.5, title=HOSTILE[3], parameters={HOSTILE[0]: HOSTILE[2]}, error="")
    other = step(HOSTILE[2], title=HOSTILE[0], parameters={HOSTILE[3]: 1}, error=HOSTILE[3])
    log = log_of(bad, tried=(other,), cells=dict.fromkeys(HOSTILE, 3), reason=HOSTILE[2])
    return remedied(hostile_audit, log, SIZE_AFTER, FAR)


def test_the_page_has_the_section_its_link_and_the_line_on_the_first_screen(repaired_audit):
    page = Page(repaired_audit.render(".html"))
    assert page.open == []
    section = page.with_id("section-remedy").text
    assert "Both demands that were not met are met now." in section
    assert page.named("nav")[0].text.endswith("Annex D: The policy and the run\n")
    assert "This is a repaired release: 11 entries in 2 columns changed" in page.with_id("verdict").text
    assert "Repaired from" in page.with_id("verdict").text
    assert page.named("h1")[0].text == "Fit for release"
    for phrase in ("What changes, by attribute", "Information loss, before and after", "It cannot be joined."):
        assert phrase in section


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_what_remedies_do_not_act_on_is_reported(salary_audit, suffix: str):
    aside = "does not act on linkage, only on demands on classes"
    left_out = {"PRAM": "no original is named", "Rounding": "no original is named", "Noise": "never unasked"}
    log = log_of(step(), tried=(step("swapping", title="Swapping", unhelped=aside),), left_out=left_out)
    text = remedied(salary_audit, log, SIZE_AFTER, FAR).render(suffix)
    for phrase in (
        "What remedies do not act on",
        f"Swapping {aside}.",
        "PRAM and Rounding not tried: no original is named.",
        "Noise not tried: never unasked.",
    ):
        assert phrase in text.replace("\\", "")


def test_every_id_is_there_once_and_every_link_has_its_target(repaired_audit):
    page = Page(repaired_audit.render(".html"))
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert {one.attributes["href"][1:] for one in page.named("a")} <= set(ids)
    assert {"section-remedy", "remedy-c1-t", "remedy-c2-d"} <= set(ids)


def test_the_policy_allows_exactly_the_longer_stylesheet(repaired_audit, salary_audit):
    page = Page(repaired_audit.render(".html"))
    style = page.named("style")[0].text
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page.named("meta")[2].attributes["content"]
    assert style == stylesheet("report.css", "remedy.css")
    assert Page(salary_audit.render(".html")).named("style")[0].text == stylesheet("report.css")
    assert len(stylesheet("report.css")) < len(style)


def test_every_class_of_the_drawings_has_a_style(repaired_audit):
    section = Page(repaired_audit.render(".html"))
    used = {one.attributes["class"].split()[0] for one in section.named("g") if "class" in one.attributes}
    assert {"ring", "fill-passed", "mark-open", "cloud", "cloud-good"} <= used
    assert [name for name in used if f".{name}" not in stylesheet("report.css", "remedy.css")] == []


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_an_audit_without_a_log_says_nothing_of_a_remedy(salary_audit, suffix):
    text = salary_audit.render(suffix)
    assert not re.search(r"section-remedy|change_log", text)


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_a_release_that_passed_already_has_one_sentence(salary_audit, suffix):
    text = remedied(salary_audit, log_of(before=(SIZE_AFTER,)), SIZE_AFTER).render(suffix)
    shown = (
        Page(text).with_id("section-remedy").text
        if suffix == ".html"
        else text[text.index("## Nothing had") : text.index("## What was not examined")]
    )
    assert (
        shown.split()
        == (
            ("## " if suffix == ".md" else "")
            + "Nothing had to be repaired Nothing was changed: the release already passed."
        ).split()
    )


def test_a_release_that_still_fails_says_so_first(salary_audit):
    log = log_of(step("cutting", failing=[FAR]), reason="1 of 2 expectations is still not met: t_closeness")
    page = Page(remedied(salary_audit, log, SIZE_AFTER, FAR).render(".html"))
    lines = page.with_id("section-remedy").text.split("\n")
    assert [line for line in lines if line][:2] == [
        "A repair that falls short",
        f"The release does not pass: {log.reason}. {ACTED}",
    ]
    assert page.named("h1")[0].text == "Not fit for release"


def test_hostile_names_are_text_in_every_format(hostile):
    html, markdown = hostile.render(".html"), hostile.render(".md")
    assert Page(html).open == []
    for text in (html, re.sub(r"^ *```yaml$.*?^ *```$", "", markdown, flags=re.DOTALL | re.MULTILINE)):
        assert "<script" not in text
        assert "\u202e" not in text
        assert "\x1b" not in text
    assert "{{7*7}}" in html
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {row.count("|") for row in rows} >= {4, 8, 9}


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_lists_of_values_in_parameters_are_not_shown(salary_audit, suffix):
    planted = step("cutting", loss=0.2, parameters={"values": ["planted one", "planted two"], "cuts": {"planted": 1}})
    other = step("cutting", loss=0.4, parameters={"values": ["planted three"]})
    audit = remedied(salary_audit, log_of(planted, tried=(planted, other)), SIZE_AFTER)
    shown = re.sub(r"<template.*?</template>", "", audit.render(suffix), flags=re.DOTALL)
    assert '"values": ["2 values not shown"]' in unescape(shown).replace("\\", "")
    assert "planted one" not in shown
    assert "planted three" not in shown


def test_markdown_has_before_and_after_losses_and_lines(repaired_audit):
    text = repaired_audit.render(".md")
    for line in (
        "This is a repaired release: 11 entries in 2 columns changed, 1 of 9 records removed.",
        "## How this release was repaired",
        "| k-anonymity | – | ≥ 5 | 1 | 8 | 5× short before, 1.6× to spare after | Passed |",
        "| Discernibility, sum of squared class sizes | 27 | 73 |",
        "| zip | 8 | 100% | 0.500 | 0 | 0.500 | 0.250 | 0.750 | – |",
        "| Swapping | default parameters | One demand is still not met: t-closeness on salary. |",
        "| Joining | default parameters | It cannot be joined. |",
        '```yaml\n, "remedy": [{"cutting": {"limit": 2}}]\n```',
    ):
        assert line in text


def test_the_result_with_a_log_of_changes_keeps_its_schema(repaired_audit, hostile, salary_audit):
    unchanged = remedied(salary_audit, log_of(before=(SIZE_AFTER,)), SIZE_AFTER)
    assert (faults(repaired_audit.as_json()), faults(unchanged.as_json())) == ([], [])
    assert len(faults(hostile.as_json())) == 2  # names of remedies are snake_case


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("steps", 0),
        ("tried", 2),
        ("before", 0),
        ("input",),
        ("loss",),
        ("loss", "il1s"),
        ("loss", "propensity"),
        ("loss", "discernibility"),
        ("loss", "attributes", "zip"),
        ("loss", "attributes", "zip", "certainty_penalty"),
    ],
)
def test_an_unknown_or_missing_key_of_the_log_is_a_fault(repaired_audit, path):
    result = json.loads(json.dumps(repaired_audit.as_json()))
    place = result["change_log"]
    for one in path:
        place = place[one]
    place["more"] = 1
    assert len(faults(result)) == 1
    del place["more"], place[next(iter(place))]
    assert len(faults(result)) == 1


def test_what_stood_against_a_step_is_in_the_result(salary_audit):
    log = log_of(step("cutting", failing=[FAR, SIZE_BEFORE]))
    entry = remedied(salary_audit, log, FAR).as_json()["change_log"]["steps"][0]
    assert entry["failing"] == [
        {"check": "t_closeness", "attribute": "salary"},
        {"check": "k_anonymity", "attribute": None},
    ]
