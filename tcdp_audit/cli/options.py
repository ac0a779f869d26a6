"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tcdp_audit.errors import UsageError
from tcdp_audit.files import require_writable
from tcdp_audit.plugin_manager import Plugins

if TYPE_CHECKING:
    from tcdp_audit.reporter import Reporter

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


def chosen_reporters(reports: Sequence[str], plugins: Plugins) -> list[Reporter]:
    """The reporter of each file to write. A report that could not be written is refused before the work begins.

    Raises:
        UsageError: no reporter has the extension, or the file cannot be written.
    """
    known = {reporter.suffix: reporter for reporter in plugins.reporters.values()} if reports else {}
    for path in reports:
        suffix = Path(path).suffix.lower()
        if suffix not in known:
            raise UsageError(f"{path}: no report format for {suffix!r}; known are {', '.join(sorted(known))}")
        require_writable(Path(path))
    return [known[Path(path).suffix.lower()] for path in reports]
