"""What every built-in check says is right English for none, for one, for two, and with a unit of privacy."""

from __future__ import annotations

import re

import pytest
from asked_tables import CHECKS, EXPECT, LABELS, OF_OTHERS, TABLES, outcomes

from tcdp_audit.core.base.outcome import Status
from tcdp_audit.plugin.check import Check, Need

FAULTS = [
    r"\b1 \w*(records|groups|classes|values|attributes|people|persons|others|patients|columns)\b",
    r"\b1 (other|different|released|equally frequent|equivalence) \w+s\b",
    r"\b([02-9]|\d\d+) (record|group|class|attribute|person|patient|column)\b",
    r"(?i)\b(1 of \d+ (released )?records?|the only (released )?record|no record) (are|have|lie|match|equal|share)\b",
    r"\b1 (record|group|class|patient|person|attribute|column) (are|have|lie|match|equal|share)\b",
    r"(?i)\b([2-9] of \d+ (released )?records|all \d+ (released )?records) (is|has|lies|matches|equals|shares)\b",
    r"  | ,|\.\.|\bNone\b|\bnan\b|Fraction|1 of 1 |\be[+-]\d\d|\d\.\d{5}",
]

LONG = pytest.mark.long
FIRST = {"two alone", "three groups"}  # the others are of the longer tier
SOME = [
    pytest.param(name, marks=[pytest.mark.xdist_group(f"sentences {name}"), *([] if name in FIRST else [LONG])])
    for name in TABLES
]


ABOUT_COLUMNS = r"\bcolumns?\b|confidential values|epsilon"  # where a check is about all columns, and names none
OF_MANY_RECORDS = {"record_order"}  # an error where there are fewer than 20


def names_columns(check: Check) -> bool:
    """Whether its templates or its parameters have a column."""
    templates = " ".join(map(str, (check.sentences.passed, check.sentences.failed, check.sentences.measured)))
    chosen = {"attribute", "attributes", "column"} & check.parameters.model_fields.keys()
    return bool(chosen or re.search(r"\{(known|attribute)\b", templates))


def test_only_built_in_checks_are_asked_and_all_of_them() -> None:
    assert set(EXPECT) | OF_OTHERS == set(CHECKS)


@pytest.mark.long
@pytest.mark.parametrize("named", [False, True], ids=["names", "labels"])
@pytest.mark.parametrize("unit", [False, True], ids=["records", "patients"])
@pytest.mark.parametrize("name", SOME)
def test_numbers_nouns_and_verbs_agree(name: str, *, unit: bool, named: bool) -> None:
    result = outcomes(name, unit=unit, named=named)
    sentences = {text for one in result for text in (one.message, one.individual_impact)}
    assert len(sentences) > 60
    assert [(text, fault) for text in sentences for fault in FAULTS if re.search(fault, text)] == []


@pytest.mark.parametrize("unit", [False, True], ids=["records", "patients"])
@pytest.mark.parametrize("name", SOME)
def test_every_sentence_is_about_people_and_names_columns_by_their_labels(name: str, *, unit: bool) -> None:
    for one in (one for one in outcomes(name, unit=unit, named=True) if one.status is not Status.ERROR):
        for text in (one.message, one.individual_impact):
            assert not re.search(r"equivalence class|\bfigure\b|`|'(zip|x)'", text), text
        people = r"\b(person|people|No one)\b" if not unit else r"\b(person|people|records?)\b"
        assert re.search(people, one.message), one.message
        columns = [*LABELS.values(), *map(repr, one.known)]
        named = any(column in one.message for column in columns)
        without = not names_columns(CHECKS[one.check]) and re.search(ABOUT_COLUMNS, one.message)
        assert named or without, one.message


def test_every_check_says_what_it_means_for_one_person_and_what_it_asks() -> None:
    for one in CHECKS.values():
        is_distance = Need.HOLDOUT in one.needs and one.headline.comparison.higher_is_safer  # of no single person
        assert bool(one.sentences.impact) is not is_distance, one.name
        assert one.guide.question.endswith("?"), one.name
        assert one.guide.risk.endswith("."), one.name
        assert not re.search("`|class|distribution|quasi|anonymity|closeness", one.guide.question + one.guide.risk), (
            one.name
        )


@pytest.mark.parametrize("check", sorted(EXPECT.keys() - OF_MANY_RECORDS))
def test_every_check_is_evaluated_in_some_table(check: str) -> None:
    checked = [one for one in outcomes("three groups", unit=Need.UNIT in CHECKS[check].needs) if one.check == check]
    assert len(checked) == len(EXPECT[check])
    assert all(one.status is not Status.ERROR and one.message.endswith(".") for one in checked)


def test_a_unit_gives_groups_their_noun() -> None:
    sentences = [one.message for one in outcomes("three groups", unit=True) if one.check == "k_anonymity"]
    assert all("patient" in text for text in sentences)
