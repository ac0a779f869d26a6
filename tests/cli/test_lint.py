"""`tcdp-audit lint`: policies without data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SOUND = """\
version: 1
release: nowhere.csv
attributes:
  zip: {role: quasi_identifier}
  disease: {role: sensitive, hierarchy: nowhere.csv}
expect:
  - k_anonymity: {k: 20}
  - t_closeness: {t: 0.2}
"""
VAIN = SOUND.replace("k: 20", "k: 1").replace("{t: 0.2}", "{}")
WRONG = SOUND.replace("k_anonymity", "k_anonimity").replace("role: sensitive", "role: sensible")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, text in {"sound": SOUND, "vain": VAIN, "wrong": WRONG}.items():
        Path(f"{name}.tcdp.yaml").write_text(text)
    return tmp_path


def test_a_sound_policy_is_a_line_and_needs_no_data(here: Any):
    assert here("lint", "sound.tcdp.yaml") == (
        0,
        "sound.tcdp.yaml: sound: 2 expectations, 2 of which demand something\n",
        "",
    )


def test_a_wrong_policy_is_reported_with_all_its_faults(here: Any):
    answer = here("lint", "wrong.tcdp.yaml", "sound.tcdp.yaml")

    assert answer.code == 2
    assert answer.out.startswith("sound.tcdp.yaml: sound")
    assert "wrong.tcdp.yaml:5:19: attributes.disease.role: must be one of" in answer.err
    assert "wrong.tcdp.yaml:7:5: expect[0]: unknown check 'k_anonimity'" in answer.err


def test_a_demand_that_no_release_could_fail_is_reported_at_its_place(here: Any):
    answer = here("lint", "vain.tcdp.yaml")

    assert (answer.code, answer.err) == (1, "")
    assert answer.out == (
        "vain.tcdp.yaml:7:5: k-anonymity: The demand k: 1 is kept by every release, so this is measured, not judged.\n"
        "vain.tcdp.yaml:1:1: Nothing to judge: no demand of it that counts can fail, so every audit under it ends with "
        "exit code 3; demand something, or accept it with --allow-vacuous\n"
    )
    assert here("lint", "--allow-vacuous", "vain.tcdp.yaml") == (0, answer.out, "")


@pytest.mark.parametrize(
    ("expect", "code"),
    [
        ("- k_anonymity: {k: 5, severity: warning}", 1),
        ("- k_anonymity: {}", 1),
        ("- k_anonymity: {k: 5}\n  - distinct_l_diversity: {l: 1}", 1),
        ("- k_anonymity: {k: 5, severity: warning}\n  - distinct_l_diversity: {l: 2}", 0),
    ],
)
def test_what_makes_a_policy_vain(here: Any, expect: str, code: int):
    Path("a.tcdp.yaml").write_text(SOUND.split("expect:", maxsplit=1)[0] + f"expect:\n  {expect}\n")

    assert here("lint", "a.tcdp.yaml").code == code


def test_several_are_read_and_the_worst_counts(here: Any):
    answer = here("lint", ".")

    assert answer.code == 2
    assert [line.split(":")[0] for line in answer.out.splitlines()] == ["sound.tcdp.yaml", *["vain.tcdp.yaml"] * 2]
    assert here("lint", "sound.tcdp.yaml", "vain.tcdp.yaml").code == 1
    assert here("lint", "s*.yaml").code == 0


def test_without_a_name_it_reads_what_check_would_take(here: Any):
    Path("sub").mkdir()
    Path("sub/a.tcdp.yaml").write_text(SOUND)
    Path("pyproject.toml").write_text('[tool.tcdp-audit]\npolicies = ["sub"]\n')
    answer = here("lint")

    assert answer.code == 0
    assert answer.out.startswith("sub/a.tcdp.yaml: sound")
    assert answer.err == "tcdp-audit: policy: sub/a.tcdp.yaml, as pyproject.toml says\n"


def test_annotations(here: Any):
    answer = here("lint", "--format", "github", "vain.tcdp.yaml", "wrong.tcdp.yaml")
    commands = [line for line in answer.out.splitlines() if line.startswith("::error ")]

    assert answer.code == 2
    assert [line.split(",title")[0] for line in commands] == [
        "::error file=vain.tcdp.yaml,line=7",
        "::error file=vain.tcdp.yaml,line=1",
        "::error file=wrong.tcdp.yaml,line=5",
        "::error file=wrong.tcdp.yaml,line=7",
    ]


def test_a_plugin_that_is_missing_is_an_incomplete_answer(here: Any):
    Path("a.tcdp.yaml").write_text("plugins: [nobody]\n" + SOUND)

    assert here("lint", "a.tcdp.yaml").code == 3


LAXER = ": the policy demands "


def finding(here: Any, expect: str, *arguments: str, top: str = "") -> tuple[int, list[str]]:
    """The exit code, and what is said of a policy with these expectations, without its last line if it is sound.

    That most of them demand nothing of what is sensitive, and that most are laxer than usual, is another test's.
    """
    attributes = "version: 1\nattributes:\n  zip: {role: quasi_identifier}\n"
    attributes += "  pain: {role: sensitive, scale: ordinal, order: [none, some, much]}\n"
    Path("a.tcdp.yaml").write_text(f"{attributes}{top}expect:\n{expect}")
    answer = here("lint", *arguments, "a.tcdp.yaml")
    assert answer.err == ""
    others = ("warning: Sensitive columns without a demand", LAXER)
    lines = [line for line in answer.out.splitlines() if not any(one in line for one in others)]
    return answer.code, lines[:-1] if ": sound: " in lines[-1] else lines


SAYS_NOTHING_MORE = "holds, so it says nothing more; drop one of the two"


@pytest.mark.parametrize(
    ("demand", "k"),
    [("{at_most: 0.2}", 5), ("{at_most: 0.34}", 3), ("{at_most: 1/11}", 11), ("{at_most: 0.15}", 7)],
)
def test_a_highest_risk_is_a_k(here: Any, demand: str, k: int):
    code, lines = finding(here, f"  - reidentification_risk: {demand}\n")

    assert code == 0
    assert len(lines) == 1
    assert lines[0].endswith(f"it demands the same as `k_anonymity: {{k: {k}}}`")


@pytest.mark.parametrize(
    ("demand", "k"),
    [
        ("reidentification_risk: {at_most: 0.2, measure: average}", 5),
        ("reidentification_risk: {at_most: 0.05, measure: share_above, threshold_risk: 0.34}", 3),
        ("suda: {at_most: 0.01}", 2),
        ("sample_uniqueness: {at_most: 0.01}", 2),
    ],
)
def test_a_demand_that_classes_of_some_size_keep_is_no_k(here: Any, demand: str, k: int):
    code, lines = finding(here, f"  - {demand}\n")

    assert code == 0
    assert len(lines) == 1
    assert lines[0].endswith(f"it holds whenever `k_anonymity: {{k: {k}}}` does, and may hold with smaller groups")


@pytest.mark.parametrize(
    ("expect", "line"),
    [
        ("  - reidentification_risk: {at_most: 0.2}\n  - k_anonymity: {k: 5}\n", 7),
        ("  - k_anonymity: {k: 6}\n  - reidentification_risk: {at_most: 0.2}\n", 7),
        ("  - reidentification_risk: {at_most: 0.2}\n  - k_anonymity: {k: 6}\n", 6),
        ("  - k_anonymity: {k: 4}\n  - reidentification_risk: {at_most: 0.2}\n", 6),
        ("  - k_anonymity: {k: 5}\n  - reidentification_risk: {at_most: 0.2, measure: average}\n", 7),
        ("  - reidentification_risk: {at_most: 0.5}\n  - suda: {at_most: 0}\n", 7),
        ("  - sample_uniqueness: {at_most: 0}\n  - k_anonymity: {k: 3}\n", 6),
    ],
)
def test_a_risk_and_a_k_imply_each_other(here: Any, expect: str, line: int):
    code, lines = finding(here, expect)

    assert code == 0
    assert [one.split(":")[1] for one in lines if SAYS_NOTHING_MORE in one] == [str(line)]


@pytest.mark.parametrize(
    ("expect", "implied", "strong"),
    [
        ("  - k_anonymity: {k: 5}\n  - k_anonymity: {k: 3}\n", "7:5: warning: k-anonymity", "k-anonymity of line 6"),
        ("  - k_anonymity: {k: 3}\n  - k_anonymity: {k: 5}\n", "6:5: warning: k-anonymity", "k-anonymity of line 7"),
        ("  - k_anonymity: {k: 3}\n  - k_anonymity: {k: 3}\n", "7:5: warning: k-anonymity", "k-anonymity of line 6"),
        (
            "  - t_closeness: {t: 0.2}\n  - t_closeness: {t: 0.3, attribute: pain, severity: warning}\n",
            "7:5: warning: t-closeness",
            "t-closeness, equal distance of line 6",
        ),
        (
            "  - distinct_l_diversity: {l: 3}\n  - k_anonymity: {k: 3}\n",
            "7:5: warning: k-anonymity",
            "Distinct l-diversity of line 6",
        ),
        (
            "  - entropy_l_diversity: {l: 2.5}\n  - distinct_l_diversity: {l: 3, attribute: pain}\n",
            "7:5: warning: Distinct l-diversity",
            "Entropy l-diversity of line 6",
        ),
        (
            "  - p_sensitive_k_anonymity: {p: 2, k: 6}\n  - k_anonymity: {k: 6}\n",
            "7:5: warning: k-anonymity",
            "p-sensitive k-anonymity of line 6",
        ),
    ],
)
def test_a_demand_that_another_implies_is_reported(here: Any, expect: str, implied: str, strong: str):
    code, lines = finding(here, expect)

    assert code == 0
    assert len(lines) == 1
    assert lines[0].startswith(f"a.tcdp.yaml:{implied}")
    assert lines[0].endswith(f"holds whenever the demand {strong} {SAYS_NOTHING_MORE}")


@pytest.mark.parametrize(
    "expect",
    [
        "  - k_anonymity: {k: 5, severity: warning}\n  - k_anonymity: {k: 3}\n",
        "  - t_closeness: {t: 0.2, distance: ordered}\n  - t_closeness: {t: 0.3}\n",
        "  - t_closeness: {t: 0.2, attribute: pain}\n  - t_closeness: {t: 0.3}\n",
        "  - k_anonymity: {k: 5}\n  - k_anonymity: {}\n",
        "  - distinct_l_diversity: {l: 3}\n  - k_anonymity: {k: 4}\n",
        "  - p_sensitive_k_anonymity: {p: 2, k: 6}\n  - p_sensitive_k_anonymity: {p: 3, k: 5}\n",
    ],
)
def test_a_demand_that_says_more_is_not(here: Any, expect: str):
    assert finding(here, expect) == (0, [])


def test_a_demand_that_is_laxer_than_usual_is_reported_with_the_source(here: Any):
    Path("a.tcdp.yaml").write_text(SOUND.replace("k: 20", "k: 5"))
    answer = here("lint", "a.tcdp.yaml")

    assert answer.code == 0
    assert answer.out.splitlines()[0] == (
        "a.tcdp.yaml:7:5: k-anonymity: the policy demands at least 5; at least 11 is usual for public files (El Emam, "
        "2013, doi:10.1201/b14764-29) and at least 20 is demanded by a published profile (el_emam_precedents_20@2013)"
    )


@pytest.mark.parametrize(("expect", "lines"), [("k: 5}\n  - k_anonymity: {k: 3", [6]), ("k: 1", []), ("k: 20", [])])
def test_an_implied_demand_and_one_that_nothing_fails_are_not_called_laxer(here: Any, expect: str, lines: list[int]):
    Path("a.tcdp.yaml").write_text(
        f"version: 1\nattributes:\n  zip: {{role: quasi_identifier}}\nexpect:\n"
        f"  - sample_uniqueness: {{at_most: 0}}\n  - k_anonymity: {{{expect}}}\n"
    )
    answer = here("lint", "a.tcdp.yaml")

    assert [int(line.split(":")[1]) for line in answer.out.splitlines() if LAXER in line] == lines


def test_so_many_values_of_entities_are_not_so_many_entities(here: Any):
    expect = "  - distinct_l_diversity: {l: 3}\n  - k_anonymity: {k: 3}\n"

    assert finding(here, expect, top="  who: {role: insensitive}\nunit: who\n") == (0, [])


def test_what_is_laxer_than_the_profile_is_reported_and_what_is_stricter_is_not(here: Any):
    top = "profile: ema_policy_0070@2017-09\n"
    code, lines = finding(here, "  - k_anonymity: {k: 10}\n", top=top)

    assert (code, len(lines)) == (0, 1)
    assert "laxer than, or the same as, what the profile ema_policy_0070@2017-09 demands" in lines[0]
    assert finding(here, "  - k_anonymity: {k: 12}\n", top=top) == (0, [])


@pytest.mark.parametrize(("l", "code"), [(8, 0), (9, 1)])  # 3 values, 3 ranges, `*` and a missing one
def test_more_values_than_there_can_be_is_a_demand_that_no_release_keeps(here: Any, l: int, code: int):
    answered, lines = finding(here, f"  - distinct_l_diversity: {{l: {l}}}\n")

    assert answered == code
    assert [line.partition(": no release keeps this demand: ")[2] for line in lines] == (
        ["'pain' has 3 values, with its ranges no more than 8"] if code else []
    )


def test_warnings_only_have_a_sentence_of_their_own(here: Any):
    code, lines = finding(here, "  - k_anonymity: {k: 5, severity: warning}\n")

    assert code == 1
    assert "Warnings only: every demand of it only warns" in lines[0]


@pytest.mark.parametrize(
    ("conventions", "missing", "message"),
    [
        (
            "missing_quasi_identifier: wildcard",
            6,
            "`missing_quasi_identifier: wildcard`: 'zip' is missing in 60%",
        ),
        ("missing_quasi_identifier: wildcard", 5, ""),
        ("missing_quasi_identifier: own_category", 6, ""),
        (
            "suppressed: exempt, missing_tokens: [x]",
            6,
            "`suppressed: exempt` leaves 60% of the records",
        ),
        ("suppressed: exempt, missing_tokens: [x]", 5, ""),
        ("suppressed: counted, missing_tokens: [x]", 6, ""),
    ],
)
def test_what_conventions_do_to_a_release(here: Any, conventions: str, missing: int, message: str):
    gone = "*" if "tokens" in conventions else ""
    rows = [f"{gone or ''},{gone or 'none'}"] * missing + ["02139,some"] * (10 - missing)
    Path("r.csv").write_text("\n".join(["zip,pain", *rows]) + "\n")
    top = f"conventions: {{{conventions}}}\n"
    code, lines = finding(here, "  - k_anonymity: {k: 5}\n", "--release", "r.csv", top=top)

    assert code == 0
    assert len(lines) == bool(message)
    assert all(line.startswith("a.tcdp.yaml:5:") and message in line.replace(".0%", "%") for line in lines)


def test_findings_as_a_list(here: Any):
    code, _ = finding(here, "  - k_anonymity: {k: 1}\n")
    listed = json.loads(here("lint", "--json", "a.tcdp.yaml").out)

    assert code == 1
    assert [(one["rule"], one["level"], one["file"], one["line"]) for one in listed] == [
        ("k_anonymity", "error", "a.tcdp.yaml", 6),
        ("policy", "error", "a.tcdp.yaml", 1),
    ]
    assert {"title", "message", "column"} <= set(listed[0])


@pytest.mark.parametrize(
    ("expect", "secret"),
    [
        ("  - k_anonymity: {k: 5}\n", "'disease' and 'pain'"),
        ("  - k_anonymity: {k: 5}\n  - distinct_l_diversity: {l: 2}\n", ""),
        ("  - k_anonymity: {k: 5}\n  - distinct_l_diversity: {l: 2, attribute: pain}\n", "'disease'"),
        ("  - k_anonymity: {k: 5}\n  - distinct_l_diversity: {l: 2, severity: warning}\n", "'disease' and 'pain'"),
        ("  - k_anonymity: {k: 5}\n  - t_closeness: {}\n", "'disease' and 'pain'"),
        ("  - k_anonymity: {k: 5}\n  - composition_attack: {sensitive: pain, at_least: 2}\n", "'disease'"),
    ],
)
def test_secrets_of_which_nothing_is_demanded_are_reported(here: Any, expect: str, secret: str):
    """At d867cb5 such a policy was sound and nothing more."""
    roles = "  zip: {role: quasi_identifier}\n  pain: {role: sensitive}\n  disease: {role: sensitive}\n"
    Path("b.tcdp.yaml").write_text(f"version: 1\nattributes:\n{roles}key: id\nprevious: x.csv\nexpect:\n{expect}")
    answer = here("lint", "b.tcdp.yaml")

    assert answer.code == 0
    assert ("warning: Sensitive columns with" in answer.out) == bool(secret)
    nothing = "nothing that can stop publication" if "warning" in expect else "nothing"
    assert f"{nothing} is demanded of {secret}, which must stay secret" in answer.out or not secret


@pytest.mark.parametrize(
    ("expect", "top", "said"),
    [
        ("population_uniqueness: {at_most: 0.1}", "", "it needs the population, which the policy does not name"),
        ("population_uniqueness: {at_most: 0.1}", "sampling_fraction: 0.1\n", "it needs the population"),
        ("population_uniqueness: {at_most: 0.1}", "population: x.csv\n", ""),
        ("population_uniqueness: {at_most: 0.1, estimator: pitman}", "", "how large the population is"),
        ("population_uniqueness: {at_most: 0.1, estimator: pitman}", "sampling_fraction: 0.1\n", ""),
        ("individual_risk: {at_most: 0.1}", "", "how large the population is"),
        ("individual_risk: {at_most: 0.1}", "population: x.csv\n", ""),
        ("reidentification_risk: {at_most: 0.1, scenario: journalist}", "", "it needs the population"),
        ("reidentification_risk: {at_most: 0.3}", "", ""),
        ("k_map: {k: 5}", "", "it needs the population"),
        ("k_concealment: {k: 5}", "key: id\n", "it needs the original"),
        ("k_concealment: {k: 5}", "key: id\noriginal: x.csv\n", ""),
        ("joinability: {at_most: 0.1}", "", "it needs the registry"),
    ],
)
def test_what_a_demand_lacks_is_reported_before_there_is_any_data(here: Any, expect: str, top: str, said: str):
    """The command may give it, so it is no fault."""
    code, lines = finding(here, f"  - {expect}\n", top=top)
    warnings = [line for line in lines if "warning: " in line]
    assert code == 0
    assert [said in line for line in warnings] == [True] * bool(said)


INTRUDERS = "scenarios:\n  neighbour: {knows: [zip]}\n  boss: {knows: [zip, pain]}\n"


@pytest.mark.parametrize(
    ("expect", "unopposed"),
    [
        ("  - k_anonymity: {k: 5}\n", []),
        ("  - k_anonymity: {}\n", []),
        ("  - k_anonymity: {k: 5, against: neighbour}\n  - k_anonymity: {k: 1, against: boss}\n", ["boss"]),
        (
            "  - k_anonymity: {k: 5, against: neighbour}\n  - k_anonymity: {k: 5, against: boss, severity: warning}\n",
            ["boss"],
        ),
    ],
)
def test_intruders_against_whom_nothing_is_demanded_that_counts_are_reported(
    here: Any, expect: str, unopposed: list[str]
):
    """A policy that declares an intruder and only warns of it would pass as if it had been judged."""
    _, lines = finding(here, expect, top=INTRUDERS)
    said = [line for line in lines if "nothing that counts is demanded against" in line]

    assert [line.split("against ")[1].split(";")[0] for line in said] == unopposed
    assert all(line.startswith(("a.tcdp.yaml:6:", "a.tcdp.yaml:7:")) for line in said)


@pytest.mark.parametrize(
    ("expect", "unopposed"),
    [
        ("  - k_anonymity: {k: 5, against: neighbour}\n", ["boss"]),
        ("  - k_anonymity: {k: 5, against: neighbour}\n  - k_anonymity: {against: boss}\n", ["boss"]),
        ("  - k_anonymity: {k: 5, knows: [zip]}\n", ["neighbour", "boss"]),
        ("  - distinct_l_diversity: {l: 2, attribute: pain}\n", ["boss"]),
        ("  - km_anonymity: {m: 1, k: 2, attributes: [zip]}\n", ["neighbour", "boss"]),
    ],
)
def test_an_intruder_against_whom_nothing_is_demanded_is_a_fault(here: Any, expect: str, unopposed: list[str]):
    attributes = "version: 1\nattributes:\n  zip: {role: quasi_identifier}\n"
    attributes += "  pain: {role: sensitive, scale: ordinal, order: [none, some, much]}\n"
    Path("a.tcdp.yaml").write_text(f"{attributes}{INTRUDERS}expect:\n{expect}")
    answer = here("lint", "a.tcdp.yaml")

    assert answer.code == 2
    lines = [line for line in answer.err.splitlines() if "nothing is demanded against this intruder" in line]
    assert [line.split("scenarios.")[1].split(":")[0] for line in lines] == unopposed
    assert all(f"a.tcdp.yaml:{6 if 'neighbour' in line else 7}:3: " in line for line in lines)


@pytest.mark.parametrize(
    ("demand", "secret"),
    [
        ("lkc_privacy: {K: 2, C: 0.5, L: 1}", "'pain'"),
        ("lkc_privacy: {K: 2, C: 0.5, L: 1, knows: [zip]}", ""),
        ("lkc_privacy: {K: 2, C: 0.5, L: 1, knows: [pain]}", "'pain'"),
        ("distinct_l_diversity: {l: 2}", "'pain'"),
        ("distinct_l_diversity: {l: 2, knows: [zip]}", ""),
    ],
)
def test_what_an_intruder_knows_is_not_protected_by_a_demand(here: Any, demand: str, secret: str):
    """A parameter that names a known column, and a column that is at stake in no scenario, counted as demands on it."""
    roles = "  zip: {role: quasi_identifier}\n  pain: {role: sensitive}\n  disease: {role: sensitive}\n"
    demand += "" if "diversity: {l: 2}" in demand else "\n  - k_anonymity: {k: 2}"  # what is against the boss
    scenario = "scenarios:\n  boss: {knows: [zip, pain]}\n"
    Path("b.tcdp.yaml").write_text(f"version: 1\nattributes:\n{roles}{scenario}expect:\n  - {demand}\n")
    answer = here("lint", "b.tcdp.yaml")

    assert answer.code == 0
    assert (f"nothing is demanded of {secret}, which" in answer.out) == bool(secret)
    assert ("Sensitive columns without a demand" in answer.out) == bool(secret)


JOINED = """\
version: 1
unit: patient
attributes:
  ward: {{role: quasi_identifier}}
  ill: {{role: sensitive}}
conventions: {{known_rows: {known}}}
expect: [{expect}]
"""
K, WHOLE_K = "k_anonymity: {k: 2}", "k_anonymity: {k: 2, known_rows: all}"
L, WHOLE_L = "distinct_l_diversity: {l: 2}", "distinct_l_diversity: {l: 2, known_rows: all}"
EVENTS, MEAN = "known_events: {m: 2, k: 2}", "unicity: {points: 2, at_most: 0.1}"


@pytest.mark.parametrize(
    ("known", "expect", "said"),
    [
        ("one", [K], "leave out `known_rows: one`, or demand `known_events: {m: 3, k: 5}` as well"),
        ("one", [K, L], "Single rows"),
        ("one", [K, WHOLE_L], "Single rows"),  # a demand on a secret alone limits no size
        ("one", [K, "known_events: {m: 2}"], "Single rows"),
        ("one", [K, "known_events: {m: 1, k: 2}"], "Single rows"),
        ("one", [K, "known_events: {m: 2, k: 2, severity: warning}"], "Single rows"),
        ("all", ["direct_identifiers: {at_most: 0}"], "demand a group size as well, such as `k_anonymity: {k: 5}`"),
        ("one", [K, MEAN], "A mean over units"),
        ("one", [MEAN, WHOLE_L], ""),
        ("one", [K, MEAN, EVENTS], ""),
        ("one", [K, EVENTS], ""),
        ("one", [K, WHOLE_K], ""),
        ("all", [K, L], ""),
        ("all", [L], ""),
    ],
)
def test_where_a_unit_joins_rows_lint_says_what_an_audit_would(here: Any, known: str, expect: list[str], said: str):
    policy = JOINED.format(known=known, expect=", ".join(f"{{{one}}}" for one in expect))
    Path("a.tcdp.yaml").write_text(policy, encoding="utf-8")
    Path("a.csv").write_text("patient,ward,ill\np,1,x\np,2,y\nq,1,y\nq,2,z\n", encoding="utf-8")
    answer = here("lint", "a.tcdp.yaml")
    here("check", "a.csv", "--policy", "a.tcdp.yaml", "--report", "a.json")
    outcomes = json.loads(Path("a.json").read_text(encoding="utf-8"))["outcomes"]
    (linked,) = (one for one in outcomes if one["check"] == "linked_rows")

    assert answer.code == 0
    assert ("warning: Single rows: " in answer.out) == (linked["status"] == "failed")
    assert said in answer.out
    assert ("A mean over units" in answer.out) == (said == "A mean over units")


@pytest.mark.parametrize("top", ["", "unit: patient\nunit_released: false\n", "unit: patient\nkey: patient\n"])
def test_of_rows_that_nothing_joins_lint_says_nothing(here: Any, top: str):
    assert finding(here, "  - k_anonymity: {k: 5, known_rows: one}\n", top=top) == (0, [])


FIGURES = """\
version: 1
tables:
  men: {dimensions: {age: {total: All}}, measures: {n: {counts: people}}}
  people: {attributes: {age: {role: quasi_identifier}}}
models:
  fit: {n: 200, parameters: 9}
expect:
"""
DEMANDS = {
    "records": "  - k_anonymity: {k: 2}\n",
    "tables of figures": "  - cell_frequency: {k: 10}\n",
    "output of models": "  - regression_output: {degrees_of_freedom: 10}\n",
}


@pytest.mark.parametrize("left_out", [None, *DEMANDS])
def test_what_is_released_without_a_demand_is_warned_of(left_out: str | None, here: Any):
    demands = "".join(text for kind, text in DEMANDS.items() if kind != left_out)
    Path("figures.tcdp.yaml").write_text(FIGURES + demands)
    printed = here("lint", "figures.tcdp.yaml").out

    assert [kind for kind in DEMANDS if f"No demand on {kind}" in printed] == ([left_out] if left_out else [])
    line = 5 if left_out == "output of models" else 2
    assert left_out is None or f"figures.tcdp.yaml:{line}:1: warning: No demand on {left_out}" in printed
