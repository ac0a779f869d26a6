"""`[tool.tcdp-audit]` in pyproject.toml: what a project says once and every call of the command line then means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from tcdp_audit.errors import UsageError
from tcdp_audit.policy.discovery import discover, named_policies, policies_in, with_parents

FEW = 3  # policies that a line names
FILE, TABLE = "pyproject.toml", "tool.tcdp-audit"
TEXTS, TEXT, TRUTH = "a list of texts", "a text", "true or false"
KEYS = {
    "policies": TEXTS,
    "reports": TEXTS,
    "fail-on": TEXT,
    "format": TEXT,
    "memory": TEXT,
    "measure-only": TRUTH,
    "no-external-plugins": TRUTH,
}


@dataclass(frozen=True)
class Configuration:
    """What a pyproject.toml says. Its paths start in its own folder.

    Args:
        path: the file; None where there is none.
        values: its keys.
    """

    path: Path | None
    values: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return Path() if self.path is None else self.path.parent

    def completed(self, context: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a call, with what the file says in place of defaults. The command line wins.

        Raises:
            UsageError: a value is none that the option takes.
        """
        ignored = {"policies"} if _is_of_check(context.command) else {"policies", "reports"}
        said = {key: value for key, value in self.values.items() if key not in ignored}
        options = {one.opts[0].removeprefix("--"): one for one in context.command.params if one.name in given}
        completed = dict(given)
        for key, value in said.items():
            option = options.get(key if key != "reports" else "report")
            if option is not None and context.get_parameter_source(str(option.name)) is ParameterSource.DEFAULT:
                completed[str(option.name)] = self._converted(key, value, option, context)
        return completed

    def _converted(self, key: str, value: Any, option: click.Parameter, context: click.Context) -> Any:
        if key == "reports":
            return tuple(str(self.folder / one) for one in value)
        try:
            return option.type.convert(value, option, context)
        except click.BadParameter as error:
            raise UsageError(f"{self.path}: {TABLE}.{key}: {error.message}") from None


def _is_of_check(command: click.Command) -> bool:
    """Whether the reports that a project wants are this command's: a repaired release has others."""
    return any(one.name == "policies" and getattr(one, "multiple", False) for one in command.params)


def configuration(folder: Path) -> Configuration:
    """The nearest pyproject.toml with a table for this tool: in a folder or above it, up to the repository's root.

    Raises:
        UsageError: it is no TOML, or the table has a key or a value that it cannot have.
    """
    for place in with_parents(folder):
        path = place / FILE
        if os.path.isfile(path) or os.path.islink(path):  # noqa: PTH113, PTH114 - no error in a folder that cannot be entered
            table = _table(path)
            if table is not None:
                return Configuration(path, _sound(table, path))
    return Configuration(None, {})


def _table(path: Path) -> Any:
    import tomllib  # noqa: PLC0415 - only where there is a file

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: not TOML that can be read: it is nested too deeply") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    return document.get("tool", {}).get("tcdp-audit") if isinstance(document.get("tool", {}), dict) else None


def _sound(table: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(table, dict):
        raise UsageError(f"{path}: {TABLE} must be a table")
    for key, value in table.items():
        if key not in KEYS:
            from difflib import get_close_matches  # noqa: PLC0415 - only for an unknown key

            near = get_close_matches(key, KEYS, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(KEYS)}"
            raise UsageError(f"{path}: {TABLE}: unknown key {key!r}{guess}")
        if not _fits(value, KEYS[key]):
            raise UsageError(f"{path}: {TABLE}.{key}: must be {KEYS[key]}")
    return table


def _fits(value: Any, kind: str) -> bool:
    if kind == TEXTS:
        return isinstance(value, list) and bool(value) and all(isinstance(one, str) and one for one in value)
    return isinstance(value, bool) if kind == TRUTH else isinstance(value, str)


def meant_policies(found: Configuration, folder: Path, release: str | None = None) -> tuple[list[Path], str]:
    """The policies of a call that names none, and which they are in words; no words for the one beside the caller.

    A folder's single policy is meant there and below, unless a pyproject.toml in between names others.

    Raises:
        UsageError: there is none, or there are several to choose from.
    """
    names = found.values.get("policies")
    for place in with_parents(folder) if names else ():
        nearer = policies_in(place) if place.resolve() != found.folder.resolve() else []
        if len(nearer) == 1:
            return nearer, _said(nearer[0], folder)
        if place.resolve() == found.folder.resolve():
            paths = named_policies(names or (), found.folder)
            listed = ", ".join(map(str, paths)) if len(paths) <= FEW else str(len(paths))
            return paths, f"{'policy' if len(paths) == 1 else 'policies'}: {listed}, as {found.path} says"
    path = discover(folder, quote(release or "TABLE"))
    return [path], _said(path, folder)


def _said(path: Path, folder: Path) -> str:
    return "" if path.parent == folder else f"policy: {path}"
