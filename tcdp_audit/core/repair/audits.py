"""The main calls for programs: `audit` a release under a policy, `measure` one figure, `load_policy`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.auditor.exposure import FailingRecordMasks
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.errors import CheckError, UsageError, redact_errors
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.classes.shards import silent
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.source import column_name, column_names, is_column
from tcdp_audit.core.repair.session import Session
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import OpenTables, open_inputs

if TYPE_CHECKING:
    from tcdp_audit.core.results.frame import FailingRecords


def load_policy(
    policy: str | Path | Mapping[str, Any] | Policy, plugins: Plugins | None = None, *, trust_policy_code: bool = False
) -> Policy:
    """Read a policy from a file, or from a mapping of the same form.

    Args:
        policy: path of a `*.tcdp.yaml` file, or its content as a mapping.
        plugins: the plugins whose checks and remedies it may name; by default all that are installed.
        trust_policy_code: run code that the policy names even if it is not installed: a schema in a module in the
            policy's folder. Otherwise only installed code runs, or code that this program has imported.

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
    digest: bool = False,
    run_by: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Audit:
    """Audit a release.

    Args:
        release: a path (CSV, Parquet, JSON lines, Feather, Arrow; a folder or a pattern of CSV or Parquet files), a
            pandas, polars or pyarrow table, or a DuckDB relation; or a table that a plugin opens, such as an SPSS file
            or a URL. None for the release that the policy names.
        policy: a policy, the path of a policy file, or its content as a mapping.
        original: the table that the release was made from, if a check or the reference distribution needs it; by
            default the one that the policy names. Of linked tables a mapping of their names to tables, or the folder
            that holds them.
        population: the population that the release was drawn from, likewise.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.
        shards: the number of shards; by default the number that suits the memory. It does not change the result.
        show_values: name the worst classes by their cells in the evidence.
        all_conventions: also audit under every combination of conventions that applies; see `Audit.variants`.
        try_remedies: if the release does not pass, try in memory what `fix` would do; this changes neither the release
            nor the verdict, and costs as much as `fix`. See `Audit.remedy_trial`. Of tables of figures, try which cells
            to hide, which margins to leave out and which base to round to. See `Audit.figure_trial`.
        digest: have databases compute a content hash of every table that is read of them, for provenance. It costs a
            scan with an MD5 for each row; see `Engine.content_hash`. Files have a digest without this, except for large
            Parquet at URLs, of which all bytes are fetched for it.
        run_by: who runs the audit, for the result.
        column_risks: also measure what each quasi-identifier adds to the risk, so that a report names those to coarsen
            first. It costs a sort of the classes for each set of quasi-identifiers; see `Audit.column_risks`.
        progress: called with (step, records or shards done, their total).

    Returns:
        Every outcome, with its provenance. Read `.passed`, or call `.raise_for_failures()`.

    Raises:
        UsageError: a file does not exist.
        PolicyError: the policy is wrong.
        DataError: the release is empty or cannot be read.
        PluginError: a plugin that the policy needs does not work, or two plugins clash.

    Cost: one scan of the release, then linear in its distinct combinations of quasi-identifiers and values.
    """
    options = Options(memory, shards, show_values, progress or silent, hash_content=digest)
    keep = all_conventions or try_remedies  # a single question has nothing to keep for the next
    with OpenTables(release, original, population, plugins, options, keep=keep) as tables:
        return Session(tables, tables.read(policy)).audit(
            all_conventions=all_conventions, column_risks=column_risks, try_remedies=try_remedies, run_by=run_by
        )


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
    """Audit a release, and return the records that fail each expectation.

    A record fails a check on equivalence classes if its class does; `Outcome.records.failing` counts these records. A
    record fails an attack if the attack succeeds on it, even if the policy allows so many. If a convention says `fail`,
    a record without a value fails as well. A suppressed record that the policy exempts never fails. Under `wildcard` a
    record fails if the records compatible with it do not satisfy the demand.

    Args:
        release: the table, as for `audit`; its records must have an order, which those of a database do not.
        policy: the policy, as for `audit`.
        original: the table that the release was made from, as for `audit`.
        population: the population that the release was drawn from, as for `audit`.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free.

    Returns:
        The audit, and for each of its expectations a truth value for every record, in the release's order.

    Raises:
        UsageError: a file does not exist, or the policy has several tables.
        PolicyError: the policy is wrong.
        DataError: the release is empty, cannot be read, or has no order.
        PluginError: a plugin that the policy needs does not work, or two plugins clash.

    Cost: that of `audit`, one lookup a record for each set of quasi-identifiers with failures, and a byte a record for
    each expectation.
    """
    from tcdp_audit.core.policy.tables import require_one_table  # noqa: PLC0415 - only if requested
    from tcdp_audit.core.results.frame import FailingRecords  # noqa: PLC0415 - likewise

    with open_inputs(release, policy, original, population, plugins, Options(memory)) as inputs:
        require_one_table(
            inputs.policy, "records that fail are marked in one table", "audit them, which counts those that fail"
        )
        masks = FailingRecordMasks(inputs.engine.records)
        audit = inputs.audited(masks)
        of_no_records = [None] * (len(audit.expectations) - len(masks.masks))  # outcomes of a schema
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
        frame: the table, as for `audit`.
        quasi_identifiers: the columns to group by; a text names one column.
        attribute: the sensitive column, for a check that measures one.
        scale: the scale of `attribute`: "nominal", "ordinal" or "numeric".
        order: the values of an ordinal `attribute`, lowest first.
        hierarchy: the generalisation hierarchy of `attribute`: a file, or a nested mapping.
        distribution: a reference distribution of `attribute`: "uniform", or a weight for each value. It is used under
            the convention `reference: declared`.
        conventions: conventions that differ from the defaults.
        parameters: the check's parameters as a mapping, for names that are known only at run time.
        **further: the check's parameters. With a threshold, the outcome passes or fails. Type checkers know the
            parameters of every built-in check; see `tcdp_audit.core.repair.typed`.

    Returns:
        The outcome; `.observed` is the figure of the worst class.

    Raises:
        CheckError: the check could not be evaluated.
        PolicyError: a name or a parameter is wrong.
        UsageError: an argument has a wrong type, or contradicts another one.

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
    """The policy with the single expectation of a call of `measure`; see there for the other arguments.

    Args:
        check: the check's name.
        quasi_identifiers: the columns to group by.
        attribute: the sensitive column, if any.
        declaration: the attribute's scale, order, hierarchy and distribution, those that the caller passes.
        conventions: conventions that differ from the defaults.
        parameters: the check's parameters.

    Raises:
        UsageError: an argument has a wrong type, or contradicts another one.
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
    """Merge the parameters of a check; each may be given once."""
    first = _mapping("parameters", parameters or {})
    for name in first.keys() & further.keys():
        raise UsageError(f"parameters: {name!r} is an argument of the call as well; give it once")
    return {**first, **further}


def _mapping(argument: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"{argument}: must be a mapping of names to values, not of type {type(given).__name__}")
    return dict(given)
