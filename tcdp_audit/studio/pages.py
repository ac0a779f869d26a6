"""The routes: a screen for each GET, a decision for each POST. Without scripts every page works as a plain form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tcdp_audit.api import sentence_about
from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.plugin.sentences import count, sentence_case, visible
from tcdp_audit.studio.choices import words_of
from tcdp_audit.studio.forms import Form, FormError, pairs_of, values
from tcdp_audit.studio.guard import COOKIE, ENTRY, FIELD, Keys, is_same
from tcdp_audit.studio.screens import decide
from tcdp_audit.studio.screens.demands import demand_figures, demands_screen, scale_of
from tcdp_audit.studio.screens.release import release_screen
from tcdp_audit.studio.screens.remedies import remedies_screen
from tcdp_audit.studio.screens.report import report_page, report_screen
from tcdp_audit.studio.screens.risk import knowledge_figures, levels_of_policy, risk_figures, risk_screen
from tcdp_audit.studio.screens.table import table_screen
from tcdp_audit.studio.workbench import Workbench

FOLDER = Path(__file__).parent
PARTS_OF_NAME = re.compile(r"[^_.\-/]*[_.\-/]+|[^_.\-/]+")
STATIC = {
    "style.css": "text/css",
    "studio.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
STEPS = (
    ("table", "Table"),
    ("risk", "Roles and risk"),
    ("demands", "Demands"),
    ("remedies", "Remedies"),
    ("release", "Release"),
    ("report", "Report"),
)
ENTERED = """<!doctype html><html lang="en"><meta charset="utf-8"><title>tcdp-audit studio</title>
<meta http-equiv="refresh" content="0;url=/table"><p><a href="/table">Go on to the workbench</a></p></html>"""
REFUSED, CONFLICT = 422, 409  # what no page sends, and what cannot be done now
Part = Callable[[Workbench], dict[str, Any] | None]
Screen = Callable[[Workbench, Mapping[str, str]], dict[str, Any]]


class Pages:
    """The pages of one workbench.

    Args:
        bench: the workbench.
        keys: the secrets of this run.
        close: ends the program.
    """

    def __init__(self, bench: Workbench, keys: Keys, close: Callable[[], None]) -> None:
        self.bench, self.keys, self.close = bench, keys, close
        self.environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self.environment.filters |= {"visible": visible, "count": count, "sentence_case": sentence_case}
        self.environment.filters["breakable"] = _breakable

    def app(self) -> Starlette:
        """The application: every route, and nothing that a request could name in addition."""
        routes = [
            Route("/", lambda _: RedirectResponse("/table", 303)),
            Route(ENTRY, self.enter),
            *(Route(f"/{name}", self._screen(name)) for name, _ in STEPS),
            *(Route(path, self._part(path)) for path in PARTS),
            *(Route(path, self._decision(path), methods=["POST"]) for path in decide.DECISIONS),
            Route("/report/page", lambda _: report_page(self.bench)),
            Route("/close", self._closing, methods=["POST"]),
            Route("/favicon.ico", _static("icon.svg", STATIC["icon.svg"])),
            *(Route(f"/static/{name}", _static(name, kind)) for name, kind in STATIC.items()),
        ]
        return Starlette(routes=routes, exception_handlers={Exception: _defect})

    async def enter(self, request: Request) -> Response:
        """Take the token of the address, once; a cookie has its place from then on."""
        if not self.keys.enter(request.query_params.get(FIELD, "")):
            return PlainTextResponse("this address was used already, or is not the one of the terminal", 403)
        answer = HTMLResponse(ENTERED)
        answer.set_cookie(COOKIE, self.keys.cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _screen(self, name: str) -> Callable[[Request], Any]:
        async def screen(request: Request) -> Response:
            return await run_in_threadpool(self.page, name, dict(request.query_params))

        return screen

    def _part(self, path: str) -> Callable[[Request], Any]:
        async def part(request: Request) -> Response:
            return await run_in_threadpool(self.part, path, dict(request.query_params))

        return part

    def _decision(self, path: str) -> Callable[[Request], Any]:
        async def decision(request: Request) -> Response:
            body, is_live = await request.body(), "hx-request" in request.headers
            return await run_in_threadpool(self.decide, path, body, is_live=is_live)

        return decision

    async def _closing(self, request: Request) -> Response:
        try:
            self._require_token(pairs_of(await request.body()))
        except FormError as error:
            return PlainTextResponse(str(error), REFUSED)
        self.close()
        return HTMLResponse(self.render("closed.html.j2", title="Closed", place=self.bench.place))

    # what is answered

    def page(
        self, name: str, asked: Mapping[str, str], problem: str = "", status: int = 200, *, is_live: bool = False
    ) -> Response:
        """A whole screen.

        Args:
            name: of the screen.
            asked: the parameters of its address.
            problem: a sentence on what could not be done.
            status: the status of the answer.
            is_live: whether a script asked, which shows answers with the status 200 alone.
        """
        bench = self.bench
        name = name if bench.is_open else "table"
        template, context = f"{name}.html.j2", dict[str, Any](asked=asked)
        try:
            context |= SCREENS[name](bench, asked) or {}
            try:
                for key, part in FIRST.get(name, {}).items():
                    context[key] = {}
                    context[key] = part(bench) or {}
            except TcdpAuditError as error:  # the controls stay, as one of them mends it
                problem = problem or str(error)
        except TcdpAuditError as error:
            problem, template = problem or str(error), "fault.html.j2"
            context["is_of_figures"] = bench.is_open and not bench.columns
        page = self.render(template, step=name, problem=problem, **self._frame(), **context)
        return HTMLResponse(page, 200 if is_live and status != REFUSED else status)

    def _frame(self) -> dict[str, Any]:
        """The content of the frame of every screen."""
        bench = self.bench
        decisions = bench.editor.decisions if bench.is_open else ()
        undone = bench.editor.undone if bench.is_open else ()
        return {
            "steps": STEPS,
            "bench": bench,
            "token": self.keys.page,
            "title": bench.place.title,
            "done": _done(bench),
            "undo": words_of(decisions[-1], bench.plugins) if decisions else "",
            "redo": words_of(undone[0], bench.plugins) if undone else "",
            "number": len(decisions),
            "accepted": len(bench.choices.accepted),
        }

    def part(self, path: str, asked: Mapping[str, str]) -> Response:
        """A part of a screen that a script asks for; nothing where a newer question has come meanwhile."""
        template, compute = PARTS[path]
        try:
            context = compute(self.bench, Form([*asked.items()], ("demand",)))
        except FormError as error:
            return PlainTextResponse(str(error), 422)
        except TcdpAuditError as error:
            context = {"sentence": str(error), "place": PLACES.get(path, "")}  # where the next answer is put
            template = "sentence.html.j2"
        if context is None:
            return Response(status_code=204)
        return HTMLResponse(self.render(template, **self._frame(), **context))

    def decide(self, path: str, body: bytes, *, is_live: bool) -> Response:
        """Make a decision, and show what follows from it."""
        one = decide.DECISIONS[path]
        try:
            pairs = pairs_of(body)
            self._require_token(pairs)
            form = Form(pairs, one.fields, one.lists)
            screen = one.make(self.bench, form) or one.screen
        except FormError as error:
            return self.page(one.screen, {}, str(error), REFUSED, is_live=is_live)
        except TcdpAuditError as error:
            return self.page(one.screen, {}, str(error), CONFLICT, is_live=is_live)
        if not is_live:
            return RedirectResponse(f"/{screen}", 303)
        return self.part(one.part, {}) if one.part else self.page(screen, {}, is_live=True)

    def _require_token(self, pairs: Sequence[tuple[str, str]]) -> None:
        if not is_same(values(pairs).get(FIELD, ""), self.keys.page):
            raise FormError("this page is of an earlier run of the workbench; load it again")

    def render(self, template: str, **values: Any) -> str:
        """A template of the folder, filled in; every text is escaped."""
        return self.environment.get_template(template).render(**values)


SCREENS: Mapping[str, Screen] = {
    "table": lambda bench, _: table_screen(bench),
    "risk": lambda bench, _: risk_screen(bench),
    "demands": lambda bench, _: demands_screen(bench),
    "remedies": remedies_screen,
    "release": lambda bench, _: release_screen(bench),
    "report": lambda bench, _: report_screen(bench),
}
FIRST: Mapping[str, Mapping[str, Part]] = {  # figures that a page shows from the beginning
    "risk": {"figures": risk_figures},
    "demands": {"figures": demand_figures},
}
PARTS: Mapping[str, tuple[str, Callable[[Workbench, Form], dict[str, Any] | None]]] = {
    "/risk/figures": ("risk_figures.html.j2", lambda bench, _: _figures(risk_figures(bench))),
    "/risk/knowledge": ("risk_knowledge.html.j2", lambda bench, _: knowledge_figures(bench)),
    "/demands/figures": ("demands_figures.html.j2", lambda bench, _: _figures(demand_figures(bench))),
    "/demands/scale": ("demands_scale.html.j2", lambda bench, form: scale_of(bench, form.number("demand", 0, 999))),
}


PLACES = {"/risk/figures": "figures", "/risk/knowledge": "knowledge", "/demands/figures": "figures"}


def _breakable(name: str) -> Markup:
    """A name that a line may break behind `_`, `.`, `-` and `/`, and elsewhere only where it must."""
    return Markup("<wbr>").join(PARTS_OF_NAME.findall(visible(name)))


def _figures(figures: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if figures is None else {"figures": figures}


def _done(bench: Workbench) -> set[str]:
    """The steps that are done."""
    if not bench.is_open or bench.fault:
        return set()
    chosen, names = bench.choices, {one.name for one in bench.columns}
    demands = any(one.check.demands(one.parameters) for one in bench.policy.expectations)
    is_tried = bool(chosen.unknown) or (bool(chosen.levels) and chosen.levels != levels_of_policy(bench))
    steps = {
        "table": names <= set(chosen.accepted),
        "risk": demands and not is_tried,  # nothing of the trial is left that the policy does not have
        "demands": demands,
        "remedies": bool(chosen.point),
        "release": bool(chosen.written),
        "report": "attestation" in chosen.written,
    }
    return {name for name, is_done in steps.items() if is_done}


def _static(name: str, kind: str) -> Callable[[Request], Response]:
    content = (FOLDER / "static" / name).read_bytes()
    return lambda _: Response(content, media_type=kind)


def _defect(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{sentence_about(error, 'the workbench')}. Please report this line.", 500)
