"""Tables of figures in a draft: their labels and figures, totals found by addition, and texts that hide figures.

A table is recognised only where its figures show what it is; any other one has records. A draft has labels of totals,
names of columns and texts that hide figures, since they describe a table, and no figure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import takewhile
from math import prod
from types import MappingProxyType

from tcdp_audit.api import UNDECIDED, number_or_interval
from tcdp_audit.drafting.draft import DraftFigures, comment, entry, flow, listed, scalar
from tcdp_audit.plugin.engine import DataError, Engine

MOST_ROWS, MOST_COLUMNS, MOST_DIMENSIONS = 200_000, 60, 8
MOST_CELLS = 500_000  # of a table that is examined without being asked for: a larger one has records
MOST_TOKENS, LONGEST_TOKEN = 6, 16  # texts of one column that hide figures
LEAST_SHOWN = 0.2  # share of the cells of a column of figures that are numbers
MOST_LABELS = 50  # of a dimension of a table that has no total
LEAST_FILLED, LEAST_ROWS = 0.9, 6  # share of the combinations of labels that such a table has, and its rows
ADDENDS = 4  # that make a sum no coincidence, where no label says that it is a total
ROUNDED = 8  # different figures that are all multiples of a base
BASES = (10, 5)
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?%?")
TOTALS = frozenset(
    {
        "all",
        "total",
        "totals",
        "sum",
        "overall",
        "t",
        "σ",
        "gesamt",
        "insgesamt",
        "summe",
        "ensemble",
        "totale",
        "todos",
        "tutti",
        "totaal",
    }
)
PEOPLE = frozenset(
    {
        "patients",
        "people",
        "persons",
        "individuals",
        "participants",
        "residents",
        "respondents",
        "employees",
        "members",
        "clients",
        "students",
        "inhabitants",
    }
)
ROWS = frozenset(
    {
        "visits",
        "admissions",
        "episodes",
        "events",
        "records",
        "rows",
        "stays",
        "prescriptions",
        "appointments",
        "cases",
        "discharges",
        "claims",
        "contacts",
        "consultations",
        "spells",
        "tests",
    }
)
NEUTRAL = frozenset({"n", "count", "counts", "freq", "frequency", "number", "num", "size", "nobs"})
STATISTICS: Mapping[str, Sequence[tuple[str, str]]] = {
    **{word: [("mean", "")] for word in ("mean", "avg", "average")},
    **{word: [("sum", "")] for word in ("sum", "total")},
    "median": [("quantile", ""), ("at", "0.5")],
    **{word: [("minimum", "")] for word in ("min", "minimum")},
    **{word: [("maximum", "")] for word in ("max", "maximum")},
    **{word: [("deviation", "")] for word in ("sd", "std", "stdev", "deviation")},
    **{word: [("share", "")] for word in ("pct", "percent", "percentage", "%", "share", "proportion", "prop")},
    "ratio": [("ratio", "")],
}
OPEN_COUNT = "It counts people, or rows such as visits; of rows, say `of:` and `per_person:` as well."
OPEN_STATISTIC = "A mean of which column? Write another key if it holds something else: sum, share, quantile."
OPEN_NAME = "The dimension whose labels are the names of the columns has no name in the file: write one, twice."
SAME_LABELS = "It has no name in the file; another table has the same labels under this one."
OPEN_TOTAL = "is called like a total, but the others do not add up to it. Is it the total? Are there subtotals?"
NO_TOTAL = "No label is the sum of the others. If these are all there are and no one is in two, say `exhaustive: true`."
CALLED = "is called like a total; figures are rounded or hidden, so that addition does not say it."
SHOWN = "Totals add up without the figures that are hidden. If they are totals of what is shown, say `totals: shown`."

Numbers = Sequence[Decimal | None]
Line = Mapping[str, Decimal | None]  # figures by label


@dataclass(frozen=True)
class Guess:
    """The meaning of a column of figures, by its name and its figures."""

    entries: Sequence[tuple[str, str]]  # of its declaration
    note: str = ""
    is_named: bool = True  # whether the name says it

    @property
    def is_additive(self) -> bool:
        """Whether totals are sums."""
        return self.entries[0][0] in ("counts", "sum")


@dataclass(frozen=True)
class Total:
    """The total of a dimension: its label, None without one, and what there is to say of it."""

    label: str | None
    note: str = ""
    by_addition: bool = False
    of_shown: bool = False  # whether totals add up without what is hidden


class FigureTable:
    """A table of which the first columns are labels and the others figures.

    Args:
        labels: the cells of each column of labels.
        figures: those of each other one.
    """

    def __init__(self, labels: Mapping[str, Sequence[str]], figures: Mapping[str, Sequence[str]]) -> None:
        self.labels, self.cells = labels, figures
        self.numbers = {name: _numbers_of(cells) for name, cells in figures.items()}

    @cached_property
    def guesses(self) -> dict[str, Guess]:
        """The meaning of each column of figures."""
        return {name: guess_of(name, numbers) for name, numbers in self.numbers.items()}

    @property
    def tokens(self) -> list[str]:
        """The texts that hide figures."""
        return sorted({one for cells in self.cells.values() for one in cells if number_of(one) is None})

    @cached_property
    def totals(self) -> dict[str, Total]:
        """The total of each dimension that has a column of labels."""
        additive = [name for name, one in self.guesses.items() if one.is_additive]
        return {name: self._total(name, [self.numbers[one] for one in additive]) for name in self.labels}

    def _total(self, dimension: str, measures: Sequence[Numbers]) -> Total:
        others = [cells for name, cells in self.labels.items() if name != dimension]
        rest = list(zip(*others, strict=True)) if others else [()] * len(self.labels[dimension])
        groups: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(rest):
            groups.setdefault(key, []).append(row)
        cells = self.labels[dimension]
        lines = [[{cells[row]: numbers[row] for row in rows} for numbers in measures] for rows in groups.values()]
        return total_of(lines, rounded=any(base_of(one) for one in measures))

    @cached_property
    def column_total(self) -> Total:
        """The total among the columns of a wide table."""
        names = [*self.numbers]
        return total_of([[dict(zip(names, row, strict=True))] for row in zip(*self.numbers.values(), strict=True)])

    @property
    def categories(self) -> dict[str, frozenset[str]]:
        """The labels of each dimension without its total; those of a wide table's columns have no name in the file."""
        own = {name: frozenset(cells) - {self.totals[name].label} for name, cells in self.labels.items()}
        across = {UNDECIDED: frozenset(self.cells) - {self.column_total.label}} if self.is_wide else {}
        return {name: frozenset(map(str, labels)) for name, labels in {**own, **across}.items()}

    @property
    def is_wide(self) -> bool:
        """Whether the names of the columns of figures are labels of one dimension."""
        if len(self.cells) < 2 or any(one.is_named for one in self.guesses.values()):
            return False
        labels = [one for one in self.cells if not _is_total(one)]
        are_ranges = all(number_or_interval(one) is not None for one in labels)
        return self.column_total.by_addition or (bool(labels) and (are_ranges or len(labels) < len(self.cells)))

    @property
    def is_certain(self) -> bool:
        """Whether the figures leave no doubt that it is no table of records."""
        if self.is_wide:
            return self.column_total.by_addition and all(one.by_addition for one in self.totals.values())
        if any(one.by_addition for one in self.totals.values()):
            return True
        sizes = [len({*cells}) for cells in self.labels.values()]
        rows = len(next(iter(self.labels.values()), ()))
        is_cross = len(sizes) > 1 and min(sizes) > 1 and max(sizes) <= MOST_LABELS
        is_full = is_cross and rows >= max(LEAST_ROWS, LEAST_FILLED * prod(sizes))
        return is_full and any(name.lower() in NEUTRAL | PEOPLE for name in self.cells)


def figures_of(
    name: str,
    location: str | None,
    engine: Engine,
    *,
    asked: bool,
    names: Mapping[frozenset[str], str] = MappingProxyType({}),
) -> DraftFigures | None:
    """The draft of a table of figures; None for a table of records.

    Args:
        name: what the policy calls the table.
        location: where it is, as of a draft.
        engine: the table.
        asked: whether it is known to be one of figures.
        names: the dimensions of other tables by their labels, without totals.

    Raises:
        DataError: it is known to be one of figures, and cannot be read as one.

    Cost: O(cells).
    """
    table = None
    width = len(engine.columns)
    is_small = asked or engine.records * width <= MOST_CELLS
    if is_small and engine.records <= MOST_ROWS and 1 < width <= MOST_COLUMNS:
        table = _split(_texts_of(engine))
    if table is None and asked:
        raise DataError(
            f"{engine.name}: no table of figures: its last columns must hold numbers, with few other texts, and the "
            f"others labels that no two rows share; at most {MOST_ROWS:,} rows and {MOST_COLUMNS} columns"
        )
    if table is None or not (asked or table.is_certain):
        return None
    dimensions = len(table.labels) + table.is_wide
    if dimensions > MOST_DIMENSIONS:
        raise DataError(f"{engine.name}: has {dimensions} columns of labels; a table of figures has {MOST_DIMENSIONS}")
    own = table.categories
    across = names.get(own.get(UNDECIDED, frozenset()), UNDECIDED)
    across = UNDECIDED if across in table.labels else across
    return DraftFigures(name, location, engine.records, tuple(_lines(table, across)), own)


def _texts_of(engine: Engine) -> dict[str, list[str]]:
    """All cells as texts; a missing one is empty."""
    table = engine.table()
    return {
        name: ["" if one is None else str(one).strip() for one in column.to_pylist()]
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def _split(columns: Mapping[str, Sequence[str]]) -> FigureTable | None:
    """The table with as few columns of labels as no two rows share; None where the others hold no figures."""
    names = [*columns]
    first = len(names) - len([*takewhile(_has_figures, (columns[one] for one in reversed(names)))])
    if first == len(names):
        return None
    for split in range(max(first, 1), len(names)):
        labels = {one: columns[one] for one in names[:split]}
        rows = list(zip(*labels.values(), strict=True))
        if len({*rows}) == len(rows):
            return FigureTable(labels, {one: columns[one] for one in names[split:]})
    return None


def _numbers_of(cells: Sequence[str]) -> list[Decimal | None]:
    """The number of each cell; a text that occurs often is read once."""
    numbers = {one: number_of(one) for one in {*cells}}
    return [numbers[one] for one in cells]


def _has_figures(cells: Sequence[str]) -> bool:
    counts = Counter(cells)
    others = {one for one in counts if number_of(one) is None}
    shown = len(cells) - sum(counts[one] for one in others)
    few = len(others) <= MOST_TOKENS and all(len(one) <= LONGEST_TOKEN for one in others)
    return few and shown > 0 and shown >= LEAST_SHOWN * len(cells)


def number_of(cell: str) -> Decimal | None:
    """The number of a cell, without a percent sign; None for a text.

    Example:
        >>> number_of("12"), number_of("2.5%"), number_of("<10")
        (Decimal('12'), Decimal('2.5'), None)
    """
    return Decimal(cell.rstrip("%")) if NUMBER.fullmatch(cell) else None


def guess_of(name: str, numbers: Numbers) -> Guess:
    """Guess the meaning of a column of figures, by the words of its name; where they do not say it, by its figures."""
    shown = [one for one in numbers if one is not None]
    is_whole = all(one == one.to_integral_value() for one in shown)
    words = re.findall(r"[^\W\d_]+|\d+|%", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    for word in words:
        if word in STATISTICS and not _is_total(name):  # of a wide table it is the label of the total
            column = "_".join(one for one in words if one != word and one not in ("of", "the"))
            return Guess(_statistic(STATISTICS[word], column, shown))
    if re.fullmatch(r"[pq] \d\d?", " ".join(words[:2])):
        column = scalar("_".join(words[2:])) if words[2:] else UNDECIDED
        return Guess([("quantile", column), ("at", f"0.{words[1]:0>2}"), ("decimals", str(_decimals(shown)))])
    if is_whole and all(one >= 0 for one in shown):
        if PEOPLE & {*words}:
            return Guess([("counts", "people")])
        rows = next((one for one in words if one in ROWS), None)
        if rows is not None:
            return Guess([("counts", "rows"), ("of", rows.removesuffix("s"))], "Say `per_person:` if you know it.")
        return Guess([("counts", UNDECIDED)], OPEN_COUNT, is_named=bool(NEUTRAL & {*words}))
    return Guess([("mean", UNDECIDED), ("decimals", str(_decimals(shown)))], OPEN_STATISTIC, is_named=False)


def _statistic(entries: Sequence[tuple[str, str]], column: str, shown: Sequence[Decimal]) -> list[tuple[str, str]]:
    kind = entries[0][0]
    more = [("decimals", str(_decimals(shown)))]
    if kind == "share":
        more.append(("as", "fraction" if all(one <= 1 for one in shown) else "percent"))
    return [(kind, scalar(column) if column else UNDECIDED), *entries[1:], *more]


def _decimals(shown: Sequence[Decimal]) -> int:
    return max((max(0, -int(one.as_tuple().exponent)) for one in shown), default=0)


def base_of(numbers: Numbers) -> int | None:
    """The base of which all figures are multiples, where there are enough different ones to say so."""
    shown = {one for one in numbers if one}
    return next((base for base in BASES if len(shown) >= ROUNDED and not any(one % base for one in shown)), None)


def _is_total(label: str) -> bool:
    return label.strip().lower() in TOTALS or not label.strip()


def total_of(groups: Sequence[Sequence[Line]], *, rounded: bool = False) -> Total:
    """The label whose figure is the sum of all others for each combination of the other dimensions.

    Where hidden figures leave it open, a label is the total only if it is called one.

    Args:
        groups: of each combination the figures by label, once for each measure; None for a hidden one.
        rounded: whether figures seem to be rounded, so that no total adds up.
    """
    lines = [line for group in groups for line in group]
    labels = list(dict.fromkeys(one for line in lines for one in line))
    named = [one for one in labels if _is_total(one)]
    addends = max((len(line) for line in lines), default=0) - 1
    answers = {**{label: list[bool]() for label in labels}, **_additions(groups)}
    adding = [label for label, given in answers.items() if given and all(given)]
    certain = [one for one in adding if one in named or (len(answers[one]) > 1 and addends > 1)]
    likely = [*certain, *(one for one in adding if addends >= ADDENDS)]
    shown = [one for one in named if _adds_up_without_hidden(one, lines)]
    total = next((one for one in likely if one in named), None) or (likely[0] if len({*likely}) == 1 else None)
    if total is not None:
        note = "" if total in certain else "The others add up to it, once."
        return Total(total, note, by_addition=total in certain, of_shown=total in shown)
    if not named:
        return Total(None, NO_TOTAL)
    doubtful = [one for one in named if one in shown or rounded or not answers[one]]
    if doubtful:
        return Total(doubtful[0], f"{doubtful[0]!r} {CALLED}", of_shown=doubtful[0] in shown)
    return Total(UNDECIDED, f"{named[0]!r} {OPEN_TOTAL}")


def _additions(groups: Sequence[Sequence[Line]]) -> dict[str, list[bool]]:
    """Whether each label is the sum of the others in every line of a group, for the groups that show it.

    A line shows nothing where hidden figures, or only 0, leave it open. Cost: O(figures).
    """
    additions: dict[str, list[bool]] = {}
    for lines in groups:
        of_group: dict[str, bool] = {}
        for line in lines:
            values = [one for one in line.values() if one is not None]
            whole, is_whole = sum(values, Decimal(0)), len(values) == len(line)
            for label, own in line.items() if whole and len(line) > 1 else ():
                if own is not None and (is_whole or 2 * own < whole):
                    of_group[label] = of_group.get(label, True) and is_whole and 2 * own == whole
        for label, adds_up in of_group.items():
            additions.setdefault(label, []).append(adds_up)
    return additions


def _adds_up_without_hidden(label: str, lines: Sequence[Line]) -> bool:
    """Whether a total is the sum of what is shown in each line with hidden figures, of which there is one."""
    partial = [line for line in lines if None in line.values() and line.get(label) is not None]
    sums = [sum((one for one in line.values() if one is not None), Decimal(0)) for line in partial]
    return bool(partial) and all(2 * (line[label] or 0) == whole for line, whole in zip(partial, sums, strict=True))


# The text


def _lines(table: FigureTable, across: str) -> Iterator[str]:
    """The declaration of a table, below its file; `across` is the dimension of a wide one's columns, if known."""
    yield f"    about: {{who: {UNDECIDED}}}"
    if table.is_wide:
        yield f"    layout: {{rows: {listed(table.labels)}, columns: {listed([across])}}}"
    yield f"    dimensions:{'' if table.labels or table.is_wide else ' {}'}"
    for name, total in table.totals.items():
        yield from _dimension(name, total, table.labels[name])
    if table.is_wide:
        yield from comment(OPEN_NAME if across == UNDECIDED else SAME_LABELS, "      ")
        yield from _dimension(across, table.column_total, [*table.cells])
    yield "    measures:"
    yield from _measures(table)
    if table.tokens:
        yield f"    suppressed: {flow((scalar(one), UNDECIDED) for one in table.tokens)}"
    totals = [*table.totals.values(), *([table.column_total] if table.is_wide else [])]
    if table.tokens and any(one.of_shown for one in totals):
        yield from comment(SHOWN, "    ")


def _dimension(name: str, total: Total, labels: Sequence[str]) -> Iterator[str]:
    yield from comment(total.note, "      ")
    declared = []
    if total.label is not None:
        declared.append(("total", UNDECIDED if total.label == UNDECIDED else scalar(total.label)))
    ranges = [one for one in {*labels} if one != total.label]
    if ranges and all(number_or_interval(one) is not None for one in ranges):
        declared.append(("order", "by_bounds"))
    yield from entry(name, flow(declared), "      ")


def _measures(table: FigureTable) -> Iterator[str]:
    if table.is_wide:
        yield from comment(OPEN_COUNT, "      ")
        yield from entry("n", flow([("counts", UNDECIDED)]), "      ")
        return
    people = [name for name, one in table.guesses.items() if one.entries[0] == ("counts", "people")]
    people = people or [name for name, one in table.guesses.items() if one.entries[0] == ("counts", UNDECIDED)]
    for name, guess in table.guesses.items():
        is_count = guess.entries[0][0] == "counts"
        base = base_of(table.numbers[name]) if guess.is_additive else None
        rounding = f"Every figure is a multiple of {base}: if they are rounded, say `rounding:`." if base else ""
        yield from comment(" ".join(filter(None, (guess.note, rounding))), "      ")
        over = [] if is_count or not people else [("over", scalar(people[0]) if len(people) == 1 else UNDECIDED)]
        yield from entry(name, flow([*guess.entries, *over]), "      ")
