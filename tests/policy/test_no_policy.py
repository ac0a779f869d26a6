"""What is no policy is never quoted: a table that stands where a policy belongs may hold people."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tcdp_audit
from tcdp_audit import PolicyError, load_policy, verify
from tcdp_audit.cli.run import run
from tcdp_audit.core.policy.loading import NO_POLICY
from tcdp_audit.core.session.registry import Plugins

MARK = "zanzibar"
PLUGINS = Plugins.load(external=False)
POLICY = "version: 1\nattributes: {a: {role: quasi_identifier}}\nexpect: [{k_anonymity: {k: 2}}]\n"

TABLES = {
    "JSON lines": f'{{"a": "{MARK}", "s": "{MARK}"}}\n{{"a": "{MARK}"}}\n',
    "one record": f'{{"{MARK}": "{MARK}"}}\n',
    "one record with a version": f'{{"version": 1, "{MARK}": "{MARK}"}}\n',
    "one record with attributes": f'{{"version": 2, "attributes": {{"{MARK}": "{MARK}"}}, "expect": "{MARK}"}}\n',
    "one record with declared attributes": f'{{"attributes": {{"x": {{"role": "{MARK}"}}}}, "{MARK}": 1}}\n',
    "a key twice": f'{{"{MARK}": 1, "{MARK}": 2}}\n',
    "records in a list": f'[{{"a": "{MARK}"}}]\n',
    "CSV": f"a,s\n{MARK},{MARK}\n",
    "CSV with a colon": f"a,s\nx: {MARK},{MARK}: y\n",
    "CSV with a list": f"a,s\n- {MARK}\n",
    "CSV of lines with keys": f"{MARK}: 1\nb: {MARK}\n",
    "CSV with keys twice": f"{MARK}: 1\n{MARK}: 2\n",
    "CSV with an alias": f"a,s\n*{MARK}: 1\n",
    "CSV with an anchor": f"&{MARK} a\n&{MARK} b\n",
    "CSV with a tag": f"!{MARK}!x a\n",
    "CSV with a version": f"version: 1\n{MARK}: {MARK}: {MARK}\n",
    "a merge key": f"<<: {{{MARK}: 1}}\n",
    "a list as key": f"? [{MARK}]\n: 1\n",
    "nested too deeply": f"{MARK}: " + "[" * 300,
    "two documents": f"a: {MARK}\n---\nb: {MARK}\n",
    "a control character": f"{MARK}: \x07{MARK}\n",
    "a text": f"{MARK}\n",
    "in quotes": f'"{MARK}\n',
    "an unknown escape": f'"\\{MARK}"\n',
    "tab": f"a: {MARK}\n\t{MARK}: 1\n",
    "comment": f"# {MARK}\n",
    "percent": f"%{MARK} 1\n",
}


def written(folder: Path, text: str) -> Path:
    path = folder / "p.tcdp.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", TABLES)
def test_nothing_of_a_table_is_in_the_sentence(name: str, tmp_path: Path):
    with pytest.raises(PolicyError) as caught:
        load_policy(written(tmp_path, TABLES[name]), PLUGINS)
    assert MARK not in str(caught.value)
    assert MARK not in str(caught.value.faults)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("command", [["check", "r.csv", "--policy"], ["lint"], ["fix", "r.csv", "--policy"]])
@pytest.mark.parametrize("name", ["JSON lines", "CSV with a colon", "one record", "CSV with keys twice"])
def test_no_command_prints_a_record(
    command: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text("a\nx\nx\n")
    path = written(Path(), TABLES[name])
    output = ["--output", "o.csv"] if command[0] == "fix" else []
    assert run(command[0], [*command[1:], str(path), *output]) == 2
    printed = "".join(capsys.readouterr())
    assert MARK not in printed
    assert NO_POLICY in printed


def test_verify_quotes_nothing_of_a_table(tmp_path: Path):
    release = tmp_path / "r.csv"
    release.write_text("a\nx\nx\n")
    policy = {"version": 1, "attributes": {"a": {"role": "quasi_identifier"}}, "expect": [{"k_anonymity": {"k": 2}}]}
    result = tmp_path / "r.json"
    result.write_text(json.dumps(tcdp_audit.audit(release, policy).as_json()))
    with pytest.raises(PolicyError) as caught:
        verify(result, release, written(tmp_path, TABLES["one record"]))
    assert MARK not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (POLICY + "zzz: 1\n", "4:6: zzz: unknown name"),
        (POLICY + "expect: []\n", "4:1: 'expect' is set here a second time"),
        (POLICY.replace("version: 1\n", ""), "1:1: version: is required"),
        (POLICY.replace("version: 1", "version: 2"), "1:10: version: must be 1"),
        (POLICY.replace("{role: quasi_identifier}", "quasi-identifier"), "2:17: attributes.a: needs a role"),
        ("version: 1\nattributes:\n  a: {role: sensitive\nexpect:\n- k_anonymity: {k: 2}\n", ":4:7: not YAML: "),
        ("", "the file is empty"),
    ],
)
def test_a_policy_is_quoted_as_before(text: str, sentence: str, tmp_path: Path):
    with pytest.raises(PolicyError) as caught:
        load_policy(written(tmp_path, text), PLUGINS)
    assert sentence in str(caught.value)


MANY = 4_000
HUGE = {
    "unknown names": POLICY + "".join(f"zz{one}: 1\n" for one in range(MANY)),
    "a name again and again": POLICY + "zz: 1\n" * MANY,
    "unknown checks": POLICY.replace("[{k_anonymity: {k: 2}}]", "\n") + "- k_anonimity: {k: 2}\n" * MANY,
    "unknown columns": POLICY + "min_utility:\n" + "".join(f"  b{one}: 1\n" for one in range(MANY)),
    "unknown profiles": POLICY + f"profile: [{', '.join(f'p{one}' for one in range(MANY))}]\n",
}


@pytest.mark.parametrize("name", HUGE)
def test_a_policy_of_many_faults_names_a_hundred(name: str, tmp_path: Path):
    with pytest.raises(PolicyError) as caught:
        load_policy(written(tmp_path, HUGE[name]), PLUGINS)
    assert str(caught.value).endswith("p.tcdp.yaml: there are more faults; these are the first 100")
    assert len(caught.value.faults) == 100
