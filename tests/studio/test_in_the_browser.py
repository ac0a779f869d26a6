"""The workbench in Chromium: from a table to a release, by keyboard alone, for everyone; nothing leaves the machine.

Playwright drives the system's browser; it downloads none.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from workbench_client import Client, running, write_policy, write_table

pytestmark = pytest.mark.long
TOOLS = Path(__file__).parents[1] / "reports" / "tools" / "node_modules"
SCREENS = ("table", "risk", "demands", "remedies", "release", "report")
AXE = """async () => {
  document.querySelectorAll('details').forEach(one => one.open = true);
  const result = await axe.run(document, {resultTypes: ['violations']});
  return {rules: result.passes.map(one => one.id),
          faults: result.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 160))])};
}"""
FOCUS = """() => {
  const one = document.activeElement;
  return {id: one.id, name: one.name || '', tag: one.tagName, text: (one.textContent || '').trim().slice(0, 40)};
}"""
WORDS = "() => [...document.querySelectorAll('input[type=range]')].map(one => one.getAttribute('aria-valuetext'))"
SIDES = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass
class Watched:
    """A page, and what it said and asked for."""

    page: Any
    client: Client
    console: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    def open(self, screen: str) -> None:
        """Load a screen, and wait until its parts are there."""
        self.page.goto(f"http://{self.client.studio.host}/{screen}")
        self.page.wait_for_load_state("networkidle")

    def require_silence(self) -> None:
        """Insist that the console is empty, and that every request went to the workbench."""
        assert self.console == []
        own = f"http://{self.client.studio.host}/"
        assert self.addresses
        assert [one for one in self.addresses if not one.startswith(own)] == []


@pytest.fixture
def browser(skip_or_fail: Callable[[str], None]) -> Iterator[Any]:
    """The system's Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        skip_or_fail("chromium is not on PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip_or_fail("playwright is not installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def axe(skip_or_fail: Callable[[str], None]) -> str:
    """The script of axe-core."""
    path = TOOLS / "axe-core" / "axe.min.js"
    if not path.is_file():
        skip_or_fail("axe-core is not installed: npm ci --prefix tests/reports/tools")
    return path.read_text(encoding="utf-8")


def entered(browser: Any, client: Client, **context: Any) -> Watched:
    """A page of a browser that has entered with the address of the terminal."""
    page = browser.new_context(**context).new_page()
    watched = Watched(page, client)
    page.on("console", lambda message: watched.console.append(message.text))
    page.on("pageerror", lambda error: watched.console.append(str(error)))
    page.on("request", lambda request: watched.addresses.append(request.url))
    page.goto(client.studio.address)
    page.wait_for_url("**/table")
    assert "token" not in page.url
    return watched


def released(client: Client) -> None:
    client.send("/release/write", {"report": "yes", "result": "yes"})
    client.studio.bench.work.wait(120)
    assert not client.studio.bench.work.fault


def test_from_a_table_to_policy_release_and_report(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        page = watched.page
        page.click("#accept")
        page.wait_for_url("**/risk")
        page.wait_for_selector("#knowledge table")
        alone = page.text_content("#alone")
        page.fill("#k0", "3")
        page.wait_for_function("before => document.querySelector('#alone').textContent !== before", arg=alone)
        assert page.get_attribute("#k0", "aria-valuetext") == "nothing"
        page.wait_for_function("() => document.querySelector('#spoken').textContent.includes('people alone')")
        with page.expect_navigation():
            page.click("#reset")
        watched.open("demands")
        page.wait_for_selector("#q0")
        page.fill("#t0", "4")
        page.fill("#y0", "four is our rule")
        page.click("#g0")
        page.wait_for_selector("text=at least 4")
        watched.open("remedies")
        page.click("#search-b")
        page.wait_for_selector("#take", timeout=120_000)
        page.click("#take")
        page.wait_for_url("**/release")
        page.click("#try")
        page.wait_for_selector("text=cells changed", timeout=120_000)
        page.fill("#purpose", "a course in statistics")  # and no button but that of the files
        page.click("#write")
        page.wait_for_selector("#written", timeout=120_000)
        page.click("#go")
        page.wait_for_url("**/report")
        assert "Fit" in page.text_content("h1")
        assert "four is our rule" in page.text_content("main")
        page.click("#read")
        page.wait_for_load_state("load")
        assert "a course in statistics" in page.content()
        watched.require_silence()
    assert (folder / "people.release.csv").is_file()
    assert json.loads((folder / "people.result.json").read_text(encoding="utf-8"))["status"] == "passed"


def test_an_inline_script_does_not_run(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        watched.page.evaluate(
            "() => {const one = document.createElement('script'); one.textContent = 'window.ran = 1';"
            "document.body.append(one)}"
        )
        assert watched.page.evaluate("() => window.ran") is None
        assert any("Content Security Policy" in one for one in watched.console)


def test_the_cookie_goes_to_no_other_port(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as one, running(folder, entered=False) as other:
        page = entered(browser, one).page
        sent: list[tuple[str, str]] = []
        page.on("request", lambda request: sent.append((request.url, request.all_headers().get("cookie", ""))))
        for address in (f"http://{other.studio.host}/table", f"http://127.0.0.1:{other.studio.port}/table"):
            page.goto(address)
        own = f"http://{one.studio.host}/"  # the first page may still ask for something of its own
        assert len([url for url, _ in sent if not url.startswith(own)]) >= 2
        assert [url for url, cookie in sent if "studio=" in cookie and not url.startswith(own)] == []
        page.goto(f"http://{one.studio.host}/table")
        assert any("studio=" in cookie for _, cookie in sent)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, browser: Any, axe: str, folder: Path) -> None:
    with running(folder) as client:
        client.send("/remedies/begin")
        client.studio.bench.work.wait(120)
        client.send("/release/try")
        client.studio.bench.work.wait(120)
        released(client)
        context = browser.new_context(color_scheme=scheme, bypass_csp=True)  # what judges is no part of the page
        name, _, value = client.cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": f"http://{client.studio.host}/"}])
        page = context.new_page()
        for screen in SCREENS:
            page.goto(f"http://{client.studio.host}/{screen}")
            page.wait_for_load_state("networkidle")
            page.add_script_tag(content=axe)
            result = page.evaluate(AXE)
            assert "color-contrast" in result["rules"], screen
            assert result["faults"] == [], screen


@pytest.mark.parametrize("width", [640, 768, 1280])  # 640: a window of 1280 at 200 %
def test_no_screen_is_wider_than_its_window(width: int, browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client, viewport={"width": width, "height": 900})
        client.cookie = "studio=" + client.studio.keys.cookie
        client.send("/remedies/begin")
        client.studio.bench.work.wait(120)
        released(client)
        for screen in SCREENS:
            watched.open(screen)
            assert watched.page.evaluate(SIDES) == 0, screen
            shots = os.environ.get("TCDP_AUDIT_SCREENSHOTS")
            if shots:
                watched.page.screenshot(path=str(Path(shots) / f"studio-{screen}-{width}.png"), full_page=True)


def press_until(page: Any, wanted: str, key: str = "Tab", most: int = 120) -> None:
    """Press a key until the element with an id has the focus."""
    for _ in range(most):
        if page.evaluate(FOCUS)["id"] == wanted:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} cannot be reached by {key}")


def test_every_screen_by_keyboard_alone(browser: Any, folder: Path) -> None:  # noqa: PLR0915 - one path through all
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        page = watched.page
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS)["text"] == "Skip to the content"
        press_until(page, "r1-quasi_identifier")
        with page.expect_response("**/table/role"):
            page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('#r1-sensitive').checked")
        page.keyboard.press("Tab")  # the focus stays near the choice after the page was replaced
        watched.open("table")
        press_until(page, "r1-sensitive")
        with page.expect_response("**/table/role"):
            page.keyboard.press("ArrowLeft")
        watched.open("table")
        press_until(page, "accept")
        page.keyboard.press("Enter")
        page.wait_for_url("**/risk")
        page.wait_for_load_state("networkidle")
        press_until(page, "k0")
        before = page.text_content("#alone")
        page.keyboard.press("End")
        page.wait_for_function("before => document.querySelector('#alone').textContent !== before", arg=before)
        assert page.evaluate(FOCUS)["id"] == "k0"
        press_until(page, "c1", key="Tab")
        with page.expect_response("**/risk/try"):
            page.keyboard.press("Space")
        assert client.studio.bench.choices.unknown == ["sex"]
        press_until(page, "reset")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        watched.open("demands")
        press_until(page, "t0")
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type("4")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=at least 4")
        watched.open("remedies")
        press_until(page, "search-b")
        page.keyboard.press("Enter")
        page.wait_for_selector("#take", timeout=120_000)
        press_until(page, "take")
        page.keyboard.press("Enter")
        page.wait_for_url("**/release")
        press_until(page, "write")
        page.keyboard.press("Enter")
        page.wait_for_selector("#written", timeout=120_000)
        watched.open("report")
        press_until(page, "a1")
        page.keyboard.press("Space")
        assert page.is_checked("#a1")
        press_until(page, "read")
        page.keyboard.press("Enter")
        page.wait_for_url("**/report/page")
        watched.require_silence()


def test_pages_work_as_plain_forms_without_scripts(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client, java_script_enabled=False)
        page = watched.page
        with page.expect_navigation():
            page.click("#accept")
        page.uncheck("#c1")
        with page.expect_navigation():
            page.click("text=Ask the table")
        assert client.studio.bench.choices.unknown == ["sex"]
        with page.expect_navigation():
            page.click("text=If an outsider knew less, or more")
        assert "If an outsider knew less" in page.content()
        page.goto(f"http://{client.studio.host}/demands")
        page.fill("#t0", "4")
        with page.expect_navigation():
            page.click("#g0")
        assert "at least 4" in page.content()
        page.goto(f"http://{client.studio.host}/release")
        with page.expect_navigation():
            page.click("#write")
        client.studio.bench.work.wait(120)
        page.goto(f"http://{client.studio.host}/report")
        assert "Fit" in page.text_content("h1")


def test_a_threshold_is_slid_by_keyboard_and_the_new_figure_is_said_once(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        page = watched.page
        watched.open("demands")
        page.wait_for_selector("#q0")
        page.evaluate(
            "() => {window.said = []; new MutationObserver(() => said.push("
            "document.querySelector('#spoken').textContent)).observe("
            "document.querySelector('#spoken'), {childList: true})}"
        )
        page.focus("#q0")
        page.keyboard.press("Home")
        page.wait_for_selector("#h0 em:text('at least 1')")
        page.wait_for_function("() => said.length > 0")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("#h0 em:text('at least 2')")
        assert page.evaluate(FOCUS)["id"] == "q0"
        assert page.get_attribute("#q0", "aria-valuetext") == "at least 2: " + page.text_content("#f0") + " fail"
        assert page.input_value("#t0") == "2"
        shown = page.get_attribute("#figures", "data-say")
        page.wait_for_function("text => said.at(-1) === text", arg=shown)
        watched.open("demands")  # which is quiet: nothing has moved
        assert [one.new["k"] for one in client.studio.bench.editor.decisions] == [2]  # one slide is one decision
        page.click("#undo")
        page.wait_for_selector("#h0 em:text('at least 3')")
        watched.require_silence()


def test_a_screen_reader_hears_each_figure_once(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        page = watched.page
        watched.open("risk")
        page.wait_for_selector("#knowledge table")
        page.evaluate(
            "() => {window.said = []; new MutationObserver(() => said.push("
            "document.querySelector('#spoken').textContent)).observe("
            "document.querySelector('#spoken'), {childList: true})}"
        )
        before = page.text_content("#alone")
        for level in ("1", "2", "3"):
            page.fill("#k0", level)
        page.wait_for_function("before => document.querySelector('#alone').textContent !== before", arg=before)
        page.wait_for_selector("#knowledge table")
        page.wait_for_function("() => said.at(-1) === document.querySelector('#figures').dataset.say")
        page.uncheck("#c1")
        page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
        page.wait_for_function("() => said.at(-1) === document.querySelector('#figures').dataset.say")
        said = page.evaluate("() => said")
        assert len(said) == len(set(said)), said
        assert all("people alone" in one for one in said)


def test_figures_come_back_after_a_state_that_has_none(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        page = watched.page
        watched.open("risk")
        alone = page.text_content("#alone")
        for place in range(3):
            page.uncheck(f"#c{place}")
        page.wait_for_selector("#alone", state="detached")  # a sentence says why
        page.wait_for_function("() => document.querySelector('#spoken').textContent.includes('column')")
        for place in range(3):
            page.check(f"#c{place}")
        page.wait_for_function("alone => document.querySelector('#alone')?.textContent === alone", arg=alone)
        watched.require_silence()


def accessible(page: Any) -> list[dict[str, Any]]:
    """The nodes that a screen reader meets, as Chromium gives them to it."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        {
            "role": one.get("role", {}).get("value", ""),
            "name": one.get("name", {}).get("value", "").strip(),
            "value": str(one.get("value", {}).get("value", "")),
            "more": {each["name"]: each["value"].get("value") for each in one.get("properties", ())},
        }
        for one in nodes
        if not one.get("ignored")
    ]


PARTS_OF_SCREENS = {"risk": "#knowledge table", "demands": "#q1"}  # what comes last
CONTROLS = ("button", "link", "checkbox", "radio", "slider", "textbox", "combobox", "DisclosureTriangle", "progressbar")


def test_every_control_has_a_name_and_every_slider_words(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        client.cookie = "studio=" + client.studio.keys.cookie
        client.send("/remedies/begin")
        client.studio.bench.work.wait(120)
        client.send("/release/try")
        client.studio.bench.work.wait(120)
        released(client)
        met: dict[str, int] = {}
        for screen in SCREENS:
            watched.open(screen)
            if screen in PARTS_OF_SCREENS:
                watched.page.wait_for_selector(PARTS_OF_SCREENS[screen])
            nodes = accessible(watched.page)
            assert [one for one in nodes if one["role"] in CONTROLS and not one["name"]] == [], screen
            assert [one for one in nodes if one["role"] == "table" and not one["name"]] == [], screen
            words = watched.page.evaluate(WORDS)  # the protocol gives the number of a native slider in their place
            assert len(words) == sum(1 for one in nodes if one["role"] == "slider"), screen
            assert [one for one in words if not one or one.strip().isdigit()] == [], screen
            names = [one["name"] for one in nodes if one["role"] in ("slider", "textbox", "combobox")]
            if screen != "demands":  # where each demand has its own fields
                assert len(names) == len(set(names)), (screen, names)
            live = [one for one in nodes if one["more"].get("live") == "polite"]
            assert live, screen
            headings = [one for one in nodes if one["role"] == "heading" and one["more"].get("level") == 1]
            assert len(headings) == 1, screen
            for one in nodes:
                met[one["role"]] = met.get(one["role"], 0) + 1
        assert {"button", "link", "checkbox", "radio", "slider", "textbox", "combobox"} <= {*met}


def test_two_tabs_and_the_way_back(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        first = watched.page
        second = first.context.new_page()
        watched.open("demands")
        second.goto(first.url)
        second.wait_for_load_state("networkidle")
        first.click("#x1")
        first.wait_for_selector("#x1", state="detached")
        second.fill("#t1", "3")
        second.click("#g1")
        second.wait_for_selector("text=changed on another page")
        assert len(client.studio.bench.policy.expectations) == 1
        watched.open("risk")
        first.go_back()
        first.wait_for_load_state("networkidle")
        assert first.query_selector("#x1") is None  # no page is kept
        first.click("#undo")
        first.wait_for_selector("#x1")


def test_forced_colours_and_still_pictures(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        watched = entered(browser, client, forced_colors="active", reduced_motion="reduce")
        watched.open("table")
        page = watched.page
        outline = page.evaluate(
            "() => getComputedStyle(document.querySelector('.roles label:has(:checked)')).outlineStyle"
        )
        assert outline == "solid"
        assert page.evaluate("() => getComputedStyle(document.querySelector('.button')).transitionDuration") == "0s"


def test_an_address_of_another_name_says_how(browser: Any, folder: Path) -> None:
    with running(folder, entered=False) as client:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{client.studio.port}/")
        assert "Open the address that the terminal shows" in page.text_content("h1")
        assert "ssh -L" in page.content()


def test_hostile_names_do_nothing(browser: Any, folder: Path) -> None:
    head = '"<img src=x onerror=window.ran=1>","a"" onmouseover=""window.ran=1","c"'
    rows = [f"{a},{b},x" for a in range(4) for b in range(3)]
    (folder / "people.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    names = ("<img src=x onerror=window.ran=1>", 'a" onmouseover="window.ran=1', "c")
    roles = ("quasi_identifier", "quasi_identifier", "sensitive")
    declared = "".join(f"  {json.dumps(n)}: {{role: {r}, scale: nominal}}\n" for n, r in zip(names, roles, strict=True))
    write_policy(folder, f"version: 1\nattributes:\n{declared}expect:\n  - k_anonymity: {{k: 2}}\n")
    with running(folder, entered=False) as client:
        watched = entered(browser, client)
        for screen in SCREENS:
            watched.open(screen)
            assert watched.page.query_selector("img") is None
            assert watched.page.evaluate("() => window.ran") is None
        watched.require_silence()


def test_columns_come_as_they_are_read(browser: Any, tmp_path: Path) -> None:
    write_table(tmp_path, records=20_000)
    with running(tmp_path, entered=False) as client:
        watched = entered(browser, client)
        watched.page.wait_for_selector("#r0-identifier")
        assert watched.page.query_selector("progress") is None
        watched.require_silence()
