"""How many bytes an audit of the synthetic release moves, by formulas.

    python benchmarks/bytes_model.py

prints the predictions of `docs/scale.md`. `bytes_moved.py` compares them with measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from combinations import distinct, shares
from synthetic import CATEGORIES, QUASI_IDENTIFIERS, SENSITIVE

COLUMNS = (*QUASI_IDENTIFIERS, *SENSITIVE)
NUMBERS = ("age", "income")
SIZES = {"20 million": 20e6, "200 million": 200e6, "a billion": 1e9, "a hundred billion": 1e11}

# measured on one million records, and checked on more
FILE = 4.95  # bytes of a record in the Parquet file
LZ4 = 0.264  # of a row's bytes that are left after Spark has compressed them
# measured on twenty million, where partitions are full
ANSWER = 110_500  # bytes that a partition sends to the driver for nine outcomes
PARTITION = 2**19  # records of a partition on Spark
PROGRAM = 0.3 * 2**30  # bytes of the interpreter with its libraries


@dataclass(frozen=True)
class Model:
    """The release with some number of records: its distinct combinations, and the bytes that they take."""

    records: float

    @cached_property
    def classes(self) -> float:
        """Equivalence classes."""
        return distinct(QUASI_IDENTIFIERS, self.records)

    def pairs(self, attribute: str) -> float:
        """Pairs of an equivalence class and a value of a sensitive attribute in it."""
        return distinct((*QUASI_IDENTIFIERS, attribute), self.records)

    @cached_property
    def groups(self) -> float:
        """Distinct rows of all columns: what a database sends."""
        return distinct(COLUMNS, self.records)

    @property
    def adbc(self) -> float:
        """Bytes from PostgreSQL in its binary form: 7 a row, 4 a field, and the cells; a number has 4, the count 8."""
        return self.groups * (7 + 4 * (len(COLUMNS) + 1) + _texts(1) + 4 * len(NUMBERS) + 8)

    @property
    def sqlalchemy(self) -> float:
        """Bytes from PostgreSQL in its text form: 7 a row, 4 a field, and the cells; a number has its digits."""
        return self.groups * (7 + 4 * (len(COLUMNS) + 1) + _texts(1) + _digits() + 1)

    @property
    def retained(self) -> float:
        """Bytes that the embedded engine takes for a database's groups, in memory or on disk: 16 a text, 8 a number."""
        return self.groups * (16 * len(CATEGORIES) + 8 * (len(NUMBERS) + 1))

    @property
    def read(self) -> float:
        """Bytes that are read of a Parquet file: for its digest, for the distinct values, and for the codes."""
        return 3 * FILE * self.records

    def spilled(self, memory: float) -> float:
        """Bytes of the codes that are written to disk, and read once: all, if they are more than a quarter."""
        return self.codes if self.codes > memory / 4 else 0

    @property
    def codes(self) -> float:
        """Bytes of the codes: one or two a cell."""
        return self.records * sum(1 if len(shares()[name]) < 2**8 else 2 for name in COLUMNS)

    @property
    def partitions(self) -> int:
        """Partitions on Spark."""
        return max(8, ceil(self.records / PARTITION))

    @property
    def exchanged(self) -> float:
        """Bytes of Spark's exchange: 12 a row, 8 a column and one more for the bucket, texts filled up to eights."""
        return LZ4 * self.records * (12 + 8 * (len(COLUMNS) + 1) + _texts(8))

    @property
    def answers(self) -> float:
        """Bytes that Spark's partitions send to the driver."""
        return ANSWER * self.partitions


def _texts(step: int) -> float:
    """The mean length of a record's texts, each filled up to a multiple of some bytes."""
    return sum(
        float(share) * step * ceil(len(f"{prefix}{number}") / step)
        for name, (prefix, _, _) in CATEGORIES.items()
        for number, share in enumerate(shares()[name])
    )


def _digits() -> float:
    """The mean number of digits of a record's numbers."""
    incomes = sum(share * len(str(100 * number)) for number, share in enumerate(shares()["income"].tolist()))
    return 2 + float(incomes)


def counted(number: float) -> str:
    """A count, to two places beyond a million."""
    unit, name = _unit(number, ((1e9, " billion"), (1e6, " million"), (1, "")))
    return f"{number / unit:,.{0 if unit == 1 else 2}f}{name}"


def sized(number: float) -> str:
    """Bytes, in units of 10^6, 10^9 and 10^12."""
    unit, name = _unit(number, ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")))
    return f"{number / unit:.3g} {name}"


def _unit(number: float, units: Sequence[tuple[float, str]]) -> tuple[float, str]:
    """The largest unit that a number reaches, or the last."""
    return next((one for one in units if number >= one[0]), units[-1])


FIGURES: dict[str, Callable[[Model], str]] = {
    "equivalence classes": lambda model: counted(model.classes),
    "pairs of a class and an occupation": lambda model: counted(model.pairs("occupation")),
    "pairs of a class and an income": lambda model: counted(model.pairs("income")),
    "distinct rows": lambda model: counted(model.groups),
    "file: read": lambda model: sized(model.read),
    "file: codes, on disk beyond a quarter of the memory": lambda model: sized(model.codes),
    "PostgreSQL: sent by ADBC": lambda model: sized(model.adbc),
    "PostgreSQL: sent by SQLAlchemy": lambda model: sized(model.sqlalchemy),
    "PostgreSQL: kept by the embedded engine": lambda model: sized(model.retained),
    "Spark: exchanged": lambda model: sized(model.exchanged),
    "Spark: partitions": lambda model: counted(model.partitions),
    "Spark: sent to the driver": lambda model: sized(model.answers),
}


def predictions() -> list[str]:
    """The rows of the page's table."""
    models = [Model(size) for size in SIZES.values()]
    rows = [(name, *(figure(model) for model in models)) for name, figure in FIGURES.items()]
    return [f"| {' | '.join(row)} |" for row in (("records", *SIZES), ("---",) * (len(SIZES) + 1), *rows)]


if __name__ == "__main__":
    print("\n".join(predictions()))
