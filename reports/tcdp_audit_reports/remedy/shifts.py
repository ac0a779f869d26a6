"""Expectations before and after remedies, as rows with marks on the axis of margins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin._internal import demanded, doublings, number, observed, state_of
from tcdp_audit.plugin.report import Audit, ChangeLog
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit_reports.charts.drawing import Drawing, Line, Point
from tcdp_audit_reports.charts.margin import SHOWN, margin_words
from tcdp_audit_reports.sections.findings import attribute_of


def key_of(outcome: Outcome) -> tuple[str, str | None, str]:
    """What distinguishes an expectation from another: its check, its attribute and what it demands."""
    return outcome.check, outcome.attribute, repr(sorted(number(outcome.parameters).items()))


def side_by_side(before: Sequence[Outcome], after: Sequence[Outcome]) -> Iterator[tuple[Outcome | None, Outcome]]:
    """Each later outcome with the earlier one of the same expectation, or None where there was none."""
    earlier = defaultdict(list)
    for one in reversed(before):
        earlier[key_of(one)].append(one)
    for one in after:
        same = earlier[key_of(one)]
        yield (same.pop() if same else None), one


STEP = 48 / SHOWN  # percent of the width that a doubling takes; marks at an end stay inside
MIDDLE, HEIGHT, NEAR = 11, 22, 2.5


@dataclass(frozen=True)
class Shift:
    """An expectation before and after."""

    number: str
    target: str
    title: str
    attribute: str
    demanded: str
    before: str
    after: str
    bar: Drawing | None
    words: str
    state: str


def shifts(audit: Audit, log: ChangeLog) -> list[Shift]:
    """Every expectation, and what is asked of the columns where its state changed."""
    structural = [*side_by_side([one for one in log.before if one.is_structural], audit.structure)]
    expected = side_by_side([one for one in log.before if not one.is_structural], audit.expectations)
    rows = [_shift(audit, *pair, str(number), f"e{number}") for number, pair in enumerate(expected, 1)]
    rows += [
        _shift(audit, before, after, "", f"s{number}")
        for number, (before, after) in enumerate(structural, 1)
        if before is not None and before.status is not after.status
    ]
    return rows


def caption(audit: Audit, log: ChangeLog) -> str:
    """A note on reading the rows; that marks are at an end only where some are."""
    both = [*log.before, *audit.outcomes]
    beyond = any((margin := _margin(one)) is not None and abs(margin) > SHOWN for one in both)
    ends = "; marks at an end are beyond a factor of eight" if beyond else ""
    return f"Before (open mark) and after (filled). The centre line is the demand, each tick a factor of two{ends}."


def _shift(audit: Audit, before: Outcome | None, after: Outcome, number: str, target: str) -> Shift:
    return Shift(
        number=number,
        target=target,
        title=after.title or after.check,
        attribute="" if after.is_structural else attribute_of(after, audit.plugins.checks.get(after.check)),
        demanded=demanded(after),
        before="–" if before is None else observed(before),
        after=observed(after),
        bar=_bar(before, after),
        words=_words(before, after),
        state=state_of(after),
    )


def _words(before: Outcome | None, after: Outcome) -> str:
    """The change in words, for a reader who cannot see the drawing."""
    now = margin_words(after)
    return now if before is None or margin_words(before) == now else f"{margin_words(before)} before, {now} after"


def _margin(outcome: Outcome | None) -> float | None:
    if outcome is None or outcome.status not in (Status.PASSED, Status.FAILED):
        return None
    return doublings(outcome)


def _bar(before: Outcome | None, after: Outcome) -> Drawing | None:
    """The axis with the marks that there are; None without any."""
    start, end = _place(_margin(before)), _place(_margin(after))
    if start is None and end is None:
        return None
    ticks = [round(50 + STEP * step, 2) for step in range(-SHOWN, SHOWN + 1) if step]
    return Drawing(
        height=HEIGHT,
        lines=(
            Line("track", 0, 100, MIDDLE, MIDDLE),
            *(Line("track", tick, tick, MIDDLE - 3, MIDDLE + 3) for tick in ticks),
            Line("zero", 50, 50, 0, HEIGHT),
            *([Line("move", start, end, MIDDLE, MIDDLE)] if start is not None and end is not None else []),
        ),
        points=tuple(_marks(start, end, state_of(after))),
    )


def _place(margin: float | None) -> float | None:
    return None if margin is None else round(50 + STEP * min(max(margin, -SHOWN), SHOWN), 2)


def _marks(start: float | None, end: float | None, state: str) -> Iterator[Point]:
    """The open mark is drawn around the filled one where they are at the same place."""
    if start is not None:
        yield Point("ring", start, MIDDLE, 8 if end is not None and abs(start - end) < NEAR else 4.5)
    if end is not None:
        yield Point(f"fill-{state}", end, MIDDLE, 5.5)
