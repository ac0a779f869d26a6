"""A wrong policy is exit code 2 before anything is read, and a wrong threshold never a pass."""

from __future__ import annotations

from typing import Any

import pytest
from small_release import POLICY, TABLE

from tcdp_audit.core.policy.loading import NO_POLICY

FAULTS: dict[str, tuple[str | bytes, str]] = {
    "not YAML": (POLICY + "remedy: [1\n", "policy.tcdp.yaml:10:1: not YAML: did not find expected ',' or ']'"),
    "not UTF-8": (b"version: \xff\n", "policy.tcdp.yaml: not UTF-8 text (byte 9); save it as UTF-8"),
    "empty": ("", "policy.tcdp.yaml: the file is empty; draft a policy with `tcdp-audit init TABLE`"),
    "a list": ("- 1\n", f"policy.tcdp.yaml: {NO_POLICY}"),
    "a key twice": (
        POLICY + "version: 1\n",
        "policy.tcdp.yaml:9:1: 'version' is set here a second time; it was set on line 1",
    ),
    "an alias": (
        POLICY + "a: &a [1, 2]\nb: *a\n",
        "policy.tcdp.yaml:10:4: aliases (`*name`) are not supported; write the value out",
    ),
    "an alias to itself": (
        POLICY + "a: &a [*a]\n",
        "policy.tcdp.yaml:9:8: aliases (`*name`) are not supported; write the value out",
    ),
    "a merge key": (
        POLICY + "conventions: {<<: {}}\n",
        "policy.tcdp.yaml:9:15: merge keys (`<<`) are not supported; write the entries out",
    ),
    "deeply nested": (
        POLICY + "a: " + "[" * 10**6,
        "policy.tcdp.yaml:9:103: it is nested too deeply to be a policy",
    ),
    "wrong version": (
        POLICY.replace("version: 1", "version: 2"),
        "policy.tcdp.yaml:1:10: version: must be 1",
    ),
    "unknown check": (
        POLICY.replace("k_anonymity", "k_anonimity"),
        "policy.tcdp.yaml:7:5: expect[0]: unknown check 'k_anonimity'; did you mean 'k_anonymity'?",
    ),
    "misspelt parameter": (
        POLICY.replace("{k: 2}", "{kk: 2}"),
        "policy.tcdp.yaml:7:23: expect[0].k_anonymity.kk: unknown name; did you mean 'k'?",
    ),
    "a text where a list belongs": (
        POLICY + "conventions: {suppressed_tokens: '*'}\n",
        "policy.tcdp.yaml:9:34: conventions.suppressed_tokens: must be a list; put the value in [brackets]",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_policy_is_refused_with_its_place(check: Any, fault: str) -> None:
    policy, sentence = FAULTS[fault]
    ran = check(TABLE, "release.csv", policy)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.split("\n")[0] == f"tcdp-audit: {sentence}"


def test_a_policy_of_several_faults_reports_them_all(check: Any) -> None:
    ran = check(TABLE, "release.csv", POLICY.replace("k: 2", "k: 0").replace("l: 2", "l: x"))
    assert ran.code == 2
    assert ran.err == (
        "tcdp-audit: policy.tcdp.yaml:7:22: expect[0].k_anonymity.k: must be at least 1\n"
        "    7 |   - k_anonymity: {k: 0}\n"
        "      |                      ^\n"
        "policy.tcdp.yaml:8:31: expect[1].distinct_l_diversity.l: must be a whole number\n"
        "    8 |   - distinct_l_diversity: {l: x}\n"
        "      |                               ^\n"
    )


def test_a_threshold_that_no_release_keeps_fails(check: Any) -> None:
    ran = check(TABLE, "release.csv", POLICY.replace("k: 2", f"k: {2**63 - 1}"))
    assert (ran.code, ran.failed) == (1, ["k_anonymity"])
    assert ran.outcome("k_anonymity")["classes"] == {"total": 2, "failing": 2}


def test_a_policy_that_demands_nothing_is_no_pass(check: Any) -> None:
    demanding_nothing = POLICY.replace(" {k: 2}", "").replace(" {l: 2}", "")
    ran = check(TABLE, "release.csv", demanding_nothing)
    assert (ran.code, ran.outcome("k_anonymity")["status"]) == (3, "measured")
    assert check(TABLE, "release.csv", demanding_nothing, "--allow-vacuous").code == 0
