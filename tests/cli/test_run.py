"""Whatever happens in a command becomes a sentence on stderr and an exit code, never a traceback."""

from __future__ import annotations

from typing import Any

import click
import pytest

from tcdp_audit import DataError, PolicyError
from tcdp_audit.cli import schema


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let `schema` raise an error."""

    def fail_with(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(schema, "command", command)

    return fail_with


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (PolicyError("the policy is wrong"), 2, "the policy is wrong"),
        (DataError("the table is empty"), 3, "the table is empty"),
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
    ],
)
def test_errors_are_sentences_with_their_own_exit_codes(
    error: BaseException, code: int, sentence: str, here: Any, failing: Any
):
    failing(error)

    answer = here("schema")

    assert (answer.code, answer.out) == (code, "")
    assert answer.err.lstrip("\n") == f"tcdp-audit: {sentence}\n"  # click ends the line of a ^C


def test_a_defect_is_reported_by_its_place_and_never_by_its_text(here: Any, failing: Any):
    failing(ZeroDivisionError("a cell: 4711"))

    answer = here("schema")

    assert (answer.code, answer.out) == (3, "")
    assert "ZeroDivisionError in test_run.py:" in answer.err
    assert "4711" not in answer.err
    assert "Traceback" not in answer.err
