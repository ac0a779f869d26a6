"""A release, its policy and the tables it is compared with, opened together: what every command works on.

The files beside the tables that a policy names: hierarchies, a schema, a suite, those of checks.

They decide figures, too.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from warnings import catch_warnings

from tcdp_audit.core.auditor.column_warnings import questions_of
from tcdp_audit.core.auditor.evaluation import Evaluation, Options, evaluation
from tcdp_audit.core.auditor.failing_records import FailingRecordMasks
from tcdp_audit.core.base.errors import DataError, PolicyError, UsageError, redact_errors
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.provenance import NamedFile, Table
from tcdp_audit.core.base.resources import budget
from tcdp_audit.core.base.scratch import sweep
from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.opening import open_engine, opener_of, require_no_url
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.model import Role, StoredSuite
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.quality import missing_extra
from tcdp_audit.core.release.structure import without_columns
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins

MODULE = ":"  # between the module and the name of a schema that is imported


@dataclass(frozen=True)
class AuditInputs:
    """Everything that an audit reads.

    Args:
        policy: what the release must satisfy.
        plugins: the code that takes part.
        options: how to run.
        release: what the caller gave, or the path that the policy names.
        engine: the release.
        companions: the further tables by their name in the policy: original, population, holdout, registry, previous.
        files: the files beside the tables that the policy names, as they were before anything was read.
    """

    policy: Policy
    plugins: Plugins
    options: Options
    release: Any
    engine: Engine
    companions: Mapping[str, Engine]
    files: tuple[NamedFile, ...] = ()

    @property
    def memory(self) -> int:
        """Budget in bytes."""
        return budget(self.options.memory)

    def outcomes(self) -> tuple[Outcome, ...]:
        """Everything that comes of the release."""
        return self.evaluated().outcomes

    def outcomes_of(self, checks: frozenset[str]) -> tuple[Outcome, ...]:
        """What comes of the structure and of the expectations on some checks, as in `outcomes`."""
        return evaluation(self.policy.only(checks), self.engine, self.options, self.companions).outcomes

    def audited(self, failing_records: FailingRecordMasks | None = None, **further: Any) -> Audit:
        """Everything that comes of the release, with whom it exposes, and what was read.

        Args:
            failing_records: where to note which records fail; None where nobody asks.
            **further: what else the audit has, by the names of its fields.
        """
        return self.audit_of(self.evaluated(failing_records), **further)

    def audit_of(self, results: Evaluation, **further: Any) -> Audit:
        """What came of the release as an audit that names what was read; see `audited`."""
        exposed = results.exposed.among(results.outcomes)
        more = {"columns": results.columns, "column_risks": results.column_risks, **further}
        return self.with_provenance(results.outcomes, exposed=exposed, **more)

    def evaluated(self, failing_records: FailingRecordMasks | None = None) -> Evaluation:
        """What comes of expectations and, after them, of what judges quality."""
        quality = _quality_outcomes(self.policy, self.engine, self.release)  # first: a fault of it is one of the policy
        results = evaluation(self.policy, self.engine, self.options, self.companions, failing_records)
        return replace(results, outcomes=(*results.outcomes, *quality, *questions_of(self.policy)))

    def without(self, outcomes: Sequence[Outcome], dropped: Collection[str]) -> tuple[Outcome, ...]:
        """The outcomes of the release once some columns are dropped: identifiers, the key.

        Demands keep what they were judged with. What judges quality is asked anew.

        Args:
            outcomes: those of the release as it is.
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
        """The same with another table as the release."""
        with open_engine(release, self.memory) as engine:  # of ours: a file or a table in memory
            yield replace(self, release=release, engine=engine)

    def with_provenance(self, outcomes: tuple[Outcome, ...], **further: Any) -> Audit:
        """Outcomes as an audit that names what was read.

        Raises:
            DataError: a file that the policy names is not what it was.
        """
        require_unchanged(self.policy, self.files)
        return Audit(
            outcomes=outcomes,
            release=describe_table(self.engine),
            companions={name: describe_table(table) for name, table in self.companions.items()},
            files=self.files,
            policy=self.policy,
            plugins=self.plugins,
            **further,
        )


@contextmanager
def open_inputs(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy,
    original: Any,
    population: Any,
    plugins: Plugins | None,
    options: Options,
) -> Iterator[AuditInputs]:
    """Open a release and what its policy needs; see `api.audit` for the parameters."""
    plugins = plugins or Plugins.load()
    if not isinstance(plugins, Plugins):
        raise UsageError(f"plugins: must be what `Plugins.load()` returns, not of type {type(plugins).__name__}")
    policy = read_policy(policy, plugins)
    if policy.document.plugins is not None:
        plugins = plugins.only(policy.document.plugins)
    sweep()
    memory = budget(options.memory)
    # the memory is asked once: what is free changes while the audit runs
    options = replace(options, memory=memory, detectors=lambda: plugins.detectors)
    release = _located(release, policy)
    with ExitStack() as stack:
        codes = policy.with_role(Role.QUASI_IDENTIFIER)
        engine = stack.enter_context(open_table(release, "release", memory, plugins).with_codes(codes))
        companions = {
            name: stack.enter_context(open_table(table, name, memory, plugins).with_codes(codes))
            for name, table in _companions(policy, original, population).items()
        }
        _require_labels_alike(engine, companions)
        yield AuditInputs(policy, plugins, options, release, engine, companions, named_files(policy))


@redact_errors()
def open_table(table: Any, name: str, memory: int, plugins: Plugins) -> Engine:
    """The engine over a table: that of the plugin which opens such a table, or the embedded one."""
    opener = opener_of(table, plugins.engines.values())
    if opener is not None:
        return opener.open(table, name, memory)
    require_no_url(table, (info.name for info in plugins.infos if info.error))
    return open_engine(table, memory, name)


def describe_table(engine: Engine) -> Table:
    """What is known about a table that was read."""
    return Table(engine.uri, engine.sha256(), engine.records, len(engine.columns))


def _located(release: Any, policy: Policy) -> Any:
    if release is not None:
        return release
    if policy.document.release is None:
        raise UsageError("no release: name it in the call, or as `release:` in the policy")
    return policy.resolve(policy.document.release)


def _companions(policy: Policy, original: Any, population: Any) -> dict[str, Any]:
    """The further tables to open, from the call or from the policy: the original always, others where a check asks."""
    required = {"original"}.union(*(one.check.requires for one in policy.expectations))
    given = {"original": original, "population": population}
    tables: dict[str, Any] = {name: policy.resolve(one) for name, one in policy.document.companions.items()}
    tables |= {name: table for name, table in given.items() if table is not None}
    return {name: table for name, table in tables.items() if name.partition(" ")[0] in required}


def _require_labels_alike(release: Engine, companions: Mapping[str, Engine]) -> None:
    """Insist that no column is compared by its labels in one table and by its codes in another.

    Raises:
        DataError: one is.
    """
    for name, table in companions.items():
        for column, is_labelled in release.value_labels.items():
            if table.value_labels.get(column, is_labelled) != is_labelled:
                raise DataError(
                    f"column {column!r} is read as its value labels in one of the release and the {name}, and as codes "
                    "in the other, where a value has no label or two have the same; label both alike"
                )


def _quality_outcomes(policy: Policy, engine: Engine, release: Any) -> Sequence[Outcome]:
    """What the policy's schema and its suite say; each library is imported only where it is named."""
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
    with catch_warnings(action="ignore"):  # the library warns of itself while it is imported
        from tcdp_audit.core.quality.great_expectations import suite_outcomes  # noqa: PLC0415 - imports pandas as well

    return suite_outcomes(policy, engine, release)


def named_files(policy: Policy) -> tuple[NamedFile, ...]:
    """Every such file with its digest. What cannot be read is left to whoever needs it, and to say why.

    Args:
        policy: what names them.
    """
    digests = ((kind, attribute, path, _digest(path)) for kind, attribute, path in _paths(policy))
    return tuple(NamedFile(kind, attribute, str(path), digest) for kind, attribute, path, digest in digests if digest)


def require_unchanged(policy: Policy, files: tuple[NamedFile, ...]) -> None:
    """Insist that the files are still those that were there before the audit.

    Args:
        policy: what names them.
        files: they, as they were.

    Raises:
        DataError: one is another.
    """
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
    named = dict.fromkeys(one for expectation in policy.expectations for one in expectation.parameters.files())
    yield from ((kind, name, Path(policy.resolve(location))) for kind, name, location in named)
    schema, suite = policy.document.schema_, policy.document.suite
    if schema is not None and MODULE not in schema:
        yield "schema", None, Path(policy.resolve(schema))
    if isinstance(suite, StoredSuite):
        yield from (("suite", None, path) for path in _stored(policy, suite))
    elif suite is not None:
        yield "suite", None, Path(policy.resolve(suite))


def _stored(policy: Policy, suite: StoredSuite) -> Iterator[Path]:
    if find_spec("great_expectations") is not None:
        with warnings.catch_warnings(action="ignore"):  # it warns of itself while it is imported
            from tcdp_audit.core.quality.great_expectations_suite import stored_file  # noqa: PLC0415 - of an extra

            path = stored_file(policy, suite)
        yield from () if path is None else (path,)


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
