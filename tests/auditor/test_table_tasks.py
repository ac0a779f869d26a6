"""Checks on tables that count rows, next to a unit: the same figures where no unit repeats, and otherwise a refusal."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tcdp_audit
from tcdp_audit import Outcome

sys.path.append(str(Path(__file__).parents[1] / "checks"))
from asked_tables import EXPECT, rows

RANK_SWAP = {"attack": {"rank_swap_attack": {"attributes": ["x"]}}}
OF_ROWS: dict[str, Sequence[dict[str, Any]]] = {
    name: [one for one in demands if rows(name, one)] for name, demands in EXPECT.items() if name != "individual_risk"
}
QUESTIONS = [(name, demand) for name, demands in OF_ROWS.items() for demand in demands]
ROLES = {
    "zip": {"role": "quasi_identifier", "scale": "nominal"},
    "x": {"role": "sensitive", "scale": "numeric"},
    "w": {"role": "insensitive", "scale": "numeric"},
    "person_id": {"role": "insensitive"},
}
SENTENCE = " No person has two rows, so rows are counted."


def table(seed: int, people: Sequence[str], *, places: str = "abc") -> pa.Table:
    """As many records as people, with random places and values."""
    draw, records = random.Random(seed), len(people)  # noqa: S311 - a table to test on
    return pa.table(
        {
            "zip": draw.choices(places, k=records),
            "x": draw.choices(range(1, 7), k=records),
            "id": [f"n{number}" for number in range(records)],
            "person_id": pa.array(people, pa.string()),
            "w": [2.0] * records,
        }
    )


def outcomes(
    folder: Path, release: pa.Table, others: Mapping[str, pa.Table], questions: Sequence[Any], **more: Any
) -> Iterator[Outcome]:
    """The outcomes of demands that count rows, under a policy with or without a unit."""
    paths = {name: str(folder / f"{name}.parquet") for name in ("holdout", "previous", "registry")}
    for name, path in paths.items():
        pq.write_table(others[name], path)
    asked = [{name: demand} for name, demand in questions]
    document = {"version": 1, "key": "id", "attributes": ROLES, "expect": asked, **paths, **more}
    yield from tcdp_audit.audit(
        release, document, original=others["original"], population=others["population"]
    ).expectations


def companions(release: pa.Table, seed: int) -> dict[str, pa.Table]:
    """Other tables of one row for each person: the same people, others, and more of them."""
    people = [f"s{number}" for number in range(release.num_rows)]
    strangers = table(seed + 1, people).set_column(2, "id", pa.array(people))
    earlier = release.set_column(1, "x", table(seed + 2, people)["x"])
    more = release.set_column(3, "person_id", pa.array(people))
    return {
        "holdout": strangers,
        "previous": earlier,
        "registry": earlier,
        "original": earlier,
        "population": pa.concat_tables([release, more]),
    }


def judged_alike(folder: Path, seed: int, questions: Sequence[Any]) -> None:
    people = [f"p{number}" for number in range(10 + seed % 3)]
    release = table(seed, people)
    others = companions(release, seed)
    with_unit = outcomes(folder, release, others, questions, unit="person_id")
    without = outcomes(folder, release, others, questions, unit_name="person")
    for actual, expected in zip(with_unit, without, strict=True):
        assert SENTENCE in actual.message or actual.status == "error"  # there may be nothing to measure
        for field in ("status", "observed", "threshold", "classes", "records", "details", "worst"):
            assert getattr(actual, field) == getattr(expected, field), (actual.check, field)


def test_rows_count_where_no_unit_repeats(tmp_path: Path) -> None:
    judged_alike(tmp_path, 3, [(name, demands[0]) for name, demands in OF_ROWS.items() if demands])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_rows_count_where_no_unit_repeats_in_every_demand(tmp_path: Path, seed: int) -> None:
    judged_alike(tmp_path, 10 * seed, QUESTIONS)


def test_several_rows_of_a_unit_are_refused_by_every_check_that_counts_rows(tmp_path: Path) -> None:
    people = [f"p{number // 2}" for number in range(10)]
    release = table(1, people)
    questions = [(name, demands[0]) for name, demands in OF_ROWS.items() if demands]
    for actual in outcomes(tmp_path, release, companions(release, 1), questions, unit="person_id"):
        assert actual.status == "error", actual.check
        assert actual.message.endswith("in the release, as its column 'person_id' says, which would not count as one; "
                                       "make one row of each")  # fmt: skip


K_MAP, PRESENCE = ("k_map", {"k": 2}), ("delta_presence", {"delta_max": "0.9"})
MARKETER = ("reidentification_risk", {"scenario": "marketer", "measure": "average", "at_most": "0.9"})
DIFFERENCING, CONCEALMENT = ("release_differencing", {"k": 2}), ("k_concealment", {"k": 2, "attributes": ["zip"]})


@pytest.mark.parametrize(
    ("question", "companion"),
    [
        (K_MAP, "population"),
        (PRESENCE, "population"),
        (MARKETER, "population"),
        (DIFFERENCING, "previous"),
        (CONCEALMENT, "original"),
    ],
)
def test_several_rows_of_a_unit_in_another_table_are_refused(tmp_path: Path, question: Any, companion: str) -> None:
    release = table(1, [f"p{number}" for number in range(10)])
    others = companions(release, 1)
    crowd = others[companion].set_column(3, "person_id", pa.array(["p0"] * others[companion].num_rows))
    (refused,) = outcomes(tmp_path, release, {**others, companion: crowd}, [question], unit="person_id")
    assert refused.status == "error"
    assert "some people have several in " in refused.message.replace("persons", "people")
    without = {**others, companion: others[companion].drop_columns(["person_id"])}
    (judged,) = outcomes(tmp_path, release, without, [question], unit="person_id")
    assert judged.status != "error", judged.message  # a row of such a table is a person, as without a unit


@pytest.mark.parametrize("people", [["a", "b", None, None], ["a", " a", "b", "c"]], ids=["without a unit", "blanks"])
def test_records_without_a_unit_and_blanks_around_one_are_no_other_units(tmp_path: Path, people: list[Any]) -> None:
    release = table(1, people, places="a")
    (refused,) = outcomes(tmp_path, release, companions(release, 1), [K_MAP], unit="person_id")
    assert refused.status == "error"
    assert "it counts rows" in refused.message


def test_whole_households_are_no_rows(tmp_path: Path) -> None:
    """Without `known_rows: one` they are refused, and with it judged as if there were no household."""
    release = table(1, [f"p{number}" for number in range(10)])
    release = release.append_column("home", pa.array([f"h{number // 2}" for number in range(10)]))
    others = companions(release, 1)
    question = ("population_uniqueness", {"at_most": "0.9"})
    (refused,) = outcomes(tmp_path, release, others, [question], unit="person_id", household="home")
    assert "whole households are judged; say `known_rows: one`" in refused.message
    single = ("population_uniqueness", {"at_most": "0.9", "known_rows": "one"})
    (actual,) = outcomes(tmp_path, release, others, [single], unit="person_id", household="home")
    (expected,) = outcomes(tmp_path, release, others, [question])
    assert (actual.status, actual.observed, actual.records) == (expected.status, expected.observed, expected.records)


def test_risks_over_histories_are_not_compared_with_a_population(tmp_path: Path) -> None:
    release = table(1, [f"p{number // 2}" for number in range(10)])
    questions = [("individual_risk", {}), ("individual_risk", {"known_rows": "one"})]
    whole, single = outcomes(tmp_path, release, companions(release, 1), questions, unit="person_id")
    assert (whole.status, single.status) == ("measured", "measured")
    assert "exact_highest" not in whole.details
    assert "exact_highest" in single.details
