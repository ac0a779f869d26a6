"""The catalogue of built-in checks and remedies: their declarations for lists, policies and `explain`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from tcdp_audit.api import Check
from tcdp_audit.cli.declarations import declaration
from tcdp_audit_plugins.checks import FAMILIES, __name__ as package
from tcdp_audit_plugins.remedies import tcdp_audit_remedies

WITHIN = "plugins/tcdp_audit_plugins/"  # guides are named from there


def catalogue(guides: Mapping[str, str]) -> str:
    """The catalogue as JSON, a line for each fact, given the path of each guide by the name of its check or remedy."""
    checks = [
        {
            "family": family,
            "disclosure_type": check.disclosure_type,
            "risk": check.risk,
            **({"needs": sorted(check.needs)} if check.needs else {}),
            **({"concerns": check.concerns} if check.concerns else {}),
            **({} if check.on_records else {"on_records": False}),
            **_entry(check, guides),
        }
        for family, check in _checks()
    ]
    remedies = [_entry(remedy, guides) for remedy in tcdp_audit_remedies()]
    return f'{{\n"checks": {_list(checks)},\n"remedies": {_list(remedies)}\n}}\n'


def _checks() -> Iterator[tuple[str, Check]]:
    """Every built-in check with its family, as its module defines it."""
    for family in FAMILIES:
        for check in import_module(f"{package}.{family}").CHECKS:
            yield family, check


def _entry(registered: Any, guides: Mapping[str, str]) -> dict[str, Any]:
    declared = {key: value for key, value in declaration(registered).items() if key != "kind"}
    return {**declared, "guide": guides[registered.name].removeprefix(WITHIN)}


def _list(entries: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(_object, entries)) + "\n]"


def _object(entry: Mapping[str, Any]) -> str:
    lines = [f"  {_text(key)}: {_value(value)}" for key, value in entry.items()]
    return " {\n" + ",\n".join(lines) + "\n }"


def _value(value: Any) -> str:
    if not isinstance(value, dict) or not value:
        return _text(value)
    return "{\n" + ",\n".join(f"   {_text(key)}: {_text(one)}" for key, one in value.items()) + "\n  }"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
