"""Decisions on a workbench: saved at each one, taken back, gone on with; and what happens when something is wrong."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from workbench_client import POLICY, Client, finished, require_done, require_signed, running, write_policy, write_table

from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.studio import decisions
from tcdp_audit.studio.decisions import DecisionFile
from tcdp_audit.studio.release import Signer
from tcdp_audit.studio.work import Newest, State

SAYS = re.compile(r'data-say="([^"]+)"')
ROLE = {"column": 1, "role": "insensitive", "reason": "no one asks for it"}


@contextmanager
def running_beside(folder: Path) -> Iterator[Client]:
    """A further workbench on the same table, with decisions of its own."""
    other = folder / "beside"
    shutil.copytree(folder, other)
    with running(other) as client:
        yield client


def saved(folder: Path, name: str = "people.studio.json") -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_from_a_table_without_a_policy_to_a_release(tmp_path: Path) -> None:
    write_table(tmp_path)
    (tmp_path / "age.csv").unlink()
    with running(tmp_path) as client:
        assert "Its name speaks of an age" in client.get("/table").text
        assert "Accept every role" in client.get("/table").text
        for place, role in enumerate(("identifier", *("quasi_identifier",) * 3, "sensitive", "insensitive")):
            client.send("/table/role", {"column": place, "role": role, "reason": ""})
        assert client.send("/table/accept").head["location"] == "/risk"
        place = next(
            number
            for number, one in enumerate(client.studio.bench.policy.expectations)
            if one.check.name == "k_anonymity"
        )
        fields = {"shape": client.studio.bench.shape, "demand": place, "threshold": "3", "reason": "small town"}
        assert client.send("/demands/change", fields).head["location"] == "/demands"
        client.send("/release/try")
        assert finished(client).state is State.DONE
        assert "Holds" in client.get("/release").text
        client.send("/release/write", {"report": "yes", "result": "yes"})
        assert finished(client).state is State.DONE, client.studio.bench.work.fault
        assert "Fit" in client.get("/report").text
    assert (tmp_path / "people.release.csv").is_file()
    assert "small town" in (tmp_path / "people.tcdp.yaml").read_text(encoding="utf-8")


def test_a_second_call_goes_on_where_the_first_stopped(folder: Path) -> None:
    with running(folder) as client:
        client.send("/table/role", ROLE)
        client.send("/risk/try", [("knows", 0), ("level_1", 1)])
        trial = (dict(client.studio.bench.choices.levels), list(client.studio.bench.choices.unknown))
        text, known = client.studio.bench.editor.text, client.studio.bench.editor.decisions
    with running(folder) as client:
        bench = client.studio.bench
        assert (bench.editor.text, bench.editor.decisions) == (text, known)
        assert (bench.choices.levels, bench.choices.unknown) == trial
        assert "age" in bench.choices.accepted
        client.send("/undo", {"screen": "table"})
        assert bench.editor.text == POLICY
        client.send("/redo", {"screen": "table"})
        assert bench.editor.text == text


def test_a_trial_becomes_a_part_of_the_policy(folder: Path) -> None:
    with running(folder) as client:
        client.send("/risk/try", [("knows", 0), ("knows", 1), ("level_0", 2)])
        assert not client.studio.bench.editor.decisions
        client.send("/risk/keep", {"reason": "no one knows the zip"})
        policy = client.studio.bench.policy
        assert policy.attributes["zip"].role.value == "insensitive"
        assert policy.attributes["zip"].reason == "no one knows the zip"
        assert [one.remedy.name for one in policy.remedies] == ["generalization"]
        assert dict(client.studio.bench.choices.levels) == {"age": 2}  # the screens go on showing it
        page = client.get("/risk").text
        assert "In the policy:" in page
        assert "A trial that is not in the policy yet" not in page
        assert "Counted at the detail of the second step: age as 50-79" in client.get("/demands").text
        assert client.send("/risk/reset", {"screen": "demands"}).head["location"] == "/demands"
        assert client.send("/risk/keep", {"reason": ""}).status == 409


def test_an_outsider_who_knows_nothing_is_a_sentence_and_the_controls_stay(folder: Path) -> None:
    with running(folder) as client:
        answer = client.send("/risk/try", [], hx_request="true")
        assert 'id="figures"' in answer.text  # the place of the next answer
        assert "No column is left that an outsider knows" in answer.text
        page = client.get("/risk").text
        assert "No column is left that an outsider knows" in page
        assert 'id="c0"' in page
        assert 'id="alone"' in client.send("/risk/try", [("knows", 0)], hx_request="true").text


def test_a_change_that_makes_the_policy_unsound_is_taken_back(folder: Path) -> None:
    with running(folder) as client:
        answer = client.send("/table/role", {"column": 4, "role": "insensitive", "reason": ""})
        assert answer.status == 409
        assert "illness" in answer.text
        assert client.studio.bench.policy.attributes["illness"].role.value == "sensitive"
        live = client.send("/table/role", {"column": 4, "role": "insensitive", "reason": ""}, hx_request="true")
        assert live.status == 200
        assert 'role="alert"' in live.text


def test_demands_are_added_changed_and_removed(folder: Path) -> None:
    with running(folder) as client:
        bench = client.studio.bench
        from tcdp_audit.studio.screens.demands import candidates

        known = candidates(bench)
        place = next(n for n, one in enumerate(known) if (one["check"], one["attribute"]) == ("t_closeness", "illness"))
        client.send("/demands/add", {"shape": bench.shape, "check": place, "threshold": "0.5", "reason": "as ever"})
        assert bench.policy.expectations[-1].parameters.t == 0.5
        assert bench.policy.expectations[-1].parameters.reason == "as ever"
        stale = {"shape": bench.shape - 1, "demand": 2, "reason": ""}
        answer = client.send("/demands/remove", stale)
        assert (answer.status, len(bench.policy.expectations)) == (409, 3)
        assert "changed on another page" in answer.text
        fields = {"shape": bench.shape, "demand": 2, "threshold": "0.3", "reason": "", "weight": "warning"}
        client.send("/demands/change", fields)
        assert bench.policy.expectations[-1].parameters.severity.value == "warning"
        client.send("/demands/remove", {"shape": bench.shape, "demand": 2, "reason": ""})
        assert len(bench.policy.expectations) == 2
        client.send("/demands/profile", {"profile": "el_emam_precedents_11@2013", "reason": ""})
        assert [one.profile for one in bench.policy.expectations][-1] == "el_emam_precedents_11@2013"
        assert "As el_emam_precedents_11@2013 demands" in client.get("/demands").text
        client.send("/demands/profile", {"profile": "", "reason": ""})
        assert len(bench.policy.expectations) == 2


def test_a_slide_is_one_decision(folder: Path) -> None:
    with running(folder) as client:
        bench = client.studio.bench

        def slide(step: int, demand: int = 0, steps: str = "none 1 2 5") -> list[Any]:
            fields = {"shape": bench.shape, "demand": demand, "steps": steps, "step": step}
            assert client.send("/demands/slide", fields).status == 303
            return [one.new for one in bench.editor.decisions]

        for step in (1, 2, 3, 2):
            slide(step)
        assert slide(3) == [{"k": 5}]
        assert slide(1, demand=1, steps="2 3") == [{"k": 5}, {"l": 3, "attribute": "illness"}]
        assert len(slide(2)) == 3  # another slider moved between them
        client.send("/undo", {"screen": "demands"})
        assert bench.policy.expectations[0].parameters.k == 5
        assert slide(0)[-1] == {}
        assert "only measured" in client.get("/demands").text
        assert slide(2)[-1] == {"k": 2}
        for steps, step in (("1 2", 2), ("1 x", 1), ("", 0), ("1  2", 1 << 40)):
            fields = {"shape": bench.shape, "demand": 0, "steps": steps, "step": step}
            assert client.send("/demands/slide", fields).status == 422


def test_a_slide_keeps_the_reason_and_an_unsound_one_is_taken_back(folder: Path) -> None:
    with running(folder) as client:
        bench = client.studio.bench
        fields = {"shape": 0, "demand": 0, "steps": "4 0.5", "step": 0}
        client.send("/demands/change", {"shape": 0, "demand": 0, "threshold": "3", "reason": "our rule"})
        client.send("/demands/slide", fields)
        assert "reason: our rule" in bench.editor.text
        assert client.send("/demands/slide", {**fields, "step": 1}).status == 409  # no half person
        assert bench.policy.expectations[0].parameters.reason == "our rule"


def test_a_demand_laxer_than_is_usual_is_marked_and_a_profile_named(folder: Path) -> None:
    with running(folder) as client:
        assert "at least 11 is usual for public files" in client.get("/demands").text
        client.send("/demands/change", {"shape": 0, "demand": 0, "threshold": "11", "reason": ""})
        page = client.get("/demands").text
        assert "is usual for public files" not in page
        assert "asks for at least 20." in page


def test_the_cache_of_the_table_stays_within_the_memory_of_the_call(folder: Path) -> None:
    memory = 1 << 20
    with running(folder, memory=memory) as small, running_beside(folder) as large:
        caches = [one.studio.bench.session.tables.cache for one in (small, large)]
        assert caches[0].room == memory // 4
        for level in range(4):
            for known in ((0,), (0, 1), (0, 2), (0, 1, 2), (1, 2)):
                fields = [*(("knows", one) for one in known), ("level_0", level), ("level_2", level % 3)]
                shown = [one.send("/risk/try", fields, hx_request="true").text for one in (small, large)]
                assert SAYS.findall(shown[0]) == SAYS.findall(shown[1]) != []
                assert caches[0].size <= caches[0].room
        assert caches[1].size > caches[0].room  # so that the small one had to forget


def test_values_are_shown_where_a_person_asks_and_the_file_says_so(folder: Path) -> None:
    with running(folder) as client:
        assert "such as" not in client.get("/table").text
        assert "measles" not in "".join(client.seen)
        client.send("/values", {"screen": "table"})
        assert finished(client).state is State.DONE
        assert "<code>" in client.get("/table").text
        assert saved(folder)["values_shown"]
    assert "measles" not in (folder / "people.studio.json").read_text(encoding="utf-8")


def test_points_appear_and_one_of_them_is_taken(folder: Path) -> None:
    with running(folder) as client:
        bench = client.studio.bench
        client.send("/remedies/begin")
        assert client.send("/remedies/begin").status == 409
        assert finished(client).state is State.DONE, bench.work.fault
        page = client.get("/remedies").text
        assert "An invented record" in page
        assert "% left" in page
        lax = [one for one in bench.front.points if not bench.front.keeps_demands(one)]
        assert lax
        assert page.count("does not hold your demands") == len(lax)
        worst = bench.front.points.index(lax[0]) + 1
        assert "Lower the demands and take this release" in client.get(f"/remedies?point={worst}").text
        number = bench.front.own_place + 1
        point = bench.front.points[number - 1]
        assert client.send("/remedies/take", {"point": number, "reason": "ours"}).head["location"] == "/release"
        client.send("/release/write", {"result": "yes"})
        assert finished(client).state is State.DONE, bench.work.fault
        from hashlib import sha256

        assert sha256((folder / "people.release.csv").read_bytes()).hexdigest() == point.sha256
        assert "report" not in bench.choices.written
        assert client.send("/remedies/take", {"point": 999, "reason": ""}).status == 409


def test_a_true_record_is_shown_where_a_person_asked_for_values(folder: Path) -> None:
    with running(folder, memory=2**30) as client:
        client.send("/values", {"screen": "remedies"})
        assert finished(client).state is State.DONE
        client.send("/remedies/begin")
        assert finished(client).state is State.DONE, client.studio.bench.work.fault
        page = client.get("/remedies").text
        assert "The first record, as you asked for values" in page
        first = (folder / "people.csv").read_text(encoding="utf-8").splitlines()[1].split(",")
        assert f"<td>{first[1]}</td>" in page
        assert "(not published)" in page
    assert first[0] not in (folder / "people.studio.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["/remedies/begin", "/release/try", "/release/write"])
def test_work_that_is_stopped_leaves_nothing_and_figures_go_on(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    write_table(folder, records=3000)
    draw = random.Random(what)  # noqa: S311 - moments to test at
    with running(folder) as client:
        before = sorted(one.name for one in folder.iterdir())
        for _ in range(20):
            client.send(what)
            if what != "/release/write":  # which is short enough to end before
                time.sleep(draw.random() * 0.3)
            answer = client.send("/work/cancel", {"screen": "remedies"})
            assert answer.status == 303
            client.studio.bench.work.wait(60)  # the page waits for a second, which a busy machine may exceed
            assert not client.studio.bench.work.is_running
            if client.studio.bench.work.state is State.CANCELLED:
                left = {one.name for one in temporary.iterdir()}
                assert not left, left
                assert {one.name for one in folder.iterdir()} - {*before} <= {"people.tcdp.yaml"}
        assert client.get("/risk/figures").status == 200


def test_figures_wait_for_work_with_a_sentence(folder: Path) -> None:
    with running(folder) as client:
        client.send("/remedies/begin")
        answer = client.get("/risk/figures")
        assert "under way" in answer.text
        assert client.send("/table/role", ROLE).status == 409
        client.send("/work/cancel", {"screen": "remedies"})


def test_texts_for_the_report_need_no_button_of_their_own(folder: Path) -> None:
    with running(folder) as client:
        client.send("/release/text", {"purpose": "a course", "result": "yes"}, hx_request="true")
        client.send("/release/write", {"approved_by": "Bea Lead", "result": "yes"})
        require_done(client)
        assert client.studio.bench.trial.decides.keys().isdisjoint({"purpose", "approved_by"})
        assert "Go on to the report" in client.get("/release").text
    text = (folder / "people.tcdp.yaml").read_text(encoding="utf-8")
    assert "purpose: a course" in text
    assert "approved_by: Bea Lead" in text


def test_a_table_that_changes_or_vanishes_is_noticed_before_anything_is_written(folder: Path) -> None:
    with running(folder) as client:
        with (folder / "people.csv").open("a", encoding="utf-8") as file:
            file.write("p99999,20,f,100,flu,1\n")
        client.send("/release/write", {"result": "yes"})
        assert "changed" in finished(client).fault
        (folder / "people.csv").unlink()
        client.send("/release/write", {"result": "yes"})
        assert "people.csv" in finished(client).fault
        assert "people.csv" in client.get("/release").text
        assert not (folder / "people.release.csv").exists()
        assert saved(folder)["history"]


def test_a_full_disk_is_a_sentence_and_the_decision_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise UsageError("people.studio.json: cannot be written: No space left on device")

    with running(folder) as client:
        before = saved(folder)
        with monkeypatch.context() as patch:
            patch.setattr(decisions, "write_atomically", full)
            client.send("/table/role", ROLE)
            assert "No space left on device" in client.get("/table").text
            assert saved(folder) == before
        client.send("/table/accept")
        assert "No space left" not in client.get("/table").text
        assert saved(folder)["history"]["decisions"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is damaged"),
        ("[]", "no file of this version"),
        ('{"studio": 1, "history": {}, "about": "x"}', "another table"),
    ],
)
def test_a_damaged_file_of_decisions_is_a_sentence(text: str, says: str, folder: Path) -> None:
    (folder / "people.studio.json").write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=says), running(folder):
        pass
    assert (folder / "people.studio.json").read_text(encoding="utf-8") == text


def test_a_broken_policy_is_a_sentence(folder: Path) -> None:
    write_policy(folder, POLICY.replace("k_anonymity", "k_anonimity"))
    with running(folder) as client:
        assert "k_anonimity" in client.get("/table").text
        assert "did you mean" in client.get("/demands").text
        assert client.get("/risk").status == 200


def test_a_policy_that_another_program_changed_is_not_replaced(folder: Path) -> None:
    with running(folder) as client:
        client.send("/table/role", ROLE)
        (folder / "people.tcdp.yaml").write_text(POLICY + "# by hand\n", encoding="utf-8")
        client.send("/release/write", {"result": "yes"})
        assert "changed by another program" in finished(client).fault
    assert (folder / "people.tcdp.yaml").read_text(encoding="utf-8").endswith("# by hand\n")


def test_the_last_step_signs_with_the_key_of_the_call(folder: Path, signer: Signer) -> None:
    answers = [("answer", one) for one in ("roles", "tables", "law")]
    named = ("signer", "Bea Lead, data office")
    with running(folder, signer=signer) as client:
        assert client.send("/report/sign", [*answers, named]).status == 409
        client.send("/release/write", {"report": "yes", "result": "yes"})
        finished(client)
        assert "1 of 3 questions are open" in client.send("/report/sign", [*answers[:2], named]).text
        assert "no one is named who signs" in client.send("/report/sign", answers).text.lower()
        assert client.send("/report/sign", [*answers, named]).status == 303
        assert "Signed by Bea Lead, data office at " in client.get("/report").text
        assert saved(folder)["signer"] == "Bea Lead, data office"
        assert "PRIVATE" not in "".join(client.seen)
    require_signed(folder)


def test_answers_are_saved_without_a_key(folder: Path) -> None:
    with running(folder) as client:
        client.send("/report/answers", [("answer", "law"), ("signer", "Bea Lead")])
        assert (saved(folder)["confirmed"], saved(folder)["signer"]) == (["law"], "Bea Lead")
        assert 'value="Bea Lead"' in client.get("/report").text


def test_a_state_is_computed_once_and_an_older_one_never_after_it() -> None:
    newest = Newest(lambda: None)
    asked: list[str] = []

    def compute(name: str) -> str:
        asked.append(name)
        return name

    assert newest.answer("a", 1, lambda: compute("a1")) == "a1"
    assert newest.answer("a", 1, lambda: compute("again")) == "a1"
    assert newest.answer("b", 1, lambda: compute("b1")) == "b1"
    assert newest.answer("a", 2, lambda: compute("a2")) == "a2"
    assert asked == ["a1", "b1", "a2"]


def test_decisions_are_about_one_table(tmp_path: Path) -> None:
    file = DecisionFile(tmp_path / "x.studio.json", "x.csv")
    assert file.read() is None
    file.save({"history": {"text": ""}})
    assert file.read() == {"studio": 1, "says": decisions.SAYS, "about": "x.csv", "history": {"text": ""}}
    with pytest.raises(UsageError, match=r"about another table than y\.csv"):
        DecisionFile(tmp_path / "x.studio.json", "y.csv").read()


KILLED = """
import sys
from tcdp_audit.studio.choices import Place
from tcdp_audit.studio.workbench import Workbench
from tcdp_audit.plugin.detector import Role
bench = Workbench(Place.of("people.csv", None))
bench.open(); bench.opening.wait(60)
print("ready", flush=True)
for number in range(10_000):
    bench.declare("cost", [Role.SENSITIVE, Role.INSENSITIVE][number % 2], f"reason {number}")
    print(number, flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("moments", [3, 50])
def test_a_kill_at_any_moment_loses_nothing_that_was_confirmed(moments: int, folder: Path) -> None:
    draw = random.Random(moments)  # noqa: S311 - moments to test at
    for _ in range(moments):
        (folder / "people.studio.json").unlink(missing_ok=True)
        command = [sys.executable, "-c", KILLED]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(draw.random() * 0.5)
            process.kill()
            said = process.stdout.read().split()
        last = int(said[-1]) if said and said[-1].isdigit() else -1
        decided = saved(folder)["history"]["decisions"]
        assert len(decided) >= max(last, 0)  # the last number may be cut off
        with running(folder) as client:
            assert len(client.studio.bench.editor.decisions) == len(decided)
        assert [one.name for one in folder.iterdir() if one.name.startswith(".tcdp-audit")] == []


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of Windows are others")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_removes_its_temporary_files(number: int, folder: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "tcdp_audit", "studio", "people.csv", "--no-browser"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        assert address.startswith("the workbench is at http://")
        while not (folder / "people.studio.json").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert "interrupted; written: people.studio.json" in errors
    assert list(temporary.iterdir()) == []
    assert stat.S_IMODE((folder / "people.studio.json").stat().st_mode) == 0o600


def test_the_button_ends_it(folder: Path) -> None:
    with running(folder) as client:
        answer = client.send("/close")
        assert "The workbench is closed" in answer.text
        assert client.studio.wait() == "closed"
