"""`tcdp-audit diff`: compare two audits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tcdp_audit.api import parse_memory, require_language
from tcdp_audit.cli.options import (
    json_option,
    language_option,
    load_plugins,
    plugin_options,
    plugins_of,
    quiet_option,
    trust_option,
)
from tcdp_audit.cli.printing import write
from tcdp_audit.cli.reports import chosen_reports, write_reports
from tcdp_audit.plugin.engine import UsageError

if TYPE_CHECKING:
    from tcdp_audit.api import Plugins
    from tcdp_audit.core.results.written import WrittenAudit

DIFFERS = 1
NOTHING = "nothing"
DIFFERENCES = (NOTHING, "worse", "different")


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--policy", metavar="PATH", help="Audit the releases OLD and NEW under this policy, and compare that.")
@click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory.")
@trust_option
@click.option("--report", "reports", multiple=True, metavar="FILE", help="Write the comparison: .html, .md or .json.")
@language_option
@json_option("comparison")
@click.option("--fail-if", type=click.Choice(DIFFERENCES), default=NOTHING, help="The differences that exit with 1.")
@quiet_option
@plugin_options
def command(
    old: str,
    new: str,
    policy: str | None,
    memory: str | None,
    reports: tuple[str, ...],
    language: str,
    blocked: tuple[str, ...],
    *,
    trust_policy_code: bool,
    as_json: bool,
    fail_if: str,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Compare two audits: verdict, expectations, columns, people at risk.

    OLD and NEW are JSON results or HTML reports, and nothing is computed again. With --policy they are releases, such
    as two versions of a table, delta:PATH@3 and delta:PATH@5, and both are audited.

    Exit code: 0, whatever differs; with --fail-if worse, 1 if a verdict, a figure or a status is worse, a cell of a
    table of figures fails that did not, or a demand is looser or gone; with --fail-if different, 1 if anything differs;
    2 the call is wrong; 3 a file holds no result.
    """
    from tcdp_audit.core.results.comparison import compare  # noqa: PLC0415 - only for the work
    from tcdp_audit.core.results.protected_files import require_own_files  # noqa: PLC0415 - imports pydantic

    require_language(language)
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    read = {"OLD": Path(old), "NEW": Path(new)} | ({} if policy is None else {"--policy": Path(policy)})
    chosen = chosen_reports("render_comparison", reports, plugins, lambda files: require_own_files(files, read))
    titles = {name: check.title for name, check in plugins.checks.items()}
    if policy is None:
        audits = _written(old, new, memory=memory, trust_policy_code=trust_policy_code)
    else:
        audits = _audited(old, new, Path(policy), plugins, memory, trust_policy_code=trust_policy_code)
    comparison = compare(*audits, titles)
    written = write_reports("render_comparison", chosen, comparison, plugins, language)
    if as_json:
        write(comparison.to_json())
    elif not quiet:
        from tcdp_audit.cli.displays import print_comparison  # noqa: PLC0415 - imports rich

        print_comparison(comparison, written)
    failed = {NOTHING: False, "worse": comparison.is_worse, "different": not comparison.is_same}
    return DIFFERS if failed[fail_if] else 0


def _written(old: str, new: str, *, memory: str | None, trust_policy_code: bool) -> tuple[WrittenAudit, WrittenAudit]:
    """The two audits that files hold."""
    from tcdp_audit.core.results.written import read_audit  # noqa: PLC0415 - imports pydantic

    if memory is not None or trust_policy_code:
        option = "--trust-policy-code" if memory is None else "--memory"
        raise UsageError(f"{option} is about releases that are audited; name their policy with --policy")
    return read_audit(Path(old)), read_audit(Path(new))


def _audited(
    old: str, new: str, path: Path, plugins: Plugins, memory: str | None, *, trust_policy_code: bool
) -> tuple[WrittenAudit, WrittenAudit]:
    """The audits of two releases under one policy, as results that were written and read back."""
    from tcdp_audit.api import audit, read_policy  # noqa: PLC0415 - imports the engine
    from tcdp_audit.core.results.written import audit_in  # noqa: PLC0415 - likewise

    policy = replace(read_policy(path, plugins), trusts_code=trust_policy_code)
    allowed = plugins_of(policy, plugins)
    budget = None if memory is None else parse_memory(memory)
    first, second = (audit(one, policy, plugins=allowed, memory=budget) for one in (old, new))
    return audit_in(first.to_json(), Path(first.release.name)), audit_in(second.to_json(), Path(second.release.name))
