"""Global recoding: which range each value becomes, and what a policy cannot ask of a recoding."""

from __future__ import annotations

import pyarrow as pa
import pytest
from masked import masked

from tcdp_audit.core.remedy.remedy import RemedyError

AGES = [3, 17, 18, 29, 30, 64, 65, 99, None]
GRADES = ["none", "low", "middle", "high"]
GRADE = {"grade": {"role": "quasi_identifier", "scale": "ordinal", "order": GRADES}}


def test_numbers_become_the_range_between_two_breaks() -> None:
    done = masked(pa.table({"age": AGES}), {"age": "numeric"}, "global_recoding", breaks={"age": [18, 30, 65]})
    ranges = ["<18"] * 2 + ["[18, 30)"] * 2 + ["[30, 65)"] * 2 + [">=65"] * 2 + [None]
    assert done.column("age") == ranges
    assert done.notes == {"ranges": 4, "records": 8}
    again = masked(done.table, {"age": "numeric"}, "global_recoding", breaks={"age": [18, 30, 65]})
    assert again.column("age") == ranges
    assert again.notes["records"] == 0


def test_ranks_become_ranges_of_the_order_and_suppressed_cells_stay() -> None:
    table = pa.table({"grade": [*GRADES, "*"]})
    assert masked(table, GRADE, "global_recoding", breaks={"grade": ["low", "high"]}).column("grade") == [
        "none",
        "[low, middle]",
        "[low, middle]",
        "high",
        "*",
    ]


def test_finer_ranges_join_coarser_ones_and_a_range_over_a_break_is_refused() -> None:
    table = pa.table({"age": ["[0, 10)", "[10, 18)", "[18, 20]", "*"]})
    done = masked(table, {"age": "numeric"}, "global_recoding", breaks={"age": [18]})
    assert done.column("age") == ["<18", "<18", ">=18", "*"]
    with pytest.raises(RemedyError, match="'age' reaches over a break"):
        masked(table, {"age": "numeric"}, "global_recoding", breaks={"age": [15]})
