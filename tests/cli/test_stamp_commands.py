"""`verify`, `diff` and `attest` as people call them: what they print, what they refuse, and their exit codes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "written"))

from written_samples import MARK, POLICY, Pair, copied_pair, write_pair

from tcdp_audit.core.base.outcome import COLUMN_DEMANDS

KEY = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIIfU3d2i1YJWVVDKvzFpF0aRXxTjfZ3nXpJB5CYh0Ylx
-----END PRIVATE KEY-----
"""


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """The current folder: a release that is not fit, its policy, result and report, and a key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.pem").write_text(KEY, encoding="utf-8")
    return copied_pair(tmp_path)


@pytest.fixture
def public(pair: Pair) -> str:
    """The file of the public key."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    key = load_pem_private_key((pair.folder / "key.pem").read_bytes(), None)
    path = pair.folder / "key.pub.pem"
    path.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path.name


def fits(text: str) -> bool:
    return max(map(len, text.splitlines())) <= 80


@pytest.mark.usefixtures("pair")
def test_a_report_is_confirmed_line_by_line(here: Any):
    answer = here("verify", "report.html", "release.csv")

    assert (answer.code, answer.err) == (0, "")
    assert [line[:11] for line in answer.out.splitlines()[:4]] == [
        "✓ release  ",
        "✓ policy   ",
        "✓ figures  ",
        "✓ report   ",
    ]
    assert "✓ Confirmed: an audit of this release says the same. Its verdict is: Not fit" in answer.out
    assert fits(answer.out)
    assert here("verify", "report.html", "release.csv", "--quiet") == (0, "", "")


def test_what_differs_is_printed_last_before_the_conclusion(pair: Pair, here: Any):
    pair.policy.write_text(pair.policy.read_text(encoding="utf-8").replace("k: 3", "k: 4"), encoding="utf-8")
    answer = here("verify", "result.json", "release.csv")

    assert answer.code == 1
    assert "✗ figures      expectation 1, k_anonymity: the demand was 3, is 4" in answer.out
    assert "in policy and figures." in answer.out
    assert fits(answer.out)
    assert MARK not in answer.out


def test_what_could_not_be_verified_exits_with_3(pair: Pair, here: Any):
    pair.policy.rename("elsewhere.tcdp.yaml")
    answer = here("verify", "result.json", "release.csv")
    assert (answer.code, answer.out) == (3, "")
    assert answer.err == "tcdp-audit: result.json: its policy policy.tcdp.yaml is not there; name it with --policy\n"
    assert here("verify", "result.json", "release.csv", "--policy", "elsewhere.tcdp.yaml", "--memory", "1GiB").code == 0

    def unknown(result: dict[str, Any]) -> None:
        result["tool"]["version"] = "9"
        result["approved"] = True

    pair.forge(unknown)
    later = here("verify", "result.json", "release.csv", "--policy", "elsewhere.tcdp.yaml")
    assert later.code == 3
    assert "? Not confirmed: figures could not be verified." in later.out


def test_the_comparison_is_json_for_programs(pair: Pair, here: Any):
    confirmed = here("verify", "report.html", "release.csv", "--json")
    pair.policy.write_text(pair.policy.read_text(encoding="utf-8").replace("k: 3", "k: 4"), encoding="utf-8")
    differing = here("verify", "result.json", "release.csv", "--json", "--quiet")
    same, other = json.loads(confirmed.out), json.loads(differing.out)

    assert (confirmed.code, differing.code) == (0, 1)
    assert (same["schema_version"], same["kind"], same["confirmed"], other["confirmed"]) == (1, "result", True, False)
    assert same["verdict"] == {"state": "failed", "title": "Not fit for release"}
    assert {one["state"] for one in same["points"]} <= {"confirmed", "note"}
    assert {"subject": "figures", "state": "differs"}.items() <= next(
        one for one in other["points"] if one["says"] == "expectation 1, k_anonymity: the demand was 3, is 4"
    ).items()
    assert other["conclusion"].startswith("Not confirmed: ")
    assert MARK not in differing.out


def test_the_json_of_an_attestation_names_it(pair: Pair, public: str, here: Any):
    assert here("attest", "result.json", "release.csv", "--key", "key.pem", "-o", "signed.json").code == 0

    answer = here("verify", "signed.json", "release.csv", "--key", public, "--json")
    value = json.loads(answer.out)

    assert (answer.code, value["kind"], value["confirmed"]) == (1, "attestation", False)
    assert [one["subject"] for one in value["points"] if one["state"] == "differs"] == ["verdict"]
    assert pair.folder.name not in answer.out


def test_names_of_a_forged_result_do_not_act_on_the_terminal(pair: Pair, here: Any):
    hostile = "\x1b[31m\u202e[red]<script>"

    def forge(result: dict[str, Any]) -> None:
        result[hostile] = 1
        result["companions"][hostile] = result["release"]
        result["tool"]["python"] = hostile
        result["release"]["uri"] = hostile
        result["outcomes"][-1].update(check=hostile, attribute=hostile)

    pair.forge(forge)
    for answer in (
        here("verify", "result.json", "release.csv"),
        here("verify", "result.json", "release.csv", "--original", "release.csv"),
        here("verify", "result.json", "release.csv", "--json"),
        here("diff", "result.json", "report.html"),
        here("attest", "result.json", "release.csv", "--key", "key.pem"),
    ):
        assert "\x1b" not in answer.out + answer.err
        assert "\u202e" not in answer.out + answer.err
        assert "internal error" not in answer.err


def test_many_differences_are_not_all_printed(pair: Pair, here: Any):
    pair.forge(lambda result: result.update({f"made_up_{number}": 1 for number in range(99)}))
    answer = here("verify", "result.json", "release.csv")
    assert "more points" in answer.out
    assert "Not confirmed: 99 differences, in figures." in answer.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("report.html", "release.csv", "--key", "key.pem"), "--key is for an attestation; FILE is none"),
        (("report.html", "release.csv", "--allow-failed"), "--allow-failed is for an attestation; FILE is none"),
        (("nowhere.html", "release.csv"), "nowhere.html: no such file"),
        (("signed.json", "release.csv"), "name the public key of who must have signed it with --key"),
        (("signed.json", "release.csv", "--source-release", "x.csv"), "--source-release is for a result or a report"),
        (("signed.json", "release.csv", "--key", "key.pem"), "is a private key; `openssl pkey -in KEY.pem -pubout`"),
    ],
)
@pytest.mark.usefixtures("pair")
def test_a_call_that_means_nothing_is_refused(arguments: tuple[str, ...], sentence: str, here: Any):
    assert here("attest", "result.json", "release.csv", "--key", "key.pem", "-o", "signed.json").code == 0
    answer = here("verify", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


def test_an_incomplete_audit_with_a_failed_demand_is_reported_as_not_fit(pair: Pair, public: str, here: Any):
    asked = POLICY.replace("disease: {role: sensitive}", "disease: {role: sensitive, hierarchy: {all: [a, b]}}")
    demanded = "  - t_closeness: {t: 0.5, attribute: disease, distance: hierarchical}\n"
    incomplete = write_pair(pair.folder, asked + demanded)
    assert incomplete.result["status"] == "error"
    assert "Its verdict is: Not fit for release." in " ".join(here("verify", "report.html", "release.csv").out.split())
    signed = here("attest", "report.html", "release.csv", "--key", "key.pem", "-o", "signed.json")
    assert "signed: release.csv, Not fit for release; this is no approval" in signed.out
    refused = here("verify", "signed.json", "release.csv", "--key", public)
    assert refused.code == 1
    assert "says of this release: Not fit for release." in " ".join(refused.out.split())


def test_what_is_attested_is_demanded(pair: Pair, public: str, here: Any):
    signed = here("attest", "report.html", "release.csv", "--key", "key.pem", "-o", "signed.json")
    assert signed == (0, "written: signed.json\nsigned: release.csv, Not fit for release; this is no approval\n", "")

    refused = here("verify", "signed.json", "release.csv", "--key", public)
    assert refused.code == 1
    assert "No approval: the attestation is genuine, and says of this release:" in refused.out
    assert fits(refused.out)

    options = ("--allow-failed", "--policy", "policy.tcdp.yaml", "--result", "result.json")
    accepted = here("verify", "signed.json", "release.csv", "--key", public, *options)
    assert accepted.code == 0
    assert "Confirmed: the attestation is genuine, and about this release." in accepted.out

    pair.release.write_text(pair.release.read_text(encoding="utf-8") + "x,1,y,2\n", encoding="utf-8")
    another = here("verify", "signed.json", "release.csv", "--key", public, *options)
    assert another.code == 1
    assert "Not confirmed: 1 difference, in release." in another.out


@pytest.mark.usefixtures("pair")
def test_an_attestation_is_printed_where_no_file_is_named(here: Any):
    answer = here("attest", "result.json", "release.csv", "--key", "key.pem")
    assert answer.code == 0
    assert json.loads(answer.out)["payloadType"] == "application/vnd.in-toto+json"


def test_an_attestation_takes_the_place_of_nothing_that_is_read(pair: Pair, here: Any):
    for name in ("result.json", "release.csv", "key.pem"):
        content = (pair.folder / name).read_bytes()
        answer = here("attest", "result.json", "release.csv", "--key", "key.pem", "-o", name)
        assert answer.code == 2
        assert "must be a file of its own" in answer.err
        assert (pair.folder / name).read_bytes() == content
    another = here("attest", "result.json", "policy.tcdp.yaml", "--key", "key.pem", "-o", "signed.json")
    assert another.code == 1
    assert not (pair.folder / "signed.json").exists()


def test_the_password_comes_from_a_file_a_variable_or_a_person(pair: Pair, here: Any, monkeypatch: pytest.MonkeyPatch):
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_pem_private_key,
    )

    key = load_pem_private_key(KEY.encode(), None)
    encrypted = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"open"))
    (pair.folder / "locked.pem").write_bytes(encrypted)
    (pair.folder / "password").write_text("open\n", encoding="utf-8")
    call = ("attest", "result.json", "release.csv", "--key", "locked.pem")

    no_one = here(*call)
    assert no_one.code == 2
    assert (
        "is encrypted; give its password by --password-file, or in the variable TCDP_AUDIT_KEY_PASSWORD" in no_one.err
    )
    assert here(*call, "--password-file", "password").code == 0
    assert "cannot be read" in here(*call, "--password-file", "nowhere").err
    monkeypatch.setenv("TCDP_AUDIT_KEY_PASSWORD", "shut")
    assert here(*call).err == "tcdp-audit: locked.pem: the password does not open this key\n"
    monkeypatch.delenv("TCDP_AUDIT_KEY_PASSWORD")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", lambda *_, **__: "open")
    assert here(*call).code == 0


def test_two_audits_are_reported_in_80_columns(pair: Pair, here: Any):
    shutil.copy(pair.json, "old.json")
    pair.forge(lambda result: result["outcomes"][len(COLUMN_DEMANDS)].update(observed=9, status="passed"))
    answer = here("diff", "old.json", "result.json", "--report", "d.html", "--report", "d.md", "--report", "d.json")

    assert (answer.code, answer.err) == (0, "")
    assert "written: d.html" in answer.out
    assert "▲ better" in answer.out
    assert "Still: Not fit for release. Of 5 expectations, 1 is better and 4 are as they" in answer.out
    assert fits(answer.out)
    assert MARK not in answer.out
    assert json.loads((pair.folder / "d.json").read_text(encoding="utf-8"))["worse"] is False
    printed = here("diff", "old.json", "result.json", "--json")
    assert json.loads(printed.out) == json.loads((pair.folder / "d.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda _: None, (0, 0, 0)),
        (lambda one: one.update(observed=9), (0, 0, 1)),
        (lambda one: one.update(observed=0), (0, 1, 1)),
    ],
)
def test_a_difference_fails_where_it_is_asked_to(
    change: Callable[[dict[str, Any]], None], codes: tuple[int, ...], pair: Pair, here: Any
):
    shutil.copy(pair.json, "old.json")
    pair.forge(lambda result: change(result["outcomes"][len(COLUMN_DEMANDS)]))
    calls = [
        here("diff", "old.json", "result.json", "--quiet", *options)
        for options in ((), ("--fail-if", "worse"), ("--fail-if", "different"))
    ]
    assert calls == [(code, "", "") for code in codes]


def test_a_comparison_is_refused_in_a_form_that_has_none_or_over_what_is_read(pair: Pair, here: Any):
    known = "known are .docx, .html, .json, .md, .pdf\n"
    for report, sentence in (("d.sarif", known), ("result.json", "must be a file of its own")):
        answer = here("diff", "result.json", "report.html", "--report", report)
        assert (answer.code, answer.out) == (2, "")
        assert sentence in answer.err
    pair.release.rename("release.json")
    assert here("diff", "release.json", "report.html").code == 3
