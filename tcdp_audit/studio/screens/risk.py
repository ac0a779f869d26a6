"""The second screen: who could be found by what an outsider knows, and at which detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import perf_counter
from typing import Any

from tcdp_audit.api import Cancelled, Policy, Session, WhatIf, demanded_k
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError
from tcdp_audit.plugin.sentences import count, plural, visible
from tcdp_audit.studio.choices import declaration, now
from tcdp_audit.studio.drawings import bars
from tcdp_audit.studio.workbench import Workbench

USUAL = 10  # the size of a group that the screen speaks of where the policy demands none
AS_IT_IS, NOTHING = "as it is", "nothing"  # the first and the last level of a hierarchy


@dataclass(frozen=True)
class Knob:
    """A column that an outsider may know, and the details at which it can be published.

    Args:
        place: the number by which pages call it.
        name: the column.
        label: as people call it.
        is_known: whether the intruder of the trial knows it.
        level: the level of the trial, 0 for the cells as they are.
        ticks: each level in words.
    """

    place: int
    name: str
    label: str
    is_known: bool
    level: int
    ticks: tuple[str, ...]


def knobs_of(bench: Workbench) -> list[Knob]:
    """The columns that an outsider may know, with their levels of detail."""
    policy = bench.policy
    hierarchies = bench.session.hierarchies(policy)
    names = [name for name, one in policy.attributes.items() if one.role is Role.QUASI_IDENTIFIER]
    if policy.document.scenarios is not None:
        known = {name for part in policy.parts.values() for name in part.with_role(Role.QUASI_IDENTIFIER)}
        names = [name for name in policy.attributes if name in known]
    return [
        Knob(
            place,
            name,
            policy.attributes[name].label or name,
            name not in bench.choices.unknown,
            bench.choices.levels.get(name, 0),
            _ticks(hierarchies[name].branches) if name in hierarchies else (),
        )
        for place, name in enumerate(names)
    ]


def _ticks(branches: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The levels of a hierarchy in words: an example of a label above the leaves, which is no cell."""
    leaves, example = {one[0] for one in branches}, branches[len(branches) // 2]
    height = len(example) - 1
    named = (example[level] if example[level] not in leaves else f"level {level}" for level in range(1, height))
    return (AS_IT_IS, *map(visible, named), NOTHING)


def words_of_levels(bench: Workbench, levels: Mapping[str, int]) -> str:
    """Levels of hierarchies in words: `age as 40-59, zip left out`."""
    knobs = {one.name: one for one in knobs_of(bench)}
    known = [(knobs[name], level) for name, level in levels.items() if level and name in knobs]
    named = [(one.label, one.ticks[level] if level < len(one.ticks) else f"level {level}") for one, level in known]
    return ", ".join(f"{label} {'left out' if tick == NOTHING else f'as {tick}'}" for label, tick in named)


def levels_of_policy(bench: Workbench) -> Mapping[str, int]:
    """The levels at which the policy's own remedy publishes columns; empty where it names none."""
    for one in bench.editor.data.get("remedy") or ():
        for given in one.values() if isinstance(one, Mapping) else ():
            levels = given.get("levels") if isinstance(given, Mapping) else None
            if isinstance(levels, Mapping):
                return {str(column): level for column, level in levels.items() if isinstance(level, int) and level}
    return {}


def risk_screen(bench: Workbench) -> dict[str, Any]:
    """The controls of the screen; figures are those of `risk_figures`.

    Raises:
        UsageError: the policy is about tables of figures.
    """
    if bench.policy.document.has_figures:
        raise UsageError(f"{bench.policy.name}: people are counted in records, and this policy has tables of figures")
    return {
        "knobs": knobs_of(bench),
    }


def risk_figures(bench: Workbench) -> dict[str, Any] | None:
    """The people alone and among few, for the newest choice; None where a newer one came meanwhile.

    Raises:
        TcdpAuditError: nothing can be counted, such as where no column is left that is known.
    """
    answer: dict[str, Any] | None = bench.ask("risk", lambda: _figures(bench))
    return answer


def _figures(bench: Workbench) -> dict[str, Any]:
    begin = perf_counter()
    groups = [_group(name, one, part) for name, one, part in _answers(bench, bench.view)]
    return {
        "groups": groups,
        "seconds": f"{perf_counter() - begin:.2f}",
        "say": " ".join(one["say"] for one in groups),
        **_trial(bench),
    }


def _trial(bench: Workbench) -> dict[str, Any]:
    """The trial in words, and whether the policy has it."""
    levels, unknown = bench.choices.levels, bench.choices.unknown
    labels = {name: one.label or name for name, one in bench.policy.attributes.items()}
    without = [labels[name] for name in unknown if name in labels]
    parts = [words_of_levels(bench, levels), f"not known: {', '.join(without)}" if without else ""]
    return {
        "trial": "; ".join(one for one in parts if one),
        "is_kept": bool(levels) and not unknown and dict(levels) == dict(levels_of_policy(bench)),
    }


def _answers(bench: Workbench, view: Session) -> Iterator[tuple[str, WhatIf, Policy]]:
    """The finds of the intruder; of scenarios those of each of them."""
    policy = bench.policy
    drop = set(bench.choices.unknown)
    parts: Mapping[str, Policy] = {"": policy}
    if policy.document.scenarios is not None:
        parts = {name: one for name, one in policy.parts.items() if name} or parts
    for name, part in parts.items():
        known = part.with_role(Role.QUASI_IDENTIFIER)
        if known and drop.issuperset(known):
            raise UsageError("no column is left that an outsider knows, so no one can be found; tick one")
        yield name, ask_what_if(view, part, drop=[one for one in known if one in drop]), part


def ask_what_if(view: Session, policy: Policy, add: Sequence[str] = (), drop: Sequence[str] = ()) -> WhatIf:
    """The finds of an intruder; below the size that the policy demands, or a usual one.

    The demands themselves are not asked: the screen shows the people alone and among few, and no demand.
    """
    k = ceil(demanded_k(policy) or USUAL)
    return view.what_if(add, drop, k=k, policy=replace(policy, expectations=()))


def _group(name: str, answer: WhatIf, policy: Policy) -> dict[str, Any]:
    noun = policy.document.unit_name or "person"
    alone, below = f"{answer.alone:,}", f"{answer.below or 0:,}"
    smallest = answer.sizes[0][0] if answer.sizes else 0
    return {
        "scenario": name,
        "people": count(answer.people, noun),
        "alone": alone,
        "alone_state": "failed" if answer.alone else "passed",
        "below": below,
        "below_state": "failed" if answer.below else "passed",
        "k": answer.k,
        "is_demanded": demanded_k(policy) is not None,
        "smallest": count(smallest, noun),
        "known": [policy.attributes[one].label or one for one in answer.known],
        "bars": bars(answer.sizes, answer.k or USUAL),
        "say": f"{alone} of {answer.people:,} {plural(noun)} alone, {below} among fewer than {answer.k}.",
    }


def knowledge_figures(bench: Workbench) -> dict[str, Any] | None:
    """The people alone if the outsider knew one thing less or one more; None where a newer choice came meanwhile."""
    answer: dict[str, Any] | None = bench.ask("knowledge", lambda: _knowledge(bench))
    return answer


def _knowledge(bench: Workbench) -> dict[str, Any]:
    policy, view = bench.policy, bench.view
    if policy.document.scenarios is not None:
        return {"less": [], "more": []}
    unknown = [one for one in bench.choices.unknown if one in policy.attributes]
    known = [one for one in policy.with_role(Role.QUASI_IDENTIFIER) if one not in unknown]
    less = [_counted(policy, name, view, [], [*unknown, name]) for name in known if len(known) > 1]
    further = [name for name, one in policy.attributes.items() if one.role in (Role.SENSITIVE, Role.INSENSITIVE)]
    more = [_counted(policy, name, view, [name], unknown) for name in further]
    return {"less": less, "more": more}


def _counted(policy: Policy, name: str, view: Session, add: Sequence[str], drop: Sequence[str]) -> dict[str, Any]:
    label = policy.attributes[name].label or name
    try:
        answer = ask_what_if(view, policy, add, drop)
    except Cancelled:
        raise
    except TcdpAuditError as error:
        return {"label": label, "fault": str(error)}
    smallest = answer.sizes[0][0] if answer.sizes else 0
    figures = {"alone": answer.alone, "below": answer.below or 0, "k": answer.k, "smallest": smallest}
    return {"label": label, "fault": "", **{key: one if key == "k" else f"{one:,}" for key, one in figures.items()}}


def keep_trial(bench: Workbench, reason: str) -> None:
    """Write the trial into the policy: columns that no outsider knows are harmless, and details become a remedy.

    Raises:
        UsageError: no remedy publishes columns at levels of their hierarchies.
    """
    levels, unknown = dict(bench.choices.levels), list(bench.choices.unknown)
    if not levels and not unknown:
        raise UsageError("there is no trial to write: move a slider, or untick what an outsider cannot know")
    named = [name for name, one in bench.plugins.remedies.items() if "levels" in one.parameters.model_fields]
    if levels and not named:
        raise UsageError("no remedy that is installed publishes columns at levels of their hierarchies")
    with bench.deciding() as editor:
        for name in unknown:
            path, declared = declaration(editor.data, name)
            given = {"reason": reason} if reason else {}
            editor.set(path, {**declared, "role": Role.INSENSITIVE.value, **given}, reason=reason)
            bench.choices.accepted[name] = now()
        if levels:
            others = [one for one in editor.data.get("remedy") or () if not set(named) & set(one)]
            editor.set("remedy", [{named[0]: {"levels": levels}}, *others], reason=reason)
        bench.choices.unknown = []  # the levels stay: the screens show the table as the policy publishes it
