"""What a policy file needs to be audited, and the sentences where it lacks something."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tcdp_audit import load_policy
from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS, SCHEMA, SUITE
from tcdp_audit.integrations.pytest_plugin import answer
from tcdp_audit.integrations.pytest_plugin.answer import VERDICT, Key, answered, by_key, plan
from tcdp_audit.integrations.pytest_plugin.auditor import Settings

COLUMNS = len(COLUMN_DEMANDS)  # each is an item

pytest_plugins = ["pytester"]
Put, Run = Callable[..., Path], Callable[..., pytest.RunResult]
NAMELESS = """\
version: 1
attributes: {zip: {role: quasi_identifier}}
expect: [{k_anonymity: {k: 2}}]
"""
RELEASE = "zip\n1\n1\n"


def test_a_faulty_policy_says_every_fault_at_its_place(inner_pytest: Run, put: Put, audits: list[Any]):
    put(NAMELESS.replace("k: 2", "k: none").replace("version: 1", "version: 2"))
    result = inner_pytest()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["release.tcdp.yaml:1:10: version: *", "release.tcdp.yaml:3:*: expect?0?.k_anonymity.k: *"]
    )
    assert "Traceback" not in result.stdout.str()
    assert audits == []


@pytest.mark.parametrize(
    ("policy", "release", "sentence"),
    [
        (NAMELESS, RELEASE, "no release: name one with --tcdp-release, or as `release:` in the policy"),
        (f"release: release.csv\n{NAMELESS}", "zip\n", "*the table has no records; an empty release cannot be audited"),
        (f"release: nowhere.csv\n{NAMELESS}", RELEASE, "*nowhere.csv: *"),
    ],
)
def test_a_release_that_cannot_be_audited_is_an_error_of_every_item(
    inner_pytest: Run, put: Put, audits: list[Any], policy: str, release: str, sentence: str
):
    put(policy, release)
    result = inner_pytest()

    result.assert_outcomes(errors=COLUMNS + 2)
    result.stdout.fnmatch_lines([f"release.tcdp.yaml:1: {sentence}"])
    assert "Traceback" not in result.stdout.str()
    assert len(audits) <= 1


def test_an_error_of_the_auditor_itself_shows_no_cell(inner_pytest: Run, put: Put, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("zanzibar")

    monkeypatch.setattr("tcdp_audit.api.audit", broken)
    put(f"release: release.csv\n{NAMELESS}", RELEASE)
    result = inner_pytest("-l", "--tb=long", "--full-trace", "release.tcdp.yaml::verdict")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["release.tcdp.yaml:1: the audit raised ValueError in test_policy_files.py, line *"])
    assert "zanzibar" not in result.stdout.str()


def test_what_ends_a_process_passes_nothing(inner_pytest: Run, put: Put, monkeypatch: pytest.MonkeyPatch):
    def leaving(*_: Any, **__: Any) -> Any:
        raise SystemExit(0)

    monkeypatch.setattr("tcdp_audit.api.audit", leaving)
    put(f"release: release.csv\n{NAMELESS}", RELEASE)
    inner_pytest("release.tcdp.yaml::verdict").assert_outcomes(errors=1)


@pytest.mark.parametrize("outcome", [pytest.skip, pytest.xfail])
def test_a_piece_of_code_that_skips_skips_nothing(
    inner_pytest: Run, put: Put, monkeypatch: pytest.MonkeyPatch, outcome: Any
):
    monkeypatch.setattr("tcdp_audit.api.audit", lambda *_, **__: outcome("zanzibar"))
    put(f"release: release.csv\n{NAMELESS}", RELEASE)
    result = inner_pytest("-rA", "release.tcdp.yaml::verdict")

    result.assert_outcomes(errors=1)
    assert "zanzibar" not in result.stdout.str()


CELLS = "zip,age,disease,name,extra,misfit\n" + "".join(
    f"zanzibar-{i % 2},8675309{i},zanzibar{i % 3} ,zanzibar,zanzibar,zanzibar\n" for i in range(7)
)
REVEALING = """\
version: 1
release: release.csv
attributes:
  zip: {role: quasi_identifier}
  age: {role: quasi_identifier, scale: numeric}
  disease: {role: sensitive, scale: nominal}
  name: {role: identifier}
  misfit: {role: sensitive, scale: numeric}
expect:
  - k_anonymity: {k: 5}
  - t_closeness: {t: 0.1, severity: warning}
  - distinct_l_diversity: {l: 2}
"""


def test_nothing_that_pytest_writes_holds_a_cell(pytester: pytest.Pytester, inner_pytest: Run, put: Put):
    put(REVEALING, CELLS)
    result = inner_pytest("-vv", "-rA", "-l", "--tb=long", "--full-trace", "--xfail-tb", "--junit-xml=junit.xml")
    result.assert_outcomes(passed=COLUMNS - 4, failed=5, errors=3, xfailed=2)
    written = result.stdout.str() + result.stderr.str() + (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert "zanzibar" not in written
    assert "8675309" not in written


# A schema


@pytest.mark.long  # imports pandas and pandera
@pytest.mark.parametrize(
    ("column", "outcomes", "sentences"),
    [
        ("  zip: {dtype: str}", {"passed": COLUMNS + 3}, []),
        (
            "  zip: {dtype: str, checks: {isin: ['2']}}\n  age: {dtype: str}",
            {"passed": COLUMNS + 1, "failed": 2},
            ["column 'age' is in the schema and not in the release", "column 'zip' does not keep isin*in 2 records."],
        ),
    ],
)
def test_a_schema_is_one_item_with_a_line_for_each_failure(
    pytester: pytest.Pytester, inner_pytest: Run, put: Put, column: str, outcomes: dict[str, int], sentences: list[str]
):
    (pytester.path / "schema.yaml").write_text(f"schema_type: dataframe\ncolumns:\n{column}\n", encoding="utf-8")
    put(f"schema: schema.yaml\nrelease: release.csv\n{NAMELESS}", RELEASE)
    result = inner_pytest()

    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines_random([f"*{one}*" for one in sentences])


def test_each_judge_of_quality_is_one_item_for_all_its_outcomes(tmp_path: Path):
    policy = tmp_path / "release.tcdp.yaml"
    policy.write_text(f"{NAMELESS}suite: suite.json\nschema: schema.yaml\n", encoding="utf-8")
    sources = [SCHEMA, SUITE, SUITE]
    outcomes = [{"source": one, "check": one, "attribute": str(n)} for n, one in enumerate(sources)]

    items = {one.key: (one.name, one.line) for one in plan(load_policy(policy))}
    assert items[Key("schema")] == ("schema", 5)
    assert items[Key("suite")] == ("suite", 4)
    assert {key: len(some) for key, some in by_key(outcomes).items()} == {Key("schema"): 1, Key("suite"): 2}


# Options


@pytest.mark.parametrize("way", ["option", "configuration"])
def test_options_name_the_tables(
    pytester: pytest.Pytester, inner_pytest: Run, put: Put, monkeypatch: pytest.MonkeyPatch, way: str
):
    seen: list[tuple[Any, ...]] = []

    def listening(release: Any, _: Any, original: Any, population: Any, **options: Any) -> Any:
        seen.append((release, original, population, options["memory"]))
        raise ValueError

    monkeypatch.setattr("tcdp_audit.api.audit", listening)
    put(NAMELESS)
    given = {"release": "of.csv", "original": "postgresql://host/db?table=t", "population": "p.csv", "memory": "1GiB"}
    if way == "configuration":
        pytester.makeini("\n".join(["[pytest]", *(f"tcdp_{name} = {value}" for name, value in given.items())]))
    sub = pytester.mkdir("elsewhere")
    monkeypatch.chdir(sub)
    options = [f"--tcdp-{name}={value}" for name, value in given.items()] if way == "option" else []
    inner_pytest(*options, f"--rootdir={pytester.path}", pytester.path / "release.tcdp.yaml")

    folder = sub if way == "option" else pytester.path
    assert seen == [(str(folder / "of.csv"), given["original"], str(folder / "p.csv"), 2**30)]


def test_the_release_of_the_options_is_audited(inner_pytest: Run, put: Put):
    put(NAMELESS, RELEASE)
    inner_pytest("--tcdp-release=release.csv").assert_outcomes(passed=COLUMNS + 2)


@pytest.mark.parametrize("name", ["release", "memory"])
def test_an_empty_option_is_refused_and_not_taken_for_none(inner_pytest: Run, put: Put, name: str):
    put(f"release: release.csv\n{NAMELESS}", RELEASE)
    result = inner_pytest(f"--tcdp-{name}=")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"--tcdp-{name} is empty; give it a value, or leave it out"])


def test_memory_that_is_no_amount_is_said_at_once(inner_pytest: Run, put: Put):
    put(NAMELESS)
    result = inner_pytest("--tcdp-memory=much")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["'much' is not an amount of memory; write for example 1GiB or 800MB"])


# Once


def test_a_policy_is_audited_once_in_a_run_and_again_in_the_next(inner_pytest: Run, put: Put, audits: list[Any]):
    put(f"release: release.csv\n{NAMELESS}", RELEASE)
    put(f"release: release.csv\n{NAMELESS}", RELEASE, "second.tcdp.yml")
    inner_pytest().assert_outcomes(passed=2 * (COLUMNS + 2))
    assert [policy.name for policy in audits] == ["release.tcdp.yaml", "second.tcdp.yml"]
    put(f"release: release.csv\n{NAMELESS}", "zip\n1\n")
    inner_pytest("release.tcdp.yaml").assert_outcomes(passed=COLUMNS, failed=2)
    assert len(audits) == 3


def test_processes_of_a_run_ask_once(tmp_path: Path):
    asked = []

    def ask() -> answer.Answer:
        asked.append(1)
        return answer.Answer(result={"status": "passed", "observed": 0.1}, verdict="Fit.")

    answers = [answer._once_in_all_processes(str(tmp_path), "policy", ask) for _ in range(3)]

    assert asked == [1]
    assert answers == [ask()] * 3


def test_who_fails_to_answer_leaves_it_to_the_next(tmp_path: Path):
    def killed() -> answer.Answer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer._once_in_all_processes(str(tmp_path), "policy", killed)
    assert answer._once_in_all_processes(str(tmp_path), "policy", lambda: answer.Answer("second")).fault == "second"


def test_a_worker_without_the_folder_asks_itself(tmp_path: Path):
    assert answer._once_in_all_processes(str(tmp_path / "gone"), "policy", lambda: answer.Answer("own")).fault == "own"
    assert list(tmp_path.iterdir()) == []


def _controller() -> SimpleNamespace:
    return SimpleNamespace(stash=pytest.Stash(), cleanups=[])


def _offered(config: SimpleNamespace) -> dict[str, str]:
    config.add_cleanup = config.cleanups.append
    node = SimpleNamespace(config=config, workerinput={})
    answer.offer_folder(node)
    return node.workerinput


def test_workers_are_given_one_folder_that_goes_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    config = _controller()
    first, second = _offered(config), _offered(config)
    folder = Path(first[answer.FOLDER])

    assert first == second
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o077 == 0
    (clean,) = config.cleanups
    clean()
    assert not folder.exists()


def test_where_no_folder_can_be_made_none_is_given(monkeypatch: pytest.MonkeyPatch):
    def full() -> Any:
        raise UsageError("temporary files cannot be written")

    monkeypatch.setattr(answer, "Scratch", full)
    assert _offered(_controller()) == {}


@pytest.mark.parametrize("convention", ["per_attribute", "others_as_quasi_identifiers", "joint"])
def test_items_are_those_of_the_outcomes_under_every_convention(tmp_path: Path, convention: str):
    (tmp_path / "release.csv").write_text("zip,a,b\n" + "1,x,1\n1,y,2\n" * 3, encoding="utf-8")
    policy = tmp_path / "release.tcdp.yaml"
    policy.write_text(
        "version: 1\nrelease: release.csv\n"
        f"conventions: {{multiple_sensitive: {convention}}}\n"
        "attributes:\n  zip: {role: quasi_identifier}\n"
        "  a: {role: sensitive}\n  b: {role: sensitive, scale: numeric}\n"
        "expect:\n  - t_closeness: {t: 0.5}\n  - t_closeness: {attribute: b, t: 0.1}\n"
        "  - t_closeness: {attribute: a}\n  - sample_uniqueness: {}\n  - k_anonymity: {k: 2}\n",
        encoding="utf-8",
    )
    loaded = load_policy(policy)
    items = [one for one in plan(loaded) if one.key.part != VERDICT]

    assert {one.key for one in items} == answered(loaded, Settings()).keys
    assert len({one.name for one in items}) == len(items) > COLUMNS + 4
