"""The tables of figures of a release, opened with the records behind them and with those of earlier releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.provenance import Table, digest_of_tables
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.base import Batch, Column, Engine
from tcdp_audit.core.policy.policy import Policy

MICRODATA = "microdata"  # what results call the records behind the tables
Opening = Callable[[Any, str], Engine]


ONLY_FIGURES = (
    "the release consists of tables of figures, which have no records; name the records behind them in a separate "
    "policy, with `attributes` of its columns"
)


class FigureTables(Engine):
    """Tables of figures as a release: they have a place, a digest and rows, and no records that could be read.

    Args:
        tables: the engine of each table by name.
    """

    borrowed = ("tables",)  # of the session that opened them

    def __init__(self, tables: Mapping[str, Engine]) -> None:
        self.tables = dict(tables)
        self.name = ", ".join(one.name for one in self.tables.values())
        self.uri = ", ".join(one.uri for one in self.tables.values())

    @property
    def columns(self) -> Sequence[Column]:
        """None: the columns of a table of figures are dimensions and measures."""
        return ()

    @property
    def records(self) -> int:
        """The number of rows of all tables."""
        return sum(one.records for one in self.tables.values())

    def sha256(self) -> str | None:
        """The digest of the tables' digests; None where only the output of models is released."""
        return digest_of_tables({name: one.sha256() for name, one in self.tables.items()}) if self.tables else None

    def domain(self, attribute: str) -> RawDomain:
        """Refuse: there are no records. Raises UsageError."""
        return self._refuse(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """Refuse likewise."""
        return self._refuse(domains)

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """Refuse likewise."""
        return self._refuse(attribute, values)

    def table(self) -> pa.Table:
        """Refuse likewise."""
        return self._refuse()

    def _refuse(self, *_: object) -> NoReturn:
        raise UsageError(ONLY_FIGURES)


class StepProgress:
    """The progress of checks on tables that stay open: each question of a session sets where it is reported."""

    report: Callable[[str, int, int], None] | None = None

    def __call__(self, step: str, done: int, total: int) -> None:
        """Report what is done of a step."""
        if self.report is not None:
            self.report(step, done, total)


@dataclass(frozen=True)
class FigureInputs:
    """The tables of figures of a release, opened.

    Args:
        view: what checks see.
        engines: the engine of each table by name.
        further: the engines of tables that are not released: the records behind them, and earlier tables.
        progress: where the steps of checks are reported, question by question.
    """

    view: CellsView
    engines: Mapping[str, Engine]
    further: Mapping[str, Engine]
    progress: StepProgress

    def described(self, describe: Callable[[Engine], Table], release: Engine) -> dict[str, Table]:
        """The provenance of every table that is not the release itself, by what results call it."""
        own = {} if isinstance(release, FigureTables) else self.engines
        described = {name: describe(engine) for name, engine in {**own, **self.further}.items()}
        return {name: one if name == MICRODATA else replace(one, row_name="row") for name, one in described.items()}


def tables_of_figures(policy: Policy, given: Mapping[str, Any], opened: Opening) -> dict[str, Engine]:
    """The engine of each table of figures: of what the caller gives by name, or else of the file that is named.

    Raises:
        UsageError: a table has no file, or a file does not exist.
    """
    engines = {}
    for name, one in (policy.document.aggregates or {}).items():
        table = given.get(name, None if one.file is None else policy.resolve(one.file))
        if table is None:
            raise UsageError(
                f"no table {name!r}: name its `file:` in the policy, or give it in the call, as `--table {name}=FILE`"
            )
        engines[name] = opened(table, name)
    return engines


def open_figures(
    policy: Policy,
    engines: Mapping[str, Engine],
    release: Engine,
    opened: Opening,
    read: Callable[[Path], Policy],
    *,
    show_values: bool,
) -> FigureInputs:
    """Read the tables of figures of a policy, with what it names next to them.

    Args:
        policy: what the release must satisfy.
        engines: the engine of each of its tables of figures.
        release: the records of the release, where it has a table of them.
        opened: opens a further table, given its place and what messages call it.
        read: reads an earlier policy.
        show_values: whether figures of failing cells may be given.

    Raises:
        UsageError: an earlier policy has no tables of figures, or a file does not exist.
        DataError: a table cannot be read.
    """
    further: dict[str, Engine] = {}
    microdata = _microdata(policy, release, opened)
    if microdata is not None and microdata is not release:
        further[MICRODATA] = microdata
    earlier = []
    for number, location in enumerate(policy.document.previous_policies or (), start=1):
        own = read(Path(policy.resolve(location)))
        if not own.document.aggregates:
            raise UsageError(f"previous_policies: {own.name} has no table of figures; name such a policy")
        tables = tables_of_figures(own, {}, _numbered(opened, number))
        further |= {f"previous {number}: {name}": engine for name, engine in tables.items()}
        earlier.append(CellsView.of(own, tables, None, (), show_values=show_values))
    progress = StepProgress()
    view = CellsView.of(policy, engines, microdata, earlier, show_values=show_values, progress=progress)
    return FigureInputs(view, engines, further, progress)


def _numbered(opened: Opening, number: int) -> Opening:
    """Open tables of an earlier release under names that say which."""
    return lambda table, name: opened(table, f"previous {number}: {name}")


def _microdata(policy: Policy, release: Engine, opened: Opening) -> Engine | None:
    """The records behind the tables: a table of the release, or a file that is not released; None without any."""
    declared = policy.document.microdata
    if declared is None:
        return None
    if declared.file is not None:
        return opened(policy.resolve(declared.file), MICRODATA)
    tables = getattr(release, "tables", None)  # of linked tables; a flat release is the only table of records
    if not isinstance(tables, Mapping) or isinstance(release, FigureTables):
        return release
    if declared.table not in tables:
        raise UsageError(f"microdata: the policy has no table {declared.table!r}; it has {listing([*tables])}")
    return tables[declared.table]
