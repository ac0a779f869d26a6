# ruff: noqa: ARG001, ARG005 - every rule and every mutant has the same form
"""Each threat to a workbench with the rule against it, and the proof that the test would notice if the rule were gone.

A rule is a function that asserts; its mutant takes the rule out of the program. The rule must hold, and under its
mutant it must not.
"""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.responses import PlainTextResponse, Response
from workbench_client import Client, running, write_policy, write_table

from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.studio import forms, guard, pages, release, server, work, workbench
from tcdp_audit.studio.choices import Place
from tcdp_audit.studio.screens import risk, table
from tcdp_audit.studio.server import Studio
from tcdp_audit.studio.workbench import Workbench

SCREENS = ("/table", "/risk", "/demands", "/remedies", "/release", "/report")
EVERY = (
    *SCREENS,
    "/risk/figures",
    "/risk/knowledge",
    "/demands/figures",
    "/demands/scale?demand=0",
    "/static/style.css",
)
Patch = pytest.MonkeyPatch
Holds = Callable[[Path, Patch], None]
Mutant = Callable[[Patch], None]
RULES: dict[str, tuple[Holds, Mutant]] = {}


def rule(mutant: Mutant) -> Callable[[Holds], Holds]:
    """Enter a rule under the name of its function."""

    def enter(holds: Holds) -> Holds:
        RULES[holds.__name__] = (holds, mutant)
        return holds

    return enter


def without(name: str) -> Mutant:
    """The mutant without one rule of the guard."""
    rules = tuple(one for one in guard.RULES if one.__name__ != name)
    assert len(rules) == len(guard.RULES) - 1

    def mutate(patch: Patch) -> None:
        patch.setattr(guard.Guard.__init__, "__defaults__", (*guard.Guard.__init__.__defaults__[:-1], rules))

    return mutate


@rule(without("refuse_host"))
def a_rebound_name_is_not_served(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        port = client.studio.port
        for host in (f"evil.example:{port}", f"127.0.0.1:{port}", f"localhost:{port}", client.studio.host[:-1], None):
            answer = client.get("/table", host=host)
            assert answer.status in (400, 421), host
            assert "people.csv" not in answer.text
        assert "ssh -L" in client.get("/", host=f"127.0.0.1:{port}").text


@rule(without("refuse_origin"))
def another_origin_changes_nothing(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for origin in ("http://evil.example", "null", None, client.studio.host, f"https://{client.studio.host}"):
            answer = client.send(
                "/demands/change", {"shape": 0, "demand": 0, "threshold": 4, "reason": ""}, origin=origin
            )
            assert answer.status == 403, origin
        assert not client.studio.bench.editor.decisions


@rule(without("refuse_site"))
def another_site_reads_nothing(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for site in ("cross-site", "same-site"):
            assert client.get("/table", sec_fetch_site=site).status == 403
        assert client.get("/table", sec_fetch_site="same-origin").status == 200


@rule(lambda patch: patch.setattr(guard.Keys, "enter", lambda self, given: bool(given)))
def a_wrong_token_opens_nothing(folder: Path, patch: Patch) -> None:
    with running(folder, entered=False) as client:
        for given in ("", "x", client.studio.keys.entry[:-1]):
            answer = client.get(f"/enter?token={given}")
            assert (answer.status, answer.cookies) == (403, "")
        assert len(client.studio.keys.entry) * 6 >= guard.BITS


def _never_used_up(self: guard.Keys, given: str) -> bool:
    return guard.is_same(given, self.entry)


@rule(lambda patch: patch.setattr(guard.Keys, "enter", _never_used_up))
def the_address_works_once(folder: Path, patch: Patch) -> None:
    with running(folder, entered=False) as client:
        address = client.studio.address.partition(client.studio.host)[2]
        first = client.enter()
        assert first.status == 200
        assert "token=" not in first.text
        assert client.get(address).status == 403
        assert client.get("/table").status == 200


@rule(without("refuse_stranger"))
def another_person_of_the_machine_sees_nothing(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        right, client.cookie = client.cookie, ""
        for cookie in (None, "studio=", "studio=x", right.replace("=", "=x"), f"other={right.partition('=')[2]}"):
            for path in EVERY:
                answer = client.get(path, cookie=cookie)
                assert answer.status == 403, (cookie, path)
                assert "people" not in answer.text


def _plain_cookie(patch: Patch) -> None:
    whole = Response.set_cookie
    patch.setattr(Response, "set_cookie", lambda self, name, value, **_: whole(self, name, value, samesite="lax"))


@rule(_plain_cookie)
def no_script_reads_the_cookie_and_no_site_sends_it(folder: Path, patch: Patch) -> None:
    with running(folder, entered=False) as client:
        cookie = client.enter().cookies.lower()
        assert {"httponly", "samesite=strict", "path=/"} <= {one.strip() for one in cookie.split(";")}
        assert "domain" not in cookie


def _by_number(patch: Patch) -> None:
    patch.setattr(server.secrets, "token_hex", lambda _: "127.0.0.1")
    whole = Studio.__init__

    def numbered(self: Studio, *given: Any, **named: Any) -> None:
        whole(self, *given, **named)
        self.host = self.guard.host = f"127.0.0.1:{self.port}"

    patch.setattr(Studio, "__init__", numbered)


@rule(_by_number)
def cookies_reach_no_other_port(folder: Path, patch: Patch) -> None:
    """A cookie of a number is sent to every port of it; one of a random name to that name alone."""
    with running(folder) as one, running(folder) as other:
        names = [client.studio.host.partition(":")[0] for client in (one, other)]
        assert all(re.fullmatch(r"[0-9a-f]{16}\.localhost", name) for name in names)
        assert names[0] != names[1]
        assert other.get("/table", cookie=one.cookie).status == 403


@rule(lambda patch: patch.setattr(pages.Pages, "_require_token", lambda *_: None))
def a_change_needs_the_token_of_a_page(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for token in ([], [("token", "")], [("token", client.studio.keys.cookie)], [("token", "x" * 43)]):
            body = urlencode([*token, ("column", 0), ("role", "sensitive"), ("reason", "")]).encode()
            for path in ("/table/role", "/close"):
                assert client.ask("POST", path, body).status == 422
        assert not client.studio.bench.editor.decisions
        assert not client.studio.closed.is_set()


def _with_cors(patch: Patch) -> None:
    patch.setitem(guard.HEADERS, "access-control-allow-origin", "*")
    patch.setattr(guard, "METHODS", (*guard.METHODS, "OPTIONS"))


@rule(_with_cors)
def other_origins_may_read_no_answer(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for path in (*EVERY, "/nothing", "/enter"):
            answer = client.get(path, origin="http://evil.example")
            assert not [name for name in answer.head if name.startswith("access-control")]
        assert client.ask("OPTIONS", "/table").status == 405
        assert client.ask("PUT", "/table").status == 405


@rule(lambda patch: patch.setitem(guard.HEADERS, "content-security-policy", "default-src * 'unsafe-inline'"))
def every_answer_has_a_policy_without_inline_scripts(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for path in (*EVERY, "/nothing", "/enter"):
            answer = client.get(path)
            rules = dict(one.strip().partition(" ")[::2] for one in answer.head["content-security-policy"].split(";"))
            assert rules["default-src"] == "'none'"
            assert rules["frame-ancestors"] == "'none'"
            assert rules["script-src"] == "'self'"
            assert "unsafe" not in answer.head["content-security-policy"]
            inline = re.findall(r"<script(?![^>]*src=)|<style|\son\w+=|style=", answer.text)
            assert not inline or path.endswith(".css")
            assert answer.head["x-content-type-options"] == "nosniff"


@rule(lambda patch: patch.setitem(guard.HEADERS, "cache-control", "public"))
def browsers_store_nothing_and_pass_nothing_on(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for path in (*EVERY, "/nothing"):
            head = client.get(path).head
            assert head["cache-control"] == "no-store"
            assert head["referrer-policy"] == "same-origin"  # `no-referrer` makes the origin of a form `null`
            assert head["cross-origin-opener-policy"] == head["cross-origin-resource-policy"] == "same-origin"
            assert "server" not in head


def _canary_table(folder: Path) -> list[str]:
    cells = [f"canary{row}x{column}" for row in range(4) for column in range(3)]
    lines = [",".join(cells[3 * row : 3 * row + 3]) for row in range(4)]
    (folder / "people.csv").write_text("\n".join(["a,b,c", *lines, ""]), encoding="utf-8")
    roles = {"a": "quasi_identifier", "b": "quasi_identifier", "c": "sensitive"}
    attributes = "".join(f"  {name}: {{role: {role}, scale: nominal}}\n" for name, role in roles.items())
    write_policy(folder, f"version: 1\nattributes:\n{attributes}expect:\n  - k_anonymity: {{k: 2}}\n")
    return cells


def _leaking(patch: Patch) -> None:
    whole = table._row

    def row(bench: Workbench, place: int, profile: Any, data: Any) -> dict[str, Any]:
        lines = Path(str(bench.place.release)).read_text(encoding="utf-8").splitlines()
        return {**whole(bench, place, profile, data), "examples": [lines[1].split(",")[place]]}

    patch.setattr(table, "_row", row)


@rule(_leaking)
def no_cell_leaves_the_table(folder: Path, patch: Patch) -> None:
    cells = _canary_table(folder)
    with running(folder) as client:
        for path in EVERY:
            client.get(path)
        client.send("/risk/try", [("knows", 0)])
        client.send("/table/role", {"column": 1, "role": "insensitive", "reason": ""})
        client.send("/release/try")
        client.studio.bench.work.wait(60)
        client.get("/release")
        seen = "".join([*client.seen, client.studio.bench.place.decisions.read_text(encoding="utf-8")])
    assert len(seen) > 20_000
    assert [one for one in cells if one in seen] == []


@rule(lambda patch: patch.setattr(pages, "STATIC", {**pages.STATIC, "../pages.py": "text/plain"}))
def no_path_leads_out_of_the_folder(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for path in (
            "/static/../pages.py",
            "/static/%2e%2e/pages.py",
            "/static/..%2fpages.py",
            "/static/",
            "/static/htmx.LICENSE.txt",
            "/templates/frame.html.j2",
            "//etc/passwd",
            "/people.csv",
        ):
            assert client.get(path).status == 404, path


def _first_names(patch: Patch) -> None:
    patch.setattr(release, "files_of_release", lambda bench: release._files(bench, ""))


@rule(_first_names)
def nothing_that_is_there_is_replaced(folder: Path, patch: Patch) -> None:
    outside = folder / "outside"
    outside.mkdir()
    (folder / "people.release.csv").symlink_to(outside / "target.csv")
    (folder / "people-2.report.html").write_text("mine", encoding="utf-8")
    with running(folder) as client:
        client.send("/release/write", {"report": "yes", "result": "yes"})
        client.studio.bench.work.wait(60)
        written = client.studio.bench.choices.written
    assert Path(written["release"]).name == "people-3.release.csv"
    assert Path(written["report"]).name == "people-3.report.html"
    assert (folder / "people-2.report.html").read_text(encoding="utf-8") == "mine"
    assert list(outside.iterdir()) == []


def _shown_address(patch: Patch, opened: list[str]) -> None:
    patch.setattr(webbrowser, "open", opened.append)


def _open_directly(patch: Patch) -> None:
    patch.setattr(server, "write_atomically", lambda *_: None)
    patch.setattr(Path, "as_uri", lambda _: "http://x.localhost/enter?token=secret")


@rule(_open_directly)
def no_argument_of_a_program_has_the_token(folder: Path, patch: Patch) -> None:
    opened: list[str] = []
    _shown_address(patch, opened)
    with running(folder, entered=False) as client, server.showing(client.studio):
        (address,) = opened
        assert client.studio.keys.entry not in address
        assert "token" not in address
        page = Path(address.removeprefix("file://"))
        assert client.studio.keys.entry in page.read_text(encoding="utf-8")
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    assert not page.exists()


HOSTILE = ("<img src=x onerror=alert(1)>", '" onmouseover="x', "\u202eevil", "{{ 7 * 7 }}", "a b")


def _unescaped(patch: Patch) -> None:
    whole = pages.Pages.__init__

    def init(self: pages.Pages, *given: Any, **named: Any) -> None:
        whole(self, *given, **named)
        self.environment.autoescape = False

    patch.setattr(pages.Pages, "__init__", init)


@rule(_unescaped)
def names_of_columns_are_text(folder: Path, patch: Patch) -> None:
    quoted = [json.dumps(one, ensure_ascii=False) for one in HOSTILE]
    head = ",".join('"' + one.replace('"', '""') + '"' for one in HOSTILE)
    rows = [f"{a},{b},x,y,z" for a in range(4) for b in range(2)]
    (folder / "people.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    roles = ["quasi_identifier", "quasi_identifier", "sensitive", "sensitive", "insensitive"]
    attributes = "".join(
        f"  {name}: {{role: {role}, scale: nominal}}\n" for name, role in zip(quoted, roles, strict=True)
    )
    write_policy(folder, f"version: 1\nattributes:\n{attributes}expect:\n  - k_anonymity: {{k: 2}}\n")
    with running(folder) as client:
        for path in EVERY:
            client.get(path)
        client.send("/table/role", {"column": 0, "role": "insensitive", "reason": HOSTILE[0]})
        texts = [client.get(path).text for path in SCREENS]
    every = "".join([*client.seen, *texts])
    assert "&lt;img src=x" in every
    assert "<img" not in every
    assert '" onmouseover' not in every
    assert "\u202e" not in every
    assert "49" not in re.sub(r"[\w-]{20,}", "", "".join(re.findall("<bdi>(.*?)</bdi>", every)))


@rule(without("refuse_size"))
def large_requests_are_refused(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        assert client.ask("POST", "/risk/try", b"x=" + b"y" * 100_000).status == 413
        assert client.ask("POST", "/risk/try", b"1\r\nx\r\n0\r\n\r\n", transfer_encoding="chunked").status == 413


def _any_field(patch: Patch) -> None:
    def init(self: forms.Form, pairs: Any, *_: Any) -> None:
        self._values = {name: [value] for name, value in pairs}

    patch.setattr(forms.Form, "__init__", init)


@rule(_any_field)
def unknown_fields_are_refused(folder: Path, patch: Patch) -> None:
    known = {"column": 1, "role": "sensitive", "reason": ""}
    with running(folder) as client:
        assert client.send("/table/role", {**known, "path": "/etc/passwd"}).status == 422
        assert client.send("/table/role", [*known.items(), ("column", 2)]).status == 422
        assert client.get("/demands/scale?demand=0&x=1").status == 422
        assert not client.studio.bench.editor.decisions


@rule(lambda patch: patch.setattr(forms, "THRESHOLD", re.compile(r"[\d.e]+")))
def thresholds_out_of_range_are_refused(folder: Path, patch: Patch) -> None:
    with running(folder) as client:
        for threshold in ("1e9", "1000000000", "-1", "nan", "٣", "0x10", "", "1 000", "=1"):
            fields = {"shape": 0, "demand": 0, "threshold": threshold, "reason": ""}
            assert client.send("/demands/change", fields).status == 422, threshold
        assert client.send("/risk/try", {"level_0": 99}).status == 422
        assert client.send("/table/role", {"column": 6, "role": "sensitive", "reason": ""}).status == 422
        assert client.send("/table/role", {"column": 1, "role": "admin", "reason": ""}).status == 422
        assert not client.studio.bench.editor.decisions


def _every_question(patch: Patch) -> None:
    patch.setattr(work.Newest, "answer", lambda self, name, state, compute: compute())


@rule(_every_question)
def a_flood_computes_the_newest_alone(folder: Path, patch: Patch) -> None:
    """While one answer is computed a thousand moves come: two computations at most follow the last one."""
    with running(folder) as client:
        bench, begun = client.studio.bench, threading.Event()
        count, gate, moved, whole = [0], threading.Event(), threading.Semaphore(0), risk._figures

        def slow(one: Workbench) -> dict[str, Any]:
            count[0] += 1
            begun.set()
            gate.wait(30)
            return whole(one) if count[0] < 9 else {}

        patch.setattr(risk, "_figures", slow)

        def move(number: int) -> None:
            bench.try_out({"age": number % 3}, [["sex"], []][number % 2])
            moved.release()
            risk.risk_figures(bench)

        with ThreadPoolExecutor(1001) as pool:
            pool.submit(move, 1)
            assert begun.wait(30)
            moves = [pool.submit(move, number) for number in range(1000)]
            for _ in range(1001):
                assert moved.acquire(timeout=30)
            before = count[0]
            gate.set()
            for one in moves:
                one.result(60)
        assert before == 1
        assert count[0] - before <= 2


def _no_end(patch: Patch) -> None:
    patch.setattr(Studio.wait, "__code__", (lambda self: "closed" if self.closed.wait(3) else "open").__code__)


@rule(_no_end)
def it_ends_when_nothing_is_asked(folder: Path, patch: Patch) -> None:
    now = [0.0]
    bench = Workbench(Place.of(str(folder / "people.csv"), None))
    studio = Studio(bench, clock=lambda: now[0])
    with studio.serving():
        bench.opening.wait(60)
        client = Client(studio)
        client.enter()
        said: list[str] = []
        waiting = threading.Thread(target=lambda: said.append(studio.wait()), daemon=True)
        waiting.start()
        now[0] = server.IDLE - 1
        waiting.join(0.5)
        assert waiting.is_alive()
        client.get("/table")
        now[0] = 2 * server.IDLE - 2
        waiting.join(0.5)
        assert waiting.is_alive()
        client.get("/table", cookie=None)  # a stranger keeps nothing open
        now[0] = 2 * server.IDLE + 1
        waiting.join(2)
        assert said == ["closed after 30 minutes without a request"]
    assert json.loads(bench.place.decisions.read_text(encoding="utf-8"))["history"]


def _raising(*_: Any) -> None:
    raise ValueError("canary cell")


@rule(lambda patch: patch.setattr(pages, "_defect", lambda _, error: PlainTextResponse(repr(error), 500)))
def errors_show_no_cell_and_no_traceback(folder: Path, patch: Patch) -> None:
    patch.setattr(risk, "_figures", _raising)
    with running(folder) as client:
        answer = client.get("/risk")
    assert answer.status == 500
    assert "canary" not in answer.text
    assert "Traceback" not in answer.text
    assert "ValueError in test_no_way_in.py" in answer.text


@pytest.mark.parametrize("name", RULES)
def test_the_rule_holds(name: str, folder: Path, monkeypatch: Patch) -> None:
    RULES[name][0](folder, monkeypatch)


@pytest.mark.parametrize("name", RULES)
def test_the_rule_is_noticed_if_it_is_gone(name: str, folder: Path, monkeypatch: Patch) -> None:
    holds, mutant = RULES[name]
    mutant(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        holds(folder, monkeypatch)


SHOWN = """
import sys
from tcdp_audit.cli import studio
{mutant}
studio.command.main(sys.argv[1:], standalone_mode=False)
"""


@pytest.mark.parametrize(("mutant", "mode"), [("", 0o600), ("studio.PRIVATE = 0o022", 0o644)], ids=["rule", "mutant"])
def test_files_are_this_users_alone(mutant: str, mode: int, tmp_path: Path) -> None:
    write_table(tmp_path)
    write_policy(tmp_path)
    command = [sys.executable, "-c", SHOWN.format(mutant=mutant), "people.csv", "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        decisions = tmp_path / "people.studio.json"
        while not decisions.exists():
            assert process.poll() is None
            threading.Event().wait(0.05)
        arguments = Path(f"/proc/{process.pid}/cmdline")
        if arguments.exists():
            assert address.rpartition("=")[2].strip() not in arguments.read_text(encoding="utf-8")
        process.terminate()
    assert stat.S_IMODE(decisions.stat().st_mode) == mode


def test_a_release_is_refused_where_its_name_is_that_of_the_table(folder: Path) -> None:
    bench = Workbench(Place.of(str(folder / "people.csv"), None))
    bench.open()
    bench.opening.wait(60)
    names = {one.name for one in release.files_of_release(bench).values()}
    bench.close()
    assert "people.csv" not in names
    with pytest.raises(UsageError, match="not open"):
        _ = workbench.Workbench(Place.of(str(folder / "people.csv"), None)).session
