"""The calls that most programs need: `audit` a release under a policy, `measure` one figure, `load_policy`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.auditor.evaluation import Options
from tcdp_audit.core.auditor.failing_records import FailingRecordMasks
from tcdp_audit.core.base.errors import CheckError, UsageError, redact_errors
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.base.provenance import Run
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.classes.shards import silent
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.source import column_name, column_names, is_column
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.inputs import AuditInputs, open_inputs
from tcdp_audit.core.session.registry import Plugins

if TYPE_CHECKING:
    from tcdp_audit.core.base.audit_figures import ConventionVariant
    from tcdp_audit.core.results.frame import FailingRecords
    from tcdp_audit.core.results.remedy_trial import RemedyTrial


def load_policy(
    policy: str | Path | Mapping[str, Any] | Policy, plugins: Plugins | None = None, *, trust_policy_code: bool = False
) -> Policy:
    """Read a policy from a file, or take it from a mapping of the same form.

    Args:
        policy: path of a `*.tcdp.yaml` file, or its content as a mapping.
        plugins: the plugins whose checks and remedies it may name; by default all that are installed.
        trust_policy_code: run the code that it names though it is not installed: a schema in a module beside it. A
            policy is data otherwise, and only installed code runs, or what this program has imported.

    Raises:
        UsageError: the file does not exist or cannot be read.
        PolicyError: the policy is wrong; the message lists every fault with line and column.
        PluginError: it names a check or a remedy that is unknown while a plugin that may define it is broken.
    """
    read = read_policy(policy, plugins or Plugins.load())
    return replace(read, trusts_code=True) if trust_policy_code else read


@redact_errors()
def audit(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy,
    original: Any = None,
    population: Any = None,
    *,
    plugins: Plugins | None = None,
    memory: int | None = None,
    shards: int | None = None,
    show_values: bool = False,
    all_conventions: bool = False,
    column_risks: bool = False,
    try_remedies: bool = False,
    run_by: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Audit:
    """Audit a release.

    Args:
        release: a path (CSV, Parquet, JSON lines, Feather, Arrow; a folder or a pattern of CSV or Parquet files), a
            pandas, polars or pyarrow table, or a DuckDB relation; or what a plugin opens, such as a file of SPSS or a
            URL. None for the release that the policy names.
        policy: a policy, the path of a policy file, or its content as a mapping.
        original: the table that the release was made from, where a check or the reference distribution needs it; by
            default the one that the policy names.
        population: the population that the release was drawn from, likewise.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.
        shards: work through this many shards; by default as many as suit the memory. The answer is the same.
        show_values: let the evidence name the worst classes by their cells.
        all_conventions: audit under every combination of conventions that applies, too; see `Audit.variants`.
        try_remedies: try in memory what `fix` would do to a release that does not pass, which changes neither the
            release nor the verdict; see `Audit.remedy_trial`. It costs what `fix` costs.
        run_by: who runs the audit, as the result shall say.
        column_risks: measure what each quasi-identifier adds to the risk, too; a report then says which to coarsen
            first. It costs a sort of the classes for each set of quasi-identifiers; see `Audit.column_risks`.
        progress: called with (step, records or shards done, in all).

    Returns:
        Every outcome, with its provenance. Look at `.passed`, or call `.raise_for_failures()`.

    Raises:
        UsageError: a file does not exist.
        PolicyError: the policy is wrong.
        DataError: the release is empty or cannot be read.
        PluginError: a plugin that the policy needs does not work, or two plugins clash.

    Cost: one scan of the release, then linear in its distinct combinations of quasi-identifiers and values.
    """
    options = Options(memory, shards, show_values, progress or silent, column_risks=column_risks)
    with open_inputs(release, policy, original, population, plugins, options) as inputs:
        result = inputs.audited(run=Run(by=run_by))
        if all_conventions:
            result = replace(result, variants=_variants(inputs))
        return replace(result, remedy_trial=_remedy_trial(inputs, result)) if try_remedies else result


@redact_errors()
def failing_records(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy,
    original: Any = None,
    population: Any = None,
    *,
    plugins: Plugins | None = None,
    memory: int | None = None,
) -> FailingRecords:
    """Audit a release, and say which records fail each expectation.

    A record fails a check on equivalence classes if its class does: it is one of those that `Outcome.records.failing`
    counts. For an attack these are the records that it succeeds on, also where the policy allows for so many. Where a
    convention says `fail`, a record without a value fails as well. A suppressed record that the policy exempts never
    does. Under `wildcard` a record fails if the records compatible with it do not keep the demand.

    Args:
        release: the table, as for `audit`; its records must have an order, as those of a database have not.
        policy: the policy, as for `audit`.
        original: the table that the release was made from, as for `audit`.
        population: the population that the release was drawn from, as for `audit`.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.

    Returns:
        The audit, and for each of its expectations a truth value for every record in the release's order.

    Raises:
        UsageError: a file does not exist.
        PolicyError: the policy is wrong.
        DataError: the release is empty, cannot be read, or has no order.
        PluginError: a plugin that the policy needs does not work, or two plugins clash.

    Cost: that of `audit`; one lookup a record for each set of quasi-identifiers that something fails in; a byte a
    record for each expectation.
    """
    from tcdp_audit.core.results.frame import FailingRecords  # noqa: PLC0415 - only where they are asked for

    with open_inputs(release, policy, original, population, plugins, Options(memory)) as inputs:
        masks = FailingRecordMasks(inputs.engine.records)
        audit = inputs.audited(masks)
        of_no_records = [None] * (len(audit.expectations) - len(masks.masks))  # what a schema says
        return FailingRecords(audit, (*masks.masks, *of_no_records))


@redact_errors()
def measure(
    check: str,
    frame: Any,
    *,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None = None,
    scale: str | None = None,
    order: Iterable[Any] | None = None,
    hierarchy: str | Mapping[str, Any] | None = None,
    distribution: str | Mapping[str, Any] | None = None,
    conventions: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **further: Any,
) -> Outcome:
    """Run one check on a table, without a policy.

    Args:
        check: a check's name, such as "t_closeness".
        frame: the table; everything that `audit` takes.
        quasi_identifiers: the columns to group by; a text is the name of one.
        attribute: the sensitive column, for a check that measures one.
        scale: the scale of `attribute`: "nominal", "ordinal" or "numeric".
        order: the values of an ordinal `attribute`, lowest first.
        hierarchy: the generalisation hierarchy of `attribute`: a file, or a nested mapping.
        distribution: a reference distribution of `attribute`: "uniform", or a weight for each value. It is used under
            the convention `reference: declared`.
        conventions: conventions that differ from the defaults.
        parameters: the check's parameters as a mapping, for names that only a program knows.
        **further: the check's parameters; give its threshold to have it compared. Type checkers know those of every
            built-in check; see `tcdp_audit.core.repair.typed`.

    Returns:
        The outcome; `.observed` is the figure of the worst class.

    Raises:
        CheckError: the check could not be evaluated.
        PolicyError: a name or a parameter is wrong.
        UsageError: an argument is of another kind, or contradicts another one.

    Example:
        >>> import pyarrow
        >>> frame = pyarrow.table({"zip": ["a", "a", "b", "b", "b"], "disease": ["x", "y", "x", "x", "x"]})
        >>> measure("k_anonymity", frame, quasi_identifiers=["zip"]).observed
        2.0
        >>> measure("distinct_l_diversity", frame, quasi_identifiers=["zip"], attribute="disease", l=2).status.value
        'failed'
    """
    declared = {"scale": scale, "order": order, "hierarchy": hierarchy, "distribution": distribution}
    given = {name: value for name, value in declared.items() if value is not None}
    asked = _merged(parameters, further)
    policy = policy_of_one(check, quasi_identifiers, attribute, given, conventions, asked)
    outcome = audit(frame, policy).expectations[0]
    if outcome.status is Status.ERROR:
        raise CheckError(outcome.message)
    return outcome


def policy_of_one(
    check: str,
    quasi_identifiers: str | Iterable[str],
    attribute: str | None,
    declaration: Mapping[str, Any],
    conventions: Mapping[str, Any] | None,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """The policy with a single expectation that `measure` asks; see there for the arguments.

    Args:
        check: the check's name.
        quasi_identifiers: the columns to group by.
        attribute: the sensitive column, if any.
        declaration: its scale, order, hierarchy and distribution, as far as they are given.
        conventions: conventions that differ from the defaults.
        parameters: the check's parameters.

    Raises:
        UsageError: an argument is of another kind, or contradicts another one.
    """
    names = column_names("quasi_identifiers", quasi_identifiers)
    attributes: dict[str | int, dict[str, Any]] = {name: {"role": "quasi_identifier"} for name in names}
    if attribute is not None:
        cells = {name: list(value) for name, value in declaration.items() if name == "order" and is_column(value)}
        attributes[_sensitive(attribute, names)] = {"role": "sensitive", **declaration, **cells}
        parameters = {"attribute": attribute, **parameters}
    elif declaration:
        raise UsageError(f"{listing(list(declaration))}: there is no attribute to describe; name one by `attribute`")
    policy: dict[str, Any] = {"version": 1, "attributes": attributes, "expect": [{check: dict(parameters)}]}
    return policy if conventions is None else {**policy, "conventions": _mapping("conventions", conventions)}


def _sensitive(attribute: str, quasi_identifiers: Sequence[Any]) -> str | int:
    name = column_name("attribute", attribute)
    if str(name) in map(str, quasi_identifiers):
        raise UsageError(f"attribute: {name!r} is among the quasi_identifiers as well; a column has one role")
    return name


def _merged(parameters: Mapping[str, Any] | None, further: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a check, each of them given once."""
    first = _mapping("parameters", parameters or {})
    for name in first.keys() & further.keys():
        raise UsageError(f"parameters: {name!r} is an argument of the call as well; give it once")
    return {**first, **further}


def _mapping(argument: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"{argument}: must be a mapping of names to values, not of type {type(given).__name__}")
    return dict(given)


def _variants(inputs: AuditInputs) -> tuple[ConventionVariant, ...]:
    from tcdp_audit.core.auditor.conventions import convention_matrix  # noqa: PLC0415 - only where it is asked for

    return convention_matrix(inputs.policy, inputs.engine, inputs.options, inputs.companions)


def _remedy_trial(inputs: AuditInputs, result: Audit) -> RemedyTrial | None:
    from tcdp_audit.core.repair.fixing import remedy_trial  # noqa: PLC0415 - only where it is asked for

    return remedy_trial(inputs, result.outcomes)
