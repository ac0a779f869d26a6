"""What a check answers to pandera: which records fail, without a cell of them.

pandera would quote every cell of every record that fails. These answers quote the record's number instead, and few of
them; all of them are in the check's output, as true and false.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandera.api.base.checks import CheckResult
from pandera.constants import CHECK_OUTPUT_KEY

from tcdp_audit.plugin.check import CheckError

FEW = 20  # records that are named where the schema sets no `n_failure_cases`


def require_frame(frame: Any) -> None:
    """Insist on a frame of pandas or polars.

    Raises:
        CheckError: it is another library's.
    """
    if not isinstance(frame, pd.DataFrame) and not _is_polars(frame):
        kind = type(frame)
        raise CheckError(
            f"pandera gave a {kind.__module__.split('.')[0]} {kind.__name__}; tcdp-audit's checks take frames of "
            "pandas and polars, through pandera's own backends for them (`use_narwhals_backend` must be off)"
        )


def kept(frame: Any) -> CheckResult:
    """That every record keeps the check."""
    if _is_polars(frame):
        return CheckResult(_column([True]), _column([True]), frame, None)
    return CheckResult(check_output=True, check_passed=True, checked_object=frame, failure_cases=None)


def failed_as_a_whole(frame: Any) -> CheckResult:
    """That the frame fails, and that this is no matter of single records."""
    if _is_polars(frame):
        # pandera cannot put a truth value and texts into one column of failure cases; an empty text is false as well
        return CheckResult(_column([False]), _column([""]), frame, None)
    return CheckResult(check_output=False, check_passed=False, checked_object=frame, failure_cases=None)


def failed(frame: Any, failing: NDArray[np.bool_], most: int | None) -> CheckResult:
    """That some records fail.

    Args:
        frame: the frame.
        failing: which records fail, at least one. Shape (records,).
        most: how many of them are named.
    """
    positions = np.flatnonzero(failing)[: FEW if most is None else most]
    names = [f"record {position + 1:,}" for position in positions.tolist()]
    if _is_polars(frame):
        return CheckResult(_column(~failing), _column([False]), frame, _column(names, "failure_case"))
    output = pd.Series(~failing, index=frame.index)
    cases = pd.Series(names, index=frame.index[positions], name="failure_case", dtype=object)
    return CheckResult(output, check_passed=False, checked_object=frame, failure_cases=cases)


def _is_polars(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "polars"


def _column(values: Any, name: str = CHECK_OUTPUT_KEY) -> Any:
    import polars as pl  # noqa: PLC0415 - an extra, and there where a frame of it is

    return pl.LazyFrame({name: values})
