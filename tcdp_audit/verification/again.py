"""The audit of a written result, made again: under its policy, with its tables and options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tcdp_audit.api import (
    BUILT_IN,
    RESTORED_COLUMNS,
    SHUFFLED,
    NamedFile,
    PluginInfo,
    Plugins,
    Policy,
    ResultError,
    Scratch,
    Table,
    audit,
    data_of_policy,
    fix,
    frozen,
    read_policy,
    recorded_tool,
)
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.plugin.report import Run
from tcdp_audit.plugin.sentences import listing, visible
from tcdp_audit.verification.digests import digest_of_file

TRIAL = "remedy_trial"
FIGURE_TRIAL = "figure_trial"
COMPANIONS = ("original", "population")  # that a call can name
MICRODATA = "microdata"  # what results call the records behind tables of figures


@dataclass(frozen=True, kw_only=True)
class Given:
    """The inputs of a verification other than the result."""

    release: Any  # the table, as for `audit`
    policy: str | Path | Mapping[str, Any] | Policy | None = None  # the policy; None for the file that the result names
    original: Any = None  # None for the one that the policy names
    population: Any = None  # likewise
    before: Any = None  # the release before the repair, for a result of `fix`
    trust_policy_code: bool = False  # whether code next to the policy that the policy names may run
    plugins: Plugins  # the plugins to use
    memory: int | None = None  # budget in bytes; None for the default
    progress: Callable[[str, int, int], None] | None = None  # called with (step, done, in all)

    @property
    def common(self) -> dict[str, Any]:
        """The common arguments of `audit` and `fix`."""
        names = ("original", "population", "plugins", "memory", "progress")
        return {name: getattr(self, name) for name in names}


def policy_file(written: WrittenAudit, given: Given) -> Path | None:
    """The file of the policy: the argument, the one that the result names, or its namesake next to the result.

    Of the latter two an unchanged one is preferred. None for a policy that is given as anything but a file.

    Raises:
        ResultError: there is none.
    """
    if given.policy is not None:
        return Path(given.policy) if isinstance(given.policy, str | Path) else None
    named = written.policy_path
    if named is None:
        raise ResultError(
            f"{written.path}: its policy was given in a program; name a file that says the same with --policy"
        )
    paths = [path for path in (named, written.path.parent / named.name) if path.is_file()]
    same = [path for path in paths if digest_of_file(path) == written.result["policy"]["sha256"]]
    if not paths:
        raise ResultError(f"{written.path}: its policy {visible(named.name)} is not there; name it with --policy")
    return (same or paths)[0]


def audited_again(written: WrittenAudit, given: Given, policy: Policy) -> Audit:
    """The audit of a written result, made again.

    Raises:
        ResultError: the result compares with a table that is not named.
        TcdpAuditError: the audit cannot be made.
    """
    _require_companions(written, given, policy)
    shuffled = any(SHUFFLED in one["details"] for one in written.outcomes)
    again = audit(
        given.release,
        policy.out_of_order if shuffled else policy,
        show_values=written.names_cells,
        all_conventions="variants" in written.result,
        column_risks=any("column_risks" in one for one in (written.result, *written.result.get("scenarios", ()))),
        digest=_has_content(written),
        try_remedies=not {TRIAL, FIGURE_TRIAL}.isdisjoint(written.result) and not is_drawn(policy),
        **given.common,
    )
    return replace(again, policy=policy)


def _has_content(written: WrittenAudit) -> bool:
    """Whether a result has the content hash of a table in a database, or the digest of all bytes at a URL."""
    tables = [written.release, *written.companions.values()]
    parts = [one for table in tables for one in (table, *table.tables.values())]
    return any(one.content or (one.sha256 is not None and "://" in one.uri) for one in parts)


def is_drawn(policy: Policy) -> bool:
    """Whether a remedy of the policy draws new noise each time, so that its changes cannot be repeated."""
    return any(one.remedy.random for one in policy.remedies)


def repaired_again(written: WrittenAudit, given: Given, policy: Policy) -> Audit:
    """The audit of the repair of the release before it; as a file where that has to be the verified one."""
    log = written.result["change_log"]
    keep_order = isinstance(log, Mapping) and log.get("order") == "kept"
    with Scratch() as folder:
        is_file = needs_repair(written) and isinstance(given.release, str | Path)
        output = folder / Path(given.release).name if is_file else None
        again = fix(given.before, policy, output=output, keep_failing=True, keep_order=keep_order, **given.common)
    return again.after


def needs_repair(written: WrittenAudit) -> bool:
    """Whether an outcome of a result was judged with a column or in an order that the release lacks."""
    return any(not RESTORED_COLUMNS.isdisjoint(one["details"]) for one in written.outcomes)


def policy_of(written: WrittenAudit, given: Given) -> Policy:
    """The policy of a written result. One that a program gave is read from a file as a program would give it.

    Raises:
        PolicyError: it is wrong.
    """
    path = policy_file(written, given)
    source = given.policy or {} if path is None else path if written.policy_path else data_of_policy(path)
    policy = read_policy(source, given.plugins)
    return replace(policy, trusts_code=True) if given.trust_policy_code else policy


def plugins_of_result(written: WrittenAudit, plugins: Plugins) -> Plugins:
    """The plugins of the written audit, as far as they are installed: the result has nothing of others."""
    return plugins.only(one["name"] for one in written.result["plugins"] if one["distribution"] != BUILT_IN)


def _require_companions(written: WrittenAudit, given: Given, policy: Policy) -> None:
    named = policy.document.companions
    figures = {*(policy.document.aggregates or {}), *([MICRODATA] if policy.document.microdata else [])}
    earlier = [f"previous {number}: " for number, _ in enumerate(policy.document.previous_policies or (), 1)]
    missing = [
        one
        for one in written.companions
        if one not in named and one not in figures and not one.startswith(tuple(earlier))
        if getattr(given, one, None) is None
    ]
    if missing:
        names = listing([visible(one) for one in missing])
        is_option = set(missing) <= set(COMPANIONS)
        options = listing([f"--{one}" for one in COMPANIONS if one in missing]) if is_option else ""
        hint = f"name it with {options}" if options else "its policy names it"
        raise ResultError(f"{written.path}: compares with the {names}, which the policy does not name; {hint}")


@dataclass(frozen=True)
class _Recorded:
    """The plugins of an audit, with the `infos` that a written result has of them."""

    plugins: Any
    infos: tuple[PluginInfo, ...]

    def __getattr__(self, name: str) -> Any:
        """All other attributes of the plugins."""
        return getattr(self.plugins, name)


def _as_then(file: NamedFile, written: WrittenAudit) -> NamedFile:
    """A file of the policy, with its former location."""
    return next((replace(file, uri=one.uri) for one in written.files if one.title == file.title), file)


def _run_of(written: WrittenAudit) -> Run:
    """The person and the command of a written audit, as far as its result has them."""
    recorded = written.result.get("run")
    by, command = (recorded.get(name) if isinstance(recorded, Mapping) else None for name in ("by", "command"))
    configured = recorded.get("configuration") if isinstance(recorded, Mapping) else None
    is_sound = isinstance(configured, Mapping) and isinstance(configured.get("set"), Mapping) and "file" in configured
    return Run(
        by if isinstance(by, str) else None,
        command if isinstance(command, str) else None,
        configured if is_sound else None,
    )


def _where_it_was(table: Table, was: Table) -> Table:
    tables = {name: _where_it_was(one, was.tables[name]) for name, one in table.tables.items() if name in was.tables}
    is_same = table.version is not None and was.version is not None and table.version.identity == was.version.identity
    version = was.version if is_same else table.version
    state = was.state if table.content == was.content else table.state  # no snapshot is seen again
    return replace(table, uri=was.uri, version=version, state=state, tables=frozen(tables))


def _located(table: Table, entry: Any) -> Table:
    """A table, and the linked ones that it consists of, with the locations of an entry."""
    parts = entry.get("tables", {})
    tables = {name: _located(one, parts.get(name, {})) for name, one in table.tables.items()}
    return replace(table, uri=str(entry.get("uri", "")), tables=frozen(tables))


@contextmanager
def as_then(again: Audit, written: WrittenAudit) -> Iterator[Audit]:
    """An audit that was made again, under the circumstances of the written one: its time, versions, and places.

    These were compared before, or cannot be known again. The audit is for writing a report within the context.
    """
    entries = written.result["plugins"]
    infos = tuple(
        PluginInfo(one["name"], one["distribution"], one["version"], tuple(one["hooks"]), str(one.get("error", "")))
        for one in entries
    )
    then = replace(
        again,
        release=_where_it_was(again.release, written.release),
        companions={name: _where_it_was(table, written.companions[name]) for name, table in again.companions.items()},
        files=tuple(_as_then(one, written) for one in again.files),
        policy=replace(again.policy, path=written.policy_path),
        plugins=_Recorded(again.plugins, infos),
        run=_run_of(written),
        audited_at=written.audited_at,
    )
    if then.change_log is not None:
        was = _located(then.change_log.input, written.result["change_log"]["input"])
        then = replace(then, change_log=replace(then.change_log, input=was))
    with recorded_tool(written.result["tool"]):
        yield then
