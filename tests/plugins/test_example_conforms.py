"""The example distribution conforms, and the suite finds what is wrong with its faulty checks and remedies."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.testing import ConformanceError, check_conforms

EXAMPLE = Path(__file__).parent / "tcdp_audit_example"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))


def provided(module: str, hook: str) -> list[Any]:
    return list(getattr(import_module(f"tcdp_audit_example.{module}"), hook)())


@pytest.mark.long
@pytest.mark.parametrize("hook", ["tcdp_audit_checks", "tcdp_audit_remedies", "tcdp_audit_reporters"])
def test_what_the_example_provides_conforms(hook: str):
    specifications = provided("plugin", hook)
    assert len(specifications) == 1
    check_conforms(specifications[0])


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        (0, "the measure raised ValueError"),
        pytest.param(1, "a class got NaN", marks=pytest.mark.long),
        pytest.param(2, "one figure per class", marks=pytest.mark.long),
    ],
)
def test_the_faulty_checks_do_not_conform(position: int, sentence: str):
    check = provided("broken.faulty_checks", "tcdp_audit_checks")[position]
    with pytest.raises(ConformanceError, match=sentence):
        check_conforms(check)


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        (0, "it raised ValueError"),
        (1, "codes of column 'zip' for 240 records"),
        (2, "the remedy changed a column 'income'"),
    ],
)
def test_the_faulty_remedies_do_not_conform(position: int, sentence: str):
    remedy = provided("broken.faulty_remedies", "tcdp_audit_remedies")[position]
    with pytest.raises(ConformanceError, match=sentence):
        check_conforms(remedy)
