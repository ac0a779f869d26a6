"""A frontier as blocks: the map, what each setting costs, the Pareto-optimal releases, what each remedy loses alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import isfinite

from tcdp_audit.plugin._internal import (
    Block,
    SettingTrial,
    VariedDemand,
    points_table,
    remedies_table,
    settings_table,
)
from tcdp_audit.plugin.report import Chart, Definitions, Frontier, Group, Heading, Lines, Paragraph
from tcdp_audit.plugin.sentences import count, decimal, listing, say, visible
from tcdp_audit_reports.charts.drawing import (
    Axis,
    Drawing,
    Label,
    Line,
    Point,
    axis_for,
    figure_table,
    shortened,
    text_width,
    thinned,
    tick_label,
)
from tcdp_audit_reports.charts.labelled_scatter import Box, Mark, box_of, is_free, placed
from tcdp_audit_reports.first_screen import moment_in_words

HEIGHT, TOP, BASE = 340, 34, 296  # pixels: the drawing, the riskiest figure, the safest
EDGE, RIGHT = 2.0, 98.0  # percent of the width between which marks lie
WIDE = 8  # a largest figure this many times the smallest asks for a logarithmic axis
STEPS = 8  # at most; the table has all
RADIUS, CHOSEN = 4.0, 6.0  # pixels


@dataclass(frozen=True)
class FrontierStep:
    """The points that keep one level of each other demand, without those that a safer and cheaper one dominates."""

    name: str  # the levels, such as `t ≤ 0.2`; empty where a single demand is varied
    # by ascending loss and falling risk, each with its figure of the first demand
    points: tuple[tuple[SettingTrial, float], ...]


def chart(frontier: Frontier) -> Chart | None:
    """The map; None where no point has a figure of the first demand that can be drawn."""
    demand = frontier.demands[0]
    drawn = [(one, figure) for one in frontier.points if (figure := _figure(frontier, one)) is not None]
    if not drawn:
        return None
    lines = list(_steps_of(frontier, drawn))
    rows = points_table(frontier)
    note = f"{STEPS} of {count(len(lines), 'step line')} are drawn." if len(lines) > STEPS else ""
    return Chart(
        kind="frontier",
        title="Risk against loss",
        subtitle=f"{visible(demand.title)}, the riskier the higher, against the information lost; numbers are points",
        description=_description(frontier, demand),
        drawing=_drawing(frontier, drawn, lines[:STEPS]),
        data=figure_table(
            rows.caption, tuple(map(visible, rows.head)), [tuple(map(visible, row)) for row in rows.body], note
        ),
    )


def _figure(frontier: Frontier, point: SettingTrial) -> float | None:
    figure = point.worst(frontier.demands)[0]
    return figure if figure is not None and isfinite(figure) else None


def _steps_of(frontier: Frontier, drawn: Sequence[tuple[SettingTrial, float]]) -> Iterator[FrontierStep]:
    """A step line for each combination of levels of the other demands, those that are alike as one."""
    first, *others = frontier.demands
    named: dict[tuple[int, ...], list[str]] = {}
    for levels in product(*(one.levels for one in others)):
        keeping = [
            place
            for place, (point, _) in enumerate(drawn)
            if point.keeps(frontier.demands, (point.setting[0], *levels))
        ]
        steps = tuple(_safer_and_safer(first, [drawn[place][1] for place in keeping], keeping))
        name = ", ".join(visible(one.phrase(level)) for one, level in zip(others, levels, strict=True))
        if steps:
            named.setdefault(steps, []).append(name)
    for steps, names in named.items():
        yield FrontierStep(listing(names) if names[0] else "", tuple(drawn[place] for place in steps))


def _safer_and_safer(demand: VariedDemand, figures: Sequence[float], places: Sequence[int]) -> Iterator[int]:
    """The places, by ascending loss, whose figure is safer than all before."""
    least = None
    for figure, place in zip(figures, places, strict=True):
        risk = demand.risk(figure)
        if least is None or risk < least:
            least = risk
            yield place


def _description(frontier: Frontier, demand: VariedDemand) -> str:
    first, last = frontier.points[0], frontier.points[-1]
    losses = f"from {100 * first.total_loss:.1f}% to {100 * last.total_loss:.1f}%"
    return f"{count(len(frontier.points), 'point')} of {visible(demand.title)} against information lost, {losses}."


def _drawing(frontier: Frontier, drawn: Sequence[tuple[SettingTrial, float]], lines: Sequence[FrontierStep]) -> Drawing:
    demand = frontier.demands[0]
    across = axis_for([0.0, max(one.total_loss for one, _ in drawn)], None, RIGHT - EDGE)
    up = _risk_axis(demand, [figure for _, figure in drawn])
    spots = {id(one): (_x(across, one.total_loss), _y(demand, up, figure)) for one, figure in drawn}
    own = frontier.least(frontier.own)
    marks = [_mark(frontier, one, spots, lines) for one, _ in drawn]
    marks.sort(key=lambda mark: (":" not in mark.text, mark.x))
    limit, limit_label = _limit(demand, up)
    steps = [stroke for line in lines for stroke in _strokes(line, spots)]
    taken = [*(one.box for one in marks), *map(_box, (*limit, *steps)), *map(box_of, limit_label)]
    heights = _heights(demand, up, taken)
    texts = [box_of(one) for one in (*heights.values(), *limit_label)]
    # a name is put on a line only where there is room nowhere else
    named = max((placed(marks, 4, BASE + 4, [*texts, *more]) for more in (map(_box, (*limit, *steps)), ())), key=len)
    return Drawing(
        height=HEIGHT,
        lines=(
            *(Line("grid", 0, 100, y, y) for y in heights),
            Line("axis", 0, 100, BASE + 8, BASE + 8),
            *limit,
            *steps,
            *(line for _, line in named if line is not None),
        ),
        points=tuple(_points(drawn, spots, own)),
        labels=(
            *heights.values(),
            *limit_label,
            *thinned(tick_label(f"{100 * tick:g}%", _x(across, tick), BASE + 24) for tick in across.ticks),
            Label("↑ risk", 0, 12, "label", "start"),
            Label(shortened("information lost →"), 100, BASE + 42, "label", "end"),
            *(label for label, _ in named),
        ),
    )


def _risk_axis(demand: VariedDemand, figures: Sequence[float]) -> Axis:
    levels = [float(one) for one in demand.levels]
    values = [*figures, *levels, float(demand.own)]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    logarithmic = low > 0 and high / low >= WIDE
    return Axis(low, high, tuple(sorted(levels)), logarithmic=logarithmic, span=BASE - TOP)


def _y(demand: VariedDemand, axis: Axis, figure: float) -> float:
    place = axis.place(figure)
    return round(TOP + place if demand.comparison.higher_is_safer else BASE - place, 1)


def _x(axis: Axis, loss: float) -> float:
    return round(EDGE + axis.place(loss), 2)


def _heights(demand: VariedDemand, axis: Axis, taken: Sequence[Box]) -> dict[float, Label]:
    """The thresholds by their heights, each named at an end of its line where nothing is; of close ones the first."""
    labels: dict[float, Label] = {}
    for level in demand.levels:
        y = _y(demand, axis, float(level))
        if all(abs(y - one) > 18 for one in labels):
            text = shortened(visible(demand.phrase(level)), 40)
            ends = product(((100, "end"), (0, "start")), (y - 7, y + 14))
            places = [Label(text, x, round(base, 1), "tick halo", side) for (x, side), base in ends]
            others = [*taken, *map(box_of, labels.values())]
            labels[y] = next((one for one in places if is_free(box_of(one), 4, BASE + 8, others)), places[0])
    return labels


def _limit(demand: VariedDemand, axis: Axis) -> tuple[list[Line], list[Label]]:
    y = _y(demand, axis, float(demand.own))
    text = f"the policy: {decimal(demand.own)}"
    return [Line("limit", 0, 100, y, y)], [Label(text, 100 - text_width(text) - 14, y - 6, "limit-label halo", "start")]


def _strokes(line: FrontierStep, spots: dict[int, tuple[float, float]]) -> Iterator[Line]:
    """To the right until the next point, then down to it."""
    for (one, _), (other, _) in pairwise(line.points):
        (x, y), (then_x, then_y) = spots[id(one)], spots[id(other)]
        yield Line("frontier-step", x, then_x, y, y)
        yield Line("frontier-step", then_x, then_x, y, then_y)


def _box(line: Line) -> Box:
    return line.x1 - 0.4, line.x2 + 0.4, min(line.y1, line.y2) - 1, max(line.y1, line.y2) + 1


def _mark(
    frontier: Frontier, point: SettingTrial, spots: dict[int, tuple[float, float]], lines: Sequence[FrontierStep]
) -> Mark:
    """A point with its number, and the names of the lines that begin there."""
    begun = [one.name for one in lines if one.name and one.points[0][0] is point]
    name = str(frontier.number_of(point)) + (f": {'; '.join(begun)}" if begun else "")
    x, y = spots[id(point)]
    return Mark(name, x, y, CHOSEN if point is frontier.least(frontier.own) else RADIUS)


def _points(
    drawn: Sequence[tuple[SettingTrial, float]], spots: dict[int, tuple[float, float]], own: SettingTrial | None
) -> Iterator[Point]:
    for one, _ in drawn:
        x, y = spots[id(one)]
        yield Point("of-own", x, y, CHOSEN) if one is own else Point("of-front", x, y, RADIUS)


TITLE = "What other thresholds would cost"
FEW = 12  # settings in a sentence


def frontier_blocks(frontier: Frontier) -> Iterator[Block]:
    """All that reports say of a frontier below its first sentence. Cost: linear in the settings."""
    if cut := untried(frontier):
        yield Paragraph("", lead=cut, style="cut")
    yield Group([Definitions(_summary(frontier), style="particulars")], page_only=True)
    if (drawn := chart(frontier)) is not None:
        yield Group([Heading("The map"), drawn], page_only=True)
    yield Heading("What each setting costs")
    yield settings_table(frontier)
    if frontier.points:
        yield Heading("The front")
        yield points_table(frontier, detailed=True)
        points = enumerate(frontier.points, 1)
        yield Group([Lines(one.lines, f"Policy lines of point {place}") for place, one in points], style="lines")
    remedies = remedies_table(frontier)
    if remedies.body:
        yield Heading("What each remedy loses alone")
        yield remedies
    yield Heading("How to read it")
    yield from reading(frontier)
    yield Group([Heading("How it was made"), Definitions(_run(frontier))], page_only=True)


def _summary(frontier: Frontier) -> list[tuple[str, str]]:
    return [
        ("Release", _size(frontier)),
        ("Policy", frontier.policy or "given by the calling Python program"),
        ("Made", moment_in_words(frontier.made_at)),
    ]


def _size(frontier: Frontier) -> str:
    """The release with its size."""
    release = frontier.release
    if release.tables:
        return f"{release.name}: {release.size}"
    return say("{name}: {n:record}", name=release.name, n=release.records)


def _run(frontier: Frontier) -> list[tuple[str, str]]:
    return [
        ("SHA-256 of the release", frontier.release.sha256 or "none"),
        ("SHA-256 of the policy", frontier.policy_sha256 or "none"),
        ("seed", str(frontier.seed)),
        *([("run by", frontier.run.by)] if frontier.run.by else []),
    ]


def reading(frontier: Frontier) -> Iterator[Block]:
    """A note on reading the map."""
    titles = listing([f"{one.label} ({one.title})" for one in frontier.demands])
    written, risk = _OF_TABLES if frontier.release.tables else _OF_ONE_TABLE
    yield Paragraph(
        f"Each setting of the thresholds was repaired by itself and written to {written} gives "
        f"the figures. A release is on the front if no other one loses as little and is as safe in {titles}. A setting "
        "that is kept by a release made under a laxer one was not repaired again."
    )
    yield Paragraph(f"Re-identified is the share of {risk}. Perturbed values are taken for true.")
    yield Paragraph(
        "To use a point, put its lines into the policy in place of its own for the same demands, and repair. The same "
        "release, policy and version give the same bytes.",
        code=f"tcdp-audit fix --policy {frontier.policy or 'POLICY'} --output REPAIRED.csv",
    )


_OF_ONE_TABLE = (
    "a file, and the audit of that file",
    (
        "records that an intruder who knows the quasi-identifiers of everyone is expected to find (average prosecutor "
        "risk): equivalence classes by records"
    ),
)
_OF_TABLES = (
    "a folder of files, and the audit of all files together",
    (
        "people whom an intruder who knows all rows of everyone is expected to find (average prosecutor risk): classes "
        "of whole histories by those who have them; dropped records are those of all tables"
    ),
)


def untried(frontier: Frontier) -> str:
    """The settings that the time did not suffice for, in a sentence; nothing where all were tried."""
    if frontier.is_complete:
        return ""
    phrases = [
        ", ".join(demand.phrase(level) for demand, level in zip(frontier.demands, one, strict=True))
        for one in frontier.untried
    ]
    rest = f" and {len(phrases) - FEW:,} more" if len(phrases) > FEW else ""
    settings = f"{count(len(phrases), 'setting')} of {len(frontier.settings):,}"
    return f"Not tried, for want of time: {settings}: {'; '.join(phrases[:FEW])}{rest}. What they cost may be less."
