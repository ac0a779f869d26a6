"""Probabilistic record linkage: the figures of recordlinkage, splink and a reference, and what a policy may say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Outcome, PolicyError, Status, audit

PLAIN_LIKELIHOOD = {
    "smoothing": 0,
    "convergence": 0,
    "iterations": 5000,
}  # what the truth file's reference did


def linkage(release: Any, original: Any, names: Sequence[str], scale: str = "nominal", **given: Any) -> Outcome:
    key = given.pop("key", None)
    paired = {"rows_aligned": True} if key is None else {"key": key}
    attributes = {name: {"role": "quasi_identifier", "scale": scale} for name in names}
    expect = [{"probabilistic_record_linkage": given}]
    policy = {"version": 1, "attributes": attributes, "expect": expect, **paired}
    return audit(release, policy, original=original).expectations[0]


def estimates(outcome: Outcome, what: str, names: Sequence[str]) -> list[float]:
    actual = {one["attribute"]: one[what] for one in outcome.details["estimates"]}
    return [actual[name] for name in names]


def table(rows: Sequence[Sequence[Any]], *names: str) -> pa.Table:
    return pa.table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


# febrl4: two files whose records are paired by a third one


@pytest.fixture(scope="module")
def febrl(data: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two files with one key in both: each record of the second takes its partner's number from the truth."""
    folder = data / "febrl"
    original, released, truth = (
        pd.read_csv(folder / f"dataset4{suffix}.csv", dtype=str) for suffix in ("a", "b", "_truth")
    )
    partner = truth.set_index("rec_id_b")["rec_id_a"]
    released["person"] = released["rec_id"].map(partner)
    return released, original.rename(columns={"rec_id": "person"})


@pytest.fixture(scope="module")
def febrl_truth(data: Path) -> dict[str, Any]:
    return dict(json.loads((data / "truth" / "febrl4_probabilistic.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("which", ["febrl4_full_9fields", "febrl4_full_7fields"])
def test_febrl4_without_constraints_is_the_reference(febrl, febrl_truth, which):
    truth = febrl_truth[which]
    names = truth["fields"]

    outcome = linkage(*(one[["person", *names]] for one in febrl), names, key="person", unconstrained=True)

    details = outcome.details
    assert details["pairs"] == truth["candidate_pairs"] == 25_000_000
    assert details["converged"]
    assert details["prior"] == pytest.approx(truth["em_own"]["p"], abs=1e-8)
    for what in ("m", "u"):
        assert estimates(outcome, what, names) == pytest.approx(truth["em_own"][what], abs=1e-6)
    for cut in details["by_posterior"]:
        expected = truth[f"posterior>={float(cut['at_least']):g}"]
        assert (cut["links"], cut["correct"]) == (expected["links"], expected["tp"])
        assert float(cut["precision"]) == pytest.approx(expected["precision"], abs=1e-12)
        assert float(cut["recall"]) == pytest.approx(expected["recall_all"], abs=1e-12)
    assert [float(cut["at_least"]) for cut in details["by_posterior"]] == [0.5, 0.9, 0.99]


@pytest.mark.parametrize("which", ["febrl4_full_9fields", "febrl4_full_7fields"])
def test_febrl4_by_default_agrees_within_a_hundredth(febrl, febrl_truth, which):
    truth = febrl_truth[which]
    names = truth["fields"]

    outcome = linkage(*(one[["person", *names]] for one in febrl), names, key="person", at_most=0.05)

    assert estimates(outcome, "m", names) == pytest.approx(truth["em_own"]["m"], abs=0.01)
    assert estimates(outcome, "u", names) == pytest.approx(truth["em_own"]["u"], abs=0.01)
    assert outcome.details["prior"] == truth["true_p"] == 0.0002
    correct = {"febrl4_full_9fields": (5000, 5000), "febrl4_full_7fields": (4985, 4995)}[which]
    assert (outcome.details["correct_unique"], outcome.details["correct_including_ties"]) == correct
    assert outcome.status is Status.FAILED


def test_febrl4_pairs_are_split_by_the_two_tolerated_rates(febrl, febrl_truth):
    truth = febrl_truth["febrl4_full_9fields"]
    names, weight = truth["fields"], {one["pattern"]: one["weight_log2"] for one in truth["patterns"]}
    rates = {"false_link_rate": 1e-6, "missed_link_rate": 0.01}

    outcome = linkage(*(one[["person", *names]] for one in febrl), names, key="person", unconstrained=True, **rates)

    details = outcome.details
    linked, clerical, others = (details[f"{kind}_pairs"] for kind in ("linked", "clerical", "non_linked"))
    assert linked + clerical + others == 25_000_000
    by_weight = sorted(truth["patterns"], key=lambda one: -weight[one["pattern"]])
    totals = [sum(one["count"] for one in by_weight[:end]) for end in range(len(by_weight) + 1)]
    assert linked in totals
    assert linked + clerical in totals
    by_rates = details["by_error_rates"]
    assert by_rates["correct"] + by_rates["clerical_matches"] + by_rates["missed_matches"] == 5000
    assert by_rates["missed_matches"] <= 75  # 50 are expected at 1 %
    assert linked - by_rates["correct"] <= 50  # 25 are


# Item 43: an intruder's file with errors

BLOCKING = ["date_of_birth", "surname", "postcode"]


@pytest.fixture(scope="module")
def blocked_truth(febrl_truth: dict[str, Any]) -> dict[str, Any]:
    return dict(febrl_truth["febrl4_blocked_dob_or_surname_or_postcode"])


def blocked(febrl: tuple[pd.DataFrame, pd.DataFrame], truth: dict[str, Any], **given: Any) -> Outcome:
    names = truth["fields"]
    release, original = (one[["person", *names]] for one in febrl)
    return linkage(release, original, names, key="person", blocking=BLOCKING, **given)


def links(outcome: Outcome) -> list[tuple[int, int]]:
    return [(cut["links"], cut["correct"]) for cut in outcome.details["by_posterior"]]


def test_item_43_febrl4_within_blocks_is_the_reference_and_recordlinkage(febrl, blocked_truth):
    names = blocked_truth["fields"]

    outcome = blocked(febrl, blocked_truth, unconstrained=True)

    details = outcome.details
    assert (details["pairs"], details["matches_outside_blocks"]) == (111_397, 25)
    assert details["prior"] == pytest.approx(blocked_truth["em_own"]["p"], abs=1e-8)
    assert details["prior"] == pytest.approx(blocked_truth["recordlinkage_ECM"]["p"], abs=1e-7)
    for what in ("m", "u"):
        assert estimates(outcome, what, names) == pytest.approx(blocked_truth["em_own"][what], abs=1e-6)
        assert estimates(outcome, what, names) == pytest.approx(blocked_truth["recordlinkage_ECM"][what], abs=1e-6)
    cuts = [blocked_truth[f"posterior>={cut}"] for cut in (0.5, 0.9, 0.99)]
    assert links(outcome) == [(one["links"], one["tp"]) for one in cuts] == [(4933, 4911), (4757, 4756), (4703, 4703)]
    assert [float(one["recall"]) for one in details["by_posterior"]] == [one["recall_all"] for one in cuts]
    assert "25 right pairs share no block, and count as not linked." in outcome.message


def test_item_43_febrl4_by_jaro_winkler_links_more_than_by_equality(febrl, blocked_truth):
    """By equality the reference has (4933, 4911), (4757, 4756), (4703, 4703)."""
    pytest.importorskip("rapidfuzz")
    texts = ("given_name", "surname", "address_1", "suburb")

    outcome = blocked(febrl, blocked_truth, comparators={name: {"jaro_winkler": "0.85"} for name in texts})
    in_levels = blocked(febrl, blocked_truth, comparators={name: {"jaro_winkler": [1, "0.85"]} for name in texts})

    assert links(outcome) == [(4956, 4952), (4944, 4942), (4896, 4896)]
    assert (outcome.details["pairs"], outcome.details["expected_correct"]) == (111_397, 4975)
    assert in_levels.details["expected_correct"] == 4975
    assert [(one["attribute"], one["at_least"]) for one in in_levels.details["levels"]] == [
        (name, level) for name in sorted(texts) for level in (Fraction("0.85"), 1)
    ]
    exact = dict(zip(blocked_truth["fields"], blocked_truth["true_m"], strict=True))
    equal = {one["attribute"]: one["m"] for one in in_levels.details["levels"] if one["at_least"] == 1}
    assert equal == pytest.approx({name: exact[name] for name in texts}, abs=0.01)


def test_item_43_a_missing_extra_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.process", None)
    rows = [["a", "smith"], ["b", "smyth"]]
    both = table(rows, "zip", "name")

    outcome = linkage(both, both, ["zip", "name"], blocking=["zip"], comparators={"name": {"jaro_winkler": 1}})

    assert (outcome.status, outcome.observed) == (Status.ERROR, None)
    assert 'pip install "tcdp-audit[linkage]"' in outcome.message


def test_rapidfuzz_is_imported_only_to_compare_texts():
    program = "import sys, tcdp_audit_plugins.checks.record_linkage; sys.exit('rapidfuzz' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("comparator", "one", "other", "similarity"),
    [
        ("jaro_winkler", "martha", "marhta", Fraction(173, 180)),  # Winkler's own examples
        ("jaro_winkler", "dwayne", "duane", Fraction(21, 25)),
        ("jaro_winkler", "dixon", "dicksonx", Fraction(61, 75)),
        ("levenshtein", "smith", "smyth", Fraction(4, 5)),
    ],
)
def test_item_43_a_similarity_at_its_threshold_agrees(comparator, one, other, similarity):
    pytest.importorskip("rapidfuzz")
    released, original = table([["a", one]], "zip", "name"), table([["a", other]], "zip", "name")

    def agreeing(least: Fraction) -> float:
        comparators = {"name": {comparator: str(least)}}
        return estimates(
            linkage(released, original, ["name", "zip"], blocking=["zip"], comparators=comparators, unconstrained=True),
            "m",
            ["name"],
        )[0]

    assert agreeing(similarity) > 0.5 > agreeing(similarity + Fraction(1, 10**6))


def test_blocks_without_a_pair_are_an_error_and_never_a_pass():
    released, original = table([["a"], [None]], "zip"), table([["b"], [None]], "zip")

    outcome = linkage(released, original, ["zip"], blocking=["zip"], at_most=1)

    assert (outcome.status, outcome.observed) == (Status.ERROR, None)
    assert "shares a value of an attribute in `blocking`" in outcome.message


def test_too_many_pairs_in_blocks_are_an_error(monkeypatch):
    monkeypatch.setattr("tcdp_audit_plugins.checks.record_linkage.blocking.MOST_PAIRS", 8)
    both = table([["a"]] * 3, "zip")

    outcome = linkage(both, both, ["zip"], blocking=["zip"], at_most=1)

    assert outcome.status is Status.ERROR
    assert "the blocks have 9 pairs, more than 2^30" in outcome.message


def test_blocks_that_hold_every_pair_count_each_once(monkeypatch):
    monkeypatch.setattr("tcdp_audit_plugins.checks.record_linkage.blocking.PAIRS", 3)  # a block of records at a time
    rows = [["a", "f", 1], ["a", "f", 2], ["b", "f", 2], ["c", "f", 3]]
    both = table(rows, "zip", "sex", "size")

    outcome = linkage(both, both, ["zip", "sex", "size"], blocking=["zip", "sex"], smoothing=0)

    assert (outcome.details["pairs"], outcome.details["matches_outside_blocks"]) == (16, 0)
    assert outcome.details["correct_unique"] == 4


# Adult subset under PRAM


@pytest.fixture(scope="module")
def adult(data: Path) -> tuple[str, str]:
    masked = data / "adult" / "masked" / "adult_subset_pram_0.95.csv"
    return str(masked), str(data / "adult" / "adult_subset.csv")


@pytest.fixture(scope="module")
def adult_truth(data: Path) -> dict[str, Any]:
    truth = json.loads((data / "truth" / "adult_pram_probabilistic.json").read_text(encoding="utf-8"))
    return dict(truth["adult_subset_pram_0.95"])


def correct_links(outcome: Outcome) -> dict[str, float]:
    named = {"correct_unique": "correct_unique", "correct_incl_ties": "correct_including_ties"}
    return {theirs: outcome.details[ours] for theirs, ours in named.items()} | {
        "expected_correct": pytest.approx(float(outcome.details["expected_correct"]), abs=1e-9)
    }


def test_adult_without_constraints_is_the_reference(adult, adult_truth):
    names, reference = adult_truth["fields"], adult_truth["em_own_init_p_1_over_n"]

    outcome = linkage(*adult, names, unconstrained=True)

    assert adult_truth["prl_em_own"] == correct_links(outcome)
    assert outcome.details["correct_unique"] == 1361
    assert outcome.observed == pytest.approx(1466.1 / 3016, abs=1e-12)
    assert outcome.details["prior"] == pytest.approx(reference["p"], abs=1e-5)
    assert estimates(outcome, "m", names) == pytest.approx(reference["m"], abs=1e-5)
    assert estimates(outcome, "u", names) == pytest.approx(reference["u"], abs=1e-5)


def test_adult_with_prior_and_u_fixed_and_no_smoothing_is_the_reference(adult, adult_truth):
    names, reference = adult_truth["fields"], adult_truth["em_p_fixed_1_over_n_u_fixed_marginal"]

    outcome = linkage(*adult, names, **PLAIN_LIKELIHOOD)

    assert adult_truth["prl_em_fixed_p_u"] == correct_links(outcome)
    assert estimates(outcome, "m", names) == pytest.approx(reference["m"], abs=1e-8)
    assert estimates(outcome, "u", names) == pytest.approx(reference["u"], abs=1e-12)
    assert not outcome.details["converged"]
    assert "has not converged" in outcome.message


def test_adult_by_default_finds_more_than_the_reference(adult, adult_truth):
    outcome = linkage(*adult, adult_truth["fields"])

    assert outcome.details["correct_unique"] == 2270  # the reference: 2,216
    assert outcome.details["correct_including_ties"] == 2823
    assert float(outcome.details["expected_correct"]) == pytest.approx(2499.8549170073, abs=1e-9)
    assert outcome.observed == pytest.approx(0.828864362403, abs=1e-12)
    assert outcome.message == (
        "An intruder who weighs agreement on 'age', 'education', 'marital-status', 'native-country' and 5 other "
        "columns should find the right person for 2,499.9 of 3,016 records (82.9%); guessing finds 0.03%; 2,270 "
        "records have no rival."
    )


def test_adult_enumerated_pair_by_pair_is_adult_by_joins(adult, adult_truth):
    names = adult_truth["fields"]

    joined = linkage(*adult, names).details
    enumerated = linkage(*adult, names, similarity={"education": 1}).details

    assert enumerated == joined


def test_any_order_of_records_gives_the_identical_outcome(adult, adult_truth):
    released, original = (pd.read_csv(path, dtype=str) for path in adult)
    released["row"] = original["row"] = range(len(original))
    names = adult_truth["fields"]

    outcomes = [
        linkage(
            released.sample(frac=1, random_state=seed),
            original.sample(frac=1, random_state=9 - seed),
            names,
            key="row",
        )
        for seed in (1, 2)
    ]

    assert outcomes[0] == outcomes[1]
    assert outcomes[0].details["correct_unique"] == 2270


# Small tables, by hand


def test_ties_earn_their_share_exactly():
    """One attribute, two records a value: each true original has one rival, and 1/2 is not above 1/2."""
    rows = [[value] for value in "aabbccdd"]

    outcome = linkage(table(rows, "zip"), table(rows, "zip"), ["zip"], at_most="1/2")

    assert (outcome.observed, outcome.status) == (0.5, Status.PASSED)
    assert (outcome.details["correct_unique"], outcome.details["correct_including_ties"]) == (0, 8)
    assert outcome.details["expected_correct"] == 4
    assert outcome.details["random_baseline"] == Fraction(1, 8)
    harder = linkage(table(rows, "zip"), table(rows, "zip"), ["zip"], at_most="0.4999999999999999999")
    assert harder.status is Status.FAILED
    assert "where at most 4999999999999999999/10000000000000000000 is allowed; guessing finds 12.5%." in harder.message


def test_a_third_is_a_third():
    original = [[1], [2], [3], [10], [11], [12]]
    released = [[2], [2], [2], [11], [11], [11]]

    outcome = linkage(table(released, "v"), table(original, "v"), ["v"], "numeric", tolerance={"v": 1}, at_most="1/3")

    assert (outcome.details["expected_correct"], outcome.status) == (2, Status.PASSED)


def test_records_without_an_original_are_counted_and_not_linked():
    released = [[1, "a"], [2, "b"], [3, "c"], [9, "a"]]
    original = [[1, "a"], [2, "b"], [3, "c"], [4, "d"], [5, "e"]]

    outcome = linkage(table(released, "id", "zip"), table(original, "id", "zip"), ["zip"], key="id")

    paired = ("matched", "released_without_original", "originals_not_released", "pairs")
    assert [outcome.details[name] for name in paired] == [3, 1, 2, 20]
    assert outcome.details["prior"] == 3 / 20
    assert (outcome.observed, outcome.records.total) == (0.75, 4)


def test_a_tolerance_reaches_both_sides_inclusively():
    original = [[30], [40], [50]]
    released = [[32], [38], [53]]

    exact = linkage(table(released, "age"), table(original, "age"), ["age"], "numeric")
    near = linkage(table(released, "age"), table(original, "age"), ["age"], "numeric", tolerance={"age": 2})

    assert exact.details["correct_unique"] == 0
    assert near.details["correct_unique"] == 2
    assert estimates(near, "u", ["age"]) == [pytest.approx(2 / 9)]


def test_a_missing_value_is_no_agreement():
    rows = [["a", None], ["b", None], ["c", "x"]]

    outcome = linkage(table(rows, "zip", "job"), table(rows, "zip", "job"), ["zip", "job"])

    assert estimates(outcome, "u", ["zip", "job"]) == [pytest.approx(3 / 9), pytest.approx(1 / 9)]


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=2, max_size=8), st.randoms())
def test_shuffled_tables_of_any_kind_give_the_identical_outcome(rows, random):
    original = [(number, *row) for number, row in enumerate(rows)]
    released = [(number, first, "x") for number, first, _ in original]
    names = ("id", "zip", "sex")
    one = linkage(table(released, *names), table(original, *names), names[1:], key="id")
    random.shuffle(released)
    random.shuffle(original)

    assert linkage(table(released, *names), table(original, *names), names[1:], key="id") == one
    assert 0 <= one.observed <= 1


# What a policy may not say


def refused(given: dict[str, Any], **document: Any) -> str:
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "zip": {"role": "quasi_identifier"},
        "id": {"role": "insensitive"},
    }
    policy = {"version": 1, "attributes": attributes, "expect": [{"probabilistic_record_linkage": given}]}
    frame = pa.table({"age": [1], "zip": ["a"], "id": [1]})
    with pytest.raises(PolicyError) as caught:
        audit(frame, policy | {"key": "id"} | document, original=frame)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"attributes": ["agee"]}, "the policy declares no attribute 'agee'"),
        ({"attributes": ["age", "age"]}, "an attribute is named twice"),
        ({"attributes": ["id"]}, "'id' is the key, which identifies people"),
        ({"tolerance": {"zip": 1}}, "a tolerance needs 'zip' to be declared `scale: numeric`"),
        ({"similarity": {"age": 0.5}}, "a similarity needs 'age' to be declared `scale: nominal`"),
        (
            {"attributes": ["zip"], "tolerance": {"age": 1}},
            "'age' is not among the attributes that are compared",
        ),
        ({"tolerance": {"age": -1}}, "must be at least 0"),
        ({"similarity": {"zip": 0}}, "must be greater than 0"),
        ({"attributes": []}, "attributes"),
        ({"comparators": {"zip": {"jaro_winkler": 0.9}}}, "so that not every pair is compared"),
        ({"comparators": {"age": {"levenshtein": 0.9}}, "blocking": ["age"]}, "to be declared `scale: nominal`"),
        ({"comparators": {"zip": {"jaro_winkler": [1, 1]}}, "blocking": ["age"]}, "a level of 'zip' is named twice"),
        ({"comparators": {"zip": {"jaro_winkler": []}}, "blocking": ["age"]}, "comparators"),
        ({"comparators": {"zip": {"jaro_winkler": 0}}, "blocking": ["age"]}, "must be greater than 0"),
        ({"comparators": {"zip": {}}, "blocking": ["age"]}, "comparators"),
        ({"comparators": {"zip": {"soundex": 1}}, "blocking": ["age"]}, "soundex"),
        (
            {"comparators": {"zip": {"jaro_winkler": 1}}, "similarity": {"zip": 1}, "blocking": ["age"]},
            "'zip' has a similarity already",
        ),
        (
            {"comparators": {"zip": {"jaro_winkler": [f"0.{n}" for n in range(10, 22)]}}, "blocking": ["age"]},
            "at most 12 levels can be distinguished in all attributes, not 13",
        ),
        ({"blocking": ["id"]}, "'id' is not among the attributes that are compared"),
        ({"blocking": ["age", "age"]}, "an attribute is named twice"),
    ],
)
def test_faults_are_sentences(given, fault):
    assert fault in refused(given)


def test_no_pairing_and_too_many_attributes_are_faults():
    assert "which released record came from which original" in refused({}, key=None)
    many = {f"a{number}": {"role": "quasi_identifier"} for number in range(13)}
    assert "at most 12 attributes can be compared, not 13" in refused({}, attributes=many)


def test_no_common_key_is_an_error_and_never_a_pass():
    released, original = table([[1, "a"]], "id", "zip"), table([[2, "a"]], "id", "zip")

    outcome = linkage(released, original, ["zip"], key="id", at_most=1)

    assert (outcome.status, outcome.observed) == (Status.ERROR, None)
    assert "key" in outcome.message


def test_no_cell_is_in_the_outcome():
    rows = [[number, f"zqvalue-{number}", f"zqname-{number}"] for number in range(5)]
    both = table(rows, "id", "zip", "name")

    outcome = linkage(both, both, ["zip", "name"], key="id", at_most=0, similarity={"name": 0.9})

    assert outcome.status is Status.FAILED
    assert "zq" not in json.dumps(outcome.as_json())
