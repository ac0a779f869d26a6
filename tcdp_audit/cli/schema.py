"""`tcdp-audit schema`: print the JSON Schema of policies, or of results."""

from __future__ import annotations

from importlib.resources import files

import click

from tcdp_audit.cli.options import load_plugins, plugin_options
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import TcdpAuditError

RESULT = ("tcdp_audit.core.results", "result.schema.json")


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.option("--result", is_flag=True, help="The schema of JSON results, in place of that of policies.")
@plugin_options
def command(blocked: tuple[str, ...], *, result: bool, no_external_plugins: bool) -> int:
    """Print the JSON Schema of policies, with the parameters of every installed check and remedy.

    Save it next to your policies and let an editor complete and check them as you type.
    """
    write(result_schema() if result else _policy_schema(blocked, no_external_plugins=no_external_plugins))
    return 0


def _policy_schema(blocked: tuple[str, ...], *, no_external_plugins: bool) -> str:
    from tcdp_audit.api import policy_schema_text  # noqa: PLC0415 - imports pydantic

    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    return policy_schema_text(plugins.checks, plugins.remedies)


def result_schema() -> str:
    """The published JSON Schema of results.

    Raises:
        TcdpAuditError: it is not part of this installation.
    """
    package, name = RESULT
    try:
        return files(package).joinpath(name).read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError):
        problem = f"{name} is missing from {package}: the installation is incomplete; reinstall it"
        raise TcdpAuditError(problem) from None
