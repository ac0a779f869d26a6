"""What the page says of results: the same, different, or not its own to check."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from verifier_cases import ATTRIBUTES, EXPECT, HERE, Case

from tcdp_audit.core.results.verifier import digest_of_result

Ask = Callable[..., list[dict[str, Any]]]
NESTED = {"*": {"virus": ["flu", "mumps"], "other": ["gout"]}}


def verdict(asked: Ask, question: dict[str, Any]) -> str:
    return str(asked([question])[0]["verdict"])


def says(asked: Ask, question: dict[str, Any]) -> list[str]:
    return [f"{one['verdict']} {one['subject']}: {one['text']}" for one in asked([question])[0]["lines"]]


def test_a_result_and_its_report_are_the_same(case: Case, asked: Ask, tmp_path: Path):
    report = tmp_path / "report.html"
    report.write_text(case.audit.render(".html"), encoding="utf-8")
    answers = asked([case.question(), case.question(report=str(report))])

    assert [one["verdict"] for one in answers] == ["same", "same"], answers
    assert len(answers[0]["lines"]) == len(EXPECT)
    assert {one["verdict"] for one in answers[0]["lines"]} == {"same"}
    assert "ward: quasi_identifier, nominal" in answers[0]["roles"]
    assert answers[0]["demands"][0].startswith("k_anonymity >= 2")


def test_failing_people_are_counted_once(case: Case):
    assert case.audit.status == "failed"
    assert 0 < case.audit.as_json()["exposed"]["records"] < 12


@pytest.mark.parametrize("key", ["missing_quasi_identifier", "missing_sensitive"])
def test_people_exposed_under_conventions_that_fail(key: str, tmp_path: Path, asked: Ask):
    rows = [
        "ward,age,illness,cost",
        *["1,40+,flu,10", "1,40+,gout,20", ",0-17,flu,10", ",0-17,gout,1", "2,40+,,3", "2,40+,flu,3"],
        "",
    ]
    case = Case(tmp_path, "\n".join(rows).encode(), conventions={key: "fail"})

    assert case.audit.as_json()["exposed"]["records"] > 0
    assert verdict(asked, case.question()) == "same"


@pytest.mark.parametrize("seal", [False, True], ids=["naive", "forged"])
def test_a_changed_result_is_never_the_same(seal: bool, case: Case, node: str):
    assert tampered(case, node, times=100, seal=seal) == {"different": 100}


@pytest.mark.long
@pytest.mark.parametrize("seal", [False, True], ids=["naive", "forged"])
def test_of_a_thousand_changed_results_none_is_the_same(seal: bool, case: Case, node: str):
    assert tampered(case, node, times=1_000, seal=seal) == {"different": 1_000}


def tampered(case: Case, node: str, *, times: int, seal: bool) -> dict[str, int]:
    text = json.dumps({**case.question(), "times": times, "seal": seal})
    run = subprocess.run([node, str(HERE / "tamper.mjs")], input=text, capture_output=True, text=True, check=True)
    answer = json.loads(run.stdout)
    assert answer["untouched"] == "same"
    assert answer["same"] == []
    verdicts = answer["verdicts"]
    verdicts["different"] += verdicts.pop("not-mine", 0)  # a status of error is not the page's
    return dict(verdicts)


def test_a_change_is_named(case: Case, asked: Ask):
    def weaken(result: dict[str, Any]) -> None:
        result["outcomes"][15]["observed"] = 2
        result["proof"]["sha256"] = digest_of_result(result)

    lines = says(asked, case.question(report=case.changed(weaken), policy=None))

    assert any(line.startswith("different k_anonymity: figure: 2 in the report, 1 here") for line in lines), lines


@pytest.mark.parametrize("name", ["release", "policy"])
def test_another_file_is_different(name: str, case: Case, asked: Ask, tmp_path: Path):
    other = tmp_path / f"other-{getattr(case, name).name}"
    other.write_bytes(getattr(case, name).read_bytes() + b"\n")

    assert verdict(asked, case.question(**{name: str(other)})) == "different"


def test_a_demand_that_was_left_out_is_different(case: Case, asked: Ask):
    def drop(result: dict[str, Any]) -> None:
        del result["outcomes"][-1]
        result["summary"]["passed"] -= result["outcomes"][-1]["status"] == "passed"
        result["proof"]["sha256"] = digest_of_result(result)

    lines = says(asked, case.question(report=case.changed(drop)))

    assert "different reidentification_risk: the report lacks this demand of the policy" in lines


def test_a_result_of_an_earlier_version_is_not_mine(case: Case, asked: Ask):
    assert verdict(asked, case.question(report=case.changed(lambda result: result.pop("proof")))) == "not-mine"


TOKENS = {"conventions": {"missing_tokens": ["", "NA"]}}


def test_without_the_policy_its_tokens_are_not_mine(tmp_path: Path, asked: Ask):
    case = Case(tmp_path, **TOKENS)

    assert [verdict(asked, case.question(policy=one)) for one in (None, str(case.policy))] == ["not-mine", "same"]


def test_an_order_needs_the_policy(tmp_path: Path, asked: Ask):
    attributes = {**ATTRIBUTES, "illness": {"role": "sensitive", "scale": "ordinal", "order": ["gout", "flu", "mumps"]}}
    expect = [{"t_closeness": {"t": 0.5, "attribute": "illness", "distance": "ordered"}}]
    case = Case(tmp_path, attributes=attributes, expect=expect)

    assert [verdict(asked, case.question(policy=one)) for one in (None, str(case.policy))] == ["not-mine", "same"]


@pytest.mark.parametrize("inline", [True, False], ids=["in the policy", "in a file"])
def test_a_hierarchy_is_needed(inline: bool, tmp_path: Path, asked: Ask):
    path = tmp_path / "illness.csv"
    path.write_text("flu;virus;*\nmumps;virus;*\ngout;other;*\n", encoding="utf-8")
    attributes = {**ATTRIBUTES, "illness": {"role": "sensitive", "hierarchy": NESTED if inline else path.name}}
    expect = [{"t_closeness": {"t": 0.5, "attribute": "illness", "distance": "hierarchical"}}]
    case = Case(tmp_path, attributes=attributes, expect=expect)
    with_all = case.question(hierarchies=[] if inline else [str(path)])
    without = case.question(policy=None) if inline else case.question()

    assert [verdict(asked, one) for one in (with_all, without)] == ["same", "not-mine"]
    if not inline:
        changed = tmp_path / "changed.csv"
        changed.write_text("flu;other;*\nmumps;virus;*\ngout;other;*\n", encoding="utf-8")
        assert verdict(asked, case.question(hierarchies=[str(changed)])) == "different"


PATIENTS = {**ATTRIBUTES, "patient": {"role": "insensitive"}}
NEIGHBOUR = {"knows": ["ward"], "at_stake": ["illness"]}


@pytest.mark.parametrize(
    "policy",
    [
        {"conventions": {"missing_quasi_identifier": "wildcard"}},
        {"conventions": {"multiple_sensitive": "joint"}, "expect": [{"distinct_l_diversity": {"l": 2}}]},
        {"unit": "patient", "attributes": PATIENTS, "expect": [{"k_anonymity": {"k": 2}}]},
        {"scenarios": {"neighbour": NEIGHBOUR}, "expect": [{"k_anonymity": {"k": 2}}]},
        {"sampling_fraction": 0.5, "expect": [{"individual_risk": {"measure": "expected"}}]},
    ],
    ids=["wildcard", "joint", "unit", "scenario", "weight"],
)
def test_what_the_page_does_not_compute_is_not_mine(policy: dict[str, Any], tmp_path: Path, asked: Ask):
    rows = ["1,0-17,flu,10", ",0-17,gout,20", "1,0-17,gout,20", "2,40+,flu,1", "2,40+,flu,2"]
    patients = [f"{row},{number % 3}" for number, row in enumerate(rows)]
    missing = ["ward,age,illness,cost,patient", *patients] if "unit" in policy else ["ward,age,illness,cost", *rows]
    case = Case(tmp_path, "\n".join(missing).encode(), **policy)

    assert verdict(asked, case.question()) == "not-mine"


PLAIN = ["ward,age,illness,cost", "1,0-17,flu,10", "1,0-17,gout,20", "2,40+,flu,1", "2,40+,mumps,2", "3,40+,flu,2"]
WIDE = ",".join(["ward", "age", "illness", "cost", *(f"c{number}" for number in range(10_000))])
RELEASES = {
    "line feeds": "\n".join([*PLAIN, ""]).encode(),
    "no line end at the end": "\n".join(PLAIN).encode(),
    "two characters": "\r\n".join([*PLAIN, ""]).encode(),
    "carriage returns": "\r".join([*PLAIN, ""]).encode(),
    "a byte order mark": b"\xef\xbb\xbf" + "\n".join([*PLAIN, ""]).encode(),
    "blank lines": "\n".join([*PLAIN[:3], "", *PLAIN[3:], "", ""]).encode(),
    "all quoted": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in PLAIN).encode(),
    "quotes, commas and line ends in cells": "\n".join(
        [*PLAIN, '3,40+,"a ""b"", c\nd",2', '3,40+,"a ""b"", c\nd",3']
    ).encode(),
    "quotes within cells": "\n".join([*PLAIN, '3,40+,a "b" c,2', '3,40+,d",3', '3,40+," ",3']).encode(),
    "blanks and case": "\n".join([*PLAIN, "3,40+, flu,2", "3,40+,FLU,3"]).encode(),
    "other alphabets": "\n".join(
        [*PLAIN, "3,40+,грипп,2", "3,40+,\U0001f912,3", "3,40+,e\u0301,3", "3,40+,é,3"]
    ).encode(),
    "cp1252": "\n".join([*PLAIN, "3,40+,Röteln,2", "3,40+,Keuchhusten – schwer,3"]).encode("cp1252"),
    "utf-16": "\n".join([*PLAIN, "3,40+,Röteln,2"]).encode("utf-16"),
}


@pytest.mark.parametrize("name", RELEASES)
def test_forms_of_csv(name: str, tmp_path: Path, asked: Ask):
    read_as = {"cp1252": {"encoding": "cp1252"}, "utf-16": {"encoding": "utf-16"}}.get(name)
    case = Case(tmp_path, RELEASES[name], **({"read_as": read_as} if read_as else {}))
    answer = asked([case.question()])[0]

    assert case.audit.status in ("failed", "passed"), case.audit
    assert answer["verdict"] == "same", answer["lines"]


def test_tabs_and_compression(tmp_path: Path, asked: Ask):
    import gzip

    tabbed = "\n".join(PLAIN).replace(",", "\t").encode()
    for name, content in (("release.tsv", tabbed), ("release.csv.gz", gzip.compress("\n".join(PLAIN).encode()))):
        case = Case(tmp_path, content, name)
        assert verdict(asked, case.question()) == "same"


@pytest.mark.long
def test_ten_thousand_columns(tmp_path: Path, asked: Ask):
    rows = [WIDE, *(",".join([line, *["x"] * 10_000]) for line in PLAIN[1:])]
    attributes = {**ATTRIBUTES, **{f"c{number}": {"role": "insensitive"} for number in range(10_000)}}
    case = Case(tmp_path, "\n".join(rows).encode(), attributes=attributes)

    assert verdict(asked, case.question()) == "same"


FAULTS = {
    "an open quote": '\n3,40+,"flu,1',
    "text after a quote": '\n3,40+,"flu"x,1',
    "a short record": "\n3,40+,flu",
    "a long record": "\n3,40+,flu,1,1",
    "another line end": "\r\n3,40+,flu,1\r\n",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_csv_is_refused(fault: str, asked: Ask):
    rows = "\n".join(PLAIN) + FAULTS[fault]
    question = {"rows": rows, "declared": {"attributes": ATTRIBUTES}, "measure": "k_anonymity"}

    assert "is no CSV in record" in asked([question])[0]["not_mine"]
