"""Options that `check`, `fix` and `frontier` share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from tcdp_audit.cli.options import json_option, plugin_options, quiet_option, trust_option

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
FORMATS = ".html, .md, .json, .junit.xml, .sarif"  # of an audit's reports


def release_command(
    *own_options: Decorator, policy: Decorator, formats: str = FORMATS
) -> Callable[[Callable[..., int]], click.Command]:
    """A command on a release. Its function is given a `Request`, and its own options by name.

    Args:
        *own_options: its options other than those that all have.
        policy: the option that names the policy, or several.
        formats: the extensions of the reports that it writes, for its help.
    """
    options: list[Decorator] = [
        click.argument("release", required=False),
        policy,
        *own_options,
        click.option("--original", metavar="FILE", help="The table that the release was made from."),
        click.option("--population", metavar="FILE", help="The population that the release was drawn from."),
        click.option(
            "--report",
            "reports",
            multiple=True,
            metavar="FILE",
            help=f"Write a report: {formats}. Repeatable.",
        ),
        json_option("result"),
        click.option("--brief", is_flag=True, help="Print failures and the verdict only."),
        quiet_option,
        click.option("--run-by", metavar="NAME", envvar="TCDP_AUDIT_RUN_BY", help="Who runs this, for the reports."),
        click.option("--memory", metavar="SIZE", help="Budget such as 1GiB. Default: 3/4 of what is free."),
        trust_option,
        plugin_options,
    ]

    def as_command(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def called(**options: Any) -> int:
            from tcdp_audit.cli.request import request_of  # noqa: PLC0415 - imports pydantic

            request, own = request_of(click.get_current_context(), options)
            return function(request, **own)

        decorated: Callable[..., Any] = called
        for option in reversed(options):
            decorated = option(decorated)
        return click.command(context_settings={"help_option_names": ["--help", "-h"]})(decorated)

    return as_command
