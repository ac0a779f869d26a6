"""What a lay reader asks of two reports on real data is answered without opening a fold, by figures computed anew."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from lay_samples import KNOWN, adult, census
from test_demo_report import visible_text

pytestmark = pytest.mark.long
QUASI_IDENTIFIERS = ["sex", "age", "race", "marital-status", "education", "native-country"]
NAMES = "sex, age, race, marital status, education and country of birth"
LEARN = "Attribute disclosure risk: an intruder can learn too much about the"
GUESS = "An intruder can guess a sensitive value"


@pytest.fixture(scope="module")
def adult_text(data) -> str:
    return visible_text(adult(data).render(".html"))


@pytest.fixture(scope="module")
def adult_answers(data) -> dict[str, str]:
    """Each question with the answer that the page must print."""
    table = pd.read_csv(data / "adult/adult.csv", dtype=str, keep_default_na=False)
    groups = table.groupby(QUASI_IDENTIFIERS)
    sizes = groups["age"].transform("size")
    jobs, incomes = groups["occupation"].transform("nunique"), groups["salary-class"].transform("nunique")
    too_small, few_jobs, one_income = sizes < 5, jobs < 2, incomes < 2
    exposed = int((too_small | few_jobs | one_income).sum())
    alone = unique_records(table)
    every = frozenset(QUASI_IDENTIFIERS)
    share = 100 * shapley("age", alone) / alone[every]
    people, per_group = len(table), len(table) / groups.ngroups
    return {
        "may it be published": "Not fit for release",
        "why": "3 of 5 demands fail, 1 warns",
        "how many people": f"{exposed:,} of {people:,} people ({100 * exposed / people:.1f}%) are exposed, each",
        "what happens to them": f"{LEARN} income class of {one_income.sum():,} people",
        "who is found": f"Re-identification risk: {too_small.sum():,} people can be identified too easily",
        "what else is learned": f"{LEARN} occupation of {few_jobs.sum():,} people",
        "what a neighbour uses": f"An intruder is taken to know a person’s {NAMES}, and nothing else.",
        "what is secret": "Must stay secret: occupation and income class.",
        "what should not be there": "No column is there that should not be.",
        "what next": f"Coarsen age first. It adds most to the risk ({share:.0f}%).",
        "with what effect": f"With it {alone[every]:,} people are unique, without it {alone[every - {'age'}]:,}.",
        "at what cost": "The cost is not known yet: the command finds it out, and writes no data.",
        "what was not examined": "What was not examined",
        "in particular": "Linkability Can records be matched with another file?",
        "what it rests on": "If a column has the wrong role in the policy, this verdict may be wrong.",
        "would it flip": "Two other ways to count several secrets change no result",
        "for one person": f"narrows them down to {sizes.min()} person in the smallest group, and to "
        f"{per_group:.2f} people on",
        "the chance to find": f"a guess is right with certainty there, and with a chance of 1 in {per_group:.0f} on",
        "who": "run by no name was given; audit again with --run-by NAME before you sign",
        "with what": "tcdp-audit 0.1.0, built-in plugins only",
        "how to verify": "tcdp-audit verify REPORT.html adult.csv",
        "which column": f"age {share:.0f}%",
    }


def unique_records(table: pd.DataFrame) -> dict[frozenset[str], int]:
    """How many records stand alone, by every subset of columns."""
    names = [frozenset(some) for size in range(7) for some in combinations(QUASI_IDENTIFIERS, size)]
    return {some: 0 if not some else int((table.groupby(sorted(some)).size() == 1).sum()) for some in names}


def shapley(name: str, score: dict[frozenset[str], int]) -> float:
    """What a column adds on average over all orders in which columns become known."""
    rest = [some for some in score if name not in some]
    weights = {some: factorial(len(some)) * factorial(5 - len(some)) / factorial(6) for some in rest}
    return sum(weights[some] * (score[some | {name}] - score[some]) for some in rest)


@pytest.fixture(scope="module")
def census_text(data) -> str:
    return visible_text(census(data).render(".html"))


@pytest.fixture(scope="module")
def census_answers(data) -> dict[str, str]:
    original = pd.read_csv(data / "casc/census.csv").astype(float)
    released = pd.read_csv(data / "casc/census_masked/mdav_k3.csv").astype(float)
    linked = correct_links(standard(released[[*KNOWN]]), standard(original[[*KNOWN]]))
    near = (released["POTHVAL"] - original["POTHVAL"]).abs() <= 0.1 * original["POTHVAL"].std()
    people = len(original)
    return {
        "may it be published": "Not fit for release",
        "why": "2 of 3 demands fail",
        "how many people": f"An intruder can identify {linked:.0f} of {people:,} people, where at most 5% is allowed",
        "what happens to them": f"{GUESS} of {near.sum()} of {people:,} people, where at most 20%",
        "are they the same people": "There is no single number of people:",
        "what a neighbour uses": "a person’s AFNLWGT, AGI, EMCONTRB, FEDTAX, PTOTVAL and STATETAX, and nothing else.",
        "what is secret": "Must stay secret: TAXINC, POTHVAL, INTVAL, PEARNVAL, FICA, WSALVAL and ERNVAL.",
        "what should not be there": "No column is there that should not be.",
        "what next": f"Distance-based record linkage: {100 * linked / people:.1f}%, where at most 5% is allowed",
        "which column": "Coarsen any column that a neighbour may know. They add about the same to the risk",
        "at what cost": "The cost is not known yet: the command finds it out, and writes no data.",
        "what was not examined": "Singling out Can one person be picked out of the file? Not asked by this policy.",
        "would it flip": "change no result; the other assumptions below were not varied.",
        "for one person": f"is right with a chance of {100 * near.mean():.1f}%",
        "the chance to find": f"finds the right record with a chance of {100 * linked / people:.1f}%",
        "and without the file": f"guessing is right with a chance of 1 in {people:,}",
        "how to verify": "tcdp-audit verify REPORT.html mdav_k3.csv",
    }


def standard(table: pd.DataFrame) -> np.ndarray:
    """Each column by its own mean and standard deviation."""
    return ((table - table.mean()) / table.std()).to_numpy()


def correct_links(released: np.ndarray, original: np.ndarray) -> float:
    """Released records whose nearest original is their own; of t that tie for it, 1/t."""
    distances = ((released[:, None, :] - original[None, :, :]) ** 2).sum(axis=2)
    nearest = distances <= distances.min(axis=1, keepdims=True) + 1e-12
    return float((np.diag(nearest) / nearest.sum(axis=1)).sum())


@pytest.mark.parametrize("which", ["adult", "census"])
def test_every_question_is_answered_on_the_page(which, request):
    text = request.getfixturevalue(f"{which}_text")
    answers = request.getfixturevalue(f"{which}_answers")
    assert {question: answer for question, answer in answers.items() if answer not in text} == {}
