"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tcdp_audit.plugin_manager import Plugins

F = TypeVar("F", bound=Callable[..., Any])


def plugin_options(function: F) -> F:
    """`--no-external-plugins` and `-p no:NAME`."""
    blocked = click.option("-p", "blocked", multiple=True, metavar="no:NAME", help="Leave one plugin out.")
    external = click.option("--no-external-plugins", is_flag=True, help="Use the built-in plugins only.")
    return external(blocked(function))


def load_plugins(blocked: tuple[str, ...], *, no_external_plugins: bool) -> Plugins:
    """The plugins that the options leave.

    Raises:
        click.BadParameter: a `-p` that does not begin with `no:`.
    """
    for one in blocked:
        if not one.startswith("no:"):
            raise click.BadParameter(f"-p {one}: write -p no:NAME to leave the plugin NAME out")
    names = [one.removeprefix("no:") for one in blocked]
    return Plugins.load(external=not no_external_plugins, blocked=names)
