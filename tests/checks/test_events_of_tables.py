"""Known events and unicity over several tables: printed figures, and plain Python over every choice of rows."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from history_tables import f1

from tcdp_audit import Outcome, PolicyError, audit

KNOWN = {"role": "quasi_identifier", "scale": "nominal"}
SECRET = {"role": "sensitive", "scale": "nominal"}
Rows = Sequence[tuple[Any, ...]]


def table(names: str, rows: Rows) -> pa.Table:
    return pa.table({name: pa.array([row[place] for row in rows]) for place, name in enumerate(names.split())})


def policy(*expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "patient",
        "tables": {
            "patients": {"attributes": {"sex": KNOWN}},
            "visits": {
                "belongs_to": "patients",
                "time": "month",
                "attributes": {"month": {**KNOWN, "scale": "numeric"}, "illness": SECRET},
            },
            "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": KNOWN}},
        },
        "expect": list(expect),
        **more,
    }


def tables_of(patients: Rows, visits: Rows, drugs: Rows) -> dict[str, pa.Table]:
    return {
        "patients": table(" ".join(["patient", "sex", "home"][: len(patients[0])]), patients),
        "visits": table("patient visit month illness", visits),
        "drugs": table("visit drug", drugs),
    }


def outcome_of(tables: Mapping[str, Any], demand: Mapping[str, Any], **more: Any) -> Outcome:
    (outcome,) = audit(tables, policy(demand, **more)).expectations
    return outcome


# T3: every drug was given to five patients, and in each month; q alone has B in January and A in February
DRAWN = {"p": ("A", "B"), "q": ("B", "A"), "r": ("A", "B"), "t": ("AB", ""), "u": ("AB", "")}
PATIENTS = [(one, "f") for one in DRAWN]
VISITS = [(one, f"{one}{month}", month, "flu") for one in DRAWN for month in (1, 2)]
T3 = tables_of(
    PATIENTS,
    VISITS,
    [(f"{one}{month}", drug) for one, of in DRAWN.items() for month in (1, 2) for drug in of[month - 1]],
)


def test_of_three_tables_only_the_last_one_singles_out() -> None:
    visits = outcome_of(T3, {"known_events": {"table": "visits", "k": 2}})
    assert (visits.observed, visits.details["events"], visits.details["table"]) == (5, 10, "visits")
    drugs = outcome_of(T3, {"known_events": {"table": "drugs", "k": 2}})
    assert drugs.observed == 1
    assert drugs.details["smallest_knowledge"] == {"0": 0, "1": 1, "2": 0, "none": 4}  # (feb, A) is q's
    assert "'patients.sex', 'visits.month' and 'drugs.drug'" in drugs.message
    assert "'drugs.drug'" not in outcome_of(T3, {"known_events": {"table": "visits", "k": 9}}).message
    chance = outcome_of(T3, {"unicity": {"table": "drugs", "points": [1, 2], "at_most": 0}})
    assert [one["unicity"] for one in chance.details["chances"]] == [Fraction(1, 10), Fraction(1, 5)]


def test_one_table_of_rows_equals_a_release_of_one_table() -> None:
    rows = [(str(row.unit), *(str(one) for one in row.label)) for row in f1().rows]
    flat, attributes = table("patient month ward", rows), {"month": KNOWN, "ward": KNOWN}
    demand = {"known_events": {"m": 3, "k": 5}}
    of_one = {"version": 1, "unit": "patient", "attributes": attributes, "expect": [demand]}
    of_rows = {"version": 1, "unit": "patient", "expect": [demand]}
    for declared, given in (
        ({"visits": {"belongs_to": "units", "attributes": attributes}}, {"visits": flat}),
        (
            {"people": {}, "visits": {"belongs_to": "people", "attributes": attributes}},
            {"visits": flat, "people": table("patient", [(one,) for one in sorted({row[0] for row in rows})])},
        ),
    ):
        (outcome,) = audit(given, {**of_rows, "tables": declared}).expectations
        (expected,) = audit(flat, of_one).expectations
        details = {key: value for key, value in outcome.details.items() if key != "table"}
        assert (outcome.observed, outcome.records, details) == (expected.observed, expected.records, expected.details)
        assert [one["alone"] for one in details["sizes"]] == [0, 0, 618]


@pytest.mark.parametrize(
    "demand",
    [
        {"m": 2, "tolerance": {"month": 1}},
        {"m": 3, "order": "sequence"},
        {"window": 2},
        {"m": 2, "repeats": "ignored", "C": 0.8, "attribute": "illness"},
        {"m": 2, "attributes": ["month"]},
    ],
)
def test_visits_next_to_patients_equal_visits_that_repeat_what_is_known_of_these(demand: Mapping[str, Any]) -> None:
    rows = drawn_tables(7)
    sex = {one[0]: one[1] for one in rows["patients"]}
    having = {one[0] for one in rows["visits"]}
    tables = {
        "patients": table("patient sex", [one for one in sex.items() if one[0] in having]),
        "visits": table("patient visit month illness", rows["visits"]),
    }
    declared = policy({"known_events": {"k": 2, **demand}})
    del declared["tables"]["drugs"]
    (outcome,) = audit(tables, declared).expectations
    visits = declared["tables"]["visits"]["attributes"]
    flat = table("patient month illness sex", [(one[0], one[2], one[3], sex[one[0]]) for one in rows["visits"]])
    of_one = {key: value for key, value in declared.items() if key != "tables"}
    attributes = {**visits, "sex": {**KNOWN, "of": "unit"}}
    (expected,) = audit(flat, {**of_one, "time": "month", "attributes": attributes}).expectations
    remaining = {key: one for key, one in expected.details.items() if key != "sensitive"}
    assert {key: one for key, one in outcome.details.items() if key not in ("sensitive", "table")} == remaining
    assert (outcome.status, outcome.observed, outcome.records) == (expected.status, expected.observed, expected.records)


@pytest.mark.parametrize(
    ("demand", "sentence"),
    [
        ({"known_events": {"k": 2}}, "open whose rows"),
        ({"known_events": {"k": 2, "table": "patients"}}, "no table whose rows are events of units; say one of visits"),
        ({"unicity": {"table": "drug"}}, "no table whose rows"),
        ({"unicity": {"table": "members"}}, "no `household:`"),
        ({"known_events": {"k": 2, "table": "drugs", "window": 3}}, "needs the times"),
        ({"known_events": {"k": 2, "table": "visits", "m": 1, "tolerance": {"drug": 3}}}, "not the time"),
    ],
)
def test_a_demand_names_the_table_of_its_events(demand: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        audit(T3, policy(demand))


@pytest.mark.parametrize(
    ("named", "sentence"),
    [("drug", "no column of 'visits'"), ("sex", "no column of 'visits'"), ("visit", "joins the rows")],
)
def test_only_columns_of_the_events_are_known_of_one(named: str, sentence: str) -> None:
    declared = policy({"known_events": {"table": "visits", "k": 2, "attributes": [named]}})
    declared["tables"]["visits"]["attributes"]["visit"] = {"role": "insensitive"}
    with pytest.raises(PolicyError, match=sentence):
        audit(T3, declared)


def test_tables_that_no_demand_judges_are_named_before_a_release_passes() -> None:
    result = audit(T3, policy({"known_events": {"table": "visits", "k": 2}}))
    (linked,) = (one for one in result.outcomes if one.check == "linked_rows")
    assert linked.status == "failed"
    assert "which no demand judges" in linked.message
    assert result.as_json()["verdict"]["title"].startswith("Fit for people of whom one row is known")
    harmless = tables_of(PATIENTS, VISITS, [(visit, "A") for _, visit, _, _ in VISITS])
    (of_drugs, of_visits) = ({"known_events": {"table": one, "k": 2}} for one in ("drugs", "visits"))
    assert audit(harmless, policy(of_drugs)).as_json()["verdict"]["title"].startswith("Fit for people of whom")
    result = audit(harmless, policy(of_drugs, of_visits))
    assert result.as_json()["verdict"]["title"] == "Fit, but nothing is demanded of 'visits.illness'"


# --- plain Python ----------------------------------------------------------------------------------------------------


def drawn_tables(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    draw = random.Random(seed)  # noqa: S311 - the same tables every time
    patients = [(f"u{one}", draw.choice("fm"), f"h{draw.randrange(4)}") for one in range(draw.randint(1, 7))]
    visits = [
        (one[0], f"{one[0]}-{number}", draw.randint(1, 3), draw.choice(["flu", "gout", None]))
        for one in patients
        for number in range(draw.randint(0, 3))
    ] or [(patients[0][0], "v", 1, "flu")]
    drugs = [(one[1], draw.choice("AB")) for one in visits for _ in range(draw.randint(0, 2))] or [(visits[0][1], "A")]
    for rows in (patients, visits, drugs):
        draw.shuffle(rows)
    return {"patients": patients, "visits": visits, "drugs": drugs}


def supporters(
    history: Mapping[str, Counter[Any]], static: Mapping[str, Any], unit: str, some: Counter[Any]
) -> set[str]:
    return {one for one, own in history.items() if static[one] == static[unit] and not some - own}


def slowly(
    events: Sequence[tuple[str, Any]], static: Mapping[str, Any], secrets: Mapping[str, set[str]], m: int
) -> dict[str, Any]:
    """k, the largest share of a value, and the unicity by m events, over every choice of rows."""
    of_unit: dict[str, list[Any]] = {one: [] for one in static}
    for unit, label in events:
        of_unit[unit].append(label)
    history = {one: Counter(own) for one, own in of_unit.items()}
    least, share, chances = len(static), Fraction(0), []
    for unit, own in of_unit.items():
        for size in range(min(m, len(own)) + 1):
            choices = [supporters(history, static, unit, Counter(some)) for some in combinations(own, size)]
            if size == min(m, len(own)):
                least = min(least, *map(len, choices))
                chances.append(Fraction(sum(len(one) == 1 for one in choices), len(choices)))
            if size or not own:
                for one in choices:
                    held = Counter(value for who in one for value in secrets[who])
                    share = max([share, *(Fraction(times, len(one)) for times in held.values())])
    return {"k": least, "confidence": share, "unicity": sum(chances, Fraction(0)) / len(chances)}


def figures_of(tables: Mapping[str, Any], name: str, m: int, **more: Any) -> dict[str, Any]:
    given = {"table": name, "m": m, "k": 2, "attribute": "illness"}
    known, chance = audit(
        tables, policy({"known_events": given}, {"unicity": {"table": name, "points": m}}, **more)
    ).expectations
    return {
        "k": known.observed,
        "confidence": known.details.get("confidence", Fraction(0)),
        "unicity": chance.details["chances"][0]["unicity"],
    }


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(one, marks=pytest.mark.long) for one in range(6, 20))])
def test_random_tables_equal_plain_python(seed: int) -> None:
    rows = drawn_tables(seed)
    tables = tables_of(**rows)
    sex = {one[0]: one[1] for one in rows["patients"]}
    home = {one[0]: one[2] for one in rows["patients"]}
    of_visit = {one[1]: one for one in rows["visits"]}
    secrets: dict[str, set[str]] = {one: set() for one in sex}
    of_home = defaultdict[str, set[str]](set)
    for patient, _, _, illness in rows["visits"]:
        secrets[patient] |= {illness} - {None}
        of_home[home[patient]] |= {illness} - {None}
    events = {
        "visits": [(one[0], one[2]) for one in rows["visits"]],
        "drugs": [(of_visit[visit][0], (of_visit[visit][2], drug)) for visit, drug in rows["drugs"]],
    }
    m = 1 + seed % 3
    for name, own in events.items():
        assert figures_of(tables, name, m) == slowly(own, sex, secrets, m), name
    homes = dict.fromkeys(sorted({*home.values()}))
    members = [(home[one], sex[one]) for one in sex]
    actual = figures_of(tables, "members", m, household="home")
    assert actual == slowly(members, homes, {one: of_home[one] for one in homes}, m)
    assert figures_of(tables, "visits", m, household="home") == slowly(events["visits"], sex, secrets, m)
