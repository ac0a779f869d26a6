"""Plans for a release whose unit joins rows: what they propose, what they leave out, and what they never do."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

from tcdp_audit import audit, fix, frontier
from tcdp_audit.cli.schema import result_schema
from tests.remedies.histories import (
    PLUGINS,
    UNIT,
    clinic,
    clinic_policy,
    figures_of,
    histories_of,
    small_clinic,
)

SINGLE_ROWS = "acts on single rows, and this demand judges all rows of a unit together"


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Any:
    output = tmp_path_factory.mktemp("plans") / "released.parquet"
    return fix(clinic(), clinic_policy(), output=output, plugins=PLUGINS)


def test_a_plan_reaches_a_release_that_passes_and_says_what_it_cost(planned: Any) -> None:
    assert planned.passed
    assert planned.log.lines == "remedy:\n  - redraw_pseudonym: {per: row}\n"
    assert (
        "Of 4,973 pairs of rows that patient joined, none is joined any more, so that people can be neither counted "
        "nor followed." in planned.log.utility_impact
    )
    assert planned.after.expectations[0].observed == 176
    assert planned.log.loss["total"] == pytest.approx(0.2237793)
    assert audit(planned.written, clinic_policy()).passed


def test_its_result_is_one_of_the_published_schema(planned: Any) -> None:
    result = json.loads(planned.after.to_json())
    jsonschema.validate(result, json.loads(result_schema()))
    links = result["change_log"]["loss"]["links"]
    assert (links["unit"], links["before"], links["after"]) == (UNIT, 4973, 0)


def test_the_least_loss_is_taken(planned: Any) -> None:
    losses = {step.remedy: step.loss for step in planned.log.tried if step.loss is not None}
    assert losses["coarsen_time"] == pytest.approx(0.25)
    assert min(losses, key=lambda name: losses[name]) == "redraw_pseudonym"
    stopped = {step.remedy for step in planned.log.tried if step.error.startswith("stopped")}
    assert {"truncate_histories", "suppress_units"} <= stopped


def test_remedies_of_single_rows_say_beforehand_why_they_do_not_act(planned: Any) -> None:
    left = planned.log.left_out
    assert left["Mondrian partitioning"] == left["Suppression"] == SINGLE_ROWS
    assert "where all rows of a unit are judged together" in left["Top and bottom coding"]
    assert "mondrian" not in {step.remedy for step in planned.log.tried}


@pytest.mark.parametrize("remedy", [{"mondrian": {}}, {"suppression": {}}, {"suppression": {"of": "cells"}}])
def test_a_named_remedy_of_single_rows_says_so_and_claims_nothing(remedy: dict[str, Any]) -> None:
    result = fix(clinic(), clinic_policy(remedy), plugins=PLUGINS)
    assert not result.passed
    assert result.released.num_rows == 4977
    trials = [*result.log.steps, *result.log.tried]
    assert trials[0].unhelped == f"does not act on k_anonymity ({SINGLE_ROWS})"


def test_coarser_times_are_followed_by_another_remedy() -> None:
    result = fix(clinic(), clinic_policy(k=200), plugins=PLUGINS)
    assert result.passed
    assert [step.remedy for step in result.log.steps] == ["coarsen_time", "redraw_pseudonym"]
    assert result.after.expectations[0].observed >= 200


def test_five_pseudonyms_of_one_person_are_no_class_of_five() -> None:
    rows = [(1, f"2024-0{month}", "n", "a") for month in range(1, 7)]
    rows += [(one, f"2023-0{1 + one % 3}", "s", "b") for one in range(2, 14)]
    table = pa.table(dict(zip((UNIT, "month", "ward", "diagnosis"), zip(*rows, strict=True), strict=True)))
    asked = clinic_policy({"redraw_pseudonym": {"per": "row"}}, {"mondrian": {}})
    result = fix(table, asked, plugins=PLUGINS)
    assert not result.passed
    errors = [step.error for step in result.log.tried if step.remedy == "mondrian"]
    assert errors[0].startswith("1 class would have 5 or more new pseudonyms of fewer units")
    assert "redraw pseudonyms last, or say `unit_released: false`" in errors[0]
    dropped = fix(table, clinic_policy({"mondrian": {}}, unit_released=False), plugins=PLUGINS)
    assert dropped.passed  # with the column at hand, people are counted


def test_secrets_of_whole_histories_are_judged_too() -> None:
    asked = clinic_policy()
    asked["expect"] += [
        {"homogeneity": {"attribute": "diagnosis", "at_most": 0}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.4}},
    ]
    result = fix(clinic(), asked, plugins=PLUGINS)
    assert result.passed
    assert audit(result.released, asked).passed


@pytest.mark.parametrize("seed", range(3))
def test_every_planned_release_passes_in_plain_python(seed: int) -> None:
    table = small_clinic(seed, 80)
    result = fix(table, clinic_policy(k=3), plugins=PLUGINS)
    assert result.passed
    assert figures_of(histories_of(result.released).values())[0] >= 3
    assert result.log.order == "shuffled"
    assert fix(result.released, clinic_policy(k=3), plugins=PLUGINS).log.is_unchanged


def test_an_audit_that_tries_remedies_names_them() -> None:
    trial = audit(clinic(), clinic_policy(), try_remedies=True).remedy_trial
    assert trial is not None
    assert trial.passes
    assert trial.log is not None
    assert trial.log.steps[0].remedy == "redraw_pseudonym"


@pytest.mark.long
def test_the_frontier_of_a_linked_release() -> None:
    result = frontier(small_clinic(1, 80), clinic_policy(k=3), vary={"k_anonymity": [2, 5]}, plugins=PLUGINS)
    assert result.as_json()["points"]
