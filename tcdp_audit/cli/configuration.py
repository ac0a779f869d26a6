"""`[tool.tcdp-audit]` in pyproject.toml: settings of a project for every call of the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from tcdp_audit.api import discover, named_policies, policies_in, with_parents
from tcdp_audit.plugin.engine import UsageError

FEW = 3  # policies that a line names
FILE, TABLE = "pyproject.toml", "tool.tcdp-audit"
TEXTS, TEXT, TRUTH = "a list of texts", "a text", "true or false"
KEYS = {
    "policies": TEXTS,
    "reports": TEXTS,
    "fail-on": TEXT,
    "format": TEXT,
    "memory": TEXT,
    "language": TEXT,
    "allow-vacuous": TRUTH,
    "no-external-plugins": TRUTH,
}


@dataclass(frozen=True)
class Configuration:
    """The settings of a pyproject.toml, by key. Its paths start in its own folder; None where there is no file."""

    path: Path | None
    values: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return Path() if self.path is None else self.path.parent

    def completed(self, context: click.Context, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The options of a call with the file's values in place of defaults, and those values. The command line wins.

        Raises:
            UsageError: a value is none that the option takes, or a path is outside the file's folder.
        """
        ignored = {"policies"} if _is_of_check(context.command) else {"policies", "reports"}
        said = {key: value for key, value in self.values.items() if key not in ignored}
        options = {one.opts[0].removeprefix("--"): one for one in context.command.params if one.name in given}
        completed, changed = dict(given), {}
        for key, value in said.items():
            option = options.get(key if key != "reports" else "report")
            if option is not None and context.get_parameter_source(str(option.name)) is ParameterSource.DEFAULT:
                completed[str(option.name)], changed[key] = self._converted(key, value, option, context), value
        return completed, changed

    def _inside(self, name: str, key: str) -> Path:
        """A path that the file names, which must be inside the file's folder."""
        path = self.folder / name
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder)):
            raise UsageError(f"{self.path}: {TABLE}.{key}: {name!r} is outside the folder of this file")
        return path

    def _report(self, name: str, key: str) -> str:
        """The path of a report, whose folder is made: a fresh checkout has none."""
        path = self._inside(name, key)
        if "{policy}" not in str(path.parent):
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def named(self) -> list[Path]:
        """The policies that the file names; none where it names none.

        Raises:
            UsageError: one of them is outside its folder, or there is none of a name.
        """
        names = self.values.get("policies", ())
        for name in names:
            self._inside(name, "policies")
        return named_policies(names, self.folder)

    def _converted(self, key: str, value: Any, option: click.Parameter, context: click.Context) -> Any:
        if key == "reports":
            return tuple(self._report(one, key) for one in value)
        try:
            return option.type.convert(value, option, context)
        except click.BadParameter as error:
            raise UsageError(f"{self.path}: {TABLE}.{key}: {error.message}") from None


def _is_of_check(command: click.Command) -> bool:
    """Whether the configured reports are for this command: a repaired release has others."""
    return any(one.name == "policies" and getattr(one, "multiple", False) for one in command.params)


NO_CONFIGURATION = Configuration(None, {})


def configuration(folder: Path) -> Configuration:
    """The pyproject.toml that counts for the policies in a folder, if it has a table for this tool.

    It is in this folder, or in the root of its repository. One in any other folder above, such as /tmp, may be
    another person's, and so may one that belongs to another user.

    Raises:
        UsageError: it is no TOML, or the table has a key or a value that it cannot have.
    """
    *_, last = places = list(with_parents(folder))
    root = [last] if os.path.exists(last / ".git") else []  # noqa: PTH110 - no error where it cannot be entered
    for place in dict.fromkeys([places[0], *map(_shown, root)]):
        path = place / FILE
        if _is_ours(path, folder):
            table = _table(path)
            if table is not None:
                return Configuration(path, _sound(table, path))
    return NO_CONFIGURATION


def configuration_of(policies: Sequence[Path], naming: Configuration) -> Configuration:
    """The pyproject.toml that counts for some policies.

    Args:
        policies: their files.
        naming: the configuration that named them; an empty one where the call or a folder did.

    Raises:
        UsageError: several count, or the one that named a policy has keys that do not count for it.
    """
    by_path = {_real(one.path): one for one in (configuration(_shown(policy.parent)) for policy in policies)}
    if len(by_path) > 1:
        names = ", ".join(sorted(str(one.path or f"no {FILE}") for one in by_path.values()))
        raise UsageError(f"the policies have different configurations ({names}); name those of one with --policy")
    [one] = by_path.values()
    others = [key for key in naming.values if key != "policies"]
    if others and _real(naming.path) != _real(one.path):
        where = "is neither in the folder of the policy that it names nor in the root of its repository"
        raise UsageError(f"{naming.path}: {where}, so it cannot set {', '.join(others)}; give options, or move it")
    return one


def _shown(folder: Path) -> Path:
    """A folder as a person would type it."""
    whole = os.path.realpath(folder)
    try:
        return Path(os.path.relpath(whole))
    except ValueError:  # on another drive
        return Path(whole)


def _real(path: Path | None) -> str | None:
    return None if path is None else os.path.realpath(path)


def _is_ours(path: Path, folder: Path) -> bool:
    """Whether a file exists and belongs to this user, to the system's, or to the owner of the folder."""
    try:
        owner, own = os.lstat(path).st_uid, os.lstat(os.path.realpath(folder)).st_uid
    except OSError:
        return False
    return not hasattr(os, "geteuid") or owner in (os.geteuid(), 0, own)


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


def resolve_policies(settings: Configuration, folder: Path, release: str | None = None) -> tuple[list[Path], str]:
    """The policies of a call that names none, and a sentence on them; empty for the one in the caller's folder.

    A folder's single policy applies there and below, unless a pyproject.toml in between names others.

    Raises:
        UsageError: there is none, or there are several to choose from.
    """
    names = settings.values.get("policies")
    for place in with_parents(folder) if names else ():
        nearer = policies_in(place) if place.resolve() != settings.folder.resolve() else []
        if len(nearer) == 1:
            return nearer, _said(nearer[0], folder)
        if place.resolve() == settings.folder.resolve():
            paths = settings.named()
            listed = ", ".join(map(str, paths)) if len(paths) <= FEW else str(len(paths))
            return paths, f"{'policy' if len(paths) == 1 else 'policies'}: {listed}, as {settings.path} says"
    path = discover(folder, quote(release or "TABLE"))
    return [path], _said(path, folder)


def said_of(settings: Configuration, changed: Mapping[str, Any]) -> str:
    """The changes by a pyproject.toml, in words: `pyproject.toml sets allow-vacuous = true`."""
    return f"{settings.path} sets {', '.join(f'{key} = {json.dumps(value)}' for key, value in changed.items())}"


def _said(path: Path, folder: Path) -> str:
    return "" if path.parent == folder else f"policy: {path}"
