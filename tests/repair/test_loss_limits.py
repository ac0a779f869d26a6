"""Limits of what remedies may cost, and columns that they empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
import toy_remedies as toys

from tcdp_audit import PolicyError, Remediation, audit, fix, load_policy, verify
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.core.results.verdict import title_of, verdict_title
from tcdp_audit.plugin.remedy import NewColumn, Treatment

AGES = ["20", "20", "33", "51", "51", "67", "38", "39"]
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "disease": {"role": "sensitive", "scale": "nominal"},
        "note": {"role": "insensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}],
}
USELESS = "Fit, but nothing is demanded of 'disease', and useless for: age"
PLANS: dict[str, list[dict[str, Any]]] = {"constant": [{}], "halves": [{}], "without_unique": [{}]}
HALVES = (20 * 5 + 27 * 3) / 8 / 47  # what `halves` loses of age: the widths of its intervals, cut to 20 and 67


def table(ages: list[str] | None = None) -> pa.Table:
    ages = ages or AGES
    records = len(ages)
    return pa.table({"age": ages, "disease": (["a", "b"] * records)[:records], "note": list(map(str, range(records)))})


def run(*remedies: str, detected: pa.Table | None = None, keep_failing: bool = False, **limits: Any) -> Remediation:
    named = {"remedy": [{one: None} for one in remedies]} if remedies else {}
    functions = {"constant": toys.constant, "halves": toys.halves, "without_unique": toys.without_unique}
    plugins = toys.plugins(PLANS, **functions)
    return fix(detected or table(), {**POLICY, **named, **limits}, plugins=plugins, keep_failing=keep_failing)


def test_a_release_beyond_the_limit_of_the_whole_is_refused():
    done = run("halves", max_loss=0.1)  # the mean of HALVES and 0

    assert (done.after.status, done.after.exit_code()) == ("failed", 1)
    assert done.released.equals(table())
    assert done.log.steps == ()
    sentence = f"it loses {50 * HALVES:.1f}% of the information on average over all cells, and max_loss allows 10%"
    assert done.log.tried[0].error == sentence
    assert done.log.reason == (
        f"the only demand still fails: k_anonymity; refused because of what it costs: halves: {sentence}"
    )


def test_a_release_just_within_its_limits_is_taken():
    free = run("halves")
    loss = free.log.loss
    least = {"age": 1 - loss["attributes"]["age"]["cell_loss"]}
    done = run("halves", max_loss=loss["total"], min_utility=least)

    assert done.passed
    assert done.released.equals(free.released)
    assert done.log.steps[0].loss == loss["total"]
    assert not run("halves", max_loss=loss["total"] - 1e-6).passed
    assert not run("halves", min_utility={"age": least["age"] + 1e-6}).passed


def test_the_sentence_has_figure_limit_and_column():
    done = run("constant", min_utility={"age": 0.5, "disease": 1})

    assert done.log.tried[0].error == "it retains 0% of 'age', and min_utility asks for 50%"
    assert done.log.reason.endswith(
        "; refused because of what it costs: constant: it retains 0% of 'age', and min_utility asks for 50%"
    )


def test_both_limits_are_reported():
    assert run("constant", max_loss=0.1, min_utility={"age": 0.5}).log.tried[0].error == (
        "it loses 50% of the information on average over all cells, and max_loss allows 10%; "
        "it retains 0% of 'age', and min_utility asks for 50%"
    )


def test_the_others_go_on_where_one_is_refused():
    done = run("constant", "without_unique", min_utility={"age": 0.4})

    assert done.passed
    assert [one.remedy for one in done.log.steps] == ["without_unique"]
    assert [one.remedy for one in done.log.tried] == ["constant"]
    assert done.log.reason == ""


def test_a_plan_keeps_only_what_is_within_the_limits():
    free = run(detected=table(["20", "20", "33", "33", "51"]))
    assert free.passed
    taken = free.log.steps[0].remedy
    column = free.log.loss["attributes"]["disease"]["cell_loss"]
    assert column > 0  # records are dropped, so that something of the disease is lost

    done = run(detected=table(["20", "20", "33", "33", "51"]), min_utility={"disease": 1})
    assert done.passed
    assert taken not in [one.remedy for one in done.log.steps]
    assert done.log.loss["attributes"]["disease"]["cell_loss"] == 0


def test_of_several_refused_the_nearest_is_reported():
    done = run(max_loss=0)

    assert not done.passed
    losses = {one.remedy: one.error for one in done.log.tried}
    assert set(losses) == {"constant", "halves", "without_unique"}
    assert all("max_loss allows 0%" in one for one in losses.values())
    assert "refused because of what it costs: " in done.log.reason
    assert "constant" not in done.log.reason


def test_nothing_beyond_the_limits_is_written(tmp_path: Path):
    plugins = toys.plugins(PLANS, constant=toys.constant)
    for keep_failing in (False, True):
        target = tmp_path / f"out{keep_failing}.csv"
        done = fix(table(), {**POLICY, "max_loss": 0.1}, output=target, plugins=plugins, keep_failing=keep_failing)
        assert not done.passed
        assert target.exists() == keep_failing
        assert done.released.equals(table())


def test_a_release_that_passes_costs_nothing():
    done = run(detected=table(["20"] * 4), max_loss=0, min_utility={"age": 1})
    assert (done.passed, done.log.constant_columns) == (True, ())


def test_a_release_with_an_emptied_column_is_never_plainly_fit():
    done = run("constant")

    assert done.passed
    assert done.log.constant_columns == ("age",)
    assert verdict_title(done.after) == USELESS
    result = json.loads(done.after.to_json())
    jsonschema.validate(result, json.loads(result_schema()))
    assert result["verdict"]["title"] == USELESS
    assert result["change_log"]["constant_columns"] == ["age"]
    plainly = USELESS.replace("'disease'", "disease")
    assert done.after.render(".md").startswith(f"# {plainly}:")
    assert ", and useless for: age</h1>" in done.after.render(".html")


def suppressed(view: Any, _: Any) -> Treatment:
    return Treatment({"age": NewColumn(np.array(["*"], dtype=object), np.zeros(view.records, dtype=np.int64))})


@pytest.mark.parametrize(
    ("ages", "constant_columns"),
    [(AGES, ("age",)), ([*AGES[:7], ""], ("age",)), (["20"] * 8, ()), ([""] * 8, ())],
)
def test_suppressed_and_missing_cells_are_one_value(ages: list[str], constant_columns: tuple[str, ...]):
    attributes = {**POLICY["attributes"], "note": {"role": "quasi_identifier"}}  # so that no record is all suppressed
    policy = {
        **POLICY,
        "attributes": attributes,
        "remedy": [{"suppressed": None}],
        "expect": [{"k_anonymity": {"k": 8}}],
    }
    detected = table(ages).set_column(2, "note", [["x"] * 8])
    done = fix(detected, policy, plugins=toys.plugins(suppressed=suppressed))
    assert done.passed
    assert done.log.constant_columns == constant_columns


def test_a_column_that_still_has_two_values_is_not_empty():
    assert run("halves").log.constant_columns == ()


def test_a_trial_says_what_would_be_useless():
    plugins = toys.plugins(PLANS, constant=toys.constant)
    detected = audit(table(), POLICY, plugins=plugins, try_remedies=True)
    trial = detected.as_json()["remedy_trial"]

    assert (trial["passes"], trial["constant_columns"]) == (True, ["age"])
    assert (
        "it would then pass, with 1 warning (Sensitive columns without a demand), and be useless for age."
        in detected.render(".md")
    )
    jsonschema.validate(json.loads(detected.to_json()), json.loads(result_schema()))


def test_only_a_release_that_passes_is_reported_to_be_useless():
    assert title_of("failed", ["age"]) == "Not fit for release"
    assert title_of("passed") == "Fit for release"
    assert title_of("passed", ["a", "b"]) == "Fit for release, and useless for: a, b"


def test_a_result_with_emptied_columns_is_verified(tmp_path: Path):
    plugins = toys.plugins(PLANS, constant=toys.constant)
    source, target, policy = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "p.tcdp.yaml"
    source.write_text("age,disease,note\n" + "".join(f"{age},{'ab'[i % 2]},{i}\n" for i, age in enumerate(AGES)))
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    done = fix(source, policy, output=target, plugins=plugins)
    done.write(tmp_path / "out.json")

    alone = verify(tmp_path / "out.json", target, policy, plugins=plugins)
    assert [(one.subject, one.state.value) for one in alone.unverified] == [("changes", "unverified")]
    assert not alone.differences
    whole = verify(tmp_path / "out.json", target, policy, before=source, plugins=plugins)
    assert whole.is_confirmed
    assert whole.title == USELESS

    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    result["change_log"]["constant_columns"], result["verdict"]["title"] = [], "Fit for release"
    (tmp_path / "lie.json").write_text(json.dumps(result), encoding="utf-8")
    lie = verify(tmp_path / "lie.json", target, policy, before=source, plugins=plugins)
    assert {one.subject for one in lie.differences} == {"figures", "changes"}


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"max_loss": 1.5}, "max_loss: must be at most 1"),
        ({"max_loss": "30%"}, "write 0.3 for 30%"),
        ({"min_utility": {"age": 2}}, "min_utility.age: must be at most 1"),
        (
            {"min_utility": {"note": 1}},
            "min_utility.note: 'note' is not declared as a quasi-identifier or as",
        ),
        ({"min_utility": {"agee": 1}}, "did you mean 'age'?"),
        ({"min_utility": {}}, "min_utility: "),
    ],
)
def test_faults_of_limits(limits: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError) as caught:
        load_policy({**POLICY, **limits})
    assert sentence in str(caught.value)
