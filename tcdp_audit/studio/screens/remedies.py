"""The fourth screen: what safety costs. Points appear as they are found; one of them is taken into the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tcdp_audit.api import parse_yaml
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.core.results.setting_trial import SettingTrial, VariedDemand
from tcdp_audit.frontiers.exploring import STEP
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import share, visible
from tcdp_audit.studio.choices import LIMITS
from tcdp_audit.studio.drawings import chart
from tcdp_audit.studio.screens.demands import name_of, own_expectations
from tcdp_audit.studio.screens.risk import levels_of_policy, words_of_levels
from tcdp_audit.studio.work import Progress
from tcdp_audit.studio.workbench import Workbench

NAME = "the search for remedies"
EXAMPLE = 0  # the place of the record that is shown where a person asked for values


@dataclass
class Front:
    """The releases found so far that no other one dominates.

    Args:
        text: the policy that they were made under.
        points: them, by ascending loss.
        tried: how many settings were tried.
        demands: the demands whose thresholds are varied, with those of the policy itself.
        has_remedies: whether the policy names remedies.
        settled: how many settings need no further trial, and how many there are.
        result: the whole frontier, at the end.
    """

    text: str
    points: Sequence[SettingTrial] = ()
    tried: int = 0
    demands: Sequence[VariedDemand] = ()
    has_remedies: bool = False
    settled: tuple[int, int] = (0, 0)
    result: Frontier | None = field(default=None, repr=False)

    def add(self, _: SettingTrial, front: Sequence[SettingTrial]) -> None:
        """Take a trial that has just ended, and the front with it."""
        self.tried += 1
        self.points = tuple(front)

    @property
    def own(self) -> tuple[Fraction, ...]:
        """The policy's own thresholds."""
        return tuple(one.own for one in self.demands)

    def keeps_demands(self, point: SettingTrial) -> bool:
        """Whether a release satisfies every demand of the policy as it is."""
        return point.keeps(self.demands, self.own)

    @property
    def own_place(self) -> int | None:
        """The place of the release that the policy leads to; None where it is not among the points.

        By its own remedies where it names some, else the one of least loss that keeps its demands.
        """
        satisfying = [(place, one) for place, one in enumerate(self.points) if self.keeps_demands(one)]
        if self.has_remedies:
            satisfying = [(place, one) for place, one in satisfying if one.setting == self.own and not one.planned]
        return min(satisfying, key=lambda one: (one[1].total_loss, one[0]), default=(None, None))[0]


def begin_search(bench: Workbench) -> None:
    """Begin to try settings around the policy's demands.

    Raises:
        UsageError: another computation runs, or the policy is none to search remedies for.
        PolicyError: the policy cannot be judged yet.
    """
    if reason := _obstacle(bench):
        raise UsageError(reason)
    policy = bench.policy
    front = Front(bench.editor.text, demands=Variation.around(policy).demands, has_remedies=bool(policy.remedies))
    examples = (EXAMPLE,) if bench.choices.values_shown and policy.document.tables is None else ()

    def search(progress: Progress) -> Front:
        def report(step: str, done: int, total: int) -> None:
            if step == STEP:
                front.settled = (done, total)
            progress(step, done, total)

        with ExitStack() as stack:
            session = bench.session
            if examples:  # a session of its own, whose evidence may name cells, and whose figures no other page shows
                session = stack.enter_context(bench.session_with_values(policy))
            front.result = session.frontier(policy, progress=report, on_trial=front.add, examples=examples)
        return front

    if not bench.work.begin(NAME, search):
        raise UsageError(f"{bench.work.name} is under way; wait for its end, or stop it")
    bench.front = front


def remedies_screen(bench: Workbench, asked: Mapping[str, str]) -> dict[str, Any]:
    """The points found so far, one of them in full.

    Args:
        bench: the workbench.
        asked: the parameters of the address, of which `point` is the number of a point.
    """
    front: Front | None = bench.front
    points = () if front is None else front.points
    place = (front.own_place or 0) if front is not None else 0
    wanted = asked.get("point", "")
    if wanted.isdigit() and 1 <= int(wanted[:6]) <= len(points):
        place = int(wanted[:6]) - 1
    drawn = [(one.total_loss, one.reidentified or 0.0) for one in points if one.reidentified is not None]
    return {
        "front": front,
        "is_stale": front is not None and front.text != bench.editor.text,
        "rows": [] if front is None else [_row(bench, number, front) for number in range(1, len(points) + 1)],
        "chart": chart(drawn) if drawn else None,
        "chosen": _card(bench, place + 1, front) if front is not None and points else None,
        "can_search": not _obstacle(bench),
        "obstacle": _obstacle(bench),
        "command": _command(bench),
        "work": bench.work,
        "is_searching": bench.work.is_running and bench.work.name == NAME,
    }


def _obstacle(bench: Workbench) -> str:
    """The reason why no remedies can be searched for, in a sentence; empty where they can."""
    if bench.policy.document.has_figures:
        return (
            "Remedies change records, and this policy has tables of figures: choose the figures to hide with another "
            "program, such as tau-Argus or sdcTable. The command below says which changes would help."
        )
    if not any(one.check.demands(one.parameters) for one in bench.policy.expectations):
        return "Nothing is demanded yet that could fail, so there is nothing to find a remedy for."
    return ""


def _command(bench: Workbench) -> str:
    """The command that does what this screen does, or what comes nearest to it; the policy has to be written before."""
    release = "" if bench.place.release is None else f" {bench.place.release}"
    if bench.policy.document.has_figures:
        return f"tcdp-audit check{release} --policy {bench.place.policy} --try-remedies"
    return f"tcdp-audit frontier{release} --policy {bench.place.policy}"


def _row(bench: Workbench, number: int, front: Front) -> dict[str, Any]:
    point = front.points[number - 1]
    return {
        "number": number,
        "words": _setting(bench, point),
        "lost": share(point.total_loss, 1),
        "identified": None if point.reidentified is None else share(point.reidentified, 1),
        "is_own": front.own_place == number - 1,
        "is_lax": not front.keeps_demands(point),
        "remedy": _remedy(bench, point),
        "has_risk": point.reidentified is not None,
    }


def _setting(bench: Workbench, point: SettingTrial) -> str:
    """The thresholds of a point in words: `k-anonymity at least 10, distinct l-diversity at least 3 of diagnosis`."""
    parts = []
    for line in point.expect:
        for name, parameters in _entry(line).items():
            check = bench.plugins.checks[name]
            given = parameters or {}
            limits = [one for one in check.limits if one.parameter in given]
            of_limit = {check.headline.parameter: LIMITS[check.headline.comparison]}
            numbers = [f"{of_limit.get(one.parameter, one.parameter)} {given[one.parameter]}" for one in limits]
            of = f" of {given['attribute']}" if "attribute" in given else ""
            parts.append(f"{check.title} {' '.join(numbers)}{of}".strip())
    return ", ".join(parts)


def _remedy(bench: Workbench, point: SettingTrial) -> str:
    """The remedies of a release in words; of levels the column and an example of what is published."""
    titles = []
    for line in point.remedies:
        for name, given in _entry(line).items():
            title = bench.plugins.remedies[name].title if name in bench.plugins.remedies else name
            levels = dict((given or {}).get("levels") or {})
            words = words_of_levels(bench, levels) if all(isinstance(one, int) for one in levels.values()) else ""
            titles.append(f"{title} ({words})" if words else title)
    return ", ".join(titles) or point.name


def _entry(line: str) -> Mapping[str, Any]:
    """One entry of `expect` or `remedy`, as data."""
    entry: Mapping[str, Any] = parse_yaml(f"entry:\n  {line}\n").data["entry"]
    return entry


def _card(bench: Workbench, number: int, front: Front) -> dict[str, Any]:
    point = front.points[number - 1]
    example = next(iter(point.examples), None)
    return {
        "number": number,
        "words": _setting(bench, point),
        "lost": share(point.total_loss, 1),
        "identified": None if point.reidentified is None else share(point.reidentified, 1),
        "suppressed": share(point.suppressed / point.records, 1) if point.suppressed else "",
        "is_lax": not front.keeps_demands(point),
        "remedy": _remedy(bench, point),
        "columns": list(_columns(point)),
        "example": None if example is None else _shown(example),
        "invented": _invented(bench, point),
    }


def _columns(point: SettingTrial) -> list[dict[str, Any]]:
    """The changed columns, each with the share of its information on the others that is left."""
    attributes = dict(point.loss.get("attributes", {}))
    for table, own in point.loss.get("tables", {}).items():
        attributes |= {f"{table}.{name}": one for name, one in own.get("attributes", {}).items()}
    rows = []
    for name, one in attributes.items():
        left = one.get("mutual_information_retained")
        if one.get("cells_changed"):
            text = "cannot be said" if left is None else f"{100 * float(left):.1f}% left"
            rows.append({"name": name, "left": None if left is None else round(100 * float(left), 1), "text": text})
    return rows


def _shown(example: Any) -> list[dict[str, str]]:
    """A true record before and after; pages have it only where a person asked for values."""
    after = example.after
    rows = []
    for name, before in example.before.items():
        then = "(the record is left out)" if after is None else str(after[name]) if name in after else "(not published)"
        rows.append({"name": name, "before": visible(str(before)), "after": visible(then)})
    return rows


def _invented(bench: Workbench, point: SettingTrial) -> list[dict[str, str]]:
    """An invented record before and after: the middle of each hierarchy, at the level at which it is published."""
    levels: dict[str, Any] = {}
    for line in point.remedies:
        for given in _entry(line).values():
            levels |= dict((given or {}).get("levels") or {})
    hierarchies = bench.session.hierarchies(bench.policy)
    rows = []
    for name, one in point.loss.get("attributes", {}).items():
        if not one.get("cells_changed"):
            continue
        branch = hierarchies[name].branches[len(hierarchies[name].branches) // 2] if name in hierarchies else ()
        level = levels.get(name)
        if branch and isinstance(level, int):
            rows.append({"name": name, "before": visible(branch[0]), "after": visible(branch[level])})
        else:
            before = visible(branch[0]) if branch else "one value"
            rows.append({"name": name, "before": before, "after": "a range, or several values, as the group needs"})
    return rows


def take_point(bench: Workbench, number: int, reason: str) -> None:
    """Write the thresholds and the remedies of a point into the policy.

    Raises:
        UsageError: there is no such point, or the policy has changed since it was found.
    """
    front: Front | None = bench.front
    if front is None or not 1 <= number <= len(front.points):
        raise UsageError("there is no such point; load the page again")
    if front.text != bench.editor.text:
        raise UsageError("the policy has changed since these points were found; search again")
    point = front.points[number - 1]
    with bench.deciding() as editor:
        bench.shape += 1
        for line in point.expect:
            for name, parameters in _entry(line).items():
                _write_demand(bench, name, dict(parameters or {}), reason)
        if point.planned:
            editor.set("remedy", [dict(_entry(line)) for line in point.remedies], reason=reason)
        bench.choices.point = f"point {number}: {share(point.total_loss, 1)} lost, {_remedy(bench, point)}"
        bench.choices.levels = dict(levels_of_policy(bench))  # the detail of the second step is that of the policy
    bench.front.text = bench.editor.text


def _write_demand(bench: Workbench, name: str, parameters: dict[str, Any], reason: str) -> None:
    """Set the threshold of the demand that a line of a point is about, or add what its remedy needs."""
    check, wanted = bench.plugins.checks[name], parameters.get("attribute")
    for place, one in enumerate(own_expectations(bench.policy)):
        if one.check.name == name and (name_of(one).partition(":")[2] or None) == wanted:
            parameter = check.headline.parameter
            own = check.demanded(one.parameters)
            if parameter in parameters and own != Fraction(str(parameters[parameter])):
                changes = {parameter: parameters[parameter], "reason": reason or one.parameters.reason}
                bench.editor.change_expectation(place, changes, reason=reason)
            return
    bench.editor.add_expectation(name, parameters, reason=reason)
