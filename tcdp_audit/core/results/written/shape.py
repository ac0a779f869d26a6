"""What every result has: the keys that are read here, each of its kind. A later version may have added others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.core.base.visible import visible

STATUSES = frozenset({"passed", "failed", "error", "measured"})
OUTCOME_STATUSES = frozenset({*STATUSES, "skipped"})
NONE = type(None)
NUMBER = (int, float)
KINDS = {str: "a text", int: "a whole number", float: "a number", list: "a list", dict: "a mapping", NONE: "null"}


@dataclass(frozen=True)
class Each:
    """A list of things of one form, or a mapping of names to such things."""

    container: type
    form: Any


@dataclass(frozen=True)
class Optional:
    """A form of what need not be there."""

    form: Any


FIGURE = (*NUMBER, str, NONE)  # infinity is a text
TALLY = ({"total": int, "failing": (int, NONE)}, NONE)
TABLE = {"uri": str, "sha256": (str, NONE), "records": int, "columns": int}
WORST = {"class": int, "records": int, "value": FIGURE}
OUTCOME = {
    "check": str,
    "attribute": (str, NONE),
    "parameters": dict,
    "conventions": dict,
    "severity": frozenset({"error", "warning"}),
    "status": OUTCOME_STATUSES,
    "observed": FIGURE,
    "threshold": FIGURE,
    "comparison": frozenset({">=", "<=", "<", ">", None}),
    "classes": TALLY,
    "records": TALLY,
    "details": dict,
    "worst": Each(list, WORST),
    "message": str,
    "source": str,
}
RESULT = {
    "schema_version": int,
    "status": STATUSES,
    "audited_at": str,
    "tool": {"name": str, "version": str, "python": str, "libraries": Each(dict, str)},
    "plugins": Each(list, {"name": str, "distribution": str, "version": str, "hooks": Each(list, str)}),
    "release": TABLE,
    "companions": Each(dict, TABLE),
    "files": Optional(Each(list, {"kind": str, "attribute": (str, NONE), "uri": str, "sha256": str})),
    "policy": {"uri": (str, NONE), "sha256": str},
    "summary": Each(dict, int),
    "outcomes": Each(list, OUTCOME),
}


def faults(value: Any, form: Any = RESULT, where: str = "") -> Iterator[str]:
    """What keeps a value from having a form, a sentence each. None quotes the value.

    Args:
        value: what JSON gave.
        form: a type; a set of allowed values; a mapping of keys that must be there; `Each`; or a tuple of forms.
        where: the path of the value.
    """
    if isinstance(form, tuple):
        if not any(_fits(value, one) for one in form):
            yield f"{where}: must be {_either(form)}"
        for one in form:
            if isinstance(one, dict) and isinstance(value, dict):
                yield from faults(value, one, where)
    elif not _fits(value, form):
        yield f"{where or 'it'}: must be {_either((form,))}"
    elif isinstance(form, dict):
        yield from _faults_of_keys(value, form, where)
    elif isinstance(form, Each):
        yield from _faults_of_each(value, form, where)


def _faults_of_keys(value: Any, form: Mapping[str, Any], where: str) -> Iterator[str]:
    for key, inner in form.items():
        if key in value:
            demanded = inner.form if isinstance(inner, Optional) else inner
            yield from faults(value[key], demanded, _below(where, key))
        elif not isinstance(inner, Optional):
            yield f"{_below(where, key)}: is missing"


def _faults_of_each(value: Any, form: Each, where: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from faults(inner, form.form, _below(where, visible(key)))
    else:
        for position, inner in enumerate(value):
            yield from faults(inner, form.form, f"{where}[{position}]")


def _fits(value: Any, form: Any) -> bool:
    """Whether a value is of a form's kind; what stands in it is another question."""
    if isinstance(form, frozenset):
        return isinstance(value, str | None) and value in form
    kind = form.container if isinstance(form, Each) else dict if isinstance(form, dict) else form
    return isinstance(value, kind) and not isinstance(value, bool)


def _either(forms: tuple[Any, ...]) -> str:
    names = []
    for form in forms:
        if isinstance(form, frozenset):
            names.append(f"one of {', '.join(sorted(map(str, form)))}")
        else:
            names.append(KINDS[form.container if isinstance(form, Each) else dict if isinstance(form, dict) else form])
    return " or ".join(dict.fromkeys(names))


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
