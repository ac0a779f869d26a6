"""A misspelt parameter of a built-in check is an error to a type checker."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

import pytest

from tcdp_audit import measure
from tcdp_audit.core.session.registry import Plugins
from tools.generate.signatures import OF_ATTRIBUTE, signatures

CHECKS = {name: one for name, one in Plugins.load(external=False).checks.items() if one.on_records}
USE = """
from typing import Any
import tcdp_audit
from tcdp_audit import Severity, measure

def figures(frame: Any, name: str) -> None:
    measure("t_closeness", frame, quasi_identifiers=["age"], attribute="cost", distance="ordered", t=0.2)
    measure("t_closeness", frame, quasi_identifiers="age", attribute="cost", t="1/5", severity=Severity.WARNING)
    measure("rank_interval_disclosure", frame, quasi_identifiers=frame.columns, p=[1, 2], attributes=("age",))
    measure("stochastic_t_closeness", frame, quasi_identifiers=["age"], attribute="cost", mechanism="laplace")
    measure(name, frame, quasi_identifiers=["age"], parameters={"k": 5})
    print(tcdp_audit.measure("k_anonymity", frame, quasi_identifiers=["age"], k=5, severity="warning").observed)
"""
WRONG = (
    'measure("t_closeness", frame, quasi_identifiers=["age"], attribute="cost", distnce="ordered")',
    'measure("t_closeness", frame, quasi_identifiers=["age"], attribute="cost", distance="orderd")',
    'measure("k_anonymity", frame, quasi_identifiers=["age"], k="five")',
    'tcdp_audit.measure("k_anonymity", frame, quasi_identifiers=["age"], l=5)',
    'measure("recursive_cl_diversity", frame, quasi_identifiers=["age"], attribute="cost", c=2)',
)


def _signatures() -> dict[str, ast.FunctionDef]:
    """The signature of each check by its name; that for any name by `str`."""
    functions = [node for node in ast.parse(signatures(CHECKS)).body if isinstance(node, ast.FunctionDef)]
    kinds = [ast.unparse(one.args.args[0].annotation or ast.Constant(None)) for one in functions]
    return dict(zip((kind.removeprefix("Literal['").removesuffix("']") for kind in kinds), functions, strict=True))


def test_every_check_has_a_signature_with_its_parameters():
    known = _signatures()
    assert set(known) == {*CHECKS, "str"}
    for name, check in CHECKS.items():
        arguments = {one.arg for one in known[name].args.kwonlyargs} - {"quasi_identifiers", "conventions"}
        declared = (
            {one.split(":")[0] for one in OF_ATTRIBUTE} if "attribute" in check.parameters.model_fields else set()
        )
        assert arguments == set(check.parameters.model_fields) | declared, name


def test_no_signature_takes_an_argument_that_measure_does_not_name_or_pass_on():
    (any_name,) = (one for name, one in _signatures().items() if name == "str")
    own = set(get_type_hints(measure)) - {"return", "further"}
    assert {one.arg for one in (*any_name.args.args, *any_name.args.kwonlyargs)} == own
    assert any_name.args.kwarg is None  # or it would accept a built-in check with any parameter
    for check in CHECKS.values():
        # `order` of a check goes through `parameters`: `measure` takes it for the order of the attribute
        assert own & set(check.parameters.model_fields) <= {"attribute", "order"}


def test_a_required_parameter_has_no_default():
    required = {
        name: [
            one.arg for one, default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True) if default is None
        ]
        for name, tree in _signatures().items()
    }
    assert required["recursive_cl_diversity"] == ["quasi_identifiers", "l"]
    assert required["stochastic_t_closeness"] == ["quasi_identifiers", "mechanism"]
    assert required["k_anonymity"] == ["quasi_identifiers"]


def test_the_values_of_an_enumeration_are_literals():
    distance = next(one for one in _signatures()["t_closeness"].args.kwonlyargs if one.arg == "distance")
    values = ast.literal_eval(ast.unparse(distance.annotation.slice))  # type: ignore[union-attr]
    field = CHECKS["t_closeness"].parameters.model_fields["distance"].annotation
    assert get_origin(field) is None
    assert get_args(field) == ()
    assert list(values) == [one.value for one in field]  # type: ignore[union-attr]


@pytest.mark.long
@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_a_type_checker_finds_what_is_misspelt_and_nothing_else(
    checker: str, tmp_path: Path, skip_or_fail: Callable[[str], None]
):
    if find_spec(checker) is None:
        skip_or_fail(f"{checker} is not installed")
    right = USE.splitlines()
    (tmp_path / "calls.py").write_text("\n".join([*right, *(f"    {call}" for call in WRONG), ""]), encoding="utf-8")

    ran = subprocess.run(
        [sys.executable, "-m", checker, "calls.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    actual = {int(line) for line in re.findall(r"calls\.py:(\d+):.* error: ", ran.stdout)}
    assert actual == {len(right) + number for number in range(1, len(WRONG) + 1)}, ran.stdout[:2000]
