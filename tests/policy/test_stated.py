"""What a policy states of its release: purpose, recipients, and who approved it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

from tcdp_audit import PolicyError, audit, load_policy
from tcdp_audit.core.policy.schema import policy_schema
from tcdp_audit.core.session.registry import Plugins

BASE = "version: 1\nattributes:\n  zip: {role: quasi_identifier}\nexpect:\n  - k_anonymity: {k: 2}\n"
TABLE = pa.table({"zip": ["1", "1"]})
TOMORROW = (datetime.now(UTC).date() + timedelta(days=2)).isoformat()
SCHEMA = json.loads(files("tcdp_audit.core.results").joinpath("result.schema.json").read_text(encoding="utf-8"))


def written(tmp_path: Path, lines: str) -> Path:
    path = tmp_path / "p.yaml"
    path.write_text(BASE + lines, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("lines", "by", "day"),
    [
        ("approved_by: Board\n", "Board", None),
        ("approved_by: 007\n", "007", None),
        ("approved_by: {by: Board}\n", "Board", None),
        ("approved_by: {by: Board, date: 2026-11-20}\n", "Board", date(2026, 11, 20)),
        ("approved_by: {by: Board, date: '2026-11-20'}\n", "Board", date(2026, 11, 20)),
    ],
)
def test_an_approval_is_a_name_or_a_name_with_a_day(tmp_path: Path, lines: str, by: str, day: date | None) -> None:
    approval = load_policy(written(tmp_path, lines)).document.approval

    assert approval is not None
    assert (approval.by, approval.date) == (by, day)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ("approved_by: ''\n", "p.yaml:6:14: approved_by: must be one line of at most 60 characters"),
        ("approved_by: {date: 2026-11-20}\n", "p.yaml:6:1: approved_by.by: is required"),
        (
            "approved_by: {by: Board, date: soon}\n",
            "p.yaml:6:32: approved_by.date: must be a day, written as 2026-11-20",
        ),
        (f"approved_by: {{by: Board, date: {TOMORROW}}}\n", "p.yaml:6:32: approved_by.date: must not be in the future"),
        ("approved_by: {name: Board}\n", "approved_by.name: unknown name; known here: by, date"),
        ("approved_by: [Board]\n", "p.yaml:6:1: approved_by: must be text"),
        ("purpose: ' '\n", "p.yaml:6:10: purpose: must not be empty"),
        ("recipients: 5\n", "p.yaml:6:13: recipients: must be text; put it in quotes"),
    ],
)
def test_bad_input_gets_a_sentence_at_its_line(tmp_path: Path, lines: str, fault: str) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy(written(tmp_path, lines))
    assert fault in str(error.value)


STATED = "purpose: |\n  Teaching.\n  No research.\nrecipients: Students\napproved_by: {by: Board, date: 2026-11-20}\n"


def test_the_result_has_what_is_stated_and_nothing_else(tmp_path: Path) -> None:
    result = audit(TABLE, written(tmp_path, STATED)).as_json()
    stated = {name: one for name, one in result["policy"].items() if name not in ("uri", "sha256")}

    assert stated == {
        "purpose": "Teaching.\nNo research.",
        "recipients": "Students",
        "approved_by": {"by": "Board", "date": "2026-11-20"},
    }
    assert [one.message for one in Draft202012Validator(SCHEMA).iter_errors(json.loads(json.dumps(result)))] == []
    assert audit(TABLE, written(tmp_path, "")).as_json()["policy"].keys() == {"uri", "sha256"}


def test_figures_and_verdict_do_not_depend_on_it(tmp_path: Path) -> None:
    plain, stated = (audit(TABLE, written(tmp_path, lines)).as_json() for lines in ("", STATED))

    assert plain["policy"].pop("sha256") != stated["policy"].pop("sha256")
    assert plain["outcomes"] == stated["outcomes"]
    assert plain["verdict"] == stated["verdict"]


@pytest.mark.parametrize(
    ("approved_by", "is_sound"),
    [("Board", True), ({"by": "Board", "date": "2026-11-20"}, True), ({"date": "2026-11-20"}, False), ([], False)],
)
def test_the_schema_of_policies_knows_both_forms(approved_by: Any, is_sound: bool) -> None:
    plugins = Plugins.load(external=False)
    schema = policy_schema(plugins.checks, plugins.remedies)
    document = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }

    assert Draft202012Validator(schema).is_valid({**document, "approved_by": approved_by}) == is_sound


def test_reports_show_it_on_the_first_screen_and_in_the_sign_off(tmp_path: Path) -> None:
    result = audit(TABLE, written(tmp_path, STATED))
    page, summary = result.render(".html"), result.render(".md")

    assert "<dt>Purpose</dt><dd><bdi>Teaching. No research.</bdi></dd>" in page
    assert "<dt>Policy approved by</dt><dd><bdi>Board, 2026-11-20</bdi></dd>" in page
    assert page.count("Students") > 1
    assert "The policy does not say" not in page.partition("Sign-off")[2][:600]
    assert "- **Purpose**: Teaching. No research." in summary
    assert "- **Policy approved by**: Board, 2026-11-20" in summary


def test_a_sign_off_says_what_is_not_stated(tmp_path: Path) -> None:
    result = audit(TABLE, written(tmp_path, ""))
    page, summary = result.render(".html"), result.render(".md")

    assert page.partition("Sign-off")[2][:600].count("The policy does not say") == 3
    assert "<dt>Purpose</dt>" not in page.partition("Sign-off")[0]
    assert "Policy approved by" not in summary
