"""Every kind of check answers for itself: nobody asks for its type, and what it says of its thresholds is so."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.class_check import CheckOnClasses
from tcdp_audit.core.check.kinds import KINDS, Check
from tcdp_audit.core.check.threshold import Limit, Threshold
from tcdp_audit.core.session.registry import Plugins

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / "tcdp_audit", ROOT / "plugins" / "tcdp_audit_plugins", ROOT / "reports" / "tcdp_audit_reports"]
CHECKS = Plugins.load(external=False).checks
NAMES = {"KINDS", "CheckOnClasses", *(kind.__name__ for kind in KINDS)}


def _questions(source: str) -> list[int]:
    """The lines that ask for a kind of check, or for what only some kinds might have."""
    asking = []
    for node in ast.walk(ast.parse(source)):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if called in ("isinstance", "issubclass", "type", "getattr", "hasattr"):
            assert isinstance(node, ast.Call)
            names = {one.id for part in node.args for one in ast.walk(part) if isinstance(one, ast.Name)}
            of_check = isinstance(node.args[0], ast.Name) and node.args[0].id == "check"
            if names & NAMES or (of_check and called in ("getattr", "hasattr")):
                asking.append(node.lineno)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in NAMES:
            asking.append(node.cls.lineno)
    return asking


@pytest.mark.parametrize("folder", SOURCES, ids=lambda folder: folder.name)
def test_no_one_asks_for_the_kind_of_a_check(folder: Path):
    paths = sorted(folder.rglob("*.py"))
    asking = {path.name: lines for path in paths if (lines := _questions(path.read_text(encoding="utf-8")))}

    assert len(paths) > 10
    assert asking == {}


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(check, ClassCheck | AttackCheck)",
        "isinstance(task.check, KINDS)",
        "getattr(check, 'requires', ())",
        "type(check) is TableCheck or issubclass(kind, TableCheck)",
    ],
)
def test_a_question_is_looked_up(line: str):
    assert _questions(line) == [1]


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_every_limit_is_a_parameter_that_may_be_left_out(name: str):
    check = CHECKS[name]

    assert [check.parameters.model_fields[one.parameter].default for one in check.limits] == [None] * len(check.limits)
    assert check.headline == check.limits[0]


def test_a_kind_calls_the_function_for_it():
    def chosen(name: str) -> tuple[str, Check | CheckOnClasses[object]]:
        check = CHECKS[name]
        return check.by_kind(lambda one: ("classes", one), lambda one: ("tables", one), lambda one: ("cells", one))

    assert [chosen(name) for name in ("k_anonymity", "homogeneity", "k_map")] == [
        ("classes", CHECKS["k_anonymity"]),
        ("classes", CHECKS["homogeneity"]),
        ("tables", CHECKS["k_map"]),
    ]


def test_a_demand_is_half_a_sentence():
    counted = Threshold(
        "k", Comparison.AT_LEAST, lambda evidence, _: evidence.size, "records in the class", counts=True
    )

    assert counted.limit.demand == "the number of records in the class is at least `k`"
    assert Limit("t", Comparison.BELOW).demand == "the figure is below `t`"
