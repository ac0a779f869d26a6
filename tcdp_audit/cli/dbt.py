"""`tcdp-audit dbt`: audit the models of a dbt project that have a policy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.api import command_line, parse_memory
from tcdp_audit.cli.check import form_of
from tcdp_audit.cli.options import (
    audit_options,
    format_option,
    judging_options,
    load_plugins,
    plugins_of,
    verbose_option,
)
from tcdp_audit.cli.request import Call, Request

if TYPE_CHECKING:
    from tcdp_audit.cli.options import Decorator
    from tcdp_audit.integrations.dbt import Model


@dataclass(frozen=True)
class ModelRequest(Request):
    """The request to audit models, each known by its file, each with its own policy and table."""

    models: Mapping[Path, Model] = field(default_factory=dict)
    address_of: Callable[[Model], str] = field(default=str, repr=False)

    def call(self, path: Path) -> Call:
        """The request about one model.

        Raises:
            DataError: the last run of dbt did not build it.
            UsageError: its policy cannot be read, or the profile does not say where its table is.
            PolicyError: its policy is wrong.
            PluginError: it needs a plugin that does not work.
        """
        from tcdp_audit.api import read_policy  # noqa: PLC0415 - imports pydantic

        model = self.models[path]
        model.require_built()
        policy = replace(read_policy(model.policy, self.plugins), trusts_code=self.trust_policy_code)
        return Call(replace(self, release=self.address_of(model)), path, policy, plugins_of(policy, self.plugins))


OPTIONS: list[Decorator] = [
    click.option("--project-dir", metavar="FOLDER", default=".", help="The folder of dbt_project.yml. Default: here."),
    click.option("--profiles-dir", metavar="FOLDER", help="The folder of profiles.yml. Default: where dbt finds it."),
    click.option("--profile", metavar="NAME", default="", help="The profile. Default: that of the project."),
    click.option("--target", metavar="NAME", default="", help="The target. Default: that of the profile."),
    click.option("--select", "selected", metavar="MODEL", multiple=True, help="Audit this model only. Repeatable."),
    click.option(
        "--database",
        metavar="ADDRESS",
        envvar="TCDP_AUDIT_DATABASE",
        help="The database of the models, in the place of what the profile says.",
    ),
    judging_options,
    format_option("github", "gitlab"),
    verbose_option,
    *audit_options(),
]


def command_of(function: Callable[..., int]) -> click.Command:
    """The command of a function with all of its options."""
    for option in reversed(OPTIONS):
        function = option(function)
    return click.command(context_settings={"help_option_names": ["--help", "-h"]})(function)


@command_of
def command(
    *,
    project_dir: str,
    profiles_dir: str | None,
    profile: str,
    target: str,
    selected: tuple[str, ...],
    database: str | None,
    fail_on: str,
    allow_vacuous: bool,
    format: str,  # noqa: A002 - the option's name
    **given: Any,
) -> int:
    """Audit every model of a dbt project that has `meta: tcdp_audit:`, in the database where dbt built it.

    Run it after dbt build. The address comes from dbt's profile, for profiles of the types duckdb and postgres;
    for others give --database.

    Exit code: as of check; the highest of several models is that of the run.
    """
    from tcdp_audit.cli.audits import Settings, run  # noqa: PLC0415 - imports the engine
    from tcdp_audit.integrations.dbt import Profile, Project, with_table  # noqa: PLC0415 - imports Jinja
    from tcdp_audit.plugin.report import Run  # noqa: PLC0415 - only for the work

    project = Project.read(Path(project_dir))
    models = {model.path: model for model in project.models(selected)}
    if database is None:
        read = Profile.read(project, None if profiles_dir is None else Path(profiles_dir), profile, target)
        address_of: Callable[[Model], str] = read.address_of
    else:
        address_of = partial(with_table, database)
    memory, run_by = given.pop("memory"), given.pop("run_by")
    plugins = load_plugins(given.pop("blocked"), no_external_plugins=given.pop("no_external_plugins"))
    request = ModelRequest(
        release=None,
        original=None,
        population=None,
        policies=tuple(models),
        plugins=plugins,
        memory=None if memory is None else parse_memory(memory),
        run=Run(run_by or None, command_line(sys.argv[1:])),
        models=models,
        address_of=address_of,
        **given,
    )
    settings = Settings(
        fail_on_warning=fail_on == "warning",
        allow_vacuous=allow_vacuous,
        engine=None,
        query=None,
        show_values=False,
        all_conventions=False,
        try_remedies=False,
    )
    return run(request, settings, form_of(request, format, fail_on_warning=fail_on == "warning"))
