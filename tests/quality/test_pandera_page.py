"""docs/pandera.md names everything that is taken out of a schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcdp_audit.core.quality import pandera_schema

PAGE = (Path(__file__).parents[2] / "docs" / "pandera.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "way_out",
    ["drop_invalid_rows", "add_missing_columns", "parsers", "default", "n_failure_cases", "raise_warning", "strict"],
)
def test_every_way_out_is_closed_in_the_code_and_on_the_page(way_out: str):
    assert f".{way_out} = " in Path(pandera_schema.__file__).read_text(encoding="utf-8")
    assert f"`{way_out}" in PAGE
