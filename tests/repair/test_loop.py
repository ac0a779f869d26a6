"""The loop of remedies and audits: what is accepted, what is refused, what is written down."""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import toy_remedies as toys

from tcdp_audit import Remediation, fix, open_session
from tcdp_audit.core.base.words import percent
from tcdp_audit.core.repair import candidate
from tcdp_audit.core.results.change_log import ChangeLog
from tcdp_audit.plugin.remedy import NewColumn, RemedyView, Treatment

AGES = ["20", "20", "33", "51", "51", "67", "039", "39"]
ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "disease": {"role": "sensitive", "scale": "nominal"},
    "note": {"role": "insensitive"},
}


def table(ages: list[str | None] | None = None, **columns: list[Any]) -> pa.Table:
    ages = ages or AGES
    plain = {"note": [f"n{i}" for i in range(len(ages))], "age": ages, "disease": ["a", "b"] * (len(ages) // 2)}
    return pa.table({**plain, **columns})


def policy(*remedies: str, k: int = 2, **more: Any) -> dict[str, Any]:
    document = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": k}}], **more}
    return {**document, "remedy": [{one: None} for one in remedies]} if remedies else document


def run(outcome: pa.Table, asked: dict[str, Any], **functions: Any) -> Remediation:
    return fix(outcome, asked, plugins=toys.plugins(**functions))


def test_a_passing_release_is_left_as_it_is() -> None:
    passing = table(["20"] * 4 + ["51"] * 4)
    done = run(passing, policy("constant"), constant=toys.constant)
    assert done.passed
    assert done.released.equals(passing)
    assert (done.log.steps, done.log.order, done.log.is_unchanged) == ((), "kept", True)
    assert done.log.loss["total"] == 0


def test_a_repaired_release_has_the_columns_of_the_input_in_their_order() -> None:
    done = run(table(), policy("halves"), halves=toys.halves)
    assert done.passed
    assert done.released.column_names == ["note", "age", "disease"]
    assert done.released.num_rows == 8
    assert sorted(done.released["age"].to_pylist()) == ["[0, 40)"] * 5 + ["[40, 99]"] * 3
    assert done.log.cells == {"note": 0, "age": 8, "disease": 0}


def test_the_order_says_nothing_about_the_order_records_came_in() -> None:
    forward = run(table(), policy("halves"), halves=toys.halves).released
    backward = run(table().take(list(range(7, -1, -1))), policy("halves"), halves=toys.halves).released
    assert forward.equals(backward)
    assert forward["note"].to_pylist() != [f"n{i}" for i in range(8)]


def test_another_seed_gives_another_order_of_the_same_records() -> None:
    one = run(table(), policy("halves"), halves=toys.halves).released
    two = run(table(), policy("halves", seed=1), halves=toys.halves).released
    assert one["note"].to_pylist() != two["note"].to_pylist()
    assert one.sort_by("note").equals(two.sort_by("note"))


def test_the_order_can_be_preserved() -> None:
    done = fix(table(), policy("halves"), plugins=toys.plugins(halves=toys.halves), keep_order=True)
    assert done.released["note"].to_pylist() == [f"n{i}" for i in range(8)]
    assert done.log.order == "kept"


def test_no_record_is_lost_silently() -> None:
    done = run(table(), policy("without_unique"), without_unique=toys.without_unique)
    assert done.passed
    assert (done.log.records, done.log.suppressed, done.released.num_rows) == (8, 2, 6)
    assert done.log.steps[0].suppressed == 2


def test_a_cell_that_does_not_change_stays_as_it_was_written() -> None:
    done = run(
        table(), policy("untouched", "without_unique"), untouched=toys.untouched, without_unique=toys.without_unique
    )
    assert done.log.cells == {"note": 0, "age": 0, "disease": 0}
    assert sorted(done.released["age"].to_pylist()) == ["039", "20", "20", "39", "51", "51"]


def test_a_missing_quasi_identifier_becomes_a_suppressed_one() -> None:
    done = run(table([None, None, "20", "20", "51", "67"]), policy("halves"), halves=toys.halves)
    assert done.passed
    assert sorted(done.released["age"].to_pylist()) == ["*", "*", "[0, 40)", "[0, 40)", "[40, 99]", "[40, 99]"]
    for convention in ("own_category", "wildcard", "fail"):
        asked = {**policy(), "conventions": {"missing_quasi_identifier": convention}}
        assert fix(done.released, asked, plugins=toys.plugins()).log.is_unchanged


def test_remedies_run_in_order_and_stop_when_the_policy_holds() -> None:
    done = run(
        table(),
        policy("untouched", "halves", "constant"),
        untouched=toys.untouched,
        halves=toys.halves,
        constant=toys.constant,
    )
    assert [step.remedy for step in done.log.steps] == ["untouched", "halves"]
    assert [len(step.failing) for step in done.log.steps] == [1, 0]
    assert done.log.lines == "remedy:\n  - untouched: {}\n  - halves: {}\n"


def test_what_does_not_help_is_an_honest_failure_with_the_best_release_so_far() -> None:
    done = run(table(), policy("halves", k=5), halves=toys.halves)
    assert not done.passed
    assert done.after.status == "failed"
    assert done.log.steps == ()
    assert [step.remedy for step in done.log.tried] == ["halves"]
    assert done.log.reason == "the only demand still fails: k_anonymity"
    assert done.released.equals(table())


def test_a_remedy_for_one_demand_that_breaks_another_does_not_pass() -> None:
    asked = policy("without_unique", expect=[{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}])
    done = run(table(["20", "20", "51", "51"], disease=["a", "b", "a", "a"]), asked, without_unique=toys.without_unique)
    assert not done.passed
    asked["remedy"] = [{"constant": None}]
    assert run(table(["20", "20", "51", "51"], disease=["a", "b", "a", "a"]), asked, constant=toys.constant).passed


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (toys.refusing, "it cannot be done; ask for less"),
        (toys.raising, "the remedy raised KeyError in toy_remedies.py, line "),
        (toys.lying, "the remedy gave codes of column 'age' that represent no cell"),
        (toys.inventing, "the remedy changed a column 'new', which the release does not have"),
    ],
)
def test_a_remedy_that_goes_wrong_is_named_and_never_a_pass(function: Any, sentence: str) -> None:
    done = run(table(), policy("broken"), broken=function)
    assert not done.passed
    assert done.after.exit_code() == 1
    (tried,) = done.log.tried
    assert tried.error.startswith(sentence)
    assert "zqcell" not in tried.error


def test_the_next_remedy_still_runs_after_one_that_went_wrong() -> None:
    done = run(table(), policy("broken", "halves"), broken=toys.raising, halves=toys.halves)
    assert done.passed
    assert ([step.remedy for step in done.log.steps], [step.remedy for step in done.log.tried]) == (
        ["halves"],
        ["broken"],
    )


def test_no_remedy_repairs_columns() -> None:
    done = run(table().append_column("name", [["x"] * 8]), policy("halves"), halves=toys.halves)
    assert not done.passed
    assert done.log.steps == ()
    assert done.log.reason.startswith("no remedy can change this: undeclared_columns: the release has")


def test_a_policy_that_demands_nothing_is_not_repaired() -> None:
    done = run(table(), policy("halves", expect=[{"k_anonymity": None}]), halves=toys.halves)
    assert (done.after.status, done.after.exit_code()) == ("measured", 3)
    assert done.log.reason == "nothing that the policy demands could fail, so there is nothing to repair"


def test_dropping_records_would_break_the_alignment_by_rows() -> None:
    asked = policy("without_unique", "halves", rows_aligned=True)
    done = run(table(), asked, without_unique=toys.without_unique, halves=toys.halves)
    assert done.passed
    assert done.log.tried[0].error.startswith("dropping records would break `rows_aligned: true`")
    assert done.log.order == "shuffled"


def test_numbers_become_text_only_where_a_cell_is_no_number() -> None:
    numbers = table(age=pa.array([20, 20, 33, 51, 51, 67, 39, 39]))
    done = run(numbers, policy("halves"), halves=toys.halves)
    assert done.released.schema.field("age").type == pa.string()
    assert run(numbers, policy("without_unique"), without_unique=toys.without_unique).released["age"].type == pa.int64()


def test_a_value_that_is_only_written_anew_is_no_changed_cell() -> None:
    days = pa.array([datetime(2026, 1, day, tzinfo=UTC) for day in (1, 1, 2, 2, 3, 3, 4, 5)])
    rows = pa.table({"age": days, "disease": ["a", "b"] * 4, "note": ["n"] * 8})
    asked = policy("sets")
    asked["attributes"] = {**ATTRIBUTES, "age": {"role": "quasi_identifier", "scale": "nominal"}}

    def sets(view: RemedyView, _: Any) -> Treatment:
        one = view.attribute("age")
        cells = np.array([*one.domain.labels[:3], "{later}"], dtype=object)
        return Treatment({"age": NewColumn(cells, np.minimum(one.codes.astype(np.int64), 3))})

    done = run(rows, asked, sets=sets)
    assert done.passed
    assert done.log.cells == {"age": 2, "disease": 0, "note": 0}
    assert done.log.steps[0].cells == {"age": 2}


# Planning


PLANS: dict[str, list[dict[str, Any]]] = {"constant": [{}], "halves": [{}], "without_unique": [{}], "broken": [{}]}


def planned(outcome: pa.Table, asked: dict[str, Any], **functions: Any) -> Remediation:
    return fix(outcome, asked, plugins=toys.plugins(PLANS, **functions))


def test_without_a_remedy_the_one_that_loses_least_is_retained() -> None:
    done = planned(table(), policy(), constant=toys.constant, halves=toys.halves, broken=toys.raising)
    assert done.passed
    assert done.log.planned
    assert [step.remedy for step in done.log.steps] == ["halves"]
    losses = {step.remedy: step.loss for step in done.log.tried if not step.error}
    assert losses["halves"] < losses["constant"]  # type: ignore[operator]
    assert done.log.lines == "remedy:\n  - halves: {}\n"


def test_what_loses_more_than_one_that_passes_is_stopped_before_its_audit() -> None:
    plans = {"halves": [{}], "whole": [{}]}
    done = fix(table(), policy(), plugins=toys.plugins(plans, halves=toys.halves, whole=toys.constant))
    assert [step.remedy for step in done.log.steps] == ["halves"]
    retained, stopped = done.log.tried
    assert retained == done.log.steps[0]
    assert (stopped.remedy, stopped.outcomes, stopped.loss) == ("whole", (), None)
    alone = fix(table(), policy("whole"), plugins=toys.plugins(whole=toys.constant)).log.loss["total"]
    losses = (
        f"it loses at least {percent(alone)} of the detail, and another remedy, after which the release passes, loses "
    )
    assert stopped.error == f"stopped: {losses}{percent(retained.loss)}"
    assert stopped.at_least == alone


def test_what_lost_more_where_less_was_demanded_is_not_tried() -> None:
    plugins = toys.plugins({"constant": [{}], "halves": [{}]}, halves=toys.halves, constant=toys.constant)
    best = fix(table(), policy(), plugins=plugins).log

    def again(lost: dict[str, float], asked: dict[str, Any]) -> ChangeLog:
        with open_session(table(), asked, plugins=plugins) as session:
            return session.fix(lost=lost).log

    for lost in ({"constant: {}": 0.9, "halves: {}": 0.0}, {"constant: {}": 0.9}):
        known = again(lost, policy())
        assert known.steps == best.steps
        first = known.tried[0]
        assert first.remedy == ("halves" if len(lost) == 2 else "constant")  # what lost least is tried first
    known = again({"constant: {}": 0.9, "halves: {}": 0.0}, policy())
    assert known.tried[1].error.startswith(
        "not tried: it lost 90% of the detail where less was demanded, and another remedy, after"
    )
    assert known.tried[1].at_least == 0.9
    nothing = again({"constant: {}": 0.9}, policy(k=6))
    assert [step.remedy for step in nothing.steps] == ["constant"]  # where no other passes, it is tried


def test_a_remedy_that_does_not_pass_stops_nothing() -> None:
    plans = {"few": [{}], "whole": [{}]}
    done = fix(table(), policy(k=6), plugins=toys.plugins(plans, few=toys.without_unique, whole=toys.constant))
    assert [step.remedy for step in done.log.steps] == ["whole"]
    assert not any(step.error for step in done.log.tried)


def test_a_remedy_knows_the_least_loss_before_it_only_in_the_first_step() -> None:
    known: list[float] = []

    def asking(view: RemedyView, on: Any) -> Treatment:
        known.append(view.least_loss())
        return toys.untouched(view, on)

    plans = {"asking": [{}], "halves": [{}], "later": [{}]}
    fixed = toys.plugins(plans, asking=asking, halves=toys.halves, later=asking)
    done = fix(table(), policy(), plugins=fixed)
    assert known == [inf, done.log.steps[0].loss]
    known.clear()
    fix(table(), policy(k=6), plugins=fixed)  # no step passes, and none leaves less amiss
    assert known == [inf, inf]


def test_every_table_is_opened_once_however_many_remedies_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    original = candidate.engine_over

    def counted(expected: Any, *others: Any) -> Any:
        opened.append(expected)
        return original(expected, *others)

    monkeypatch.setattr(candidate, "engine_over", counted)
    monkeypatch.setattr(candidate, "open_engine", _no_database)
    names = [f"r{number}" for number in range(6)]
    functions = dict.fromkeys(names, toys.untouched) | {"s": toys.halves}
    numbers = table(age=pa.array([20, 20, 33, 51, 51, 67, 39, 39]))
    done = fix(numbers, policy(), plugins=toys.plugins({name: [{}] for name in functions}, **functions))
    assert done.passed
    assert len(opened) == len(functions)  # one for each treated table


def _no_database(*_: Any) -> Any:
    raise AssertionError("a table of texts and numbers needs no database")


def test_a_plan_may_take_two_steps() -> None:
    rows = table(["20", "20", "51", "51", "67", "67"], disease=["a", "b", "a", "a", "b", "b"])
    asked = policy(expect=[{"distinct_l_diversity": {"l": 2}}, {"k_anonymity": {"k": 2}}])
    done = planned(rows, asked, constant=toys.constant)
    assert done.passed


def test_a_proposal_that_the_policy_could_not_name_is_reported_and_not_tried() -> None:
    done = fix(table(), policy(), plugins=toys.plugins({"halves": [{"colour": 1}]}, halves=toys.halves))
    assert not done.passed
    assert [step.error for step in done.log.tried] == ["it proposed parameters that a policy would reject"]
