"""docs/conventions.md documents every value of every convention; its numbers are run with the other examples."""

from __future__ import annotations

from typing import get_args

import pytest
from documents import blocks, code, prose, read

from tcdp_audit.core.policy.model import Conventions

PAGE = read("docs/conventions.md")


@pytest.mark.parametrize("name", Conventions.model_fields)
def test_every_convention_and_each_of_its_values_is_documented(name: str):
    documented = set(code(prose(PAGE)))

    assert name in documented
    assert {one for one in get_args(Conventions.model_fields[name].annotation) if isinstance(one, str)} <= documented


@pytest.mark.parametrize(
    "name", ["missing_quasi_identifier", "missing_sensitive", "suppressed", "multiple_sensitive", "reference"]
)
def test_every_value_is_tried_in_an_example(name: str):
    examples = "\n".join(one.text for one in blocks(PAGE, "python"))

    assert [
        value for value in get_args(Conventions.model_fields[name].annotation) if f'"{value}"' not in examples
    ] == []
