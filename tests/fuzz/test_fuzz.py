"""Random files and frames: cells, k and digest are those that Python's own readers see. See `long_run` for more."""

from __future__ import annotations

import pytest
from fuzz.properties import EXAMPLES, PROPERTIES, csv_cells
from fuzz.written import Written
from hypothesis import given, settings


@pytest.mark.long
@pytest.mark.parametrize("form", PROPERTIES)
def test_what_is_read_is_what_is_there(form: str) -> None:
    check, strategies = PROPERTIES[form]
    settings(max_examples=EXAMPLES[form])(given(**strategies)(check))()


@pytest.mark.parametrize("start", range(4))
def test_columns_of_one_file_may_be_read_in_other_parts(start: int) -> None:
    long = "\r\n" * 40
    content = f'"a",","\n"","{long}"\n\n"",""\n'.encode()
    csv_cells(Written(content, ".csv", ["a", ","], [["", long], ["", ""]]), block=1, start=start, one_in=1)
