"""The report of the demonstration: what a lay reader is told on the page, and how it prints."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from html import unescape

import pytest
from html_page import Page
from test_golden_reports import GOLDEN, normalised

import tcdp_audit
from tcdp_audit.demo import POLICY, make_discharges
from tcdp_audit_reports.people_exposed import relation
from tcdp_audit_reports.reasons import reasons
from tcdp_audit_reports.sections.next_steps import steps

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
HIDDEN = re.compile(r"<(template|style|math|details)\b.*?</\1>", re.DOTALL)
FOOT = 0.93  # of a page's height: below stands the page's number

pytestmark = pytest.mark.xdist_group("demo report")  # which one worker audits


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    for name, text in make_discharges().items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("SOURCE_DATE_EPOCH", "1767225600")
        return tcdp_audit.audit(
            None,
            POLICY,
            all_conventions=True,
            column_risks=True,
            try_remedies=True,
            run_by="the demonstration",
        )


@pytest.fixture(scope="module")
def page(demo):
    return demo.render(".html")


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_it_is_as_it_was(demo, suffix):
    text = normalised(demo.render(suffix))
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        (GOLDEN / f"demo{suffix}").write_text(text, encoding="utf-8")
    assert text == (GOLDEN / f"demo{suffix}").read_text(encoding="utf-8")


def visible_text(html, *, folded=False):
    """What stands on the page; what is folded only where it is asked for."""
    for pattern in ([] if folded else [HIDDEN]) + [re.compile(r"<(template|style|math)\b.*?</\1>", re.DOTALL)]:
        html = pattern.sub("", html)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_words_are_those_of_people(page):
    text = visible_text(page, folded=True)
    assert len(re.findall(r"equivalence class", text, re.IGNORECASE)) <= 3
    assert "`" not in text
    assert len(re.findall(r"\bfigure", text, re.IGNORECASE)) <= 3
    assert len(re.findall(r"\bpeople\b|\bperson\b", text)) > 80


@pytest.mark.parametrize(
    "answer",
    [
        "Not fit for release",  # may it be published
        "3 of 6 demands fail, 1 warns",  # and why
        "1,173 of 8,000 people (14.7%) are exposed, each counted once",  # how many people
        "is taken to know a person’s age band, sex, postcode and month of admission",  # what a neighbour uses
        "Must stay secret: main diagnosis, cost of the stay and length of stay",  # which are secret
        "Should not be in a published file: number of the discharge",  # what should not be there
        "Decide on length of stay.",  # what to do next
        # at what cost
        "it would then pass, with 2 warnings (Sensitive columns with demands that only warn; t-closeness, ordered",
        "of length of stay). But the limits of demands 1 and 4 are weaker than published ones; what stricter ones",
        "Leaving it out costs nothing: delete it, or run the command below, which does more.",
        "tcdp-audit fix --policy",
        "Not asked by this policy; a schema check warns that number of the discharge matches everyone.",
        "What was not examined",
        "Five other ways of counting were tried. The result changes for",  # would it flip
        "narrows them down to 4 people in the smallest group, and to 22 people on average",  # for one person
        "a guess is right with a chance of 1 in 4 there, and with a chance of 1 in 22 on average",
        "Among the known facts, month of admission adds most to the risk (35%)",  # which column adds most
        "How to verify it, in five steps",
        "run by",
        " fail on the same column; that is no contradiction: each asks ",  # a met demand next to one that fails
        "Sign-off",
    ],
)
def test_the_questions_of_a_lay_reader_are_answered_without_a_fold(page, answer):
    assert answer in visible_text(page)


def test_it_is_small(page):
    assert len(page.encode()) < 300_000


def test_every_section_of_the_page_has_its_entry_once(page):
    links = [one.attributes["href"] for one in Page(page).named("a") if one.attributes["href"].startswith("#section-")]
    named = [one.attributes["id"] for one in Page(page).named("section")]
    assert {f"#{one}" for one in named} <= set(links)
    assert len(named) == len(set(named))


def test_markdown_says_the_same(demo):
    text = unescape(demo.render(".md"))
    for phrase in (
        "Not fit for release",
        "each counted once",
        "Among the known facts, month of admission adds most to the risk (35%)",
        "an intruder may know",
    ):
        assert phrase in text


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_leaves_the_page_at_its_sides(page, width, chromium, tmp_path):
    report = tmp_path / "report.html"
    report.write_text(framed(page, width), encoding="utf-8")
    run = [chromium, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", report.as_uri()]
    dumped = subprocess.run(run, capture_output=True, text=True, timeout=120, check=True).stdout
    assert f'data-width="{width}"' in dumped
    assert 'data-over="0"' in dumped


def framed(page, width):
    """The report in a frame of a width, measured by a script of the test's own page."""
    inner = base64.b64encode(page.encode()).decode()
    return f"""<!doctype html><iframe id=f width={width} height=900 style="border:0"></iframe><script>
const f = document.getElementById('f');
f.onload = () => {{ const d = f.contentDocument.documentElement;
 const told = document.body.dataset;
 told.width = f.clientWidth; told.over = Math.max(0, d.scrollWidth - f.clientWidth); }};
f.srcdoc = new TextDecoder().decode(Uint8Array.from(atob("{inner}"), c => c.charCodeAt(0)));
</script>"""


@pytest.mark.long
def test_at_most_one_printed_page_in_ten_is_less_than_half_full(page, chromium, tmp_path, skip_or_fail):
    try:
        import pypdfium2 as pdfium
    except ImportError:
        skip_or_fail("pypdfium2 is not installed")
    report, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    report.write_text(page, encoding="utf-8")
    places = (f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    subprocess.run([chromium, *FLAGS, *places, report.as_uri()], capture_output=True, timeout=120, check=True)
    reached = [*depths(pdfium.PdfDocument(printed))]
    assert len(reached) > 5
    assert sum(one < 0.5 for one in reached) <= max(1, len(reached) // 10)


def depths(pdf):
    """How far down each page its text reaches, as a part of the page's height; the running foot is left out."""
    for page in pdf:
        height, text = page.get_height(), page.get_textpage()
        lower = [1 - text.get_rect(place)[1] / height for place in range(text.count_rects())]
        yield max((one for one in lower if one < FOOT), default=0.0)


def test_the_worst_for_one_person_is_one_failing_demand_with_its_reason(demo):
    """Another demand on the same column shows fewer who are alike; its reason says where more are."""
    first_screen, cards = relation(demo.with_known_facts()), reasons(demo.with_known_facts())
    furthest, varied = (next(one for one in cards if one.which == f"Demand {number} fails:") for number in (4, 3))

    assert first_screen.count("Worst for one person") == 1
    assert (
        "Worst for one person: a guess at the main diagnosis is right for 20 of 21 people with the same facts (demand "
        "3)." in first_screen
    )
    assert "11 have the same main diagnosis" in furthest.text
    assert furthest.text.endswith("Demand 3 has a group in which 20 of 21 do.")
    assert "Demand" not in varied.text


def test_a_column_that_the_repair_leaves_out_is_a_step_of_its_own(demo):
    taken_out = next(one for one in steps(demo) if one.lead.startswith("Take"))
    repaired = next(one for one in steps(demo) if one.code)

    assert taken_out.lead == "Take number of the discharge out of the copy that is published."
    assert taken_out.text == "Leaving it out costs nothing: delete it, or run the command below, which does more."
    assert "number of the discharge" not in repaired.text


def test_the_independent_check_is_explained_beside_its_digest(page):
    text = visible_text(page, folded=True)

    assert text.count("verify.html") == 1
    assert "computes the demands again, without this program" in text


def test_the_reasons_why_a_remedy_was_not_taken_are_german_in_a_german_report(demo):
    text = visible_text(demo.render(".html", language="de"), folded=True)

    assert "Nicht versucht: es dauert ein Vielfaches" in text
    assert "1.305 von 8.000 Datensätze" in text
    assert "(‘at_most: 0.1632’), und zuerst zu verallgemeinern kann helfen." in text
    assert "Abgebrochen: es verliert mindestens 2,5 % der Genauigkeit" in text.replace("\u00a0", " ")
