"""Audits of random tables in which people have from 1 to 50 rows, against definitions in plain fractions.

Through tables in memory, CSV files and frames, in one shard and in several, with and without a unit, with exempt rows,
weights and wildcards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from brute_checks import CHECKS
from brute_classes import SENSITIVE, Conventions, Record
from brute_people import Table, unequal_table
from test_brute_force_classes import compare

from tcdp_audit import Outcome, audit
from tcdp_audit.core.base.outcome import Status
from tcdp_audit.core.check.needs import Need
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
ROLES: dict[str, Any] = {
    "sex": {"role": "quasi_identifier"},
    "zip": {"role": "quasi_identifier"},
    "illness": {"role": "sensitive", "scale": "nominal"},
    "stage": {"role": "sensitive", "scale": "nominal"},
    "person": {"role": "insensitive"},
    "weight": {"role": "insensitive", "scale": "numeric"},
}
BESIDE = Fraction(1, 10**9)
ONE_ROW = [{"sex": "f", "zip": "1", "illness": "flu", "stage": "low", "person": "1", "weight": "2"}]


@dataclass(frozen=True)
class Question:
    """A figure that is asked for, as the definition has it.

    Args:
        check: as a policy names it.
        given: its parameters.
        figure: an exact fraction, or a float.
        threshold: the parameter that it is compared with.
        higher_is_safer: which end is worse.
    """

    check: str
    given: dict[str, Any]
    figure: Fraction | float
    threshold: str = "at_most"
    higher_is_safer: bool = False

    @property
    def demands(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """The figure itself as a threshold, which it keeps, and one beside it, which it does not."""
        if isinstance(self.figure, Fraction):
            worse = -BESIDE if not self.higher_is_safer else Fraction(1)
            for threshold, retained in ((self.figure, True), (self.figure + worse, False)):
                if threshold >= 0:
                    yield {self.check: {**self.given, self.threshold: _typed(threshold)}}, retained


def _typed(threshold: Fraction) -> int | str:
    return threshold.numerator if threshold.denominator == 1 else str(threshold)


def questions(table: Table, fraction: Fraction | None) -> Iterator[Question]:
    """Every check whose figure counts people, but for the figures of single classes."""
    yield Question("sample_uniqueness", {}, table.unique)
    for attribute in SENSITIVE:
        yield Question("homogeneity", {"attribute": attribute}, table.homogeneous(attribute))
    if table.conventions.suppressed == "exempt":
        return  # what follows counts every row
    for scenario in ("prosecutor", "marketer"):
        average = {"measure": "average", "scenario": scenario}
        yield Question("reidentification_risk", average, table.average)
    yield Question("reidentification_risk", {}, max(table.risks.values()))
    for risk in ("1/2", "1/3", "0.2", "0.05"):
        above = {"measure": "share_above", "threshold_risk": risk}
        yield Question("reidentification_risk", above, table.above(Fraction(risk)))
    result = table.individual(fraction)
    figures = {"highest": max(result), "average": sum(result) / len(result), "expected": sum(result)}
    for measure, figure in figures.items():
        yield Question("individual_risk", {"measure": measure}, figure)
    if table.conventions.missing_quasi_identifier == "own_category":
        for most in (1, 2):
            yield Question("km_anonymity", {"m": most}, Fraction(table.supports(most)), "k", higher_is_safer=True)


def answers(conventions: Conventions, asked: Sequence[Question], fraction: Fraction | None, how: Any) -> list[Outcome]:
    """What the auditor says of these, without and with thresholds."""
    source, shards = how
    demands = [one for question in asked for one, _ in question.demands]
    policy: dict[str, Any] = {
        "version": 1,
        "attributes": ROLES,
        "conventions": conventions.document(),
        "expect": [*({one.check: one.given} for one in asked), *demands],
        **({"unit": "person", "unit_released": False} if conventions.unit else {}),
        **({"weight": "weight"} if fraction is None else {"sampling_fraction": str(fraction)}),
    }
    return list(audit(source, policy, plugins=PLUGINS, memory=2**28, shards=shards).expectations)


def agree(outcomes: Sequence[Outcome], asked: Sequence[Question]) -> int:
    """Compare figures and verdicts; how many there were."""
    measured, judged = outcomes[: len(asked)], outcomes[len(asked) :]
    for outcome, question in zip(measured, asked, strict=True):
        exact = isinstance(question.figure, Fraction)
        wanted = float(question.figure) if exact else pytest.approx(question.figure, rel=1e-9)
        assert (outcome.observed, outcome.status) == (wanted, Status.MEASURED), (question, outcome.message)
    retained = [retained for question in asked for _, retained in question.demands]
    for outcome, passes in zip(judged, retained, strict=True):
        assert (outcome.status is not Status.FAILED) is passes, outcome.message
        assert outcome.status is not Status.ERROR, outcome.message
    return len(outcomes)


def in_memory(rows: Sequence[Record]) -> pa.Table:
    columns = {name: [one[name] for one in rows] for name in ROLES}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def sources(rows: Sequence[Record], folder: Path, number: int) -> Any:
    """The rows as a table in memory, a CSV file or a frame."""
    table = in_memory(rows)
    if number % 3 == 1:
        pyarrow.csv.write_csv(table, folder / f"{number}.csv")
        return folder / f"{number}.csv"
    return table if number % 3 == 0 else table.to_pandas()


def trial(number: int, folder: Path, people: int) -> int:
    """One random table under random conventions; how many figures and verdicts were compared."""
    random = Random(number)  # noqa: S311 - a table to try
    conventions = Conventions(
        unit=random.random() < 0.8,
        missing_quasi_identifier=random.choice(["own_category", "wildcard"]),
        missing_sensitive=random.choice(["excluded", "own_category"]),
        suppressed=random.choice(["counted", "counted", "exempt"]),
    )
    rows = unequal_table(random, people)
    fraction = random.choice([None, Fraction(1), Fraction(1, 7)])
    asked = list(questions(Table.of(rows, conventions), fraction))
    how = sources(rows, folder, number), random.choice([1, 3, 7])
    return agree(answers(conventions, asked, fraction, how), asked)


def test_figures_over_people_are_those_of_the_definition(tmp_path: Path) -> None:
    assert sum(trial(number, tmp_path, people=6) for number in range(6)) > 100


@pytest.mark.long
def test_figures_over_people_of_many_tables(tmp_path: Path) -> None:
    assert sum(trial(number, tmp_path, people=3 + number % 8) for number in range(100, 140)) > 700


def class_checks(number: int, people: int) -> int:
    random = Random(number)  # noqa: S311 - a table to try
    conventions = Conventions(
        unit=True,
        missing_quasi_identifier=random.choice(["own_category", "wildcard"]),
        missing_sensitive=random.choice(["excluded", "own_category"]),
        suppressed=random.choice(["counted", "exempt"]),
        multiple_sensitive=random.choice(["per_attribute", "others_as_quasi_identifiers", "joint"]),
        reference=random.choice(["release", "declared"]),
    )
    rows = [{name: one[name] for name in one if name != "weight"} for one in unequal_table(random, people)]
    return compare(rows, [], conventions, random.choice([1, 3, 7]))


def test_classes_of_people_with_many_rows() -> None:
    assert class_checks(1, people=4) > 20


@pytest.mark.long
def test_classes_of_many_tables_of_people() -> None:
    assert sum(class_checks(number, people=3 + number % 4) for number in range(12)) > 250


# Every check that takes a unit is compared here, compares rows and columns of any people, or has a unit in its own
# test.

OF_ROWS_OR_COLUMNS = frozenset(
    {
        "age_cap",
        "assignment_record_linkage",
        "attribute_inference",
        "category_frequency",
        "closest_record_share",
        "direct_identifiers",
        "distance_record_linkage",
        "distance_to_closest_record",
        "epsilon_identifiability",
        "exact_match_rate",
        "identifying_attribute_count",
        "linkability",
        "membership_inference",
        "microaggregation_attack",
        "nearest_neighbour_distance_ratio",
        "noise_attack",
        "pram_attack",
        "probabilistic_record_linkage",
        "rank_interval_disclosure",
        "rank_swap_attack",
        "record_order",
        "region_population",
        "safe_harbor",
        "sd_interval_disclosure",
        "supervised_record_linkage",
    }
)


TESTS = Path(__file__).parents[1] / "checks"


def takes_a_unit(check: Any) -> bool:
    """Whether a policy with a unit may ask a check as its page shows it."""
    ((_, given),) = yaml.safe_load(check.guide.example)[0].items()
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "disease": {"role": "sensitive", "scale": "nominal", "hierarchy": "disease.csv"},
        "salary": {"role": "sensitive", "scale": "numeric"},
    }
    document = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {}}]}
    without, with_unit = (PolicyDocument.model_validate({**document, **one}) for one in ({}, {"unit": "person"}))
    parameters = check.parameters.model_validate(given or {})
    return set(check.faults(parameters, with_unit)) <= set(check.faults(parameters, without))


def test_no_check_takes_a_unit_unseen() -> None:
    compared = {one.name for one in CHECKS} | {one.check for one in questions(Table.of(ONE_ROW, Conventions()), None)}
    taking = {name for name, one in PLUGINS.checks.items() if one.on_records and takes_a_unit(one)}
    # of single rows: tests/auditor/test_table_tasks.py
    single = {name for name, one in PLUGINS.checks.items() if Need.ROWS in one.needs}
    others = taking - compared - OF_ROWS_OR_COLUMNS - single

    assert compared | OF_ROWS_OR_COLUMNS <= taking
    assert [name for name in others if "unit" not in (TESTS / f"test_{name}.py").read_text(encoding="utf-8")] == []
