"""A share for each name at each of several widths, such as interval disclosure by column and p: a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tcdp_audit.plugin.sentences import percent
from tcdp_audit_reports.chart import Chart, Table
from tcdp_audit_reports.drawing import Drawing, Label, Rectangle, shortened

MOST = 20  # rows; the table has more
ROW, TOP = 24, 24  # pixels
LEFT = 36  # percent of the width for names
TONES = 10


def chart(title: str, what: str, widths: Sequence[str], shares: Mapping[str, Sequence[float]]) -> Chart | None:
    """The map; None where there is nothing to compare, or a number is no share.

    Args:
        title: of the chart.
        what: the shares are by, such as `p`.
        widths: the columns of the map.
        shares: the rows by name, each with a share for every width.
    """
    cells = [share for row in shares.values() for share in row]
    if not cells or len(cells) < 2 or not all(0 <= share <= 1 for share in cells):
        return None
    rows = sorted(shares.items(), key=lambda one: -one[1][-1])
    return Chart(
        kind="heat",
        title=title,
        subtitle=f"Share by column and {what}; darker is more",
        description="; ".join(f"{name}: {', '.join(percent(one) for one in row)}" for name, row in rows[:MOST]),
        drawing=_drawing(what, widths, rows[:MOST]),
        data=Table(title, ("name", *(f"{what} {one}" for one in widths)), [[n, *map(percent, row)] for n, row in rows]),
    )


def _drawing(what: str, widths: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> Drawing:
    step = (100 - LEFT) / len(widths)
    areas, labels = [], []
    for place, width in enumerate(widths):
        labels.append(Label(f"{what} {width}", round(LEFT + (place + 0.5) * step, 2), 15, "tick strong"))
    for row, (name, shares) in enumerate(rows):
        y = TOP + row * ROW
        labels.append(Label(shortened(name, LEFT - 2), LEFT - 1.5, y + 15, "label", "end"))
        for place, share in enumerate(shares):
            x = round(LEFT + place * step, 2)
            areas.append(Rectangle(f"heat-{round(share * (TONES - 1))}", x, round(step - 0.4, 2), y, ROW - 2))
            labels.append(Label(percent(share), round(x + step / 2, 2), y + 15, "value halo"))
    return Drawing(TOP + len(rows) * ROW, tuple(areas), (), tuple(labels))
