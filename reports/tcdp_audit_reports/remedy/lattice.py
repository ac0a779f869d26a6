"""A search for levels of hierarchies as dots: what each combination loses, and the share of records it fails."""

from __future__ import annotations

from tcdp_audit.plugin.report import ChangeLog
from tcdp_audit.plugin.sentences import count, figure, sentence_case, share
from tcdp_audit_reports.axis import axis_for
from tcdp_audit_reports.chart import Chart, Table
from tcdp_audit_reports.drawing import Drawing, Point
from tcdp_audit_reports.remedy.placement import Mark
from tcdp_audit_reports.remedy.scatter import EDGE, across, scatter, up
from tcdp_audit_reports.remedy.search import Search, search_of

HEADROOM = 6  # times the limit that the plot reaches
LISTED = 5  # combinations in the table


def chart(log: ChangeLog) -> Chart | None:
    """The dots of the last step that searched a lattice; None where none did."""
    searches = [search for one in log.steps if (search := search_of(one, log.records)) is not None]
    return _chart(searches[-1]) if searches else None


def _chart(search: Search) -> Chart:
    top = _top(search)
    return Chart(
        kind="scatter",
        title=_title(search),
        subtitle=_subtitle(search, top),
        description=(
            f"Scatter plot of {count(len(search.nodes), 'combination')} of levels; the one taken has a loss of "
            f"{figure(search.taken.loss)} with {share(search.taken.suppressed, 1)} of records suppressed."
        ),
        drawing=_drawing(search, top),
        data=_table(search),
    )


def _title(search: Search) -> str:
    """How many keep the policy, where all that were looked at are known; and that the one taken is the best of them."""
    seen, kept = len(search.nodes), len(search.kept)
    best = kept > 1 and all(search.taken.loss <= one.loss for one in search.kept)
    if search.evaluated > seen:
        title = f"{count(search.evaluated, 'way')} to generalise were looked at"
        return f"{title}; of those drawn that keep the policy, the one taken loses least" if best else title
    title = (
        f"{count(kept)} of {count(seen, 'way')} to generalise that were looked at keep{'s' * (kept == 1)} the policy"
    )
    return f"{title}; the one taken loses least" if best else title


def _subtitle(search: Search, top: float) -> str:
    axes = (
        "Each dot is one choice of hierarchy levels: what it loses, and the share of records that fail there. "
        "Filled dots keep the policy."
    )
    drawn, rest = sum(one.suppressed <= top for one in search.nodes), search.total - search.evaluated
    parts = [f"{count(drawn)} of {count(search.evaluated)} are drawn"] if drawn < search.evaluated else []
    parts += [f"{count(rest)} more needed no look"] if rest else []
    return f"{axes} {sentence_case('; '.join(parts))}." if parts else axes


def _top(search: Search) -> float:
    """The largest share that is drawn: some times the limit, and at least half of the combinations."""
    shares = sorted(one.suppressed for one in search.nodes)
    highest = max(search.limit, *(one.suppressed for one in search.kept))
    return min(shares[-1], max(HEADROOM * highest, shares[len(shares) // 2]))


def _percent(value: float) -> str:
    return f"{100 * value:.3g}%"


def _drawing(search: Search, top: float) -> Drawing:
    visible_nodes = [one for one in search.nodes if one.suppressed <= top]
    axis = axis_for([0.0, *(one.loss for one in visible_nodes)], None, 100 - 2 * EDGE)
    heights = axis_for([0.0, top], None, 1)
    rows = [(heights.place(tick), _percent(tick) if tick else "") for tick in heights.ticks]
    cloud = {
        (across(axis, one.loss), up(heights.place(one.suppressed)), "cloud-good" if one.kept else "cloud")
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


def _table(search: Search) -> Table:
    best = sorted(search.kept, key=lambda one: one.loss)[:LISTED]
    rows = [[" · ".join(map(str, one.levels)), figure(one.loss), share(one.suppressed, 1)] for one in best]
    caption = f"The {count(len(best))} that lose least of those that keep the policy"
    if len(best) == 1:
        caption = "The one that keeps the policy"
    return Table(caption, (f"levels ({', '.join(search.attributes)})", search.measure, "suppressed"), rows)
