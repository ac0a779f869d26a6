"""The decisions that forms of pages make: the fields that it may send, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.studio.forms import Form
from tcdp_audit.studio.release import REPORT, RESULT, TEXTS, begin_release, begin_trial
from tcdp_audit.studio.screens.demands import (
    STEP_SEPARATOR,
    UNSET,
    add_demand,
    candidates,
    change_demand,
    remove_demand,
    slide_demand,
    take_profile,
)
from tcdp_audit.studio.screens.remedies import begin_search, take_point
from tcdp_audit.studio.screens.report import keep_answers, sign_report
from tcdp_audit.studio.screens.risk import keep_trial, knobs_of
from tcdp_audit.studio.workbench import Workbench

MOST = 999  # demands of a policy that pages can name
NONE = ""


@dataclass(frozen=True)
class FormOfPage:
    """A form.

    Args:
        screen: the screen that has it.
        make: makes the decision; it may name the screen that follows, which is otherwise the same.
        fields: the names that it may send once.
        lists: those that it may send several times.
        part: the part of the screen that a script shows afterwards; empty for the whole screen.
    """

    screen: str
    make: Callable[[Workbench, Form], str | None]
    fields: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    part: str = ""


def _role(bench: Workbench, form: Form) -> None:
    place = form.number("column", 0, len(bench.columns) - 1)
    role = Role(form.choice("role", [one.value for one in Role]))
    bench.declare(bench.columns[place].name, role, form.text("reason"))


def _try_out(bench: Workbench, form: Form) -> None:
    knobs = knobs_of(bench)
    known = form.numbers("knows", 0, max(len(knobs) - 1, 0))
    levels = {}
    for one in knobs:
        if one.ticks and f"level_{one.place}" in form:
            levels[one.name] = form.number(f"level_{one.place}", 0, len(one.ticks) - 1)
    bench.try_out(levels, [one.name for one in knobs if one.place not in known])


def _reset(bench: Workbench, form: Form) -> str:
    bench.try_out({}, [])
    return form.choice("screen", SCREENS)


def _require_shape(bench: Workbench, form: Form) -> None:
    """Insist that the places of demands are those that the page shows.

    Raises:
        UsageError: another page changed them.
    """
    if form.number("shape", 0, 10**9 - 1) != bench.shape:
        raise UsageError("the demands were changed on another page meanwhile; look at them as they are now, and decide")


def _demand(bench: Workbench, form: Form) -> None:
    _require_shape(bench, form)
    weight = form.choice("weight", ["error", "warning"]) == "warning" if "weight" in form else None
    change_demand(
        bench,
        form.number("demand", 0, MOST),
        form.threshold("threshold"),
        reason=form.text("reason"),
        is_warning=weight,
    )


def _slide(bench: Workbench, form: Form) -> None:
    _require_shape(bench, form)
    steps = form.text("steps").split(STEP_SEPARATOR)
    place = form.number("step", 0, len(steps) - 1)
    threshold = UNSET if steps[place] == UNSET else form.threshold("steps", place)
    slide_demand(bench, form.number("demand", 0, MOST), threshold)


def _remove(bench: Workbench, form: Form) -> None:
    _require_shape(bench, form)
    remove_demand(bench, form.number("demand", 0, MOST), form.text("reason"))


def _add(bench: Workbench, form: Form) -> None:
    _require_shape(bench, form)
    known = candidates(bench)
    chosen = known[form.number("check", 0, len(known) - 1)]
    add_demand(bench, chosen["check"], chosen["attribute"], form.threshold("threshold"), form.text("reason"))


def _profile(bench: Workbench, form: Form) -> None:
    from tcdp_audit.api import profiles  # noqa: PLC0415 - reads their files

    take_profile(bench, form.choice("profile", [NONE, *profiles()]), form.text("reason"))


def _take(bench: Workbench, form: Form) -> str:
    take_point(bench, form.number("point", 1, 10**6), form.text("reason"))
    return "release"


def _begin_search(bench: Workbench, _: Form) -> None:
    begin_search(bench)


def _cancel(bench: Workbench, form: Form) -> str:
    bench.work.cancel()
    bench.work.wait(PATIENCE)
    return form.choice("screen", SCREENS)


def _show_values(bench: Workbench, form: Form) -> str:
    bench.show_values()
    return form.choice("screen", SCREENS)


def _texts(bench: Workbench, form: Form) -> None:
    with bench.deciding() as editor:
        for name in (one for one in TEXTS if one in form):
            text = form.text(name)
            if text:
                editor.set(name, text)
            elif name in editor.data:
                editor.remove(name)


def _try_release(bench: Workbench, _: Form) -> None:
    begin_trial(bench)


def _write(bench: Workbench, form: Form) -> None:
    _texts(bench, form)
    begin_release(bench, {name: name in form for name in (REPORT, RESULT)})


def _sign(bench: Workbench, form: Form) -> None:
    sign_report(bench, form.texts("answer"), form.text("signer"))


def _answer(bench: Workbench, form: Form) -> None:
    keep_answers(bench, form.texts("answer"), form.text("signer"))


def _accept(bench: Workbench, _: Form) -> str:
    bench.accept_all()
    return "risk"


def _undo(bench: Workbench, form: Form) -> str:
    bench.undo()
    return form.choice("screen", SCREENS)


def _redo(bench: Workbench, form: Form) -> str:
    bench.redo()
    return form.choice("screen", SCREENS)


PATIENCE = 1.0  # seconds that a page waits for the end of what was stopped
SCREENS = ("table", "risk", "demands", "remedies", "release", "report")
LEVELS = tuple(f"level_{place}" for place in range(200))
DECISIONS: Mapping[str, FormOfPage] = {
    "/table/role": FormOfPage("table", _role, ("column", "role", "reason")),
    "/table/accept": FormOfPage("table", _accept),
    "/risk/try": FormOfPage("risk", _try_out, LEVELS, ("knows",), part="/risk/figures"),
    "/risk/reset": FormOfPage("risk", _reset, ("screen",)),
    "/risk/keep": FormOfPage("risk", lambda bench, form: keep_trial(bench, form.text("reason")), ("reason",)),
    "/demands/change": FormOfPage("demands", _demand, ("shape", "demand", "threshold", "reason", "weight")),
    "/demands/slide": FormOfPage("demands", _slide, ("shape", "demand", "step", "steps")),
    "/demands/remove": FormOfPage("demands", _remove, ("shape", "demand", "reason")),
    "/demands/add": FormOfPage("demands", _add, ("shape", "check", "threshold", "reason")),
    "/demands/profile": FormOfPage("demands", _profile, ("profile", "reason")),
    "/remedies/begin": FormOfPage("remedies", _begin_search),
    "/remedies/take": FormOfPage("remedies", _take, ("point", "reason")),
    "/work/cancel": FormOfPage("remedies", _cancel, ("screen",)),
    "/values": FormOfPage("remedies", _show_values, ("screen",)),
    "/release/text": FormOfPage("release", _texts, (*TEXTS, REPORT, RESULT)),
    "/release/try": FormOfPage("release", _try_release),
    "/release/write": FormOfPage("release", _write, (*TEXTS, REPORT, RESULT)),
    "/report/sign": FormOfPage("report", _sign, ("signer",), ("answer",)),
    "/report/answers": FormOfPage("report", _answer, ("signer",), ("answer",)),
    "/undo": FormOfPage("table", _undo, ("screen",)),
    "/redo": FormOfPage("table", _redo, ("screen",)),
}
