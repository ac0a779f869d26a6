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
    }


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
