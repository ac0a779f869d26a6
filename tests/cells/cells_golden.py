"""Numbers of DEFINITIONS-AGGREGATES, section 7: tables, intervals of their cells, numbers of solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cells_reference import FREE, Limits, system

from tcdp_audit.core.cells.system import CellSystem


@dataclass(frozen=True)
class Table:
    """Cells by name, and parents with the names of their children."""

    limits: Limits
    sums: list[tuple[str, str]]

    @property
    def system(self) -> CellSystem:
        """The same as numbers."""
        return system(self.limits, self.sums)

    @property
    def names(self) -> list[str]:
        """The names of the cells, in order."""
        return list(self.limits)


def rounded(published: Mapping[str, int], below: int, above: int) -> Limits:
    """Counts that were rounded: from so much below the published number, though not below 0, to so much above."""
    return {name: (max(value - below, 0), value + above) for name, value in published.items()}


def cross(rows: str, columns: str) -> list[tuple[str, str]]:
    """The sums of a two-way table of cells such as `Ab`; T is the total of either."""
    return [
        *((f"{row}T", " ".join(f"{row}{column}" for column in columns.split())) for row in [*rows.split(), "T"]),
        *((f"T{column}", " ".join(f"{row}{column}" for row in rows.split())) for column in [*columns.split(), "T"]),
    ]


GEURTS = Table(
    {"Aa": FREE, "Ab": FREE, "Ba": FREE, "Bb": FREE, "Ca": 3, "Cb": 3, "CT": 6, "AT": 7, "BT": 3, "Ta": 9, "Tb": 7}
    | {"TT": 16},
    cross("A B C", "a b"),
)
SDCTABLE = {
    "wa": FREE, "wb": FREE, "wc": FREE, "wd": 89, "wT": 230,
    "xa": FREE, "xb": 124, "xc": FREE, "xd": 31, "xT": 250,
    "ya": 92, "yb": FREE, "yc": 59, "yd": FREE, "yT": 336,
    "za": 800, "zb": FREE, "zc": 651, "zd": FREE, "zT": 3127,
    "Ta": 1012, "Tb": 1262, "Tc": 779, "Td": 890, "TT": 3943,
}  # fmt: skip
SINGLETONS = {
    "A1": 52, "A2": FREE, "A3": 62, "A4": FREE, "AT": 146, "B1": 24, "B2": FREE, "B3": 31, "B4": FREE, "BT": 81,
    "T1": 76, "T2": 33, "T3": 93, "T4": 25, "TT": 227,
}  # fmt: skip
LINKED = {"A": FREE, "B": FREE, "I": 8, "J": 8, "K": FREE, "L": FREE, "M": FREE, "N": 7, "one": 20, "two": 16}
COUNTY = [("one", "A B I J"), ("two", "K L M N"), ("all", "one two")]
GROUP = [("big", "L M"), ("small", "A B I J K N"), ("all", "big small")]
HANDBOOK = rounded(
    {"AM": 0, "AF": 0, "AT": 0, "BM": 5, "BF": 5, "BT": 5, "CM": 10, "CF": 20, "CT": 30, "TM": 15, "TF": 25, "TT": 40},
    2,
    2,
)
TRIANGLES = dict.fromkeys(["T", *"abcdef"], FREE) | dict.fromkeys(("ab", "bc", "ac", "de", "ef", "df"), (0, 1))
PAIRS = [(pair, " ".join(pair)) for pair in ("ab", "bc", "ac", "de", "ef", "df")]
Intervals = dict[str, tuple[int, int]]
# the table, some of its intervals, and how many tables in whole numbers there are
GOLDEN: dict[str, tuple[Table, Intervals, int]] = {
    "G1 Geurts": (GEURTS, {"Aa": (3, 6), "Ab": (1, 4), "Ba": (0, 3), "Bb": (0, 3)}, 4),
    "G2 first": (Table({"T": 51, "a": 10, "b": 15, "c": 25, "d": FREE}, [("T", "a b c d")]), {"d": (1, 1)}, 1),
    "G2 second": (Table({"T": 276, "a": 100, "b": 90, "c": 85, "d": FREE}, [("T", "a b c d")]), {"d": (1, 1)}, 1),
    "G3": (
        Table(SDCTABLE, cross("w x y z", "a b c d")),
        {"wb": (47, 47), "wa": (25, 94), "wc": (0, 69), "xa": (26, 95), "xc": (0, 69), "yb": (0, 185), "yd": (0, 185)}
        | {"zb": (906, 1091), "zd": (585, 770)},
        13_020,
    ),
    "G3 with xb": (
        Table({**SDCTABLE, "xb": FREE}, cross("w x y z", "a b c d")),
        {"wb": (0, 141), "xb": (30, 171), "wa": (0, 120), "xa": (0, 120)},
        1_356_684,
    ),
    "G4": (
        Table(SINGLETONS, cross("A B", "1 2 3 4")),
        {"A2": (7, 32), "A4": (0, 25), "B2": (1, 26), "B4": (0, 25)},
        26,
    ),
    "G4 singleton": (
        Table({**SINGLETONS, "A2": 15}, cross("A B", "1 2 3 4")),
        {"A4": (17, 17), "B2": (18, 18), "B4": (8, 8)},
        1,
    ),
    "G5 118": (Table({"T": 118, "a": 100, "c": (1, 9), "d": (1, 9)}, [("T", "a c d")]), {"c": (9, 9), "d": (9, 9)}, 1),
    "G5 102": (Table({"T": 102, "a": 100, "c": (1, 9), "d": (1, 9)}, [("T", "a c d")]), {"c": (1, 1), "d": (1, 1)}, 1),
    "G5 109": (Table({"T": 109, "a": 100, "c": (1, 9), "d": (1, 9)}, [("T", "a c d")]), {"c": (1, 8), "d": (1, 8)}, 8),
    "G5 no limits": (Table({"T": 118, "a": 100, "c": FREE, "d": FREE}, [("T", "a c d")]), {"c": (0, 18)}, 19),
    "G6 county": (Table({**LINKED, "all": 36}, COUNTY), {"A": (0, 4), "K": (0, 9)}, 275),
    "G6 group": (
        Table({**LINKED, "all": 36, "big": 6, "small": 30}, GROUP),
        {"A": (0, 7), "K": (0, 7), "L": (0, 6)},
        252,
    ),
    "G6 together": (
        Table({**LINKED, "all": 36, "big": 6, "small": 30}, [*COUNTY, *GROUP]),
        {"K": (3, 3), "A": (0, 4), "L": (0, 6)},
        35,
    ),
    "G7": (
        Table(HANDBOOK, cross("A B C", "M F")),
        {"AM": (0, 2), "BM": (3, 4), "BF": (3, 4), "BT": (6, 7), "CM": (8, 12), "CT": (29, 32), "TT": (38, 41)},
        169,
    ),
    "G7 as printed": (
        Table({**HANDBOOK, "CT": (33, 37)}, cross("A B C", "M F")),
        {"CF": (21, 22)},
        46,
    ),
    "G8 random": (
        Table(rounded({"a": 0, "b": 3, "c": 3, "T": 0}, 2, 2), [("T", "a b c")]),
        {"a": (0, 0), "b": (1, 1), "c": (1, 1), "T": (2, 2)},
        1,
    ),
    "G8 half up, 30": (
        Table(rounded({"a": 10, "b": 10, "T": 30}, 5, 4), [("T", "a b")]),
        {"a": (11, 14), "b": (11, 14), "T": (25, 28)},
        10,
    ),
    "G8 half up, 10": (Table(rounded({"a": 10, "b": 10, "T": 10}, 5, 4), [("T", "a b")]), {"a": (5, 9)}, 15),
    "G8 half up, 0": (Table(rounded({"a": 0, "b": 0, "T": 10}, 5, 4), [("T", "a b")]), {"a": (1, 4)}, 10),
    "G8 half even": (Table({"a": (0, 5), "b": (0, 5), "T": (6, 14)}, [("T", "a b")]), {"a": (1, 5)}, 15),
    "G9": (
        Table(rounded({"a": 1000, "b": 1100, "c": 16, "T": 2109}, 2, 2), [("T", "a b c")]),
        {"a": (998, 999), "b": (1098, 1099), "c": (14, 15), "T": (2110, 2111)},
        4,
    ),
    "G10 triangles": (Table(TRIANGLES, [*PAIRS, ("T", "a b c d e f")]), {"T": (0, 2)}, 16),
    "G17 nursery": (
        Table({"T": 4320, "a": 1440, "b": 858, "c": FREE, "d": 2022, "e": FREE}, [("T", "a b c d e")]),
        {"c": (0, 0), "e": (0, 0)},
        1,
    ),
}
