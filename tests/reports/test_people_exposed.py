"""The first screen relates its number of people to its demands, and says what intruders are taken to know, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from edition_samples import of_scenarios

from tcdp_audit import Audit, audit
from tcdp_audit.demo import POLICY, make_discharges
from tcdp_audit_reports.people_exposed import known_facts, relation
from tcdp_audit_reports.reasons import reasons
from tcdp_audit_reports.sections.basis import NOT_STATED, how_counted

WARDS = pa.table({"ward": list("aaabbc"), "sex": list("ffmffm"), "illness": list("xxyxxy"), "id": range(6)})
ROLES: dict[str, Any] = {
    "ward": {"role": "quasi_identifier"},
    "sex": {"role": "quasi_identifier"},
    "illness": {"role": "sensitive"},
    "id": {"role": "insensitive"},
}


def of(*expect: dict[str, Any], **attributes: Any) -> Audit:
    """An audit of six people, with sentences as reports have them."""
    policy = {"version": 1, "unit_name": "person", "attributes": {**ROLES, **attributes}, "expect": [*expect]}
    return audit(WARDS, policy).with_known_facts()


def test_demands_are_named_with_their_people_the_most_first() -> None:
    warned = {"k_anonymity": {"k": 2, "severity": "warning"}}
    made = of({"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}, warned)
    assert relation(made) == (
        "Counted: 6 people, by demands that fail. At worst: no more. "
        "Of the 6, demand 2 exposes 6 and demand 1 exposes 2. Do not add these numbers: several demands can expose the "
        "same people. Worst for one person: who knows the facts about one of 2 people in a group knows the 'illness' "
        "for certain (demand 2). Demand 3 only warns: of the 2 people that it affects, those count whom a failing "
        "demand affects, too."
    )


def test_one_demand_needs_no_sentence_of_its_own_where_the_verdict_has_its_number() -> None:
    assert relation(of({"k_anonymity": {"k": 2}})) == "Counted: 2 people, by demands that fail. At worst: no more."
    assert relation(of({"k_anonymity": {"k": 1}})) == ""


def test_at_least_says_what_is_left_out_and_the_worst_case() -> None:
    made = of({"k_anonymity": {"k": 2}}, {"reidentification_risk": {"at_most": "0.4"}}, id={"role": "identifier"})
    assert relation(made) == (
        "Counted: 2 people, by demands that fail. At worst: all 6, by what is wrong with whole columns (Identifier in "
        "the release) and as demand 2 names no one. Not counted: demand 2 says how many or how likely, not who. The "
        "chance to find a person who is "
        "known to be in the file is certainty at worst and 66.7% on average (demand 2)."
    )


def test_known_facts_are_named_once_and_where_there_are_several() -> None:
    made = of({"k_anonymity": {"k": 2}})
    assert known_facts(made) == (
        "The two known facts.",
        "An intruder is taken to know a person’s ward and sex, that the person is in the file, and nothing else.",
    )
    assert made.render(".html").count("is taken to know") == 1
    assert known_facts(of({"k_anonymity": {"k": 2}}, sex={"role": "insensitive"})) == ("", "")


def test_nothing_that_holds_is_among_failures_and_each_kind_comes_first() -> None:
    diversity = [{"distinct_l_diversity": {"l": l}} for l in (2, 3, 4)]
    made = of(*diversity, {"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 1}})
    assert [one.which for one in reasons(made)] == [
        "Demand 1 fails:",
        "Demand 2 fails:",
        "Demand 3 fails:",
        "Demand 4 fails:",
    ]
    made = of(*diversity, {"distinct_l_diversity": {"l": 5}}, {"k_anonymity": {"k": 2}})
    assert "Demand 5 fails:" in [one.which for one in reasons(made)]
    texts = [one.text for one in reasons(made) if one.text]
    assert len(texts) == len({*texts})


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_who_ran_it_is_said_to_be_not_stated_and_how_to_state_it(suffix: str) -> None:
    made = of({"k_anonymity": {"k": 2}})
    assert NOT_STATED.partition(";")[0] in made.render(suffix)


def test_the_warnings_that_remain_after_a_remedy_are_named(tmp_path) -> None:
    for name, text in make_discharges().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    made = audit(None, tmp_path / POLICY, try_remedies=True)
    named = (
        "with 2 warnings (Sensitive columns with demands that only warn; t-closeness, ordered distance of length of "
        "stay)"
    )
    assert named in made.render(".html")


def test_an_average_exposes_no_particular_person() -> None:
    mean = {"reidentification_risk": {"measure": "average", "at_most": "0.1"}}
    made = of({"k_anonymity": {"k": 2}}, mean)
    assert relation(made) == (
        "Counted: 2 people, by demands that fail. At worst: all 6, as demand 2 limits an average and names no "
        "one. The chance to find a person who is known to be in the file is certainty at worst and 66.7% on average "
        "(demand 2)."
    )


def test_the_scenarios_say_below_which_chance_a_demand_would_be_met() -> None:
    audit = of_scenarios()
    assert "Demand 2 would be met if the 51% of acquaintance were below about 19%." in how_counted(audit)
    assert "How likely each attack is tried (recipient 20%, acquaintance 51% and breach 10%)" in "".join(
        how_counted(audit)
    )
    assert "No other estimate makes the release fit: demands 6 and 7 do not depend on it." in how_counted(audit)
    assert "at least 130 of 400 patients" in audit.render(".html")


def test_the_worst_for_one_person_is_a_secret_that_is_certain_and_who_is_alone() -> None:
    said = relation(of_scenarios())
    assert said.endswith(
        "Of the 130, demand 7 exposes 130 and demand 6 exposes 30. Do not add these numbers: several demands can "
        "expose the same patients. Worst for one person: who knows the facts about one of 130 patients knows the "
        "'diagnosis' for certain (demand 7); for 108 of them, as no one else has these facts."
    )


def test_the_intruders_who_know_every_fact_are_named() -> None:
    assert "Acquaintance knows all of them; what others know of them is below." in of_scenarios().render(".html")


def test_a_key_links_every_table_with_the_same_numbers_such_as_the_original(tmp_path: Path) -> None:
    for name, text in make_discharges().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert (
        "Anyone who holds another table with the same number of the discharge, such as the original, could match all "
        "8,000 people to their rows, and read every secret; only a warning says so."
    ) in relation(audit(None, tmp_path / POLICY))


def test_a_single_failure_has_its_guess_in_its_reason_only() -> None:
    assert "Worst for one person" not in relation(of({"entropy_l_diversity": {"l": 3}}))
