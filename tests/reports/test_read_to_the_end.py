"""Sentences of two reports that a strict reader found untrue, unclear or missing: a survey, and three linked tables."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import defaultdict
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from edition_samples import EXAMPLES, of_linked_tables

import tcdp_audit
from tcdp_audit import Audit
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.plugin.report import Paragraph
from tcdp_audit_plugins.sections.attacks import stories
from tcdp_audit_reports.people_exposed import relation
from tcdp_audit_reports.policy_text import lines_to_paste
from tcdp_audit_reports.sections.basis import blocks as basis, flipping, how_counted, verification
from tcdp_audit_reports.sections.columns import columns_table
from tcdp_audit_reports.sections.findings import findings
from tcdp_audit_reports.sections.glossary import terms
from tcdp_audit_reports.sections.next_steps import steps
from tcdp_audit_reports.sections.unexamined import answered, not_run, unexamined

FOLDER = EXAMPLES / "linked"
SURVEY: dict[str, Any] = {
    "version": 1,
    "unit_name": "person",
    "sampling_fraction": 0.1,
    "household": "home",
    "weight": "stands_for",
    "conventions": {"known_rows": "one"},
    "attributes": {
        "home": {"role": "insensitive", "label": "number of the household"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "place": {"role": "quasi_identifier"},
        "work": {"role": "sensitive"},
        "stands_for": {"role": "insensitive", "scale": "numeric", "label": "sampling weight"},
    },
    "expect": [
        {"k_anonymity": {"k": 3}},
        {"reidentification_risk": {"measure": "average", "at_most": 0.3}},
        {"individual_risk": {"at_most": 0.5}},
    ],
}
ROWS = pa.table(
    {
        "home": [f"h{number // 2}" for number in range(36)],
        "age": [20 + number % 7 for number in range(24)] + [50] * 12,
        "place": [("north", "south")[number % 2] for number in range(24)] + ["north"] * 12,
        "work": [("school", "office", "none")[number % 3] for number in range(36)],
        "stands_for": [4] * 36,
    }
)


@pytest.fixture(scope="module")
def tables() -> Audit:
    """Three linked tables as the command audits them: no other convention is tried."""
    return tcdp_audit.audit(None, FOLDER / "clinic.tcdp.yaml", column_risks=True)


@pytest.fixture(scope="module")
def repaired() -> Audit:
    """The same with remedies tried."""
    return of_linked_tables()


@pytest.fixture(scope="module")
def survey() -> Audit:
    """People of households, with weights, given by a program."""
    return tcdp_audit.audit(ROWS, SURVEY, column_risks=True, try_remedies=True)


def diagnoses() -> dict[str, set[str]]:
    """The diagnoses of each patient with a visit."""
    of_each: dict[str, set[str]] = defaultdict(set)
    with (FOLDER / "visits.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            of_each[row["patient"]].add(row["diagnosis"])
    return of_each


def text(blocks: Any) -> str:
    return " ".join(one.text for one in blocks if isinstance(one, Paragraph))


def repair(audit: Audit) -> Paragraph:
    return next(one for one in steps(audit) if one.lead.startswith(("Decide whether", "Then name")))


def test_people_with_several_rows_share_a_value_and_need_not_have_the_same_one(tables: Audit) -> None:
    assert max(map(len, diagnoses().values())) == 2  # so "the same diagnosis" would be untrue
    said = " ".join(f"{one.message} {one.individual_impact}" for one in tables.expectations)
    assert "139 of 147 patients are in 133 groups in which all share a value of diagnosis:" in said
    assert said.count("a value of diagnosis that every patient has is known for certain.") == 2
    assert "all have the same" not in said
    rows = next(one for one in stories(tables) if not isinstance(one, str)).body
    assert rows[1][2] == "139 patients are in groups in which all share a value of diagnosis."


@pytest.mark.parametrize("check", ["distinct_l_diversity", "p_sensitive_k_anonymity", "background_knowledge"])
def test_every_check_on_a_secret_says_so(check: str) -> None:
    release = pa.table({"who": [1, 1, 2, 2], "zip": ["a"] * 4, "ill": ["x", "y", "x", "z"]})
    parameters = {
        "distinct_l_diversity": {"l": 2},
        "p_sensitive_k_anonymity": {"p": 2, "k": 2},
        "background_knowledge": {"at_least": 1},
    }
    policy = {
        "version": 1,
        "unit": "who",
        "attributes": {"zip": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}},
        "expect": [{check: parameters[check]}],
    }
    one: Outcome = tcdp_audit.audit(release, policy).expectations[0]
    assert re.search(r"all share (one|a value of 'ill')", one.message), one.message
    assert "have the same" not in f"{one.message} {one.individual_impact}"


def test_the_worst_is_said_in_people(tables: Audit) -> None:
    assert relation(tables).endswith(
        "Worst for one person: who knows the whole history of one of 139 patients knows a value of the diagnosis for "
        "certain (demand 2)."
    )


def test_the_gain_by_whole_histories_is_over_the_share_among_all_patients(tables: Audit) -> None:
    having = diagnoses()
    rarest = min(sum(each in own for own in having.values()) for each in set.union(*having.values()))
    points = f"{100 * (1 - rarest / len(having)):.2f}"  # where all patients of a history have it
    assert (
        f"a value of diagnosis is {points} percentage points more common than among all." in findings(tables)[2].message
    )


def test_where_nothing_is_missing_the_ways_to_count_missing_values_are_not_left_open(tables: Audit) -> None:
    assert flipping(tables).startswith("No known fact and no secret is missing, so the ways to count missing ones")
    assert not [one for one in how_counted(tables) if "missing" in one]
    some = pa.table({"zip": ["a", "a", None], "ill": ["x", "y", "z"]})
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    open_one = tcdp_audit.audit(some, policy)
    assert flipping(open_one).startswith("Not known: whether another way of counting changes a demand.")
    assert "A missing fact counts as a value of its own." in how_counted(open_one)


def test_what_was_computed_of_single_rows_is_said(tables: Audit) -> None:
    per_row = tables.expectations[0].details["per_row"]
    table = min(per_row, key=lambda one: per_row[one]["k"])
    assert (table, per_row[table]["k"]) == ("drugs", 4)
    assert (
        "If an intruder knew only single rows (known_rows: one), demand 1 would still fail, and the verdict would "
        "stay: the smallest group, in drugs, has 4, where demand 1 asks for 5; demands 2–3 were not computed for that."
        in text(basis(tables))
    )


def test_the_price_is_said_in_patients(repaired: Audit) -> None:
    step = repair(repaired)
    assert step.lead == "Decide whether the tables are worth their repair, which takes 93.1% of all detail from them."
    stay = "65 of 200 patients, 12 of 315 records of visits and 0 of 321 records of drugs stay"
    assert f"759 of 836 records removed: {stay};" in step.text
    assert repaired.remedy_trial is not None
    left = {one.check: one for one in repaired.remedy_trial.outcomes}
    assert left["k_anonymity"].records is not None
    assert left["k_anonymity"].records.total == 65
    assert "The command writes new files into a folder; these stay as they are." in step.text
    assert "detail" in step.lead
    assert "Detail" in terms(repaired)


def test_a_row_that_is_removed_needs_no_example(repaired: Audit) -> None:
    page = repaired.render(".html")
    assert "Each person keeps a number of rows at most; the others are removed, with what belongs to them." in page
    assert "An invented row" not in page


def test_an_attempt_that_helps_nothing_says_so_shortly(repaired: Audit) -> None:
    page = repaired.render(".html")
    assert "All three demands are still not met." in page
    assert "Three demands are still not met" not in page
    assert "Two demands are still not met" not in page  # of visits nothing would be left to judge
    assert "Nothing can be judged after it by Homogeneity attack on visits.diagnosis and Entropy" in page
    assert "column diagnosis has no value in any record." in page


def test_columns_stand_with_their_tables(tables: Audit) -> None:
    names = [row[0].partition(".")[0] for row in columns_table(tables).body]
    assert names == sorted(names, key=["patients", "visits", "drugs"].index)


def test_the_command_that_verifies_runs_in_the_folder_of_the_files(
    tables: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOLDER, tmp_path / "clinic")
    monkeypatch.chdir(tmp_path / "clinic")
    own = tcdp_audit.audit(None, "clinic.tcdp.yaml", column_risks=True)
    Path("REPORT.html").write_text(own.render(".html"), encoding="utf-8")
    command = verification(tables)[-1].code
    assert command == "tcdp-audit verify REPORT.html ."
    assert tcdp_audit.verify(*command.split()[2:]).is_confirmed


def test_annex_b_has_what_the_report_advises_and_what_others_answer(survey: Audit, tables: Audit) -> None:
    assert {"known_events", "unicity"} <= unexamined(survey).keys()  # a household has several rows
    assert any("add the demand ‘known_events’" in one.text for one in steps(survey))
    assert any("Known events, Unicity" in one.text for one in not_run(survey) if isinstance(one, Paragraph))
    assert {"Sample uniqueness", "Re-identification risk"} <= {one.title for one in answered(tables)}
    assert "**Answered by other results:** Sample uniqueness" in tables.render(".md")


def test_lines_for_a_policy_that_is_json_are_json(survey: Audit, repaired: Audit) -> None:
    step = repair(survey)
    assert step.text.count("Put this before the last brace of the policy (annex D; save it as POLICY.json)") == 1
    assert survey.policy.text.endswith("}")
    changed = json.loads(f"{survey.policy.text[:-1]}{step.lines}}}")
    assert survey.remedy_trial is not None
    assert survey.remedy_trial.log is not None
    assert changed["remedy"] == yaml.safe_load(survey.remedy_trial.log.lines)["remedy"]
    assert repair(repaired).lines.startswith("remedy:\n  - ")


def test_demands_that_a_remedy_needs_are_for_the_list_of_a_json_policy(survey: Audit) -> None:
    assert survey.remedy_trial is not None
    log = survey.remedy_trial.log
    assert log is not None
    needing = replace(log, steps=(replace(log.steps[0], lines=("- k_map: {k: 2}",)),))
    lines = lines_to_paste(needing, survey)
    assert lines is not None
    assert lines.policy.splitlines()[1:] == [', {"k_map": {"k": 2}}']
    assert lines.sentence.endswith("Add the other lines to the list of expect before you audit this release.")


def test_the_trial_says_who_is_alone_by_the_column_that_stays(survey: Audit) -> None:
    assert survey.remedy_trial is not None
    linked = next(one for one in survey.remedy_trial.outcomes if one.check == "linked_rows")
    alone, units = linked.details["alone"], linked.details["units"]
    assert units == 18
    assert (
        f"That is with number of the household still in, by which {alone} of 18 households would" in repair(survey).text
    )


def test_the_assumption_that_a_demand_uses_is_the_one_that_is_named(survey: Audit) -> None:
    said = how_counted(survey)
    assert "The file is taken to hold 1 in 10 of all people (sampling_fraction); no demand counts with it." in said
    assert "Demand 3 takes from sampling weight how many people each row stands for (weight)." in said
    roles = {row[0]: row[2] for row in columns_table(survey).body}
    assert roles["stands_for"] == "taken to be harmless; demand 3 counts with it"
    without = {name: value for name, value in SURVEY.items() if name != "sampling_fraction"}
    same = tcdp_audit.audit(ROWS, without).expectations[2]
    assert same.observed == survey.expectations[2].observed  # so the fraction is indeed idle


def test_without_weights_the_fraction_is_used() -> None:
    policy = {name: value for name, value in SURVEY.items() if name != "weight"}
    said = how_counted(tcdp_audit.audit(ROWS, policy))
    assert "The file is taken to hold 1 in 10 of all people (sampling_fraction)." in said
    assert not [one for one in said if "stands for" in one]


def test_the_second_chance_is_that_of_someone_of_a_household(survey: Audit) -> None:
    one = survey.expectations[2]
    highest = max(float(one.details["unit_highest"]), float(one.details["highest_by_composition"]))
    assert one.observed == highest > float(one.details["highest"])
    assert "someone of a household is found is" in one.message
    assert "is estimated to find someone of a household with" in one.individual_impact
    said = relation(survey)
    assert "Who does not know who is in the file is estimated to find a person with a chance of " in said
    assert " at worst, and, knowing everyone in a household, one of them with a chance of " in said
    assert "(demand 3)." in said
    facts = dict(findings(survey)[2].facts)
    assert {"highest risk of a record by itself", "highest risk of a household, by all of its members together"} <= (
        facts.keys()
    )
    assert "the larger of the two expected numbers of people" not in facts


def test_demands_without_a_number_of_people_are_named_alike(survey: Audit) -> None:
    assert "as demands 2 and 3 name no one" in relation(survey)


def test_the_glossary_has_the_name_of_the_role(survey: Audit, tables: Audit) -> None:
    roles = {row[2] for row in columns_table(survey).body}
    assert "an intruder may know it" in roles
    assert "An intruder may know it" in terms(survey)
    assert "whole histories agree" in terms(tables)["Group"]
    assert "their records agree" in terms(survey)["Group"]


def test_what_a_policy_without_a_unit_does_not_use_is_not_explained(survey: Audit) -> None:
    page = unescape(survey.render(".html"))
    assert "Where it names a household, three numbers of people" in page
    assert page.count("Where the policy names a unit") == 1
