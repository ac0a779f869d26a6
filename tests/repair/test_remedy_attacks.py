"""What somebody finds in a repaired release who knows what was done: measured by default, deciding nothing."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from rich.console import Console
from toy_remedies import On, halves, plugins

import tcdp_audit
from tcdp_audit.cli.displays import print_remediation
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.core.remedy.remedy import NewColumn, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.results.change_log import RemedyAttack
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.verification import State, verify

NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}
ATTRIBUTES = {"age": NUMERIC, "wage": NUMERIC, "sex": {"role": "sensitive", "scale": "nominal"}}
SWAPPED: dict[str, Any] = {"rank_swapping": {"percent": 20}}
COPIES = {"exact_match_rate": {"at_most": 0.2}}


def people(records: int = 60) -> pa.Table:
    random = np.random.default_rng(4)
    return pa.table(
        {
            "age": np.arange(records) + 20,
            "wage": random.permutation(records) * 10,
            "sex": random.choice(["f", "m"], records),
        }
    )


def policy(*expect: Mapping[str, Any], remedy: Any = SWAPPED, **more: Any) -> dict[str, Any]:
    demands = list(expect) or [COPIES]
    return {"version": 1, "rows_aligned": True, "attributes": ATTRIBUTES, "expect": demands, "remedy": [remedy], **more}


def fixed(*expect: Mapping[str, Any], **more: Any) -> tcdp_audit.Remediation:
    table = people()
    return tcdp_audit.fix(table, policy(*expect, **more), table)


def attack(done: tcdp_audit.Remediation) -> RemedyAttack:
    (only,) = done.log.attacks
    return only


@pytest.fixture(scope="module")
def done() -> tcdp_audit.Remediation:
    return fixed()


def test_the_attack_runs_as_the_remedy_did_and_says_what_the_policys_own_would(done: tcdp_audit.Remediation) -> None:
    result = attack(done)
    assert done.passed
    assert result.outcome is not None
    assert (result.check, result.step, result.in_policy, result.reason) == ("rank_swap_attack", 0, False, "")
    assert (result.outcome.status, result.outcome.threshold) == ("measured", None)
    assert result.outcome.parameters["p"] == 20
    by_hand = policy({"rank_swap_attack": {"p": 20, "attributes": ["age", "wage"]}})
    in_order = tcdp_audit.fix(people(), policy(), people(), keep_order=True)
    (asked,) = tcdp_audit.audit(in_order.released, by_hand, people()).expectations
    assert (asked.observed, asked.details) == (result.outcome.observed, result.outcome.details)
    assert 0 < float(result.outcome.details["expected_correct"]) < 60


def test_records_are_paired_by_the_repair_itself_without_key_or_original() -> None:
    """Under class demands only, no original named and the records shuffled, the attack is the same."""
    keyless = policy({"k_anonymity": {"k": 5}}, remedy={"microaggregation": {"k": 5}})
    del keyless["rows_aligned"]
    done = tcdp_audit.fix(people(), keyless)
    result = attack(done)
    assert done.log.order == "shuffled"
    assert result.outcome is not None
    clusters = done.log.steps[0].notes["clusters"]
    assert (result.outcome.details["expected_correct"], result.outcome.details["without_own_record"]) == (clusters, 0)


def test_records_that_are_dropped_stay_among_those_who_are_looked_for() -> None:
    def swap_and_drop(view: RemedyView, _: On) -> Treatment:
        one = view.attribute("age")
        codes = one.codes.astype(np.int64)
        swapped = NewColumn(one.domain.values, np.where(codes % 2, codes - 1, codes + 1))
        known = {"attributes": ["age"], "displacement": 1}
        return Treatment({"age": swapped}, codes >= 10, attacks=({"rank_swap_attack": known},))

    by_key = policy({"exact_match_rate": {"at_most": 0.2, "attributes": ["age", "wage"]}}, remedy={"toy": {}}, key="id")
    del by_key["rows_aligned"]
    by_key["attributes"] = {**ATTRIBUTES, "id": {"role": "insensitive"}}
    table = people().append_column("id", pa.array([f"p{number}" for number in range(60)]))
    done = tcdp_audit.fix(table, by_key, table, plugins=plugins(toy=swap_and_drop))
    result = attack(done)
    assert result.outcome is not None
    counted = {name: result.outcome.details[name] for name in ("matched", "originals_not_released")}
    assert counted == {"matched": 50, "originals_not_released": 10}


def test_the_policys_own_demand_remains_and_is_not_run_twice() -> None:
    done = fixed(COPIES, {"rank_swap_attack": {"at_most": 1, "links": "expected"}})
    result = attack(done)
    assert (result.in_policy, result.outcome, result.reason) == (True, None, "")
    assert result.sentence == "the policy asks for it itself"


@pytest.mark.long
def test_a_demand_on_an_intruder_who_knows_less_does_not_represent_it() -> None:
    assert attack(fixed(COPIES, {"rank_swap_attack": {"attributes": ["age"]}})).outcome is not None


def named(attacks: Any) -> Plugins:
    def toy(view: RemedyView, parameters: On) -> Treatment:
        return Treatment(halves(view, parameters).columns, attacks=attacks)

    return plugins(toy=toy)


NOT_RUN = [
    ({"no_such_attack": {}}, "no check 'no_such_attack' is known"),
    ({"rank_swap_attack": {"zqcellzq": 1}}, "parameters that a policy would reject"),
    ({"rank_swap_attack": {"at_most": 1}}, "an attack on a remedy measures only"),
    ({"rank_swap_attack": {"attributes": ["zip"]}}, "the policy declares no attribute 'zip'"),
    ({"rank_swap_attack": {"attributes": ["age"]}}, "generalised"),
]


def test_an_attack_that_cannot_be_run_says_why_and_is_never_a_claim() -> None:
    halved = policy({"k_anonymity": {"k": 2}}, remedy={"toy": {}})
    halved["attributes"] = {"age": NUMERIC, "wage": {"role": "insensitive"}, "sex": ATTRIBUTES["sex"]}
    done = tcdp_audit.fix(people(), halved, plugins=named((*[one for one, _ in NOT_RUN], NOT_RUN[0][0])))
    assert done.passed
    assert [one.outcome for one in done.log.attacks] == [None] * len(NOT_RUN)  # one that is named twice is run once
    for match, (_, reason) in zip(done.log.attacks, NOT_RUN, strict=True):
        assert reason in match.reason
        assert "zqcellzq" not in match.sentence
        assert match.sentence == f"could not be run: {match.reason}"
    jsonschema.validate(json.loads(done.after.to_json()), json.loads(result_schema()))


@pytest.mark.parametrize(
    "attacks",
    [pytest.param([{}], marks=pytest.mark.long), ("rank_swap_attack",), ({"rank_swap_attack": 1},)],
)
def test_attacks_that_are_none_are_a_fault_of_the_remedy(attacks: Any) -> None:
    done = tcdp_audit.fix(people(), policy({"k_anonymity": {"k": 2}}, remedy={"toy": {}}), plugins=named(attacks))
    assert not done.passed
    assert "`attacks` must be a tuple of mapping of mapping, and is a" in done.log.tried[0].error


def test_a_step_that_changed_nothing_is_not_attacked() -> None:
    done = fixed(remedy={"rounding": {"base": 1, "attributes": ["age"]}})
    assert (len(done.log.tried), done.log.attacks) == (1, ())


def test_terminal_and_reports_tell_it(done: tcdp_audit.Remediation, tmp_path: Path) -> None:
    sentence = attack(done).sentence
    text = io.StringIO()
    print_remediation(Console(file=text, width=80), done, [])
    assert " ".join(f"Attack on rank swapping: {sentence}".split()) in " ".join(text.getvalue().split())
    for form in ("report.md", "report.html"):
        done.write(tmp_path / form)
        page = re.sub(r"\\|<[^>]+>|&#39;|'", "", (tmp_path / form).read_text(encoding="utf-8"))
        assert "What an intruder finds who knows how it was done" in page
        assert "values were moved by at most 12 ranks" in page
        assert page.count("how far values were swapped is left with") == 2  # on the first screen, and below


@pytest.mark.long
def test_a_result_with_attacks_is_verified_with_the_input_and_not_without(tmp_path: Path) -> None:
    table, release, result = people(), tmp_path / "out.csv", tmp_path / "out.json"
    arrow_csv.write_csv(table, tmp_path / "in.csv")
    path = tmp_path / "p.tcdp.yaml"
    path.write_text(json.dumps(policy()), encoding="utf-8")
    done = tcdp_audit.fix(tmp_path / "in.csv", path, tmp_path / "in.csv", output=release)
    assert done.written is not None
    done.write(result)
    given: dict[str, Any] = {"release": release, "policy": path, "original": tmp_path / "in.csv"}
    assert verify(result, **given, before=tmp_path / "in.csv").is_confirmed
    assert [one.subject for one in verify(result, **given).unverified] == ["figures", "changes"]  # order and log
    forged = json.loads(result.read_text(encoding="utf-8"))
    forged["change_log"]["attacks"][0]["outcome"]["observed"] = 0.001
    result.write_text(json.dumps(forged), encoding="utf-8")
    points = verify(result, **given, before=tmp_path / "in.csv").differences
    assert [(one.subject, one.state) for one in points] == [("figures", State.DIFFERS), ("changes", State.DIFFERS)]
    assert points[0].sentence == "proof.sha256 is not the digest of the result"
    assert points[1].sentence == "attacks differs"
