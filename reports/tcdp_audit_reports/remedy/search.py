"""A search for levels of hierarchies, read from the notes of a remedy and drawn as dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tcdp_audit.plugin.report import ChangeLog, Chart, Rows, Step
from tcdp_audit.plugin.sentences import agree, count, figure, plural, sentence_case, share, visible
from tcdp_audit_reports.charts.drawing import Drawing, Point, axis_for, figure_table
from tcdp_audit_reports.charts.labelled_scatter import EDGE, Mark, across, scatter, up
from tcdp_audit_reports.fact_labels import plain

MEASURES = {"ncp": "normalised certainty penalty"}


@dataclass(frozen=True)
class SearchedNode:
    """A combination of levels that was looked at."""

    loss: float
    suppressed: float
    passing: bool
    levels: tuple[int, ...]


@dataclass(frozen=True)
class LatticeSearch:
    """What a step's notes say of its search."""

    nodes: Sequence[SearchedNode]  # combinations in ascending order of loss
    taken: SearchedNode  # the one that was chosen
    limit: float  # the share of records that may be suppressed; 0 for none
    evaluated: int  # how many combinations were looked at; more than `nodes` where those are a selection
    total: int  # how many there are
    attributes: Sequence[str]  # whose levels they are, in the order of the levels
    measure: str  # the name of the loss
    counted: str = "records"  # what may be suppressed: records, or people with all of theirs

    @property
    def passing(self) -> list[SearchedNode]:
        """The candidates that keep the policy."""
        return [one for one in self.nodes if one.passing]


def search_of(step: Step, records: int) -> LatticeSearch | None:
    """The search in a step's notes; None where there is none, or something else by that name."""
    nodes, taken = _nodes(step.notes.get("lattice")), _taken(step.notes, records)
    if not nodes or taken is None:
        return None
    others = [one for one in nodes if one.levels != taken.levels]
    taken = next((one for one in nodes if one.levels == taken.levels), taken)  # its share may be one of people
    evaluated, measure = _whole(step.notes.get("evaluated"), len(nodes)), step.notes.get("measure")
    return LatticeSearch(
        nodes=sorted([*others, taken], key=lambda one: one.loss),
        taken=taken,
        limit=_limit(step.parameters.get("suppression")),
        evaluated=evaluated,
        total=_whole(step.notes.get("nodes"), evaluated),
        attributes=[visible(str(name)) for name in step.notes["levels"]],
        measure=MEASURES.get(str(measure)) or plain(str(measure or "as the remedy measures it")),
        counted=visible(plural(str(step.notes.get("counted", "record")))),
    )


def _nodes(rows: Any) -> list[SearchedNode]:
    """The combinations, if every row is one."""
    nodes = [_node(row) for row in rows] if isinstance(rows, list | tuple) else []
    sound = [one for one in nodes if one is not None]
    return sound if len(sound) == len(nodes) else []


def _taken(notes: Mapping[str, Any], records: int) -> SearchedNode | None:
    """The combination that was chosen: its loss, the records it dropped, and the level of each attribute."""
    levels = notes.get("levels")
    if not isinstance(levels, Mapping):
        return None
    chosen = [one[0] if isinstance(one, list | tuple) and one else one for one in levels.values()]
    dropped = notes.get("suppressed", 0)
    share = dropped / records if isinstance(dropped, int) and records else 0.0
    return _node([notes.get("loss"), share, True, chosen])


def _node(row: Any) -> SearchedNode | None:
    if not isinstance(row, list | tuple) or len(row) != 4 or not isinstance(row[3], list | tuple):
        return None
    loss, suppressed, passing, levels = row
    if not all(isinstance(one, int | float) and isfinite(one) for one in (loss, suppressed, *levels)):
        return None
    return SearchedNode(float(loss), float(suppressed), bool(passing), tuple(int(one) for one in levels))


def _whole(value: Any, least: int) -> int:
    return max(value, least) if isinstance(value, int) else least


def _limit(value: Any) -> float:
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0.0


HEADROOM = 6  # times the limit that the plot reaches
LISTED = 5  # combinations in the table


def chart(log: ChangeLog) -> Chart | None:
    """The dots of the last step that searched a lattice; None where none did."""
    searches = [search for one in log.steps if (search := search_of(one, log.records)) is not None]
    return _chart(searches[-1]) if searches else None


def _chart(search: LatticeSearch) -> Chart:
    top = _top(search)
    return Chart(
        kind="scatter",
        title=_title(search),
        subtitle=_subtitle(search, top),
        description=(
            f"Scatter plot of {count(len(search.nodes), 'combination')} of levels; the one taken has a loss of "
            f"{figure(search.taken.loss)} with {share(search.taken.suppressed, 1)} of {search.counted} suppressed."
        ),
        drawing=_drawing(search, top),
        data=_table(search),
    )


def _title(search: LatticeSearch) -> str:
    """The number that keep the policy, where all examined are known; and that the one taken is the best of them."""
    seen, passing = len(search.nodes), len(search.passing)
    best = passing > 1 and all(search.taken.loss <= one.loss for one in search.passing)
    if search.evaluated > seen:
        title = f"{count(search.evaluated, 'way')} to generalise were looked at"
        return f"{title}; of those drawn that keep the policy, the one taken loses least" if best else title
    verb = agree(passing, "keeps", "keep")
    title = f"{count(passing)} of {count(seen, 'way')} to generalise that were looked at {verb} the policy"
    return f"{title}; the one taken loses least" if best else title


def _subtitle(search: LatticeSearch, top: float) -> str:
    axes = (
        f"Each dot is one choice of hierarchy levels: what it loses, and the share of {search.counted} that fail "
        "there. Filled dots keep the policy."
    )
    drawn, rest = sum(one.suppressed <= top for one in search.nodes), search.total - search.evaluated
    parts = [f"{count(drawn)} of {count(search.evaluated)} are drawn"] if drawn < search.evaluated else []
    parts += [f"{count(rest)} more needed no look"] if rest else []
    return f"{axes} {sentence_case('; '.join(parts))}." if parts else axes


def _top(search: LatticeSearch) -> float:
    """The largest share that is drawn: some times the limit, and at least half of the combinations."""
    shares = sorted(one.suppressed for one in search.nodes)
    highest = max(search.limit, *(one.suppressed for one in search.passing))
    return min(shares[-1], max(HEADROOM * highest, shares[len(shares) // 2]))


def _percent(value: float) -> str:
    return f"{100 * value:.3g}%"


def _drawing(search: LatticeSearch, top: float) -> Drawing:
    visible_nodes = [one for one in search.nodes if one.suppressed <= top]
    axis = axis_for([0.0, *(one.loss for one in visible_nodes)], None, 100 - 2 * EDGE)
    heights = axis_for([0.0, top], None, 1)
    rows = [(heights.place(tick), _percent(tick) if tick else "") for tick in heights.ticks]
    cloud = {
        (across(axis, one.loss), up(heights.place(one.suppressed)), "cloud-good" if one.passing else "cloud")
        for one in visible_nodes
        if one != search.taken
    }
    taken = Mark(
        "taken", across(axis, search.taken.loss), up(heights.place(search.taken.suppressed)), 6.5, "strong halo"
    )
    points = [Point(style, x, y, 3.5) for x, y, style in sorted(cloud)]
    text = f"at most {_percent(search.limit)} may be suppressed"
    limit = (heights.place(search.limit), text) if search.limit else None
    return scatter(axis, f"loss: {search.measure}", rows, [(taken, "fill-passed")], points, limit)


def _table(search: LatticeSearch) -> Rows:
    best = sorted(search.passing, key=lambda one: one.loss)[:LISTED]
    rows = [[" · ".join(map(str, one.levels)), figure(one.loss), share(one.suppressed, 1)] for one in best]
    caption = f"The {count(len(best))} that lose least of those that keep the policy"
    if len(best) == 1:
        caption = "The one that keeps the policy"
    return figure_table(caption, (f"levels ({', '.join(search.attributes)})", search.measure, "suppressed"), rows)
