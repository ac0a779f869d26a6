"""The first screen: what each column is, and what it can do to a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tcdp_audit.api import ColumnProfile
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.sentences import agree, count
from tcdp_audit.studio.choices import declaration
from tcdp_audit.studio.workbench import Workbench

ROLES = {
    Role.IDENTIFIER: "Names a person",
    Role.QUASI_IDENTIFIER: "May be known",
    Role.SENSITIVE: "Must stay secret",
    Role.INSENSITIVE: "Harmless",
}


def table_screen(bench: Workbench) -> dict[str, Any]:
    """The columns read so far with their roles, and how many roles are left to decide."""
    data = bench.editor.data if bench.is_open else {}
    rows = [_row(bench, place, one, data) for place, one in enumerate(list(bench.columns))]
    open_roles = [one for one in rows if one["role"] is None]
    left = [one for one in rows if not one["accepted"]]
    return {
        "rows": rows,
        "roles": [(role.value, name) for role, name in ROLES.items()],
        "standfirst": _standfirst(bench, rows, left, open_roles),
        "left": len(left),
        "open": len(open_roles),
        "opening": bench.opening,
        "values": bench.values,
        "values_shown": bench.choices.values_shown,
    }


def _standfirst(bench: Workbench, rows: Sequence[Any], left: Sequence[Any], open_roles: Sequence[Any]) -> str:
    columns = count(len(rows), "column")
    if not bench.is_open:
        return f"{columns} read so far. Roles follow when every column is read."
    if not rows:
        return "The policy is about tables of figures. They have no columns of people; go on to the demands."
    if open_roles:
        named = agree(len(open_roles), "is", "are")
        return f"{columns}. Roles are proposals with their reasons; {len(open_roles)} {named} left to you."
    if left:
        return f"{columns}. Every role below is a proposal with its reason; {len(left)} of them not accepted yet."
    return f"{columns}. Every role is accepted."


def _row(bench: Workbench, place: int, profile: ColumnProfile, data: Any) -> dict[str, Any]:
    _, declared = declaration(data, profile.name)
    role = declared.get("role")
    known = role if role in {one.value for one in Role} else None
    return {
        "place": place,
        "name": profile.name,
        "looks": _looks(profile),
        "note": bench.notes.get(profile.name, "") or profile.note or _declared_note(bench),
        "reason": declared.get("reason") or "",
        "role": known,
        "accepted": profile.name in bench.choices.accepted and known is not None,
        "examples": bench.values.get(profile.name, ()),
    }


def _declared_note(bench: Workbench) -> str:
    return f"As {bench.place.policy.name} declares it." if bench.is_open else ""


def _looks(profile: ColumnProfile) -> str:
    """The form of a column in a few words: `number · 52 values, 3 alone with theirs`."""
    parts = [profile.kind]
    if profile.distinct is not None:
        parts.append(count(profile.distinct, "value"))
    if profile.missing:
        parts.append(f"{profile.missing:,} without one")
    if profile.alone:
        everyone = profile.alone == profile.distinct and not profile.missing
        parts.append("each person alone with theirs" if everyone else f"{profile.alone:,} people alone with theirs")
    return " · ".join(parts)
