"""What a check raises can travel from wherever a shard is, and says the same as where it was raised."""

from __future__ import annotations

import pickle

import pytest

from tcdp_audit.core.auditor.tasks import raised_by_check
from tcdp_audit.core.base.errors import CheckError, sentence_about


class UnreadableError(Exception):
    """Cannot be read back after it was pickled."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one + other)


def check() -> None:
    raise UnreadableError("a cell", "another")


def test_an_error_that_cannot_be_read_back_travels_as_its_sentence() -> None:
    with pytest.raises(UnreadableError) as caught:
        check()
    travelled = pickle.loads(pickle.dumps(raised_by_check(caught.value)))  # noqa: S301 - our own bytes
    sentence = "the check raised UnreadableError in test_raised_by_check.py, line 21 (plugin 'plugin')"
    assert sentence_about(caught.value, "the check", "plugin") == sentence
    assert sentence_about(travelled, "the check", "plugin") == sentence


def test_our_own_error_keeps_its_text() -> None:
    assert str(raised_by_check(CheckError("no value"))) == "no value"
