"""The page in Chromium: files go in, one answer comes out, nothing leaves, and it never stands still."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from devtools import Page, browser
from verifier_cases import Case

from tcdp_audit import audit
from tcdp_audit.core.results.verifier import verifier_digest, verifier_page

pytestmark = pytest.mark.xdist_group("verifier page")
STANDSTILL = 1_000  # milliseconds in which a page that reads a million records itself would stand still many times over


@pytest.fixture(scope="module")
def page(chromium: str, page_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(chromium, tmp_path_factory.mktemp("browser")) as opened:
        opened.open(page_file.as_uri())
        yield opened


def test_it_is_short_enough_to_read():
    lines = verifier_page().splitlines()

    assert len(lines) <= 600
    assert max(map(len, lines)) <= 120


def test_it_refers_to_nothing_else():
    text = verifier_page()

    assert not [word for word in ("http:", "https:", "src=", "@import", "import(", "fetch(", "XMLHttp") if word in text]
    assert "default-src 'none'" in text


def test_the_command_prints_it_and_a_report_names_it(case: Case, process_bytes: bytes):
    assert hashlib.sha256(process_bytes).hexdigest() == verifier_digest()

    report = case.audit.render(".html")
    assert "The page that tcdp-audit verifier prints computes the demands again" in report
    assert f"<code>{verifier_digest()}</code>" in report


@pytest.fixture(scope="module")
def process_bytes() -> bytes:
    """What `tcdp-audit verifier` prints."""
    import subprocess
    import sys

    return subprocess.run([sys.executable, "-m", "tcdp_audit", "verifier"], capture_output=True, check=True).stdout


@pytest.mark.long
def test_the_same_without_a_request(case: Case, page: Page, tmp_path: Path):
    report = tmp_path / "report.html"
    report.write_text(case.audit.render(".html"), encoding="utf-8")
    answer = page.answer(release=case.release, report=report, policy=case.policy)

    assert answer["verdict"] == "same", answer
    assert "ward: quasi_identifier, nominal" in answer["given"]
    assert "k_anonymity >= 2" in answer["given"]
    assert page.complaints() == []


@pytest.mark.long
def test_a_request_and_a_message_would_be_seen(page: Page):
    assert page.evaluate("fetch('http://127.0.0.1:9/planted').catch(() => 1)") == 1
    page.evaluate("console.log('planted')")
    complaints = " ".join(page.complaints())
    page.events.clear()

    assert "Content Security Policy" in complaints
    assert '"planted"' in complaints


@pytest.mark.long
def test_different_and_not_mine(case: Case, page: Page, tmp_path: Path):
    def weaken(result: dict[str, Any]) -> None:
        result["outcomes"][15]["status"] = "passed"

    changed = page.answer(release=case.release, report=Path(case.changed(weaken)))
    tokens = Case(tmp_path, conventions={"missing_tokens": ["", "NA"]})
    lacking = page.answer(release=tokens.release, report=tokens.result)

    assert (changed["verdict"], lacking["verdict"]) == ("different", "not-mine")
    assert changed["sentence"].startswith("Different")
    assert "the policy says how cells are read" in lacking["lines"]


@pytest.mark.long
def test_a_file_that_cannot_be_read_is_said(case: Case, page: Page):
    """It does not stand still without a word: the file is gone, or has changed, since it was chosen."""
    unreadable = "File.prototype.arrayBuffer = Blob.prototype.arrayBuffer = async () => { throw new Error('planted') }"
    page.evaluate(f"""{{
      const create = URL.createObjectURL.bind(URL);
      URL.createObjectURL = blob => (URL.createObjectURL = create, create(new Blob(["{unreadable};", blob])));
    }}""")
    answer = page.answer(release=case.release, report=case.result)

    assert answer["verdict"] == "not-mine"
    assert answer["lines"] == "not-mine  files: it cannot be read: Error: planted"
    assert page.answer(release=case.release, report=case.result)["verdict"] == "same"
    page.events.clear()


@pytest.mark.long
def test_a_computation_that_breaks_off_is_said(case: Case, page: Page):
    page.evaluate("""{
      const create = URL.createObjectURL.bind(URL);
      URL.createObjectURL = blob => (URL.createObjectURL = create, create(new Blob(["throw new Error('planted');"])));
    }""")
    answer = page.answer(release=case.release, report=case.result)
    page.events.clear()

    assert (answer["verdict"], answer["lines"]) == (
        "not-mine",
        "not-mine  files: the page broke off, and nothing is confirmed",
    )


@pytest.mark.long
def test_twenty_changed_results(case: Case, page: Page):
    written = json.loads(case.result.read_text(encoding="utf-8"))
    places = [place for place, one in enumerate(written["outcomes"]) if "proof" in one]
    for number in range(20):
        key = ("observed", "status", "classes", "records", "threshold")[number % 5]

        def change(result: dict[str, Any], place: int = places[number % len(places)], key: str = key) -> None:
            outcome = result["outcomes"][place]
            if key in ("classes", "records"):
                outcome[key]["total"] += 1
            else:
                outcome[key] = (
                    "measured" if key == "status" and outcome[key] != "measured" else "passed" if key == "status" else 7
                )

        assert page.answer(release=case.release, report=Path(case.changed(change)))["verdict"] == "different", number


ADULT = {
    **{name: {"role": "quasi_identifier"} for name in ("sex", "race", "marital-status", "education")},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    **{name: {"role": "insensitive"} for name in ("native-country", "workclass")},
    **{name: {"role": "sensitive"} for name in ("occupation", "salary-class")},
}
DEMANDS = [
    *({"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 2}}, {"sample_uniqueness": {"at_most": 0.05}}),
    *({"entropy_l_diversity": {"l": 2}}, {"recursive_cl_diversity": {"c": 3, "l": 2, "attribute": "occupation"}}),
    *(
        {"t_closeness": {"t": 0.2, "attribute": "occupation"}},
        {"t_closeness": {"t": "1/3", "attribute": "salary-class"}},
    ),
    {"t_closeness": {"attribute": "occupation", "distance": "multiplicative"}},
    {"reidentification_risk": {"measure": "average", "at_most": 0.05}},
]


def written(release: Path, folder: Path, attributes: dict[str, Any], expect: list[Any]) -> Path:
    """The result of an audit, as a file."""
    policy = folder / "policy.tcdp.yaml"
    policy.write_text(json.dumps({"version": 1, "attributes": attributes, "expect": expect}), encoding="utf-8")
    result = folder / "result.json"
    result.write_text(audit(str(release), str(policy)).to_json(), encoding="utf-8")
    return result


@pytest.mark.long
def test_adult(data: Path, page: Page, tmp_path: Path):
    release = data / "adult/adult.csv"
    answer = page.answer(release=release, report=written(release, tmp_path, ADULT, DEMANDS))

    assert answer["verdict"] == "same", answer
    assert answer["lines"].count("same ") == 11


@pytest.mark.long
def test_a_million_records_do_not_freeze_the_page(data: Path, page: Page, tmp_path: Path):
    header, *rows = (data / "adult/adult.csv").read_text(encoding="utf-8").split("\n")
    release, drawn = tmp_path / "release.csv", random.Random(1)  # noqa: S311 - the same records every time
    release.write_text(
        "\n".join([header, *drawn.choices([row for row in rows if row], k=1_000_000), ""]), encoding="utf-8"
    )
    answer = page.answer(release=release, report=written(release, tmp_path, ADULT, DEMANDS))

    assert answer["verdict"] == "same", answer
    assert answer["longest"] < STANDSTILL
    assert answer["progress"] > 10


@pytest.mark.long
def test_a_file_of_two_hundred_megabytes(page: Page, tmp_path: Path):
    attributes = {
        "ward": {"role": "quasi_identifier"},
        "illness": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    }
    note, release = "n" * 2_000, tmp_path / "release.csv"
    with release.open("w", encoding="utf-8") as file:
        file.write("ward,illness,note\n")
        file.writelines(f'{number % 50},"ill, {number % 7}",{note}\n' for number in range(100_000))
    expect = [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.5}}]
    answer = page.answer(release=release, report=written(release, tmp_path, attributes, expect))

    assert release.stat().st_size > 200e6
    assert answer["verdict"] == "same", answer
    assert answer["longest"] < STANDSTILL
