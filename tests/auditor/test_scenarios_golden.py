"""The golden numbers of docs/scenarios.md: ten people by plain Python, and every figure of three intruders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from io import StringIO
from math import log
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from tcdp_audit import Audit, audit

PAGE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
COLUMNS = ("age", "sex", "region", "job", "disease", "pay")
PEOPLE = [
    dict(zip(COLUMNS, line.split(), strict=True))
    for line in (
        "30 f north nurse flu 2",
        "30 f north nurse asthma 3",
        "30 f south clerk flu 2",
        "30 m north clerk flu 4",
        "30 m south clerk asthma 4",
        "50 f north nurse asthma 3",
        "50 f south clerk ulcer 5",
        "50 m north driver ulcer 1",
        "50 m north driver flu 1",
        "50 m south driver ulcer 2",
    )
]
REGISTER = {("f", "north"): 7, ("f", "south"): 4, ("m", "north"): 5, ("m", "south"): 4}
KNOWS = {"neighbour": ("age", "sex"), "colleague": ("age", "job"), "insurer": ("sex", "region")}
ATTEMPT = {"neighbour": Fraction(1, 2), "colleague": Fraction(1), "insurer": Fraction(1, 5)}
KNOWN_FRACTION = {"neighbour": Fraction(1), "colleague": Fraction(3, 10), "insurer": Fraction(1)}
AT_STAKE = {"neighbour": ("disease", "pay"), "colleague": ("pay",), "insurer": ("disease",)}


def classes(knows: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
    """The people of each class, by their numbers."""
    grouped: dict[tuple[str, ...], list[int]] = {}
    for number, person in enumerate(PEOPLE):
        grouped.setdefault(tuple(person[name] for name in knows), []).append(number)
    return grouped


def diversity(knows: Sequence[str], secret: str) -> int:
    return min(len({PEOPLE[one][secret] for one in people}) for people in classes(knows).values())


def closeness(knows: Sequence[str], secret: str) -> Fraction:
    """Half of the sum of absolute differences, in the class that is furthest."""
    whole = Counter(person[secret] for person in PEOPLE)
    distances = []
    for people in classes(knows).values():
        own = Counter(PEOPLE[one][secret] for one in people)
        differences = (abs(Fraction(own[one], len(people)) - Fraction(whole[one], len(PEOPLE))) for one in whole)
        distances.append(sum(differences, Fraction(0)) / 2)
    return max(distances)


def risks(name: str) -> list[Fraction]:
    """The risk of each person once the attack is tried: one over the people who may be meant."""
    sizes = {}
    for cells, people in classes(KNOWS[name]).items():
        sizes |= dict.fromkeys(people, REGISTER[cells] if name == "insurer" else len(people))  # type: ignore[index]
    return [Fraction(1, sizes[number]) for number in range(len(PEOPLE))]


def individual(knows: Sequence[str]) -> list[float]:
    """Benedetti and Franconi's risks of a sample of one half."""
    by_size = {1: log(2), 2: 1 - log(2), 3: 0.5 / (3 - 0.5)}
    return [by_size[len(people)] for people in classes(knows).values() for _ in people]


def exposed(name: str) -> set[int]:
    """The people in classes of fewer than three, or with fewer than two values of what is at stake."""
    alone = set[int]()
    for people in classes(KNOWS[name]).values():
        values = [{PEOPLE[one][secret] for one in people} for secret in AT_STAKE[name]]
        if len(people) < 3 or any(len(one) < 2 for one in values):
            alone |= {*people}
    return alone


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """The audit of the page's files."""
    folder = tmp_path_factory.mktemp("ten")
    parts = {part.split("\n", 1)[0]: part.split("\n", 1)[1].split("```")[0] for part in PAGE.split("\n# ")[1:]}
    for name in ("ten.csv", "register.csv", "ten.tcdp.yaml"):
        (folder / name).write_text(parts[name], encoding="utf-8")
    frame = pd.read_csv(StringIO(parts["ten.csv"]), dtype=str)
    assert frame.to_dict("records") == PEOPLE
    register = pd.read_csv(StringIO(parts["register.csv"]))
    assert Counter(register.itertuples(index=False, name=None)) == REGISTER
    declared = yaml.safe_load(parts["ten.tcdp.yaml"])["scenarios"]
    assert {name: tuple(one["knows"]) for name, one in declared.items()} == KNOWS
    return audit(folder / "ten.csv", folder / "ten.tcdp.yaml")


def observed(result: Audit, check: str, name: str, attribute: str | None = None, **parameters: Any) -> float:
    """The figure of the only outcome of a check in a scenario with these parameters."""
    outcomes = [
        one
        for one in result.expectations
        if (one.check, one.scenario, one.attribute) == (check, name, attribute)
        and all(one.parameters.get(key) == value for key, value in parameters.items())
    ]
    assert len(outcomes) == 1
    assert outcomes[0].observed is not None
    return outcomes[0].observed


@pytest.mark.parametrize(("name", "k"), [("neighbour", 2), ("colleague", 1), ("insurer", 2)])
def test_class_sizes(result: Audit, name: str, k: int) -> None:
    assert min(map(len, classes(KNOWS[name]).values())) == k
    assert observed(result, "k_anonymity", name) == k


def test_class_sizes_in_the_register(result: Audit) -> None:
    assert observed(result, "k_map", "insurer") == min(REGISTER.values()) == 4


def test_a_set_of_columns(result: Audit) -> None:
    assert min(map(len, classes(("age", "region")).values())) == 2
    assert observed(result, "k_anonymity", "knows age and region") == 2


@pytest.mark.parametrize(
    ("name", "secret", "values"),
    [("neighbour", "disease", 2), ("neighbour", "pay", 1), ("colleague", "pay", 1), ("insurer", "disease", 2)],
)
def test_different_values(result: Audit, name: str, secret: str, values: int) -> None:
    assert diversity(KNOWS[name], secret) == values
    assert observed(result, "distinct_l_diversity", name, secret) == values


@pytest.mark.parametrize("name", ["neighbour", "insurer"])
def test_closeness(result: Audit, name: str) -> None:
    assert closeness(KNOWS[name], "disease") == Fraction(2, 5)
    assert observed(result, "t_closeness", name, "disease") == float(Fraction(2, 5))


def test_highest_risk(result: Audit) -> None:
    assert ATTEMPT["neighbour"] * max(risks("neighbour")) == Fraction(1, 4)
    assert observed(result, "reidentification_risk", "neighbour", measure="highest") == 0.25


@pytest.mark.parametrize(
    ("name", "average"),
    [("neighbour", Fraction(1, 5)), ("colleague", Fraction(3, 20)), ("insurer", Fraction(71, 1750))],
)
def test_average_risk(result: Audit, name: str, average: Fraction) -> None:
    own = risks(name)
    assert ATTEMPT[name] * KNOWN_FRACTION[name] * sum(own, Fraction(0)) / len(own) == average
    assert observed(result, "reidentification_risk", name, measure="average") == float(average)


@pytest.mark.parametrize(("name", "share"), [("neighbour", Fraction(2, 5)), ("colleague", Fraction(1))])
def test_share_above_compares_the_risk_of_an_attempt(result: Audit, name: str, share: Fraction) -> None:
    above = sum(ATTEMPT[name] * one > Fraction(1, 5) for one in risks(name))
    assert Fraction(above, len(PEOPLE)) == share
    assert observed(result, "reidentification_risk", name, measure="share_above") == float(share)


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("neighbour", lambda: 1 / 2 * (6 / 5 + 4 * (1 - log(2)))),
        ("colleague", lambda: 3 / 10 * (6 / 5 + 2 * log(2) + 2 * (1 - log(2)))),
    ],
)
def test_expected_reidentifications(result: Audit, name: str, by_hand: Callable[[], float]) -> None:
    expected = float(ATTEMPT[name] * KNOWN_FRACTION[name]) * sum(individual(KNOWS[name]))
    assert expected == pytest.approx(by_hand())
    assert observed(result, "individual_risk", name) == pytest.approx(expected)


def test_people_exposed_are_those_of_the_union(result: Audit) -> None:
    each = {name: exposed(name) for name in KNOWS}
    assert {name: len(people) for name, people in each.items()} == dict.fromkeys(KNOWS, 4)

    assert {one.name: one.exposed.people for one in result.scenarios if one.exposed is not None} == dict.fromkeys(
        KNOWS, 4
    )
    assert result.exposed is not None
    assert result.exposed.people == len(set.union(*each.values())) == 8
    assert sorted(Counter(one for people in each.values() for one in people).values()) == [1] * 5 + [2, 2, 3]


def test_factors_and_the_risk_without_them_are_in_the_outcome(result: Audit) -> None:
    (outcome,) = (one for one in result.expectations if one.scenario == "insurer" and "success" in one.details)
    assert outcome.details["attempt"] == Fraction(1, 5)
    assert outcome.details["success"]["highest"] == Fraction(1, 4)
    assert outcome.details["success"]["average"] == Fraction(71, 350)
    assert outcome.details["highest"] == Fraction(1, 20)
