"""Individual risk of households: found alone, through a member, by the composition; and people of households alone."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from household_tables import T2, Figures, Person, audited, eusilc, generated, risk_of, table_of
from hypothesis import given, settings, strategies as st
from population_tables import shuffled

from tcdp_audit import PolicyError, audit
from tcdp_audit_plugins.checks._shared import households
from tcdp_audit_plugins.checks._shared.class_risks import benedetti_franconi

WHOLE: dict[str, Any] = {"sampling_fraction": 1}
ONE = {"conventions": {"known_rows": "one"}}
SUMS = ("expected", "unit_expected", "through_household", "by_composition")


def named(details: Any, names: Any) -> dict[str, Any]:
    return {name: details[name] for name in names}


@pytest.mark.parametrize("known_rows", [{}, ONE])
def test_the_households_of_the_definitions(known_rows: dict[str, Any]):
    one = risk_of(table_of(T2), **WHOLE, **known_rows)

    assert named(one.details, SUMS) == {
        "expected": 4,
        "unit_expected": Fraction(28, 9),
        "through_household": Fraction(56, 9),
        "by_composition": 6,
    }
    assert (one.observed, one.details["larger"]) == (float(Fraction(56, 9)), "through_household")
    assert (one.details["people"], one.details["households"], one.details["highest"]) == (9, 5, 1)
    assert one.message == (
        "Of 9 people, 4 are expected to be found by themselves, 6.22 through someone of their household and 6 by the "
        "composition of the household, if an intruder knows 'a'; the figure of those found through their household "
        "counts."
    )


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("ab")), min_size=1, max_size=14))
def test_every_figure_is_that_of_comparing_people_with_people(people: list[Person]):
    slow = Figures(people)
    demands = [{"individual_risk": {"measure": "expected"}}, {"k_anonymity": {"k": 2}}]
    risk, alike = audited(shuffled(table_of(people)), demands, **WHOLE).expectations

    assert named(risk.details, slow.risks) == slow.risks
    assert Fraction(risk.observed) == Fraction(float(max(slow.risks[one] for one in SUMS[2:])))
    if len(slow.homes) < len(people):  # a household joins rows
        assert named(alike.details, slow.details) == slow.details


def test_the_larger_figure_is_the_headline_and_each_can_be_asked_for():
    release = generated()
    figures = {
        one: risk_of(release, one, weight="weight") for one in ("expected", "through_household", "by_composition")
    }

    assert figures["expected"].details["larger"] == "by_composition"
    assert figures["expected"].observed == figures["by_composition"].observed
    assert figures["through_household"].observed == figures["expected"].details["through_household"]
    assert figures["by_composition"].title == "Individual risk, by composition"
    with pytest.raises(PolicyError, match="names no `household:`"):
        risk_of(release, "by_composition", household=None)


@pytest.mark.parametrize(
    ("at_most", "status"), [("56/9", "passed"), ("6.2222222222222222", "failed"), (9, "measured"), (8, "passed")]
)
def test_a_whole_population_is_compared_exactly(at_most: Any, status: str):
    one = risk_of(table_of(T2), at_most=at_most, **WHOLE)

    assert one.status.value == status
    assert ("counts; at most " in one.message) == (status == "failed")


def test_the_households_of_the_generator():
    risk, alike, alone = audited(
        generated(),
        [{"individual_risk": {"measure": "expected"}}, {"k_anonymity": {"k": 2}}, {"sample_uniqueness": {}}],
        weight="weight",
    ).expectations

    expected = {
        "expected": 0.265914,
        "unit_expected": 0.265900,
        "through_household": 0.731556,
        "by_composition": 89.999893,
        "households_by_composition": 27.907024,
    }
    assert named(risk.details, expected) == pytest.approx(expected, abs=5e-7)
    assert named(alike.details, ("people", "people_in_households_alone", "people_without_their_like")) == {
        "people": 4289,
        "people_in_households_alone": 2364,
        "people_without_their_like": 1933,
    }
    assert (alike.observed, alike.details["per_row"]["k"], alone.details["victims"]) == (1, 8, 716)
    assert alike.message.endswith(
        "2,364 of 4,289 people are in a household that no other is like, and 1,933 of them could be no one else."
    )
    assert "households with the same composition by" in alike.message


@pytest.mark.long
def test_sdcmicro_agrees_on_eu_silc(data: Path):
    demands = [{"individual_risk": {"measure": "expected", "at_most": 100}}, {"k_anonymity": {"k": 2}}]
    release = eusilc(data)
    risk, alike = audited(release, demands, weight="weight").expectations
    (rows,) = audited(release, [{"sample_uniqueness": {}}], weight="weight", **ONE).expectations

    expected = dict(zip(SUMS, (57.488023, 57.092131, 199.161777, 139.848050), strict=True))
    assert named(risk.details, expected) == pytest.approx(expected, abs=5e-7)
    assert (risk.details["larger"], risk.status.value) == ("through_household", "failed")
    assert (alike.details["people"], alike.details["people_in_households_alone"]) == (14827, 11444)
    assert rows.details["victims"] == 4109
    assert rows.details["people_in_a_household_with_one_alone"] == 8354


def test_weights_of_members_that_differ_need_one_of_the_household():
    release = table_of(T2, weight=[2.0, 3.0, 2.0, 2.0, 4.0, 4.0, 4.0, 5.0, 6.0])
    (one,) = audited(release, [{"individual_risk": {}}], weight="weight").expectations
    assert one.status.value == "error"
    assert one.message == (
        "cannot be evaluated: the weight 'weight' is not the same in all rows of 1 household; name the column with the "
        "weights of households as `household_weight:`"
    )
    (one,) = audited(release, [{"individual_risk": {}}], weight="weight", **ONE).expectations
    assert one.message.startswith("the weight 'weight' is not the same for all people of 1 households; name the column")

    both = release.append_column("w", pa.array([2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0, 5.0, 6.0]))
    one = risk_of(both, weight="weight", household_weight="w")
    by_composition = 4 * benedetti_franconi(np.array([2]), np.array([5.0])) + 2 * benedetti_franconi(
        np.array([2]), np.array([11.0])
    )
    alone = 3 * benedetti_franconi(np.array([1]), np.array([4.0]))
    assert one.details["by_composition"] == pytest.approx(float((by_composition + alone)[0]), rel=1e-14)


def test_people_with_several_rows_are_known_by_all_of_them():
    people = [("h1", "p"), ("h1", "p"), ("h1", "q"), ("h2", "r"), ("h2", "r"), ("h2", "s"), ("h3", "t"), ("h3", "u")]
    rows = [(home, known) for (home, _), known in zip(people, "xyxyxxxy", strict=True)]
    release = table_of(rows, person=[person for _, person in people])
    one = risk_of(release, **WHOLE, unit="person")

    # p and r: {x, y}; q, s and t: {x}; u: {y}. Households {xy, x} twice, and {x, y}.
    chance = 1 - Fraction(1, 2) * Fraction(2, 3)
    assert (one.details["people"], one.details["households"]) == (6, 3)
    assert one.details["expected"] == 3
    assert one.details["through_household"] == 2 * 2 * chance + 2
    assert one.details["by_composition"] == 2 * 2 * Fraction(1, 2) + 2


@pytest.mark.parametrize("weight", [-4.0, 0.0, None])
def test_a_weight_of_people_that_is_none_is_an_error(weight: float | None):
    people = [("h1", "x"), ("h1", "y"), ("h2", "x"), ("h2", "z")]
    weights = [weight, weight, 3.0, 3.0]
    release = table_of(people, person=list("ppqq"), weight=weights, w=[2.0] * 4)
    one = risk_of(release, at_most=1, weight="weight", household_weight="w", unit="person")
    assert (one.status.value, "the weight 'weight' must be a positive number" in one.message) == ("error", True)


def test_without_compositions_members_give_the_figure():
    release = pa.table({"home": ["1", "1", "2", "2"], "a": ["x", None, "x", "y"]})
    wildcard = {"conventions": {"missing_quasi_identifier": "wildcard", "known_rows": "one"}}
    one = risk_of(release, **WHOLE, **wildcard)

    # x is compatible with 3, the missing one with 4, y with 2
    first, second = 1 - Fraction(2, 3) * Fraction(3, 4), 1 - Fraction(2, 3) * Fraction(1, 2)
    assert (one.details["through_household"], "by_composition" in one.details) == (2 * first + 2 * second, False)
    assert one.message.startswith("Of 4 people, 1.42 are expected to be found by themselves and 2.33 through someone")
    refused = risk_of(release, "by_composition", **WHOLE, **wildcard)
    assert (refused.status.value, "have no composition" in refused.message) == ("error", True)


def test_beyond_many_compositions_sums_are_floats(monkeypatch: pytest.MonkeyPatch):
    exact = risk_of(table_of(T2), **WHOLE).details
    monkeypatch.setattr(households, "EXACT", 1)
    rounded = risk_of(table_of(T2), **WHOLE).details

    assert isinstance(rounded["through_household"], float)
    for name in ("through_household", "unit_expected", "unit_highest"):
        assert rounded[name] == pytest.approx(float(exact[name]), rel=1e-14)


def test_the_highest_risk_is_that_of_someone_in_a_household():
    one = risk_of(table_of(T2), "highest", at_most=0.5, **WHOLE)
    assert one.message == (
        "The highest risk that someone of a household is found is 100%, if an intruder knows 'a' of everyone in a "
        "household; at most 50% is allowed."
    )
    mean = risk_of(table_of(T2), "average", **WHOLE)
    assert mean.observed == float(Fraction(56, 81))


def test_with_one_row_known_a_household_that_is_alone_is_in_the_verdict():
    result = audited(generated(), [{"k_anonymity": {"k": 2}}], **ONE)
    (linked,) = (one for one in result.structure if one.check == "linked_rows")

    assert (linked.status.value, linked.severity.value, linked.details["columns"]) == ("failed", "warning", ["home"])
    assert linked.details["whole_histories"] == {"k": 1, "classes": 964, "alone": 716}
    assert (linked.details["people"], linked.details["people_in_households_alone"]) == (4289, 2364)
    assert "joins the rows of each household: 1,250 of 2,000 households have more than one" in linked.message
    (passed,) = result.expectations
    assert passed.details["people_in_a_household_with_one_alone"] == 0


# --- several tables --------------------------------------------------------------------------------------------------

DECLARED: dict[str, Any] = {
    "people": {
        "attributes": {
            "a": {"role": "quasi_identifier"},
            **{name: {"role": "insensitive", "scale": "numeric"} for name in ("weight", "home_weight")},
        }
    },
    "visits": {"belongs_to": "people", "attributes": {"month": {"role": "quasi_identifier"}}},
    "drugs": {"belongs_to": "visits", "by": "visit", "attributes": {"drug": {"role": "quasi_identifier"}}},
}
DEMANDS = [
    *({"individual_risk": {"measure": one}} for one in ("expected", "highest", "through_household", "by_composition")),
    {"k_anonymity": {"k": 2}},
]


def clinic(seed: int) -> tuple[dict[str, pa.Table], pa.Table]:
    """People with visits and drugs, in three tables, and in one with everything that is known of each as one value."""
    draw = random.Random(seed)  # noqa: S311 - the same tables every time
    people, visits, drugs, known = [], [], [], []
    for home in range(draw.randint(1, 6)):
        of_home = draw.randint(2, 9)
        for member in range(draw.randint(1, 3)):
            one = (f"{home}-{member}", str(home), draw.choice("ab"), draw.randint(1, 5), of_home)
            people.append(one)
            own = []
            for number in range(draw.choice([0, 1, 1, 2])):
                month, given = draw.choice("xy"), sorted(draw.choices("AB", k=draw.randint(0, 2)))
                visits.append((one[0], f"{one[0]}-{number}", month))
                drugs += [(visits[-1][1], drug) for drug in given]
                own.append((month, *given))
            known.append((one[1], repr((one[2], sorted(own))), *one[3:]))
    draw.shuffle(people)

    def table(names: str, rows: list[Any], **types: Any) -> pa.Table:
        return pa.table(
            {name: pa.array([row[n] for row in rows], types.get(name)) for n, name in enumerate(names.split())}
        )

    texts = dict.fromkeys(("person", "visit", "month", "drug"), pa.string())
    tables = {
        "people": table("person home a weight home_weight", people),
        "visits": table("person visit month", visits, **texts),
        "drugs": table("visit drug", drugs, **texts),
    }
    return tables, table("home a weight home_weight", known)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(one, marks=pytest.mark.long) for one in range(4, 16))])
@pytest.mark.parametrize("more", [WHOLE, {"weight": "weight", "household_weight": "home_weight"}])
def test_people_of_several_tables_are_those_of_one_with_everything_in_a_row(seed: int, more: dict[str, Any]):
    tables, flat = clinic(seed)
    policy = {"version": 1, "household": "home", "expect": DEMANDS, **more}
    of_tables = audit(tables, {**policy, "unit": "person", "tables": DECLARED}).expectations
    attributes = {**DECLARED["people"]["attributes"], "home": {"role": "insensitive"}}
    of_one = audit(flat, {**policy, "attributes": attributes}).expectations

    for actual, expected in zip(of_tables, of_one, strict=True):
        figures = {key: value for key, value in expected.details.items() if key not in ("per_row", "distribution")}
        assert {key: value for key, value in actual.details.items() if key in figures} == figures
        assert actual.observed == expected.observed
    if more == WHOLE:
        slow = Figures([*zip(flat["home"].to_pylist(), flat["a"].to_pylist(), strict=True)])
        assert named(of_tables[0].details, slow.risks) == slow.risks
        assert named(of_tables[-1].details, slow.details) == slow.details


def test_the_households_of_the_definitions_in_several_tables():
    rows = {"person": [str(n) for n in range(9)], "home": [one for one, _ in T2], "a": [one for _, one in T2]}
    tables = {"people": pa.table(rows), "visits": pa.table({"person": pa.array([], pa.string())})}
    declared = {"people": {"attributes": {"a": {"role": "quasi_identifier"}}}, "visits": {"belongs_to": "people"}}
    policy = {"version": 1, "unit": "person", "household": "home", "tables": declared, "expect": DEMANDS, **WHOLE}
    risk, *_, alike = audit(tables, policy).expectations
    assert named(risk.details, SUMS) == {
        "expected": 4,
        "unit_expected": Fraction(28, 9),
        "through_household": Fraction(56, 9),
        "by_composition": 6,
    }
    assert named(alike.details, ("people_in_households_alone", "people_alike")) == {
        "people_in_households_alone": 3,
        "people_alike": 1,
    }


def test_a_weight_that_differs_within_a_household_of_several_tables_is_no_weight_of_it():
    tables, _ = clinic(1)
    people = tables["people"]
    tables["people"] = people.set_column(3, "weight", pa.array(range(1, len(people) + 1)))
    policy = {"version": 1, "unit": "person", "household": "home", "tables": DECLARED, "expect": DEMANDS}
    risk, *_ = audit(tables, {**policy, "weight": "weight"}).expectations
    assert risk.status.value == "error"
    assert "household_weight" in risk.message


def test_a_person_in_two_households_is_an_error_where_one_table_has_rows_of_people():
    rows = {"person": ["p", "p", "q"], "home": ["1", "2", "2"], "a": ["x", "x", "x"]}
    declared = {"visits": {"belongs_to": "units", "attributes": {"a": {"role": "quasi_identifier"}}}}
    policy = {"version": 1, "unit": "person", "household": "home", "tables": declared, "expect": DEMANDS, **WHOLE}
    outcomes = audit({"visits": pa.table(rows)}, policy).expectations
    assert {one.status.value for one in outcomes} == {"error"}
    assert "1 units are in several households" in outcomes[0].message
