"""The published tables give the published figures, exactly, at their thresholds and just beside them."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from tcdp_audit import Outcome, Status, audit, measure

PAPERS = Path(__file__).parents[2] / "examples" / "papers"


def _figures(name: str) -> dict[tuple[str, str | None, str | None], tuple[float | None, str]]:
    outcomes = audit(None, PAPERS / f"{name}.tcdp.yaml").expectations
    return {_key(one): (one.observed, one.status.value) for one in outcomes}


def _key(one: Outcome) -> tuple[str, str | None, str | None]:
    distance = one.parameters.get("distance")
    return one.check, one.attribute, None if distance is None else str(distance)


def _outcome(name: str, check: str) -> Outcome:
    outcomes = audit(None, PAPERS / f"{name}.tcdp.yaml").expectations
    return next(one for one in outcomes if one.check == check)


def test_table_3_of_li_2007_singles_everybody_out():
    assert _figures("li07_table3") == {
        ("k_anonymity", None, None): (1, "failed"),
        ("distinct_l_diversity", "disease", None): (1, "failed"),
        ("t_closeness", "salary", "ordered"): (1 / 2, "failed"),
    }


def test_table_4_of_li_2007_is_three_eighths_close():
    assert _figures("li07_table4") == {
        ("k_anonymity", None, None): (3, "passed"),
        ("distinct_l_diversity", "disease", None): (3, "passed"),
        ("distinct_l_diversity", "salary", None): (3, "passed"),
        ("entropy_l_diversity", "disease", None): (3, "passed"),
        ("t_closeness", "salary", "ordered"): (3 / 8, "passed"),
        ("t_closeness", "disease", "equal"): (4 / 9, "measured"),
        ("t_closeness", "disease", "hierarchical"): (4 / 9, "passed"),
    }


def test_table_5_of_li_2007_is_one_sixth_close():
    assert _figures("li07_table5") == {
        ("k_anonymity", None, None): (3, "passed"),
        ("distinct_l_diversity", "disease", None): (3, "passed"),
        ("distinct_l_diversity", "salary", None): (3, "passed"),
        ("entropy_l_diversity", "disease", None): (3, "passed"),
        ("t_closeness", "salary", "ordered"): (1 / 6, "passed"),
        ("t_closeness", "disease", "equal"): (5 / 9, "measured"),
        ("t_closeness", "disease", "hierarchical"): (8 / 27, "passed"),
    }


@pytest.mark.parametrize(("table", "printed"), [("li07_table4", 1 / 2), ("li07_table5", 5 / 18)])
def test_the_printed_distances_of_disease_have_a_uniform_reference(table: str, printed: float):
    assert _figures(f"{table}_uniform") == {("t_closeness", "disease", "hierarchical"): (printed, "passed")}


def test_figure_2_of_domingo_ferrer_2015():
    assert _figures("ds15_figure2") == {
        ("k_anonymity", None, None): (4, "passed"),
        ("distinct_l_diversity", "bucket", None): (3, "passed"),
        ("entropy_l_diversity", "bucket", None): (pytest.approx(2 * 2**0.5, abs=1e-12), "passed"),
        ("t_closeness", "bucket", "equal"): (1 / 6, "passed"),
        ("t_closeness", "bucket", "ordered"): (1 / 8, "passed"),
        ("t_closeness", "bucket", "multiplicative"): (3 / 2, "passed"),
    }


def test_torra_2020_is_2_anonymous_and_gives_an_illness_away():
    assert _figures("t20_release") == {
        ("k_anonymity", None, None): (2, "passed"),
        ("distinct_l_diversity", "illness", None): (1, "failed"),
        ("entropy_l_diversity", "illness", None): (1, "failed"),
        ("t_closeness", "illness", "equal"): (3 / 5, "failed"),
        ("homogeneity", "illness", None): (2 / 5, "failed"),
        ("background_knowledge", "illness", None): (0, "failed"),
    }


def test_hyu_of_torra_2020_knows_the_illness_of_cio():
    """Both of Barcelona are alike; in Tarragona the two others are known to the one with a heart attack."""
    known = _outcome("t20_release", "background_knowledge")

    assert [one.value for one in known.worst] == [0, 1]
    assert known.details["least_in_mixed_classes"] == 1


def test_six_people_of_torra_2020_and_their_release():
    assert _figures("t20_masked") == {
        ("k_anonymity", None, None): (2, "passed"),
        ("distance_record_linkage", None, None): (2 / 5, "passed"),
    }
    linked = _outcome("t20_masked", "distance_record_linkage").details
    assert linked["masked_to_original"]["expected_correct"] == 1  # of three, all nearest to HYU
    assert linked["originals_not_released"] == 1


def test_one_student_of_anthropology_in_enfield_is_alone():
    assert _figures("t20_enfield") == {
        ("k_anonymity", None, None): (1, "failed"),
        ("sample_uniqueness", None, None): (1 / 7, "failed"),
    }
    assert _outcome("t20_enfield", "sample_uniqueness").details["victims"] == 1


def test_the_mean_of_torra_2020_reveals_ms_rich():
    """Eleven incomes, 12,090.91 with hers and 3,300 without; no one else has more than 10,000."""
    assert _figures("t20_mean") == {
        ("cell_frequency", None, None): (11, "passed"),
        ("contributor_influence", None, None): (967 / 363, "failed"),
    }
    assert _outcome("t20_mean", "contributor_influence").details["certain_presence"] == 1


def test_three_of_nine_victims_of_homogeneity_in_table_2_of_li_2007():
    assert _figures("li07_table1") == {
        ("k_anonymity", None, None): (1, "failed"),
        ("homogeneity", "disease", None): (1, "failed"),
    }
    assert _figures("li07_table2") == {
        ("k_anonymity", None, None): (3, "passed"),
        ("homogeneity", "disease", None): (1 / 3, "failed"),
        ("background_knowledge", "disease", None): (0, "failed"),
    }
    assert _outcome("li07_table2", "homogeneity").details["victims"] == 3
    assert _outcome("li07_table2", "background_knowledge").details["least_in_mixed_classes"] == 1


def test_similarity_of_salary_and_disease_in_tables_4_and_5_of_li_2007():
    by_table = {
        name: audit(None, PAPERS / f"{name}_similarity.tcdp.yaml").expectations
        for name in ("li07_table4", "li07_table5")
    }
    figures = {
        name: [(one.attribute, one.observed, one.status.value) for one in both] for name, both in by_table.items()
    }

    assert figures == {
        "li07_table4": [("salary", 1, "failed"), ("disease", 1, "failed")],
        "li07_table5": [("salary", 2 / 3, "passed"), ("disease", 2 / 3, "passed")],
    }
    assert {one.records.failing for one in by_table["li07_table4"]} == {3}


def test_skewness_of_ten_thousand_records_of_li_2007():
    assert _figures("li07_skewness") == {
        ("distinct_l_diversity", "virus", None): (2, "passed"),
        ("skewness", "virus", None): (50, "failed"),
        ("t_closeness", "virus", "equal"): (0.49, "failed"),
    }
    assert _outcome("li07_skewness", "skewness").records.total == 10_000


def test_table_1_of_domingo_ferrer_2015_is_2_close_in_three_buckets():
    assert _figures("ds15_table1") == {
        ("k_anonymity", None, None): (6, "passed"),
        ("t_closeness", "bucket", "multiplicative"): (2, "passed"),
        ("t_closeness", "half", "multiplicative"): (3, "measured"),
    }
    buckets, halves = audit(None, PAPERS / "ds15_table1.tcdp.yaml").expectations[1:]
    assert [one.value for one in buckets.worst] == [2, 2, 2]
    assert [one.value for one in halves.worst] == [3, 3, 1]  # the class whose values the boundary divides


@pytest.mark.parametrize(("table", "observed"), [("li07_table4", Fraction(3, 8)), ("li07_table5", Fraction(1, 6))])
def test_closeness_is_compared_exactly(table: str, observed: Fraction):
    def status(t: str) -> Status:
        return measure(
            "t_closeness",
            PAPERS / f"{table}.csv",
            quasi_identifiers=["zip", "age"],
            attribute="salary",
            scale="numeric",
            distance="ordered",
            t=t,
        ).status

    assert status(f"{observed.numerator}/{observed.denominator}") is Status.PASSED
    just_below = observed - Fraction(1, 10**15)
    assert status(f"{just_below.numerator}/{just_below.denominator}") is Status.FAILED


@pytest.mark.parametrize(("t", "code"), [("0.375", 0), ("3/8", 0), ("0.3749999", 1)])
def test_the_threshold_in_the_policy_of_table_4_decides(t: str, code: int, tmp_path: Path):
    folder = shutil.copytree(PAPERS, tmp_path / "papers")
    policy = folder / "li07_table4.tcdp.yaml"
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("{t: 0.375, attribute", f"{{t: {t}, attribute"), encoding="utf-8")

    assert audit(None, policy).exit_code() == code


def test_the_readme_names_every_policy_with_its_exit_code():
    readme = (PAPERS.parent / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in readme.splitlines() if line.startswith("| `papers/")]
    documented = {row[1].strip(" `").removeprefix("papers/"): int(row[2]) for row in rows}

    assert documented == {path.name: audit(None, path).exit_code() for path in PAPERS.glob("*.tcdp.yaml")}
