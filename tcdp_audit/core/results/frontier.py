"""The frontier of risk and loss: the cost of thresholds, the Pareto-optimal releases, and tables of both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import number
from tcdp_audit.core.base.provenance import Run, Table, now, tool
from tcdp_audit.core.base.words import agree, count, figure, listing, share, visible, visible_json
from tcdp_audit.core.results.document import Rows
from tcdp_audit.core.results.setting_trial import Setting, SettingTrial, VariedDemand, phrase_of

if TYPE_CHECKING:
    from tcdp_audit.core.results.audit import Participants


SCHEMA_VERSION = 1


def front_of(demands: Sequence[VariedDemand], trials: Iterable[SettingTrial]) -> tuple[SettingTrial, ...]:
    """The releases that pass and that no other one dominates (Pareto-optimal), by ascending loss.

    One dominates another if it loses no more, no figure of a varied demand is riskier, and one of these is better.
    Of releases that are alike in all of them the first is taken.
    """
    passing = [(one.vector(demands), one) for one in trials if one.passed]
    first = dict(reversed(passing))
    front = [pair for pair in first.items() if not any(_dominates(other, pair[0]) for other in first)]
    return tuple(one for _, one in sorted(front, key=lambda pair: (pair[1].total_loss, pair[0])))


@dataclass(frozen=True, kw_only=True, repr=False)
class Frontier:
    """The cost of thresholds: the release of least loss for each setting, and the front of risk against loss.

    Args:
        release: the table before any repair.
        policy: the policy's file; None if it was passed as a mapping.
        policy_sha256: its digest.
        seed: the seed of every random choice.
        demands: the demands whose thresholds are varied.
        settings: the settings, in the order in which they are tried; the policy's is the first.
        trials: the trials of settings.
        untried: the settings that were not tried for lack of time.
        plugins: the plugins in use.
        run: who ran it, and with which command.
        made_at: the time in UTC; SOURCE_DATE_EPOCH if that is set.
    """

    release: Table
    policy: str | None
    policy_sha256: str
    seed: int
    demands: tuple[VariedDemand, ...]
    settings: tuple[Setting, ...]
    trials: tuple[SettingTrial, ...]
    plugins: Participants
    untried: tuple[Setting, ...] = ()
    run: Run = field(default_factory=Run)
    made_at: datetime = field(default_factory=now)

    def __repr__(self) -> str:
        """The sentence, and a line for each point, without cells."""
        about = f"<Frontier of {visible(self.release.name)}: {self.sentence}>"
        lines = (
            f"{place}: {phrase_of(self.demands, one.setting)}, {share(one.total_loss, 1)} lost, by {visible(one.name)}"
            for place, one in enumerate(self.points, 1)
        )
        return "\n".join([about, *lines])

    @cached_property
    def points(self) -> tuple[SettingTrial, ...]:
        """The front of all trials; see `front_of`."""
        return front_of(self.demands, self.trials)

    def least(self, setting: Setting) -> SettingTrial | None:
        """The release of least loss that satisfies a setting; None if there is none."""
        keeping = [one for one in self.trials if one.keeps(self.demands, setting)]
        places = {id(one): place for place, one in enumerate(self.points)}
        return min(keeping, key=lambda one: (one.total_loss, places.get(id(one), len(places))), default=None)

    def number_of(self, trial: SettingTrial) -> int | None:
        """The number of a point of the front, from 1; None for a release that is not on it."""
        return next((place for place, one in enumerate(self.points, 1) if one is trial), None)

    @property
    def own(self) -> Setting:
        """The thresholds of the policy."""
        return tuple(one.own for one in self.demands)

    @property
    def is_complete(self) -> bool:
        """Whether every setting was tried, or is satisfied by a release that was made under a laxer one."""
        return not self.untried

    @property
    def exit_code(self) -> int:
        """0 if a point satisfies the policy, otherwise 3 if a setting was not tried or not audited, otherwise 1."""
        if self.least(self.own) is not None:
            return 0
        audited = all(one.status in ("passed", "failed") for one in self.trials if one.setting == self.own)
        return 1 if self.is_complete and audited else 3

    @property
    def sentence(self) -> str:
        """The numbers of settings and points, the cost of the policy, and the settings that were not tried."""
        least = self.least(self.own)
        place = None if least is None else self.number_of(least)
        point = "" if place is None else f", point {place}"
        costs = (
            f"no release is known that keeps the policy itself ({phrase_of(self.demands, self.own)})"
            if least is None
            else f"the policy itself ({phrase_of(self.demands, self.own)}) costs {share(least.total_loss, 1)}{point}"
        )
        untried = len(self.untried)
        cut = f"; {count(untried, 'setting')} {agree(untried, 'was', 'were')} not tried" if untried else ""
        settings, points = count(len(self.settings), "setting"), count(len(self.points), "point")
        return f"{settings}, {points} on the front; {costs}{cut}"

    def as_json(self) -> dict[str, Any]:
        """The result in the published JSON form."""
        return {
            "schema_version": SCHEMA_VERSION,
            "made_at": self.made_at.isoformat().replace("+00:00", "Z"),
            "run": self.run.as_json(),
            "tool": tool(),
            "plugins": [info.as_json() for info in self.plugins.infos],
            "release": self.release.as_json(),
            "policy": {"uri": self.policy, "sha256": self.policy_sha256},
            "seed": self.seed,
            "sentence": self.sentence,
            "complete": self.is_complete,
            "demands": [one.as_json() for one in self.demands],
            "settings": [self._setting(one) for one in self.settings],
            "points": [self._point(place, one) for place, one in enumerate(self.points, 1)],
            "trials": [one.as_json() for one in self.trials],
        }

    def _setting(self, setting: Setting) -> dict[str, Any]:
        least = self.least(setting)
        return {
            "thresholds": [number(one) for one in setting],
            "own": setting == self.own,
            "tried": setting not in self.untried,
            "least_loss": None if least is None else least.total_loss,
            "trial": None if least is None else _place(self.trials, least),
        }

    def _point(self, place: int, point: SettingTrial) -> Mapping[str, Any]:
        return {
            "point": place,
            "trial": _place(self.trials, point),
            "thresholds": [number(one) for one in point.setting],
            "figures": number(point.worst(self.demands)),
            "loss": point.total_loss,
            "reidentified": point.reidentified,
            "lines": point.lines,
        }

    def to_json(self) -> str:
        """The result as JSON text."""
        return visible_json(json.dumps(self.as_json(), ensure_ascii=False, indent=1)) + "\n"


def _place(trials: Sequence[SettingTrial], trial: SettingTrial) -> int:
    return next(place for place, one in enumerate(trials) if one is trial)


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether a point is at least as good in every coordinate, and not equal."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


NONE, UNTRIED, OWN = "–", "not tried", "* "
LOST = (
    "Information lost at each setting of the thresholds, on average over all cells; in brackets the point of the front "
    "that loses it"
)
LOST_WITH_OWN = (
    "Information lost at each setting of the thresholds, on average over all cells; in brackets the point of the front "
    "that loses it; * the policy's own thresholds"
)
AS_NAMED = "the policy's remedies"


def settings_table(frontier: Frontier) -> Rows:
    """The cost of each setting, with the number of its point.

    Two demands whose combinations are all tried span a table; otherwise each setting has a row.
    """
    if is_spanned(frontier):
        first, second = frontier.demands
        head = ("setting", *map(second.phrase, second.levels))
        levels = [(level, [(level, other) for other in second.levels]) for level in first.levels]
        body = [(first.phrase(level), *(_cost(frontier, one) for one in row)) for level, row in levels]
        shown = all(one.own in one.levels for one in frontier.demands)
        return Rows(head, tuple(body), LOST_WITH_OWN if shown else LOST, numeric_from=1, style="figures")
    settings = sorted(frontier.settings, key=lambda one: _laxness(frontier, one))
    rows = [(phrase_of(frontier.demands, one), _cost(frontier, one)) for one in settings]
    return Rows(("setting", "lost"), tuple(rows), LOST_WITH_OWN, numeric_from=1, style="figures")


def is_spanned(frontier: Frontier) -> bool:
    """Whether the settings are all combinations of the levels of two demands."""
    levels = [one.levels for one in frontier.demands]
    if len(levels) != 2:
        return False
    return {(one, other) for one in levels[0] for other in levels[1]} <= set(frontier.settings)


def points_table(frontier: Frontier, *, detailed: bool = False) -> Rows:
    """The table of the front: the figures of each varied demand, the loss, and the remedies.

    Args:
        frontier: the frontier.
        detailed: whether to add the certainty penalty and the pMSE ratio, which several tables do not have, and the
            dropped records.
    """
    penalties = () if frontier.release.tables else ("certainty penalty", "pMSE ratio")
    more = (*penalties, "dropped") if detailed else ()
    head = ("point", *(one.label for one in frontier.demands), "lost", "re-identified", *more, "remedy")
    body = [
        (
            str(place),
            *map(figure, one.worst(frontier.demands)),
            share(one.total_loss, 1),
            NONE if one.reidentified is None else share(one.reidentified, 1),
            *(_details(one, has_penalties=bool(penalties)) if detailed else ()),
            one.name + (f"; empties {listing(one.constant_columns)}" if one.constant_columns else ""),
        )
        for place, one in enumerate(frontier.points, 1)
    ]
    caption = "Releases that no other one beats in risk and loss (Pareto-optimal), as their written files were audited"
    return Rows(head, tuple(body), caption, numeric_from=1, style="figures remedies")


def _details(point: SettingTrial, *, has_penalties: bool) -> tuple[str, ...]:
    """Further losses."""
    if not has_penalties:
        return (count(point.suppressed),)
    penalty, ratio = point.loss["certainty_penalty"]["after"], point.loss["propensity"].get("ratio")
    return (
        NONE if penalty is None else share(float(penalty), 1),
        NONE if ratio is None else figure(float(ratio)),
        count(point.suppressed),
    )


def remedies_table(frontier: Frontier) -> Rows:
    """The loss of each single remedy at each setting that was tried."""
    titles = dict.fromkeys(one.title for trial in frontier.trials for one in trial.attempts)
    named = any(not one.planned for one in frontier.trials)
    head = ("setting", *titles, *([AS_NAMED] if named else []))
    rows = []
    for setting in sorted(frontier.settings, key=lambda one: _laxness(frontier, one)):
        trials = [one for one in frontier.trials if one.setting == setting]
        if trials:
            chosen = [_least_by(trials, title) for title in titles]
            of_policy = [one.total_loss for one in trials if not one.planned and one.passed]
            own = [share(min(of_policy), 1) if of_policy else NONE] if named else []
            rows.append((phrase_of(frontier.demands, setting), *chosen, *own))
    caption = (
        "Information lost by each remedy alone, at the settings that were tried; – where it does not keep the setting, "
        "cannot be applied, or was stopped because it loses more than another one"
    )
    return Rows(head, tuple(rows), caption, numeric_from=1, style="figures")


def _least_by(trials: Sequence[SettingTrial], title: str) -> str:
    losses = [
        one.loss
        for trial in trials
        for one in trial.attempts
        if one.title == title and one.keeps and one.loss is not None
    ]
    return share(min(losses), 1) if losses else NONE


def _cost(frontier: Frontier, setting: Setting) -> str:
    """The cost of a setting, with the number of its point."""
    least, own = frontier.least(setting), OWN if setting == frontier.own else ""
    if least is None:
        return own + (UNTRIED if setting in frontier.untried else NONE)
    place = frontier.number_of(least)
    return f"{own}{share(least.total_loss, 1)}{'' if place is None else f' ({place})'}"


def _laxness(frontier: Frontier, setting: Setting) -> tuple[float, ...]:
    """A sort key: the laxest settings first, by the first demand and then by the others."""
    return tuple(
        float(level if one.comparison.higher_is_safer else -level)
        for one, level in zip(frontier.demands, setting, strict=True)
    )
