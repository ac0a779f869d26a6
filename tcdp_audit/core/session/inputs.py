"""A release, its policy, its companion tables and named files, opened together as the input of every command.

The files are hierarchies, a schema, a suite, and those of checks. They affect figures, so their digests are recorded.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from tcdp_audit.core.auditor.column_warnings import questions_of
from tcdp_audit.core.auditor.evaluation import Evaluation, evaluation
from tcdp_audit.core.auditor.exposure import FailingRecordMasks
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.audit_figures import ExposureCount
from tcdp_audit.core.base.cache import Cache
from tcdp_audit.core.base.errors import DataError, PolicyError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.provenance import NamedFile, Table, TableState
from tcdp_audit.core.base.resources import budget
from tcdp_audit.core.base.words import visible
from tcdp_audit.core.check.strictness import with_strictness
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.opening import open_any, open_engine
from tcdp_audit.core.policy.model import CompanionTable, Role, StoredSuite
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.quality import missing_extra
from tcdp_audit.core.release.structure import without_columns
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins

if TYPE_CHECKING:
    from tcdp_audit.core.cells.view import CellsView
    from tcdp_audit.core.session.figures import FigureInputs

MICRODATA = "microdata"  # what results call the records behind tables of figures
MODULE = ":"  # between the module and the name of a schema that is imported


@dataclass(frozen=True)
class AuditInputs:
    """Everything that an audit reads.

    Args:
        policy: what the release must satisfy.
        plugins: the plugins in use.
        options: how to run.
        release: the caller's argument, or the path that the policy names.
        engine: the release.
        companions: the further tables by their name in the policy: original, population, holdout, registry, previous.
        files: the files, other than tables, that the policy names, with their digests before the audit.
        figures: the tables of figures of the release, with all that is read next to them; None where it has none.
        unused: the further tables that the policy names, or that were given, and that no check asks for.
    """

    policy: Policy
    plugins: Plugins
    options: Options
    release: Any
    engine: Engine
    companions: Mapping[str, Engine]
    files: tuple[NamedFile, ...] = ()
    figures: FigureInputs | None = None
    unused: tuple[str, ...] = ()

    @property
    def memory(self) -> int:
        """Budget in bytes."""
        return budget(self.options.memory)

    def outcomes(self) -> tuple[Outcome, ...]:
        """All outcomes of the release."""
        return self.evaluated().outcomes

    def outcomes_of(self, checks: frozenset[str]) -> tuple[Outcome, ...]:
        """The outcomes of the structure and of the expectations of some checks, as in `outcomes`."""
        return evaluation(self.policy.only(checks), self.engine, self.options, self.companions).outcomes

    def audited(self, failing_records: FailingRecordMasks | None = None, **further: Any) -> Audit:
        """Audit the release.

        Args:
            failing_records: receives the records that fail; None if they are not requested.
            **further: further fields of the audit, by name.
        """
        return self.audit_of(self.evaluated(failing_records), **further)

    def audit_of(self, results: Evaluation, **further: Any) -> Audit:
        """An evaluation as an audit with its provenance; see `audited`."""
        exposed = results.exposed.among(results.outcomes)
        own = {"columns": results.columns, "column_risks": results.column_risks, "scenarios": results.scenarios}
        drawn = {} if self.figures is None else {"figures": self.figures.view.tables}
        more = {**own, **drawn, **further}
        return self.with_provenance(results.outcomes, exposed=exposed, **more)

    def evaluated(self, failing_records: FailingRecordMasks | None = None) -> Evaluation:
        """Evaluate the expectations: on records, then on tables of figures; the outcomes on quality follow."""
        if self.figures is not None:
            return self._with_figures(self.figures.view, failing_records)
        quality = _quality_outcomes(self.policy, self.engine, self.release)  # first: its errors are the policy's
        results = evaluation(self.policy, self.engine, self.options, self.companions, failing_records)
        return replace(results, outcomes=(*results.outcomes, *quality, *questions_of(self.policy)))

    def _with_figures(self, view: CellsView, failing_records: FailingRecordMasks | None) -> Evaluation:
        """Evaluate a release with tables of figures, and with records where the policy has a table of them."""
        from tcdp_audit.core.auditor.figures import outcomes_of_figures, without_figures  # noqa: PLC0415 - few have any

        if not self.policy.attributes:
            results = Evaluation(questions_of(self.policy), ExposureCount(records=None, of=0), ())
        else:
            of_records = replace(self, policy=without_figures(self.policy), figures=None)
            results = of_records.evaluated(failing_records)
        return replace(results, outcomes=(*results.outcomes, *outcomes_of_figures(view)))

    def without(self, outcomes: Sequence[Outcome], dropped: Collection[str]) -> tuple[Outcome, ...]:
        """The outcomes of the release after some columns, identifiers or the key, are dropped.

        Outcomes of demands do not change. Quality is evaluated again.

        Args:
            outcomes: the outcomes of the release with the columns.
            dropped: names of the columns.
        """
        if not dropped:
            return tuple(outcomes)
        left = [column.name for column in self.engine.columns if column.name not in dropped]
        structural = without_columns(outcomes, self.policy, left)
        if not any(one.is_schema for one in structural):
            return structural
        table = self.engine.table().select(left)
        with open_engine(table, self.memory) as engine:
            quality = _quality_outcomes(self.policy, engine, table)
        first = next(number for number, one in enumerate(structural) if one.is_schema)
        return (*structural[:first], *quality, *(one for one in structural[first:] if not one.is_schema))

    @contextmanager
    def with_release(self, release: Any) -> Iterator[AuditInputs]:
        """These inputs with another table as the release."""
        with self.reopened(release) as engine:
            yield self.over(release, engine)

    def reopened(self, release: Any) -> Engine:
        """The engine over a repaired release: a file in the form of this one, or a table in memory."""
        return open_any(release, "release", self.memory, self.plugins.engines.values(), self.engine.text_form)

    def over(self, release: Any, engine: Engine) -> AuditInputs:
        """These inputs with an engine. Of another one nothing is kept for a next audit: keys would hold its table."""
        options = self.options if engine is self.engine else replace(self.options, cache=Cache())
        return replace(self, release=release, engine=engine, options=options)

    def with_provenance(self, outcomes: tuple[Outcome, ...], **further: Any) -> Audit:
        """Outcomes as an audit with their provenance.

        Raises:
            DataError: a file that the policy names has changed.
        """
        require_unchanged(self.policy, self.files)
        hashed = self.options.hash_content
        return Audit(
            outcomes=with_strictness(outcomes, self.policy),
            release=describe_table(self.engine, hash_content=hashed),
            companions={
                **{
                    name: describe_table(table, self.policy, hash_content=hashed)
                    for name, table in self.companions.items()
                },
                **({} if self.figures is None else self.figures.described(describe_table, self.engine)),
            },
            files=self.files,
            policy=self.policy,
            plugins=self.plugins,
            unused_companions=self.unused,
            **further,
        )


def describe_table(engine: Engine, policy: Policy | None = None, *, hash_content: bool = False) -> Table:
    """The provenance of a table, or of each of several linked ones; with its shared columns if the policy maps some."""
    parts: Mapping[str, Engine] = getattr(engine, "tables", {})  # of several linked tables, or tables of figures
    tables = FrozenDict({name: describe_table(one, hash_content=hash_content) for name, one in parts.items()})
    if parts and not engine.columns:  # tables of figures, whose rows are cells
        tables = FrozenDict({name: replace(one, row_name="row") for name, one in tables.items()})
    encoding = f"{engine.encoding}, detected from its bytes" if engine.encoding_is_detected else engine.encoding
    state = TableState(engine.snapshot, engine.content_hash() if hash_content else "")  # a digest may come of it
    own = (engine.uri, engine.sha256(), engine.records, len(engine.columns))
    table = Table(
        *own, tables, encoding=encoding, version=engine.version, state=state if state != TableState() else None
    )
    if policy is None or engine.translation is None:
        return table
    names = {one.name for one in engine.columns}
    return replace(
        table,
        columns=len(names) + engine.translation.hidden,
        shared=tuple(name for name in sorted(policy.attributes) if name in names),
        lacking=tuple(name for name in policy.with_role(Role.QUASI_IDENTIFIER) if name not in names),
    )


def _quality_outcomes(policy: Policy, engine: Engine, release: Any) -> Sequence[Outcome]:
    """The outcomes of the policy's schema and suite; each library is imported only if it is named."""
    outcomes: list[Outcome] = []
    if policy.document.schema_ is not None:
        missing = missing_extra("pandera") or missing_extra("pandas")
        if missing:
            raise PolicyError(f"{policy.name}: schema: {missing}")
        from tcdp_audit.core.quality.pandera import schema_outcomes  # noqa: PLC0415 - imports pandas and pandera

        outcomes += schema_outcomes(policy, engine, release)
    if policy.document.suite is not None:
        outcomes += _suite_outcomes(policy, engine, release)
    return outcomes


def _suite_outcomes(policy: Policy, engine: Engine, release: Any) -> Sequence[Outcome]:
    missing = missing_extra("great_expectations")
    if missing:
        raise PolicyError(f"{policy.name}: suite: {missing}")
    with catch_warnings(action="ignore"):  # the library emits warnings on import
        from tcdp_audit.core.quality.great_expectations import suite_outcomes  # noqa: PLC0415 - imports pandas as well

    return suite_outcomes(policy, engine, release)


def named_files(policy: Policy) -> tuple[NamedFile, ...]:
    """The files that a policy names, with their digests; a file that cannot be read is reported where it is used."""
    digests = ((kind, attribute, path, content_digest(path)) for kind, attribute, path in _paths(policy))
    return tuple(NamedFile(kind, attribute, str(path), digest) for kind, attribute, path, digest in digests if digest)


def require_unchanged(policy: Policy, files: tuple[NamedFile, ...]) -> None:
    """Raise `DataError` if a file that the policy names differs from `files`, its state before the audit."""
    changed = set(named_files(policy)) ^ set(files)
    if changed:
        names = sorted({one.title for one in changed})
        raise DataError(
            f"{visible(names[0])}: the file changed while it was audited; audit it again when it is complete"
        )


def _paths(policy: Policy) -> Iterator[tuple[str, str | None, Path]]:
    for name, attribute in sorted(policy.attributes.items()):
        if isinstance(attribute.hierarchy, str):
            yield "hierarchy", name, Path(policy.resolve(attribute.hierarchy))
    seen: Counter[tuple[str, str | None]] = Counter()
    for kind, of, location in policy.document.figure_files:
        if kind == MICRODATA:
            continue  # a table, with a digest as such
        seen[kind, of] += 1
        number = "" if seen[kind, of] == 1 else f" {seen[kind, of]}"  # of several earlier policies
        yield f"{kind}{number}", of, Path(policy.resolve(location))
    named = dict.fromkeys(one for expectation in policy.expectations for one in expectation.parameters.files())
    yield from ((kind, name, Path(policy.resolve(location))) for kind, name, location in named)
    yield from (("layout", of, Path(policy.resolve(layout))) for of, layout in _layouts(policy))
    schema, suite = policy.document.schema_, policy.document.suite
    if schema is not None and MODULE not in schema:
        yield "schema", None, Path(policy.resolve(schema))
    if isinstance(suite, StoredSuite):
        yield from (("suite", None, path) for path in _stored(policy, suite))
    elif suite is not None:
        yield "suite", None, Path(policy.resolve(suite))


def _layouts(policy: Policy) -> Iterator[tuple[str | None, str]]:
    """The layouts of files in fixed width, each with what it is the layout of; None for the release."""
    document = policy.document
    forms = [(None, document.read_as), *((name, one.read_as) for name, one in (document.tables or {}).items())]
    forms += [(entry, one.read_as) for entry, _, one in document.companion_entries() if isinstance(one, CompanionTable)]
    yield from ((of, form.layout) for of, form in forms if form is not None and form.layout is not None)


def _stored(policy: Policy, suite: StoredSuite) -> Iterator[Path]:
    if find_spec("great_expectations") is not None:
        with warnings.catch_warnings(action="ignore"):  # the library emits warnings on import
            from tcdp_audit.core.quality.great_expectations_suite import stored_file  # noqa: PLC0415 - of an extra

            path = stored_file(policy, suite)
        yield from () if path is None else (path,)
