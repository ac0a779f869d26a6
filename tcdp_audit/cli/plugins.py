"""`tcdp-audit plugins`: list the installed plugins, their contributions and their faults."""

from __future__ import annotations

import json
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.api import visible_json
from tcdp_audit.cli.options import json_option, load_plugins, plugin_options
from tcdp_audit.cli.printing import complain, write
from tcdp_audit.plugin.engine import PluginError
from tcdp_audit.plugin.sentences import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tcdp_audit.api import PluginInfo
from tcdp_audit.api import Plugins

KINDS = ("checks", "remedies", "reporters", "report_sections", "engines", "detectors")
WIDTH = 80
LABEL = 11


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@json_option("list")
@plugin_options
def command(blocked: tuple[str, ...], *, as_json: bool, no_external_plugins: bool) -> int:
    """List plugins with their versions, their hooks and what they provide.

    A plugin that does not work is listed with its error and otherwise ignored, unless a policy needs it.

    Exit code: 0, or 3 where two plugins provide the same name: then no audit can run.
    """
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    clashes = list(_clashes(plugins))
    plugins.load_checks()
    listing = _as_json(plugins, clashes) if as_json else _as_text(plugins)
    write(listing)
    for clash in clashes:
        complain(f"tcdp-audit: {visible(clash)}\n")
    return PluginError.exit_code if clashes else 0


def _clashes(plugins: Plugins) -> Iterator[str]:
    """Ask every plugin for everything; a sentence for each kind of which two provide the same name."""
    for kind in KINDS:
        try:
            getattr(plugins, kind)
        except PluginError as clash:
            yield str(clash)


def _provided(plugins: Plugins, info: PluginInfo) -> dict[str, list[str]]:
    return {kind: plugins.provided.get((info.name, f"tcdp_audit_{kind}"), []) for kind in KINDS}


def _as_json(plugins: Plugins, clashes: list[str]) -> str:
    listed: list[dict[str, Any]] = [{**info.as_json(), **_provided(plugins, info)} for info in plugins.infos]
    return visible_json(json.dumps({"plugins": listed, "clashes": clashes}, ensure_ascii=False, indent=2)) + "\n"


def _as_text(plugins: Plugins) -> str:
    if not plugins.infos:
        return "no plugins\n"
    return "\n".join("\n".join(_block(plugins, info)) + "\n" for info in plugins.infos)


def _block(plugins: Plugins, info: PluginInfo) -> Iterator[str]:
    """One plugin: its name and version, then its hooks and contributions."""
    broken = ", does not work" if info.error else ""
    yield from wrap(f"{info.name} ({info.distribution} {info.version}".rstrip() + f"){broken}", WIDTH)
    rows = {"hooks": info.hooks, **_provided(plugins, info), "error": (info.error,) if info.error else ()}
    for label, values in rows.items():
        if values:
            yield from _row(label, visible(", ".join(values)))


def _row(label: str, text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=f"  {label:<{LABEL}}", subsequent_indent=" " * (LABEL + 2))
