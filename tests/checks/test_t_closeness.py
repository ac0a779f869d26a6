"""t-closeness in an audit: the papers' numbers, what a policy may ask, what an outcome says, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow.csv import read_csv

from tcdp_audit import Outcome, PolicyError, Status, audit, measure

DISTANCES = (
    "equal",
    "ordered",
    "numeric",
    "hierarchical",
    "multiplicative",
    "kullback_leibler",
    "jensen_shannon",
)
LETTERS = {"*": {"x": {"u": ["10", "20"], "v": ["30"]}, "y": {"w": ["45", "100"]}}}
PLACES = {"place": {"role": "quasi_identifier"}}


def _audited(
    table: Any,
    declaration: Mapping[str, Any],
    *expectations: Mapping[str, Any],
    conventions: Mapping[str, Any] | None = None,
    quasi_identifiers: Mapping[str, Any] | None = None,
    shards: int | None = None,
) -> tuple[Outcome, ...]:
    policy = {
        "version": 1,
        "attributes": {**(quasi_identifiers or PLACES), "answer": {"role": "sensitive", **declaration}},
        "conventions": dict(conventions or {}),
        "expect": [{"t_closeness": dict(one)} for one in expectations],
    }
    return audit(table, policy, shards=shards).expectations


def _table(counts: list[list[int]], labels: list[Any]) -> pa.Table:
    classes, values = np.nonzero(np.array(counts))
    times = np.array(counts)[classes, values]
    places = [f"p{one}" for one in np.repeat(classes, times)]
    return pa.table({"place": places, "answer": np.array(labels)[np.repeat(values, times)]})


# The papers' numbers


@pytest.mark.parametrize(
    ("table", "reference", "figures"),
    [
        ("li07_table4", "release", [Fraction(4, 9), Fraction(8, 27), Fraction(8, 27)]),
        ("li07_table5", "release", [Fraction(8, 27), Fraction(7, 27), Fraction(5, 27)]),
        ("li07_table4", "declared", [Fraction(1, 2), Fraction(5, 18), Fraction(5, 18)]),
        ("li07_table5", "declared", [Fraction(5, 18)] * 3),
    ],
)
def test_diseases_of_li_2007_by_definition_and_as_printed(table: str, reference: str, figures: list[Fraction]):
    """The printed 0.5 and 0.278 need a reference that is uniform over the six diseases; by definition it is 8/27."""
    papers = Path(__file__).parents[2] / "examples" / "papers"
    disease = {
        "role": "sensitive",
        "hierarchy": str(papers / "li07_disease_hierarchy.csv"),
        "distribution": "uniform",
    }
    worst = figures[0]

    def outcome(t: Fraction | None) -> Outcome:
        roles = {"zip": "quasi_identifier", "age": "quasi_identifier", "salary": "insensitive"}
        policy = {
            "version": 1,
            "attributes": {"disease": disease, **{name: {"role": role} for name, role in roles.items()}},
            "conventions": {"reference": reference},
            "expect": [{"t_closeness": {"distance": "hierarchical", "t": t}}],
        }
        return audit(papers / f"{table}.csv", policy).expectations[0]

    assert [one.value for one in outcome(None).worst] == [float(figure) for figure in figures]
    assert outcome(worst).status is Status.PASSED
    assert outcome(worst - Fraction(1, 10**15)).status is Status.FAILED


def test_120_000_records_in_classes_of_60_000():
    """0.65, 0.15, 0.2 and 0 of 60,000 in {a, b}, {c, d}: 0.35 from uniform, where 32-bit products overflow."""
    counts = [[39_000, 9_000, 12_000, 0], [0, 0, 30_000, 30_000]]
    declaration = {"hierarchy": {"*": {"x": ["a", "b"], "y": ["c", "d"]}}, "distribution": "uniform"}
    table = _table(counts, ["a", "b", "c", "d"])

    def outcome(t: str, reference: str) -> Outcome:
        asked = {"distance": "hierarchical", "t": t}
        return _audited(table, declaration, asked, conventions={"reference": reference})[0]

    uniform = outcome("1/2", "declared")
    assert [one.value for one in uniform.worst] == [0.5, 0.35]
    assert uniform.status is Status.PASSED
    # q = (0.325, 0.075, 0.35, 0.25): both levels are 0.4 from either class
    own = outcome("0.4", "release")
    assert [one.value for one in own.worst] == [0.4, 0.4]
    assert own.status is Status.PASSED
    assert outcome("0.399999999999", "release").classes == own.classes.__class__(2, 2)


@pytest.mark.parametrize(("t", "status"), [("3/2", Status.PASSED), ("1.499999999999", Status.FAILED)])
def test_multiplicative_of_figure_2_of_domingo_ferrer_2015(t: str, status: Status):
    counts = [[2, 1, 1], [1, 2, 1], [1, 1, 2]]
    outcome = _audited(_table(counts, ["a", "b", "c"]), {}, {"distance": "multiplicative", "t": t})[0]

    assert (outcome.observed, outcome.status) == (1.5, status)


def test_measure_takes_a_hierarchy_and_a_distribution():
    papers = Path(__file__).parents[2] / "examples" / "papers"

    def observed(**given: Any) -> float | None:
        return measure(
            "t_closeness",
            papers / "li07_table4.csv",
            quasi_identifiers=["zip", "age"],
            attribute="disease",
            distance="hierarchical",
            hierarchy=str(papers / "li07_disease_hierarchy.csv"),
            **given,
        ).observed

    assert observed() == 4 / 9
    assert observed(distribution="uniform", conventions={"reference": "declared"}) == 1 / 2


# What a policy may ask


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"distance": "multiplicative", "t": 0.2}, "t: must be at least 1 for the multiplicative distance"),
        ({"distance": "equal", "t": 1.5}, "t: must be at most 1 for the equal distance"),
        ({"distance": "hierarchical", "t": 2}, "t: must be at most 1 for the hierarchical distance"),
        ({"t": -0.1}, "t: must be at least 0"),
        (
            {"distance": "kullback_leibler", "t": 0.5},
            "t: the Kullback-Leibler divergence is a measure without a threshold; leave out t",
        ),
        ({"distance": "jensen_shannon", "t": 0}, "t: the Jensen-Shannon divergence is a measure without a threshold"),
    ],
)
def test_t_must_suit_the_distance(asked: dict[str, Any], message: str):
    declaration = {"scale": "numeric", "hierarchy": LETTERS}
    with pytest.raises(PolicyError, match=message):
        _audited(_table([[1, 1]], [10, 20]), declaration, asked)


@pytest.mark.parametrize(
    ("declaration", "distance", "message"),
    [
        ({}, "numeric", "t-closeness, numeric distance needs 'answer' to be numeric; declare it, for example"),
        ({"scale": "ordinal", "order": ["10", "20"]}, "numeric", "needs 'answer' to be numeric"),
        ({}, "hierarchical", "t-closeness, hierarchical distance needs a hierarchy of 'answer'; add `hierarchy: "),
        ({"scale": "nominal"}, "ordered", "needs 'answer' to be numeric or ordinal"),
    ],
)
def test_a_distance_asks_for_what_it_needs(declaration: dict[str, Any], distance: str, message: str):
    with pytest.raises(PolicyError) as caught:
        _audited(_table([[1, 1]], ["10", "20"]), declaration, {"distance": distance})
    assert message in str(caught.value)


# What an outcome says


def _reported(asked: Mapping[str, Any], counts: list[list[int]], **declaration: Any) -> str:
    return _audited(_table(counts, [10, 20, 30][: len(counts[0])]), declaration, asked)[0].message


def test_the_sentence_names_the_furthest_class_and_who_is_beyond_t():
    counts = [[1, 1], [1, 1], [2, 0]]

    assert _reported({"distance": "equal"}, counts) == (
        "The mix of 'answer' in the furthest of 3 groups, of 2 records, differs from the whole table by "
        "0.333 (equal distance); the policy sets no threshold."
    )
    assert _reported({"distance": "equal", "t": 0.4}, counts) == (
        "Every record is in a group whose mix of 'answer' differs from the whole table by at most 0.4 "
        "(equal distance); the furthest of 3 groups differs by 0.333."
    )
    assert _reported({"distance": "numeric", "t": 0.2}, counts, scale="numeric") == (
        "2 of 6 records are in a group whose mix of 'answer' differs from the whole table by more than 0.2 (numeric "
        "distance); the furthest differs by 0.333."
    )


def test_the_sentence_shows_the_digits_that_tell_figure_and_threshold_apart():
    assert _reported({"t": "0.3333333"}, [[1, 1], [1, 1], [2, 0]]) == (
        "2 of 6 records are in a group whose mix of 'answer' differs from the whole table by more than "
        "0.3333333 (equal distance); the furthest differs by 0.33333333."
    )


def test_an_infinite_distance_comes_with_its_reason_and_remedy():
    assert _reported({"distance": "multiplicative", "t": 3}, [[2, 1, 1], [1, 2, 0], [3, 0, 0]]) == (
        "6 of 10 records are in 2 groups whose mix of 'answer' differs from the whole table by more than"
        " 3 (multiplicative distance); the furthest differs without bound. 2 groups lack a "
        "value that the whole table has; merge rare values into buckets (bucketisation), so that every "
        "group can have each of them."
    )


def test_a_class_without_any_value_is_reported():
    table = pa.table({"place": ["a", "a", "b"], "answer": ["10", "20", None]})
    outcome = _audited(table, {}, {"t": 1})[0]

    assert (outcome.status, outcome.observed) == (Status.FAILED, inf)
    assert outcome.message.endswith(
        "In 1 group, of 1 record, no one has a value of 'answer'; it counts as failing, as there is nothing to "
        "compare. Every other group keeps the demand."
    )


def test_a_value_that_the_reference_lacks_is_reported():
    declaration = {"distribution": {"10": 1, "20": 1}}
    table = _table([[1, 1, 0], [1, 1, 1]], ["10", "20", "30"])
    asked = ({"distance": "kullback_leibler"}, {"distance": "multiplicative", "t": 5})
    divergence, ratio = _audited(table, declaration, *asked, conventions={"reference": "declared"})

    assert divergence.observed == inf
    assert divergence.message.endswith(" 1 group has a value that the declared distribution lacks.")
    assert (
        " 1 group lacks a value that the declared distribution has (or has one that it lacks); merge" in ratio.message
    )
    assert ratio.classes is not None
    assert ratio.classes.failing == 1


def test_each_distance_has_its_title():
    outcomes = _audited(
        _table([[1, 1]], [10, 20]),
        {"scale": "numeric", "hierarchy": LETTERS},
        *({"distance": distance} for distance in DISTANCES),
    )

    assert [one.title for one in outcomes] == [
        "t-closeness, equal distance",
        "t-closeness, ordered distance",
        "t-closeness, numeric distance",
        "t-closeness, hierarchical distance",
        "t-closeness, multiplicative distance",
        "t-closeness, Kullback-Leibler divergence",
        "t-closeness, Jensen-Shannon divergence",
    ]
    assert {one.status for one in outcomes} == {Status.MEASURED}


# What it promises


Records = list[tuple[int, int, int]]  # two quasi-identifiers and a value
RECORDS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from([10, 20, 30, 45, 100])), min_size=1, max_size=60
)
TWO = {"place": {"role": "quasi_identifier"}, "sex": {"role": "quasi_identifier"}}
ONE = {"place": {"role": "quasi_identifier"}, "sex": {"role": "insensitive"}}


def _outcomes(records: Records, *, roles: Mapping[str, Any] = TWO, shards: int | None = None) -> list[Outcome]:
    place, sex, answer = zip(*records, strict=True)
    policy = {
        "version": 1,
        "attributes": {**roles, "answer": {"role": "sensitive", "scale": "numeric", "hierarchy": LETTERS}},
        "expect": [{"k_anonymity": {}}, *({"t_closeness": {"distance": one}} for one in DISTANCES)],
    }
    table = pa.table({"place": list(map(str, place)), "sex": list(map(str, sex)), "answer": list(answer)})
    return list(audit(table, policy, shards=shards).expectations)


def _figures(outcomes: list[Outcome]) -> dict[str, float]:
    return {str(one.parameters.get("distance", "k")): float(one.observed or 0) for one in outcomes}


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(records=RECORDS, random=st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(records: Records, random: Any):
    shuffled = random.sample(records, len(records))

    assert [one.as_json() for one in _outcomes(shuffled)] == [one.as_json() for one in _outcomes(records)]


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(records=RECORDS)
def test_shards_merge_to_the_whole(records: Records):
    whole, parts = _outcomes(records, shards=1), _outcomes(records, shards=5)

    assert [one.as_json() for one in parts] == [one.as_json() for one in whole]


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(records=RECORDS)
def test_the_table_twice_doubles_k_and_keeps_every_distance(records: Records):
    once, twice = _figures(_outcomes(records)), _figures(_outcomes(records * 2))

    assert twice.pop("k") == 2 * once.pop("k")
    assert twice == pytest.approx(once, abs=1e-12)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(records=RECORDS)
def test_fewer_quasi_identifiers_never_increase_t_nor_lower_k(records: Records):
    """The subset property; the generalisation property is the same, as coarser values merge classes, too."""
    fine, coarse = _figures(_outcomes(records)), _figures(_outcomes(records, roles=ONE))

    assert coarse.pop("k") >= fine.pop("k")
    assert all(coarse[name] <= fine[name] + 1e-12 for name in DISTANCES)


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(records=RECORDS, random=st.randoms(use_true_random=False))
def test_names_of_classes_do_not_matter(records: Records, random: Any):
    renamed = random.sample(range(100), 4)
    other = [(renamed[place], sex, answer) for place, sex, answer in records]

    assert _figures(_outcomes(other)) == pytest.approx(_figures(_outcomes(records)), abs=1e-12)


# Items 23 and 24: what earlier distances miss, and the flow that a reader can add up

# of table 4 of Li and others, in thousands, three to a class; each four times, as the flow of so few is not given
SALARIES = [3, 4, 5, 6, 11, 8, 7, 9, 10] * 4


@pytest.fixture
def salaries() -> pa.Table:
    return pa.table({"place": [f"p{number // 3}" for number in range(9)] * 4, "answer": SALARIES})


@pytest.mark.parametrize(
    ("distance", "low", "mixed"),
    [("equal", 2 / 3, 2 / 3), ("kullback_leibler", log(3), log(3)), ("ordered", 3 / 8, 1 / 6)],
)
def test_item_23_variational_distance_and_divergence_miss_that_salaries_are_alike(
    salaries: pa.Table, distance: str, low: float, mixed: float
):
    """The three lowest salaries say more of a person than 6, 8 and 11; only the earth mover's distance shows it."""
    numeric = {"scale": "numeric"}

    (outcome,) = _audited(salaries, numeric, {"distance": distance})

    by_group = [worst.value for worst in outcome.worst]
    assert by_group[0] == pytest.approx(low, abs=1e-12)
    assert by_group[-1] == pytest.approx(mixed, abs=1e-12)
    assert (len(set(by_group)) == 1) is (low == mixed)


def _work(outcome: Outcome) -> Fraction:
    return sum((Fraction(one["share"]) * Fraction(one["cost"]) for one in outcome.details["flow"]), Fraction(0))


def test_item_24_the_flow_of_the_salaries_is_the_papers(salaries: pa.Table):
    (outcome,) = _audited(salaries, {"scale": "numeric"}, {"distance": "ordered", "t": "3/8"})

    moves = [(one["from"], one["to"], one["share"], one["cost"]) for one in outcome.details["flow"]]
    assert moves == [
        (1, 2, "1/9", "1/8"),
        (1, 3, "1/9", "1/4"),
        (2, 4, "1/9", "1/4"),
        (2, 5, "1/9", "3/8"),
        (2, 6, "1/9", "1/2"),
        (3, 7, "1/9", "1/2"),
        (3, 8, "1/9", "5/8"),
        (3, 9, "1/9", "3/4"),
    ]
    assert (_work(outcome), outcome.observed, outcome.status) == (Fraction(3, 8), 0.375, Status.PASSED)
    assert outcome.details["domain_size"] == 9


def test_item_24_the_flow_has_no_value(salaries: pa.Table):
    texts = pa.table({"place": salaries["place"], "answer": [f"zq{one:02}" for one in SALARIES]})
    order = [f"zq{one:02}" for one in sorted({*SALARIES})]

    (outcome,) = _audited(texts, {"scale": "ordinal", "order": order}, {"distance": "ordered"})

    assert _work(outcome) == Fraction(3, 8)
    assert "zq" not in str(outcome.as_json())


def test_item_24_diseases_move_by_the_height_of_their_common_label(data: Path):
    folder = data / "papers"
    disease = {"role": "sensitive", "hierarchy": str(folder / "li07_disease_hierarchy.csv")}
    attributes = {"zip": {"role": "quasi_identifier"}, "age": {"role": "quasi_identifier"}, "disease": disease}
    policy = {
        "version": 1,
        "attributes": {**attributes, "salary": {"role": "insensitive"}},
        "expect": [{"t_closeness": {"distance": "hierarchical"}}],
    }

    paper = read_csv(folder / "li07_table4.csv")
    (outcome,) = audit(pa.concat_tables([paper] * 4), policy).expectations

    assert _work(outcome) == Fraction(4, 9)
    assert {one["cost"] for one in outcome.details["flow"]} <= {"1/3", "2/3", "1"}


@pytest.mark.parametrize(("values", "moves"), [(30, 29), (31, 0)])
def test_item_24_a_flow_of_many_values_is_left_out(values: int, moves: int):
    (outcome,) = _audited(
        _table([[10] + [0] * (values - 1), [0] + [10] * (values - 1)], list(range(values))),
        {"scale": "numeric"},
        {"distance": "ordered"},
    )

    assert (outcome.details["domain_size"], len(outcome.details["flow"])) == (values, moves)


@pytest.mark.parametrize("distance", ["equal", "numeric", "multiplicative", "kullback_leibler", "jensen_shannon"])
def test_item_24_other_distances_have_no_flow(salaries: pa.Table, distance: str):
    (outcome,) = _audited(salaries, {"scale": "numeric"}, {"distance": distance})

    assert "flow" not in outcome.details


@pytest.mark.parametrize("shards", [None, 3])
@pytest.mark.parametrize("missing", ["own_category", "wildcard"])
def test_item_24_the_flow_is_of_the_worst_class_under_any_convention(shards: int | None, missing: str):
    random = np.random.default_rng(7)
    table = pa.table(
        {
            "place": pa.array([None if one == 6 else f"p{one}" for one in random.integers(0, 7, 200)]),
            "answer": pa.array([None if one == 5 else int(one) for one in random.integers(0, 6, 200)]),
        }
    )

    (outcome,) = _audited(
        table,
        {"scale": "ordinal", "order": [4, 2, 0, 1, 3]},
        {"distance": "ordered"},
        conventions={"missing_quasi_identifier": missing},
        shards=shards,
    )

    assert float(_work(outcome)) == pytest.approx(outcome.observed, abs=1e-15)
    assert outcome.observed > 0


def test_item_24_units_count_once_in_a_flow():
    table = pa.table(
        {
            "place": (["a"] * 5 + ["b"] * 4) * 4,
            "answer": [1, 1, 1, 2, 3, 3, 3, 2, 1] * 4,
            "person": [one + 10 * part for part in range(4) for one in (1, 1, 2, 2, 3, 4, 4, 5, 6)],
        }
    )
    policy = {
        "version": 1,
        "unit": "person",
        "attributes": {
            "place": {"role": "quasi_identifier"},
            "answer": {"role": "sensitive", "scale": "numeric"},
            "person": {"role": "identifier"},
        },
        "expect": [{"t_closeness": {"distance": "ordered"}}],
    }

    (outcome,) = audit(table, policy).expectations

    assert float(_work(outcome)) == pytest.approx(outcome.observed, abs=1e-15)
    assert outcome.observed > 0


# What it means for one person


def _of_stays(worst: list[int], others: list[int], **more: Any) -> Outcome:
    """The outcome on stays in days of a class and of the rest, where the class is the worst."""
    table = pa.table({"place": ["a"] * len(worst) + ["b"] * len(others), "answer": [*worst, *others]})
    (outcome,) = _audited(table, {"scale": "numeric", "measured_in": "days", **more}, {"distance": "ordered"})
    return outcome


@pytest.mark.parametrize(
    ("worst", "says"),
    [
        ([1] * 9 + [2], "'answer' is on average 19 days below everyone's."),
        ([60] * 10, "'answer' is on average 28 days above everyone's."),
        ([1] * 9, "'answer' is on average in the lowest quarter of the whole file."),  # a mean of few is not given
        ([60], "'answer' is on average in the highest quarter of the whole file."),
        ([1] * 5 + [60] * 5, "the values of 'answer' lie closer together or further apart than everyone's."),
    ],
)
def test_a_distance_is_said_in_the_unit_of_ten_people_and_as_a_quarter_of_fewer(worst: list[int], says: str) -> None:
    outcome = _of_stays(worst, [*range(5, 45)])
    assert outcome.individual_impact.endswith(f", {says}")
    assert ("by" in outcome.details["shift"]) == (len(worst) >= 10)


def test_no_mean_of_few_people_can_be_computed_from_an_outcome() -> None:
    """Stays that differ in one value only, within a quarter, leave the same outcome but for the distance itself."""
    one, other = (_of_stays([stay], [*range(5, 45)]) for stay in (58, 60))
    assert one.details["shift"] == other.details["shift"] == {"way": 1, "quarter": 4}
    assert one.individual_impact == other.individual_impact


def test_an_attribute_of_few_values_has_no_quarter() -> None:
    outcome = _of_stays([3] * 4, [1, 1, 1, 2, 2, 3])
    assert "quarter" not in outcome.details["shift"]
    assert outcome.individual_impact.endswith("all have the same 'answer'; in the whole file about 1 in 2 do.")


@pytest.mark.parametrize(
    ("answers", "others", "says"),
    [
        ("x" * 11 + "y", "y" * 60 + "z" * 60, "11 have the same 'answer'; in the whole file about 1 in 12 do."),
        ("x" * 3, "y" * 297, "all have the same 'answer'; in the whole file fewer than 1 in 20 do."),
        ("x" * 11, "y" * 1089, "all have the same 'answer'; in the whole file about 1 in 100 do."),
        ("x" * 11, "y" * 9000, "all have the same 'answer'; in the whole file fewer than 1 in 200 do."),
        ("x", "y" * 20, "'answer' is known for certain."),
        ("x" * 190 + "y" * 10, "y" * 600, "about 95% have the same 'answer'; in the whole file about 1 in 4 do."),
    ],
)
def test_the_equal_distance_is_said_as_a_count_of_people(answers: str, others: str, says: str) -> None:
    table = pa.table({"place": ["a"] * len(answers) + ["b"] * len(others), "answer": [*answers, *others]})
    (outcome,) = _audited(table, {}, {})
    assert outcome.individual_impact.endswith(f", {says}")


def test_missing_values_are_not_counted_among_those_who_have_one() -> None:
    table = pa.table({"place": ["a"] * 6 + ["b"] * 30, "answer": [*["x"] * 4, None, None, *["y"] * 30]})
    (outcome,) = _audited(table, {}, {})
    assert outcome.details["shared_value"] == {"have": 4, "of": 4, "in_reference": 0.1}
    assert "all have the same" not in outcome.individual_impact
    assert "4 of the 4 with a value have the same 'answer'" in outcome.individual_impact


def test_next_to_a_small_group_a_quarter_of_all_is_no_fifth() -> None:
    table = pa.table({"place": ["a", *["b"] * 1000], "answer": ["x", *["x"] * 249, *["y"] * 751]})
    (outcome,) = _audited(table, {}, {})
    assert outcome.details["shared_value"] == {"have": 1, "of": 1, "in_reference": 0.25}


def test_a_group_without_any_value_is_not_said_to_be_alike() -> None:
    table = pa.table({"place": ["a"] * 3 + ["b"] * 4, "answer": [None, None, None, *"xxyy"]})
    policy = {
        "version": 1,
        "attributes": {**PLACES, "answer": {"role": "sensitive"}},
        "expect": [{"t_closeness": {"t": 0.5}}, {"entropy_l_diversity": {"l": 2}}, {"distinct_l_diversity": {"l": 2}}],
    }
    for outcome in audit(table, policy).expectations:
        assert "of 3 records, no one has a value of 'answer'" in outcome.message
        assert "of 4 records, " in outcome.individual_impact
