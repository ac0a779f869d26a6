"""A frontier as tables of plain text, the same on the terminal and in every report."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.core.base.words import count, figure, listing, share
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.core.results.reporter import Rows
from tcdp_audit.core.results.setting_trial import SettingTrial
from tcdp_audit.core.results.varied_demand import Setting, phrase_of

NONE, UNTRIED, OWN = "–", "not tried", "* "
OWN_THRESHOLDS = "; * the policy's own thresholds"
AS_NAMED = "the policy's remedies"


def settings_table(frontier: Frontier) -> Rows:
    """What each setting costs, with the number of the point that costs it.

    Two demands of which every combination is tried span a table; otherwise each setting has a row.
    """
    caption = (
        "Information lost at each setting of the thresholds, on average over all cells; in brackets the point of the "
        "front that loses it"
    )
    if is_spanned(frontier):
        first, second = frontier.demands
        head = ("", *map(second.phrase, second.levels))
        levels = [(level, [(level, other) for other in second.levels]) for level in first.levels]
        body = [(first.phrase(level), *(_cost(frontier, one) for one in row)) for level, row in levels]
        shown = all(one.own in one.levels for one in frontier.demands)
        return Rows(head, tuple(body), caption + (OWN_THRESHOLDS if shown else ""))
    settings = sorted(frontier.settings, key=lambda one: _laxness(frontier, one))
    rows = [(phrase_of(frontier.demands, one), _cost(frontier, one)) for one in settings]
    return Rows(("setting", "lost"), tuple(rows), caption + OWN_THRESHOLDS)


def is_spanned(frontier: Frontier) -> bool:
    """Whether the settings are all combinations of the levels of two demands."""
    levels = [one.levels for one in frontier.demands]
    if len(levels) != 2:
        return False
    return {(one, other) for one in levels[0] for other in levels[1]} <= set(frontier.settings)


def points_table(frontier: Frontier, *, detailed: bool = False) -> Rows:
    """The front: what was observed of each varied demand, what is lost, and the remedies.

    Args:
        frontier: whose front it is.
        detailed: whether with the certainty penalty, the pMSE ratio and the records that were dropped.
    """
    more = ("certainty penalty", "pMSE ratio", "dropped") if detailed else ()
    head = ("point", *(one.label for one in frontier.demands), "lost", "re-identified", *more, "remedy")
    body = [
        (
            str(place),
            *map(figure, one.worst(frontier.demands)),
            share(one.total_loss, 1),
            NONE if one.reidentified is None else share(one.reidentified, 1),
            *(_details(one) if detailed else ()),
            one.name + (f"; empties {listing(one.constant_columns)}" if one.constant_columns else ""),
        )
        for place, one in enumerate(frontier.points, 1)
    ]
    return Rows(head, tuple(body), "The front: releases that no other one outdoes, as their written files were audited")


def _details(point: SettingTrial) -> tuple[str, str, str]:
    """Further losses."""
    penalty, ratio = point.loss["certainty_penalty"]["after"], point.loss["propensity"].get("ratio")
    return (
        NONE if penalty is None else share(float(penalty), 1),
        NONE if ratio is None else figure(float(ratio)),
        count(point.suppressed),
    )


def remedies_table(frontier: Frontier) -> Rows:
    """What each remedy by itself loses at each setting that was tried."""
    titles = dict.fromkeys(one.title for trial in frontier.trials for one in trial.attempts)
    named = any(not one.planned for one in frontier.trials)
    head = ("setting", *titles, *([AS_NAMED] if named else []))
    rows = []
    for setting in frontier.settings:
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
    return Rows(head, tuple(rows), caption)


def _least_by(trials: Sequence[SettingTrial], title: str) -> str:
    losses = [
        one.loss
        for trial in trials
        for one in trial.attempts
        if one.title == title and one.keeps and one.loss is not None
    ]
    return share(min(losses), 1) if losses else NONE


def _cost(frontier: Frontier, setting: Setting) -> str:
    """What a setting costs, with the number of its point."""
    least, own = frontier.least(setting), OWN if setting == frontier.own else ""
    if least is None:
        return own + (UNTRIED if setting in frontier.untried else NONE)
    place = frontier.number_of(least)
    return f"{own}{share(least.total_loss, 1)}{'' if place is None else f' ({place})'}"


def _laxness(frontier: Frontier, setting: Setting) -> tuple[float, ...]:
    """The laxest settings first, by the first demand and then by the others."""
    return tuple(
        float(level if one.comparison.higher_is_safer else -level)
        for one, level in zip(frontier.demands, setting, strict=True)
    )
