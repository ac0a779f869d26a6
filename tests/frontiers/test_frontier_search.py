"""The way through the settings: the same whoever tries them, cut by time, and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from frontier_samples import BUILT_IN, POLICY, MadeUp, trial
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.classes.shards import silent
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.results.setting_trial import Attempt, SettingTrial
from tcdp_audit.frontiers import exploring
from tcdp_audit.frontiers.exploring import Search
from tcdp_audit.frontiers.trial import Saved, Task
from tcdp_audit.frontiers.varied import Variation, grid

NOWHERE = Saved(None, "")
VARIATION = Variation.asked(
    read_policy(POLICY, BUILT_IN), {"k_anonymity": [3, 5, 10], "t_closeness": ["0.5", "0.3", "0.1"]}
)
TASKS: tuple[Task, ...] = tuple((one, True) for one in grid(VARIATION.demands))


def result(task: Task, above: int = 0) -> SettingTrial:
    """A release that is somewhat safer than it was asked to be, and costs the more the safer it is."""
    k, t = map(float, task[0])
    return trial(task[0], (k + above, t - 0.001), k / 20 - t / 10 + above / 100)


def searched(workers: MadeUp, saved: Saved = NOWHERE, budget: float | None = None) -> Search:
    search = Search(VARIATION, TASKS, saved, budget)
    search.run(workers, silent)
    return search


@settings(max_examples=8)
@given(st.integers(1, 4), st.integers(0, 8), st.data())
def test_what_is_detected_depends_on_no_one_who_works(number: int, above: int, data: st.DataObject):
    def choose(many: int) -> int:
        return data.draw(st.integers(0, many - 1))

    single = MadeUp(1, lambda task: result(task, above), lambda _: 0)
    workers = MadeUp(number, lambda task: result(task, above), choose)
    alone, together = searched(single), searched(workers)
    assert together.trials == alone.trials
    assert {task: workers.lost[task] for task in workers.begun} == single.lost
    assert all(map(together.is_settled, TASKS))


def test_a_setting_that_a_laxer_release_keeps_is_not_tried_again():
    workers = MadeUp(1, lambda task: result(task, above=2), lambda _: 0)
    tried = {task[0] for task in searched(workers).trials}
    assert (Fraction(5), Fraction(1, 2)) not in tried  # that of k = 3 has k = 5
    assert (Fraction(10), Fraction(1, 2)) in tried


def test_each_setting_is_given_what_remedies_lost_under_laxer_ones():
    def stops(task: Task) -> SettingTrial:
        stopped = Attempt("mondrian", "M", "{}", None, keeps=False, at_least=float(task[0][0]))
        refused = Attempt("suppression", "S", "{}", None, keeps=False, reason="refused")
        partial = Attempt("noise", "N", "{}", 0.9, keeps=False)
        return trial(task[0], (None, None), 0.5, attempts=(stopped, refused, partial))

    workers = MadeUp(1, stops, lambda _: 0)
    searched(workers)
    lost = {task[0]: workers.lost[task] for task in workers.begun}
    assert lost[TASKS[0][0]] == {}
    assert lost[Fraction(10), Fraction(3, 10)] == {"mondrian: {}": 10.0}  # that of k = 10, t = 0.5
    assert all("suppression" not in entry and "noise" not in entry for one in lost.values() for entry in one)


def test_the_policys_own_setting_is_always_tried_and_first():
    workers = MadeUp(1, lambda task: result(task, above=100), lambda _: 0)
    assert searched(workers, budget=1e-9).trials.keys() == {TASKS[0]}
    assert workers.begun[0] == TASKS[0]
    assert TASKS[0][0] == VARIATION.own


def test_what_failed_settles_nothing_but_itself():
    def fails(task: Task) -> SettingTrial:
        return trial(task[0], (None, None), 0.0, status="failed", sha256="")

    assert len(searched(MadeUp(2, fails, lambda _: 0)).trials) == len(TASKS)


def test_nothing_is_begun_that_would_not_end_in_time(monkeypatch: pytest.MonkeyPatch):
    clock = [0.0]

    def slow(task: Task) -> SettingTrial:
        clock[0] += 10
        return result(task)

    monkeypatch.setattr(exploring, "monotonic", lambda: clock[0])
    search = searched(MadeUp(1, slow, lambda _: 0), budget=45)
    assert len(search.trials) == 4  # the fifth would have ended at 50
    assert list(search.trials) == list(TASKS[:4])
    assert not all(map(search.is_settled, TASKS))


@pytest.mark.parametrize(("budget", "finished"), [(25, 2), (5, 1)])
def test_what_is_not_finished_in_time_is_broken_off_where_that_can_be(
    budget: float, finished: int, monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]

    class Timed(MadeUp):
        can_break_off = True

        def finished(self, until: float | None = None) -> tuple[Task, SettingTrial] | None:
            if until is not None and until < clock[0] + 10:
                return None
            clock[0] += 10
            return super().finished()

    monkeypatch.setattr(exploring, "monotonic", lambda: clock[0])
    assert list(searched(Timed(2, result, lambda _: 0), budget=budget).trials) == list(TASKS[:finished])


class Stop(Exception):  # noqa: N818 - somebody pressed Ctrl-C
    """An interruption."""


def interrupted(after: int) -> Callable[[Task], SettingTrial]:
    left = [after]

    def work(task: Task) -> SettingTrial:
        left[0] -= 1
        if left[0] < 0:
            raise Stop
        return result(task)

    return work


@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_interrupted_run_goes_on_and_ends_alike(after: int, tmp_path: Path):
    saved = Saved(tmp_path / "state.json", "key")
    whole = searched(MadeUp(1, result, lambda _: 0)).trials
    with pytest.raises(Stop):
        searched(MadeUp(2, interrupted(after), lambda _: 0), saved)
    again = MadeUp(2, result, lambda _: 0)
    assert searched(again, saved).trials == whole
    assert len(again.begun) == len(whole) - after
    done = MadeUp(1, result, lambda _: 0)
    assert searched(done, saved).trials == whole
    assert done.begun == []


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text[:-20], "no file of an interrupted frontier"),
        (lambda _: "[" * 100_000, "no file of an interrupted frontier"),
        (lambda _: '{"a":' * 100_000, "no file of an interrupted frontier"),
        (lambda _: "[]", "no file of an interrupted frontier"),
        (lambda _: "{}", "no file of an interrupted frontier"),
        (lambda text: text.replace('"key": "key"', '"key": "other"'), "another release, policy, version"),
        (lambda text: text.replace('"status": "failed"', '"status": "passed"'), "damaged or changed"),
    ],
)
def test_a_file_that_is_not_this_runs_is_refused(damage: Callable[[str], str], sentence: str, tmp_path: Path):
    saved = Saved(tmp_path / "state.json", "key")
    saved.keep({TASKS[0]: trial(TASKS[0][0], (3, 0.6), 0.1, status="failed", sha256="")})
    assert len(saved.trials(TASKS)) == 1
    text = (tmp_path / "state.json").read_text(encoding="utf-8")
    assert json.loads(text)["frontier"] == 1
    (tmp_path / "state.json").write_text(damage(text), encoding="utf-8")
    with pytest.raises(UsageError, match=sentence):
        saved.trials(TASKS)


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be read"):
        Saved(tmp_path, "key").trials(TASKS)
