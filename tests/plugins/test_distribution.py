"""Plugins of another distribution, in a process of its own: listed, used, isolated, left out."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.long  # every test starts some processes

BROKEN = {
    "import_error": "ModuleNotFoundError: No module named 'a_module_that_nobody_has'",
    "exiting": "SystemExit",
    "wrong_signature": "Argument(s) {'release'} are declared in the hookimpl",
    "unknown_hook": "unknown hook 'tcdp_audit_check'",
    "no_hook": "it implements no hook",
    "raising_hook": "tcdp_audit_checks: RuntimeError: the rest is missing",
    "wrong_type": "tcdp_audit_checks: TypeError: yielded a str where a ClassCheck or AttackCheck or TableCheck or",
    "wrong_name": "tcdp_audit_checks: ValueError: the name 'Example Dominance' is not snake_case",
}
HEAD = """version: 1
release: release.csv
attributes: {zip: {role: quasi_identifier}, disease: {role: sensitive, scale: nominal}}
"""
BUILT_IN = HEAD + "expect:\n- k_anonymity: {k: 2}\n"
THIRD_PARTY = HEAD + "expect:\n- k_anonymity: {k: 2}\n- example_dominance: {at_most: 1/2}\n"


def outcomes(text: str) -> dict[str, dict]:
    return {one["check"]: one for one in json.loads(text)["outcomes"]}


def test_what_a_plugin_provides_is_listed_with_its_version(run):
    listed = json.loads(run(("example",), "plugins", "--json").stdout)["plugins"]
    example = next(one for one in listed if one["name"] == "example")
    assert example == {
        "name": "example",
        "distribution": "tcdp-audit-example",
        "version": "1.2.3",
        "hooks": ["tcdp_audit_checks", "tcdp_audit_remedies", "tcdp_audit_reporters"],
        "checks": ["example_dominance"],
        "remedies": ["example_rare_classes"],
        "reporters": ["example_lines"],
        "report_sections": [],
        "detectors": [],
        "engines": [],
    }


def test_every_broken_plugin_is_listed_with_its_error_and_takes_no_other_down(run):
    result = run(("example", *BROKEN), "plugins", "--json")
    assert result.returncode == 0
    listed = {one["name"]: one for one in json.loads(result.stdout)["plugins"]}
    assert {name for name, one in listed.items() if "error" in one} == set(BROKEN)
    for name, error in BROKEN.items():
        assert error in listed[name]["error"]
        assert listed[name]["checks"] == []
    assert listed["example"]["checks"] == ["example_dominance"]
    assert "k_anonymity" in listed["checks"]["checks"]


def test_a_third_party_check_is_audited_like_our_own(run):
    result = run(("example",), "check", "--json", policy=THIRD_PARTY)
    assert (result.returncode, result.stderr) == (0, "")
    by_check = outcomes(result.stdout)["example_dominance"]
    assert (by_check["observed"], by_check["threshold"], by_check["comparison"], by_check["status"]) == (
        0.5,
        0.5,
        "<=",
        "passed",
    )
    result = run(("example",), "check", "--json", policy=THIRD_PARTY.replace("1/2", "0.4999999"))
    assert result.returncode == 1
    assert outcomes(result.stdout)["example_dominance"]["records"] == {"total": 6, "failing": 6}


def test_broken_plugins_do_not_matter_to_a_policy_that_needs_none_of_them(run):
    result = run(tuple(BROKEN), "check", "--json", policy=BUILT_IN)
    assert result.returncode == 0
    assert outcomes(result.stdout)["k_anonymity"]["observed"] == 2
    assert {one["name"] for one in json.loads(result.stdout)["plugins"] if "error" in one} == set(BROKEN)


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_policy_that_names_a_broken_plugin_is_not_audited(run, name: str):
    result = run((name,), "check", "--json", policy=f"{BUILT_IN}plugins: [{name}]\n")
    assert (result.returncode, result.stdout) == (3, "")
    assert f"the policy needs the plugin '{name}', which does not work: " in result.stderr
    assert BROKEN[name] in result.stderr


def test_a_check_that_a_broken_plugin_may_define_is_incomplete_not_unknown(run):
    result = run(("import_error",), "check", policy=THIRD_PARTY)
    assert (result.returncode, result.stdout) == (3, "")
    assert "no check 'example_dominance' is known, and a plugin that may define it did not load" in result.stderr
    assert "import_error: ModuleNotFoundError" in result.stderr
    result = run((), "check", policy=THIRD_PARTY)
    assert result.returncode == 2
    assert "unknown check 'example_dominance'" in result.stderr


def test_external_plugins_can_be_left_out_all_at_once_or_by_name(run):
    for option in (["--no-external-plugins"], ["-p", "no:example"]):
        result = run(("example",), "check", *option, policy=THIRD_PARTY)
        assert result.returncode == 2
        assert "unknown check 'example_dominance'" in result.stderr
        listed = json.loads(run(("example",), "plugins", "--json", *option).stdout)["plugins"]
        assert [one for one in listed if one["distribution"] != "tcdp-audit"] == []


def test_a_policy_that_needs_a_plugin_that_was_left_out_says_so(run):
    policy = f"{BUILT_IN}plugins: [example]\n"
    result = run(("example",), "check", "-p", "no:example", policy=policy)
    assert result.returncode == 3
    assert "the policy needs the plugin 'example', which is not loaded; it was left out" in result.stderr
    result = run((), "check", policy=policy)
    assert result.returncode == 3
    assert "'example', which is not loaded; install it" in result.stderr


def test_an_allow_list_keeps_every_other_external_plugin_out(run):
    plugins = ("example", "faulty_checks", "import_error")
    result = run(plugins, "check", "--json", policy=f"{THIRD_PARTY}plugins: [example]\n")
    assert result.returncode == 0
    listed = [one["name"] for one in json.loads(result.stdout)["plugins"] if one["distribution"] != "tcdp-audit"]
    assert listed == ["example"]
    result = run(plugins, "check", policy=f"{THIRD_PARTY}plugins: [faulty_checks]\n")
    assert result.returncode == 2
    assert "unknown check 'example_dominance'" in result.stderr
    result = run(plugins, "check", policy=f"{THIRD_PARTY}plugins: []\n")
    assert result.returncode == 2


def test_a_clash_names_both_providers_and_is_resolved_by_leaving_one_out(run):
    result = run(("clash",), "check", policy=BUILT_IN)
    assert (result.returncode, result.stdout) == (3, "")
    assert (
        "'k_anonymity' is provided by the plugin 'checks' and by 'clash'; "
        "leave one of them out with `-p no:clash`" in result.stderr
    )
    assert run(("clash",), "check", "--json", "-p", "no:clash", policy=BUILT_IN).returncode == 0
    assert run(("clash",), "check", "--json", policy=f"{BUILT_IN}plugins: []\n").returncode == 0
    assert run(("clash",), "plugins").returncode == 3


def test_two_report_formats_for_one_extension_clash_too(run):
    result = run(("suffix_clash",), "check", "--json", policy=BUILT_IN)
    assert result.returncode == 3
    assert "'.json' is provided by the plugin 'reports' and by 'suffix_clash'" in result.stderr
    assert run(("suffix_clash",), "check", "--json", "-p", "no:suffix_clash", policy=BUILT_IN).returncode == 0


def test_a_check_that_fails_to_answer_is_an_error_beside_the_others(run):
    faulty = ("faulty_raising", "faulty_not_a_number", "faulty_too_few")
    lines = "".join(f"- {name}: {{at_most: 0.5}}\n" for name in faulty)
    result = run(("faulty_checks",), "check", "--json", policy=HEAD + f"expect:\n{lines}- k_anonymity: {{k: 2}}\n")
    assert result.returncode == 3
    by_check = outcomes(result.stdout)
    assert by_check["k_anonymity"]["status"] == "passed"
    assert [by_check[name]["status"] for name in faulty] == ["error"] * 3
    assert "the check raised ValueError in faulty_checks.py, line " in by_check["faulty_raising"]["message"]
    assert by_check["faulty_not_a_number"]["message"].startswith("the check gave NaN")
    assert by_check["faulty_too_few"]["message"] == "the check gave 1 figures for 2 classes (plugin 'faulty_checks')"
    assert "marker-of-a-cell" not in result.stdout + result.stderr


def test_third_party_parameters_get_the_same_located_errors(run):
    policy = THIRD_PARTY.replace("at_most: 1/2", "at_least: 1/2, at_most: 7")
    result = run(("example",), "check", policy=policy)
    assert result.returncode == 2
    assert "release.tcdp.yaml:6:33: expect[1].example_dominance.at_least: unknown name" in result.stderr
    assert "release.tcdp.yaml:6:47: expect[1].example_dominance.at_most: must be at most 1" in result.stderr
    result = run(("example",), "check", policy=THIRD_PARTY.replace("example_dominance", "example_dominanse"))
    assert "unknown check 'example_dominanse'; did you mean 'example_dominance'?" in result.stderr


def test_a_third_party_report_is_chosen_by_its_extension(run, tmp_path):
    result = run(("example",), "check", "--report", "result.lines", "--quiet", policy=THIRD_PARTY)
    assert result.returncode == 0
    assert (tmp_path / "result.lines").read_text() == "k_anonymity=passed\nexample_dominance=passed\n"
    result = run((), "check", "--report", "other.lines", policy=BUILT_IN)
    assert result.returncode == 2
    assert "no report format for '.lines'" in result.stderr
    assert not (tmp_path / "other.lines").exists()


REPAIRED = HEAD + "expect:\n- k_anonymity: {k: 3}\n"


def test_a_third_party_remedy_repairs_a_release_and_its_line_says_so(run, tmp_path):
    policy = f"{REPAIRED}remedy:\n- example_rare_classes: {{k: 3}}\n"
    result = run(("example",), "fix", "--output", "fixed.csv", "--json", policy=policy)
    assert (result.returncode, result.stderr) == (0, "")
    (step,) = json.loads(result.stdout)["change_log"]["steps"]
    assert (step["remedy"], step["parameters"]) == ("example_rare_classes", {"k": 3})
    assert (step["records_suppressed"], step["cells_changed"], step["notes"]) == (2, {}, {"classes": 1})
    assert sorted((tmp_path / "fixed.csv").read_text().splitlines()) == sorted(
        ["zip,disease", "02139,flu", "02139,flu", "02139,gout", "02139,gout"]
    )


def test_a_third_party_remedy_is_planned_with_where_the_policy_names_none(run):
    result = run(("example",), "fix", "-p", "no:remedies", "--output", "fixed.csv", "--json", policy=REPAIRED)
    assert (result.returncode, result.stderr) == (0, "")
    log = json.loads(result.stdout)["change_log"]
    assert log["planned"]
    assert [(one["remedy"], one["parameters"]) for one in log["steps"]] == [("example_rare_classes", {"k": 3})]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("faulty_raising", "raised ValueError"),
        ("faulty_too_few", "5 codes of column 'zip' for 6 records"),
        ("faulty_another_column", "changed a column 'income', which the release does not have"),
    ],
)
def test_a_remedy_that_fails_leaves_the_release_and_says_why(run, tmp_path, name: str, sentence: str):
    policy = f"{REPAIRED}remedy:\n- {name}: {{k: 3}}\n"
    result = run(("faulty_remedies",), "fix", "--output", "fixed.csv", "--json", policy=policy)
    assert result.returncode == 1
    log = json.loads(result.stdout)["change_log"]
    assert (log["steps"], log["records_suppressed"]) == ([], 0)
    assert sentence in log["tried"][0]["error"]
    assert "marker-of-a-cell" not in result.stdout + result.stderr
    assert not (tmp_path / "fixed.csv").exists()


def test_a_third_party_remedy_is_explained(run):
    result = run(("example",), "explain", "example_rare_classes")
    assert result.returncode == 0
    assert "k: whole number, at least 1 (required)" in result.stdout
    assert "classes: How many equivalence classes were dropped." in result.stdout
    assert "    - example_rare_classes: {k: 5}" in result.stdout
