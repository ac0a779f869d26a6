"""Earlier releases in a policy: named, opened, in the result by their digests, never written over, verified."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import DataError, PolicyError, UsageError, audit, fix, load_policy, verify
from tcdp_audit.integrations.pandera.shared import document_of

POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}},
    "expect": [{"release_differencing": {"k": 1}}],
    "remedy": [{"suppression": {}}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("release.csv", "first.csv", "second.csv"), 3):
        Path(name).write_text("zip\n" + "a\n" * number + "b\n", encoding="utf-8")
    return tmp_path


def policy(previous: Any) -> Path:
    Path("releases.tcdp.yaml").write_text(json.dumps({**POLICY, "previous": previous}), encoding="utf-8")
    return Path("releases.tcdp.yaml")


@pytest.mark.parametrize(
    ("previous", "names"),
    [
        ("first.csv", ["previous"]),
        (["first.csv"], ["previous"]),
        (["first.csv", "second.csv"], ["previous 1", "previous 2"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_each_is_in_the_result_with_its_digest(previous: Any, names: list[str]):
    result = audit("release.csv", policy(previous)).as_json()
    files = previous if isinstance(previous, list) else [previous]
    digests = [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in files]
    assert list(result["companions"]) == names
    assert [one["sha256"] for one in result["companions"].values()] == digests


@pytest.mark.usefixtures("folder")
def test_one_that_no_check_asks_for_is_not_opened():
    content = {**POLICY, "previous": "missing.csv", "expect": [{"k_anonymity": {"k": 1}}]}
    assert audit("release.csv", content).companions == {}


@pytest.mark.usefixtures("folder")
def test_one_that_is_not_there_is_said():
    with pytest.raises((UsageError, DataError), match=r"missing\.csv"):
        audit("release.csv", policy(["first.csv", "missing.csv"]))


@pytest.mark.parametrize(("previous", "said"), [([], "previous"), (7, "previous"), ([7], "previous"), ({}, "previous")])
@pytest.mark.usefixtures("folder")
def test_what_is_no_table_is_refused(previous: Any, said: str):
    with pytest.raises(PolicyError, match=said):
        load_policy(policy(previous))


@pytest.mark.usefixtures("folder")
def test_none_is_written_over():
    with pytest.raises(UsageError, match="this is the policy's previous 2"):
        fix("release.csv", policy(["first.csv", "second.csv"]), output="second.csv")


@pytest.mark.usefixtures("folder")
def test_a_result_is_verified_against_each():
    audit("release.csv", policy(["first.csv", "second.csv"])).write("result.json")
    assert verify("result.json", "release.csv").is_confirmed
    Path("second.csv").write_text("zip\na\nb\n", encoding="utf-8")
    points = [one for one in verify("result.json", "release.csv").points if one.subject == "previous 2"]
    assert {one.state.value for one in points} == {"differs"}


def test_a_policy_that_is_complete_names_them_whole(folder: Path):
    assert document_of(folder / policy("first.csv"))["previous"] == str(folder / "first.csv")
    both = document_of(folder / policy(["first.csv", "second.csv"]))["previous"]
    assert both == [str(folder / "first.csv"), str(folder / "second.csv")]
