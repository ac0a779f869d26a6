"""Dates and times as SPSS, Stata and SAS store them: numbers since an epoch of their own. Exact, or refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.engine import DataError

SECONDS, MICROSECONDS = 86_400, 86_400_000_000  # of a day
SPSS, YEAR_1960 = -141_428, -3_653  # 14 October 1582 and 1 January 1960, in days since 1970
EARLIEST, LATEST = -719_162, 2_932_896  # the first day of the year 1 and the last of 9999, likewise

_SPSS_DATE, _SPSS_TIME = re.compile(r"[AEJS]?DATE"), re.compile(r"DATETIME|YMDHMS")
_SAS_DATE = re.compile(r"DATE|WEEKDAT[EX]|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(E|B|IS)8601DA")
_SAS_TIME = re.compile(r"DATETIME|DATEAMPM|MDYAMPM|DTDATE|(E|B|IS)8601D[TN]")
_WIDTH = re.compile(r"\d*(\.\d*)?$")


@dataclass(frozen=True)
class Times:
    """What the numbers of a column stand for.

    Args:
        per_day: by how much the number grows in a day.
        epoch: the day that is 0, in days since 1970.
        is_date: whether it is a day, and not a moment of it.
    """

    per_day: int
    epoch: int
    is_date: bool

    @property
    def kind(self) -> pa.DataType:
        """The type of Arrow."""
        return pa.date32() if self.is_date else pa.timestamp("us")

    def read(self, numbers: Floats, where: str) -> pa.Array:
        """Stored numbers, NaN for a missing one, as days or moments.

        Raises:
            DataError: a number is not exactly one, or beyond the years 1 to 9999.
        """
        missing = np.isnan(numbers)
        present = np.where(missing, 0.0, numbers)
        days = np.floor(present / self.per_day) + self.epoch
        if ((days < EARLIEST) | (days > LATEST)).any():
            raise DataError(f"{where} holds a date beyond the years 1 to 9999; correct it")
        stored = self._days(present, days, where) if self.is_date else self._moments(present, where)
        return pa.array(stored, mask=missing).cast(self.kind)

    def _days(self, present: Floats, days: Floats, where: str) -> NDArray[Any]:
        if np.mod(present, self.per_day).any():
            raise DataError(f"{where} has the format of dates and holds times of day too; give it one that shows both")
        return days.astype(np.int32)

    def _moments(self, present: Floats, where: str) -> NDArray[Any]:
        unit = MICROSECONDS // self.per_day
        whole = np.floor(present)
        parts = np.rint((present - whole) * unit)
        if not np.array_equal(whole + parts / unit, present):
            raise DataError(f"{where} holds times finer than microseconds; round them")
        return whole.astype(np.int64) * unit + parts.astype(np.int64) + self.epoch * MICROSECONDS


def times_of(format_name: str, suffix: str) -> Times | None:
    """What a column of a format stands for in a kind of file; None where its numbers are numbers.

    Times of day, and weeks, months and quarters, are read as the numbers that are stored.
    """
    if suffix == ".dta":
        return _stata(format_name)
    base = _WIDTH.sub("", format_name.upper())
    if suffix in (".sas7bdat", ".xpt"):
        date, time = _SAS_DATE.fullmatch(base), _SAS_TIME.fullmatch(base)
        return Times(1, YEAR_1960, is_date=True) if date else Times(SECONDS, YEAR_1960, is_date=False) if time else None
    date, time = _SPSS_DATE.fullmatch(base), _SPSS_TIME.fullmatch(base)
    return Times(SECONDS, SPSS, is_date=bool(date)) if date or time else None


def _stata(format_name: str) -> Times | None:
    """`%td` counts days, `%tc` milliseconds; `%tC` counts leap seconds too, and stays a number."""
    if re.match(r"%-?t?d", format_name):
        return Times(1, YEAR_1960, is_date=True)
    return Times(1000 * SECONDS, YEAR_1960, is_date=False) if re.match(r"%-?tc", format_name) else None
