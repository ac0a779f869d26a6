"""Figures on the screens are those that the command line gives, and files those that it writes."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from workbench_client import POLICY, Client, running, write_policy

from tcdp_audit import audit, open_session
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.report import Run

PLUGINS = Plugins.load(external=False)
ROLES = ("quasi_identifier", "quasi_identifier", "sensitive", "insensitive")
HIERARCHIES = {"age": 3, "zip": 2}
VOLATILE = ("audited_at", "run", "proof")  # the proof has the digest of the other two as well


def random_policy(draw: random.Random) -> dict[str, Any]:
    """A policy on the table of people, with demands of some sizes."""
    policy: dict[str, Any] = yaml.safe_load(POLICY)
    for name in ("age", "sex", "zip", "cost"):
        policy["attributes"][name]["role"] = draw.choice(ROLES)
    policy["attributes"]["sex"]["role"] = "quasi_identifier"
    secrets = [name for name, one in policy["attributes"].items() if one["role"] == "sensitive"]
    policy["expect"] = [{"k_anonymity": {"k": draw.choice([2, 3, 5, 11])}}]
    for name in draw.sample(secrets, draw.randint(0, len(secrets))):
        policy["expect"].append({"distinct_l_diversity": {"l": draw.randint(2, 4), "attribute": name}})
        policy["expect"].append({"t_closeness": {"t": draw.choice([0.2, 0.5]), "attribute": name, "distance": "equal"}})
    return policy


def figure(text: str, place: str) -> str:
    """The text of the element with an id."""
    shown = re.search(rf'id="{place}"[^>]*>([^<]*)<', text)
    assert shown is not None, place
    return shown[1]


def compare_with_audits(folder: Path, seed: int) -> None:
    """Move controls of two screens, and compare what they show with audits of the same policy and levels."""
    draw = random.Random(seed)  # noqa: S311 - policies to test on
    policy = random_policy(draw)
    path = write_policy(folder, yaml.safe_dump(policy, sort_keys=False))
    (folder / "people.studio.json").unlink(missing_ok=True)
    known = [name for name, one in policy["attributes"].items() if one["role"] == "quasi_identifier"]
    levels = {name: draw.randint(0, most) for name, most in HIERARCHIES.items() if name in known}
    unknown = draw.sample(known, draw.randint(0, len(known) - 1))
    fields = [("knows", place) for place, name in enumerate(known) if name not in unknown]
    fields += [(f"level_{place}", levels[name]) for place, name in enumerate(known) if name in levels]
    with running(folder) as client, open_session(folder / "people.csv", path, plugins=PLUGINS) as session:
        view = session.levels(levels)
        shown = client.send("/risk/try", fields, hx_request="true").text
        if all(levels.get(name) == HIERARCHIES.get(name, 9) for name in known if name not in unknown):
            assert "every record is fully suppressed" in shown  # nothing is published of what is known
            return
        answer = view.what_if(drop=unknown)
        assert figure(shown, "alone") == f"{answer.alone:,}"
        assert figure(shown, "below") == f"{answer.below:,}"
        alone = {**policy, "expect": [{"k_anonymity": {"k": 2}}]}
        alone["attributes"] = {
            name: {**one, "role": "insensitive" if name in unknown else one["role"]}
            for name, one in policy["attributes"].items()
        }
        exposed = view.audit({**alone, "attributes": _absolute(alone["attributes"], folder)}).exposed
        people = 0 if exposed is None or exposed.people is None else exposed.people
        assert answer.alone == people
        of_policy = view.audit(path)
        text = client.get("/demands").text
        for place, (one, outcome) in enumerate(zip(policy["expect"], of_policy.expectations, strict=True)):
            assert outcome.check == next(iter(one))
            failing = None if outcome.records is None else outcome.records.failing
            assert figure(text, f"f{place}") == (f"{failing:,}" if failing is not None else outcome.status.value)
        if of_policy.exposed is not None and of_policy.exposed.people is not None:
            assert figure(text, "exposed") == f"{of_policy.exposed.people:,}"
        scale = client.get("/demands/scale?demand=0").text
        counts = view.thresholds("k_anonymity").counts
        assert re.findall(r"<b>([^<]+)</b><br>([^<]+)<", scale) == [
            (str(one.threshold), f"{one.failing:,}") for one in counts
        ]


def _absolute(attributes: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Attributes whose hierarchies are found from any folder."""
    return {
        name: {**one, "hierarchy": str(folder / one["hierarchy"])} if "hierarchy" in one else one
        for name, one in attributes.items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_figures_on_the_screens_are_those_of_audits(seed: int, folder: Path) -> None:
    compare_with_audits(folder, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 60))
def test_figures_on_the_screens_are_those_of_many_audits(seed: int, folder: Path) -> None:
    compare_with_audits(folder, seed)


def test_levels_that_are_shown_are_those_of_a_masked_file(folder: Path) -> None:
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines[1:]]
    masked = [[p, f"{int(a) // 10 * 10}-{int(a) // 10 * 10 + 9}", s, z, i, c] for p, a, s, z, i, c in rows]
    (folder / "masked.csv").write_text("\n".join([lines[0], *map(",".join, masked), ""]), encoding="utf-8")
    policy = yaml.safe_load(POLICY)
    policy["attributes"] = {
        name: {key: value for key, value in one.items() if key not in ("hierarchy", "scale")}
        for name, one in policy["attributes"].items()
    }
    policy["expect"] = [{"k_anonymity": {"k": 3}}]
    expected = audit(folder / "masked.csv", policy).exposed
    assert expected is not None
    with running(folder) as client:
        shown = client.send("/risk/try", [("knows", 0), ("knows", 1), ("knows", 2), ("level_0", 1)], hx_request="true")
    assert figure(shown.text, "below") == f"{expected.people:,}"


def released(client: Client, *, files: tuple[str, ...] = ("report", "result")) -> dict[str, str]:
    """Write the release, and wait for it."""
    client.send("/release/write", dict.fromkeys(files, "yes"))
    client.studio.bench.work.wait(120)
    assert not client.studio.bench.work.fault
    return client.studio.bench.choices.written


def stripped(path: Path) -> Any:
    """A result without its time and the line that names the command."""
    result = json.loads(path.read_text(encoding="utf-8"))
    return {name: one for name, one in result.items() if name not in VOLATILE}


def same_files(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """Release on the workbench and by `fix`, with the same names in two folders, and compare every byte."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    written = {name: Path(one) for name, one in json.loads((folder / "written.json").read_text()).items()}
    other = folder / "by-command"
    other.mkdir()
    for one in [*folder.iterdir()]:
        if one.is_file() and one.name not in {path.name for name, path in written.items() if name != "policy"}:
            (other / one.name).write_bytes(one.read_bytes())
    command = [sys.executable, "-m", "tcdp_audit", "fix", *arguments, "--policy", written["policy"].name]
    command += ["--output", written["release"].name, "--report", written["result"].name]
    command += ["--report", written["report"].name]
    done = subprocess.run(command, cwd=other, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if written["release"].is_dir():
        names = sorted(one.name for one in written["release"].iterdir())
        assert names == sorted(one.name for one in (other / written["release"].name).iterdir())
        for name in names:
            one, two = (written["release"] / name).read_bytes(), (other / written["release"].name / name).read_bytes()
            assert one == two
    else:
        assert written["release"].read_bytes() == (other / written["release"].name).read_bytes()
    assert stripped(written["result"]) == stripped(other / written["result"].name)
    pages = [path.read_text(encoding="utf-8") for path in (written["report"], other / written["report"].name)]
    texts = [_comparable(page) for page in pages]
    assert texts[0] == texts[1]


def _comparable(page: str) -> str:
    """A report without its number, its run and the packed result that repeats both."""
    page = re.sub(r">[A-Za-z0-9+/=]{200,}<", "><", page)
    page = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    page = re.sub(r"tcdp-audit (studio|fix)[^<]*", "COMMAND", page)
    return re.sub(r"\b[0-9a-f]{8}\b", "NUMBER", page)


def test_files_are_those_of_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    monkeypatch.chdir(folder)
    with running(Path(), run=Run(None, "tcdp-audit studio people.csv")) as client:
        client.send("/demands/change", {"shape": 0, "demand": 0, "threshold": "4", "reason": "four is our rule"})
        written = released(client)
        page = client.get("/report").text
        read = client.get("/report/page")
    assert "four is our rule" in Path(written["report"]).read_text(encoding="utf-8")
    assert "Fit" in page
    assert "frame-ancestors 'none'" in read.head["content-security-policy"]
    assert "sha256-" in read.head["content-security-policy"]
    Path("written.json").write_text(json.dumps({name: str(folder / one) for name, one in written.items()}))
    same_files(folder, monkeypatch, ["people.csv"])
