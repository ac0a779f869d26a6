"""From a file or a mapping to a `Policy`, or to all of its faults at once.

Of a file that is no policy at all nothing is quoted, since it may be a table of people.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tcdp_audit.core.base.errors import PolicyError, UsageError, redact_errors
from tcdp_audit.core.base.words import visible
from tcdp_audit.core.policy.faults import from_validation, render_faults, unsound
from tcdp_audit.core.policy.model import TABLES, PolicyDocument, Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.reading import Reading
from tcdp_audit.core.policy.schema import Registry
from tcdp_audit.core.policy.source import PolicySource, PolicySourceError, parse_yaml, plain

NAMING = {TABLES: "table", "dimensions": "dimension", "measures": "measure", "suppressed": "token"}  # what keys name
EMPTY = "the file is empty; draft a policy with `tcdp-audit init TABLE`"
ENOUGH = 2  # signs of a policy: a record of JSON may have one of the keys
VERSION, ATTRIBUTES, EXPECT, MODELS = "version", "attributes", "expect", "models"
LINES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^version:[ \t]*1[ \t]*(#.*)?$",
        r"^(?:attributes|tables|models):[ \t]*([{#].*)?$",
        r"^expect:[ \t]*([\[#].*)?$",
    )
)
NO_POLICY = (
    "no policy, which has `version: 1`, `attributes:` with roles or `tables:`, and a list `expect:`; nothing of it is "
    "quoted, since it may be a table: name a table as RELEASE, a policy with --policy"
)


@redact_errors()
def read_policy(policy: str | Path | Mapping[str, Any] | Policy, plugins: Registry, *, is_part: bool = False) -> Policy:
    """Read a policy from a file, or take it from a mapping of the same form.

    Args:
        policy: path of a `*.tcdp.yaml` file, or its content as a mapping.
        plugins: the plugins whose checks and remedies it may name.
        is_part: whether the mapping has some of the demands of a policy, and others are judged by themselves.

    Raises:
        UsageError: the file does not exist or cannot be read.
        PolicyError: the policy is wrong; the message lists every fault with line and column.
        PluginError: it names a check or a remedy that is unknown while a plugin that may define it is broken.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        given = _unfolded(policy)
        source, text, path = PolicySource(given, None), json.dumps(_named(given), default=str), None
        return Reading(source, text, path, plugins, is_part=is_part).policy()
    if not isinstance(policy, str | PathLike):
        raise UsageError(f"policy: must be a path, a mapping or a Policy, not of type {type(policy).__name__}")
    path = Path(policy)
    content = _read(path)
    return policy_of_text(_decoded(content, path), plugins, path, content)


@redact_errors()
def policy_of_text(text: str, plugins: Registry, path: Path | None = None, content: bytes | None = None) -> Policy:
    """Read a policy from the text of a file.

    Args:
        text: the text, its line ends as line feeds.
        plugins: the plugins whose checks and remedies it may name.
        path: the file that it is for: messages name it, and paths in the text start at its folder.
        content: the bytes of that file, of which the digest is taken.

    Raises:
        PolicyError: the policy is wrong; the message lists every fault with line and column.
        PluginError: as `read_policy` does.
    """
    return replace(Reading(policy_source(text, path), text, path, plugins).policy(), content=content)


def policy_without_checks(document: Mapping[str, Any]) -> Policy:
    """A policy that demands nothing but its columns, from a document without `expect`. No file can be one.

    Raises:
        PolicyError: it is wrong.
    """
    data = {**document, "expect": [{}]}
    try:
        read = PolicyDocument.model_validate(data)
    except ValidationError as error:
        faults = from_validation(error, PolicySource(data, None), PolicyDocument)
        raise PolicyError(render_faults("policy", "", faults)) from None
    return Policy(read, (), json.dumps(data, sort_keys=True))


def data_of_policy(path: Path) -> Any:
    """The content of a policy's file, before it is judged: a mapping as a program would give it.

    Raises:
        UsageError: the file does not exist or cannot be read.
        PolicyError: it holds no policy, and nothing of it is quoted; or its YAML is wrong.
    """
    return policy_source(_decoded(_read(path), path), path).data


def policy_source(text: str, path: Path | None = None) -> PolicySource:
    """Parse the text of a policy.

    Raises:
        PolicyError: it holds no policy, and nothing of it is quoted; or its YAML is wrong.
    """
    name = "policy" if path is None else str(path)
    if not text.strip():
        raise PolicyError(f"{visible(name)}: {EMPTY}", [(0, 0, EMPTY)])
    try:
        source = parse_yaml(text)
    except PolicySourceError as fault:
        first = fault.faults[0]
        if first.line and sum(pattern.search(text) is not None for pattern in LINES) < ENOUGH:
            raise _no_policy(name, first.line, first.column) from None
        raise unsound(name, text, fault.faults) from None
    if not isinstance(source.data, Mapping) or sum(_signs(source.data)) < ENOUGH:
        raise _no_policy(name)
    return source


def _unfolded(policy: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping as YAML would give it."""
    try:
        given: dict[str, Any] = plain(policy)
    except RecursionError:
        raise UsageError("policy: a list or a mapping in it holds itself; give it as a file would") from None
    tables = given.get(TABLES)
    figures = [(key, one.get(key)) for one in _values(tables) if isinstance(one, Mapping) for key in NAMING]
    columns_of = [("attributes", one) for one in _columns(given)]
    for section, names in ((TABLES, tables), *columns_of, *figures):
        if isinstance(names, dict) and len(set(map(str, names))) < len(names):
            what = f"{section}: a {NAMING.get(section, 'column')}"
            raise UsageError(f"policy: {what} is declared twice, by a number and by the same number as text")
    return given


def _named(given: Any) -> Any:
    """The same with keys that can be sorted: columns of pandas may be numbered."""
    if isinstance(given, dict):
        return {str(name): _named(one) for name, one in given.items()}
    return [_named(one) for one in given] if isinstance(given, list) else given


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such policy file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _decoded(content: bytes, path: Path) -> str:
    """The text of a policy, its line ends as line feeds."""
    try:
        return io.TextIOWrapper(io.BytesIO(content), "utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None


def _no_policy(name: str, line: int = 0, column: int = 0) -> PolicyError:
    """The error that a file is no policy. It stops being YAML at `line` and `column`, from 1; 0 where it is YAML."""
    sentence = f"not YAML here, and {NO_POLICY}" if line else NO_POLICY
    where = f"{visible(name)}:{line}:{column}" if line else visible(name)
    return PolicyError(f"{where}: {sentence}", [(line, column, sentence)])


def _signs(data: Mapping[Any, Any]) -> Iterator[bool]:
    """Whether data has each sign of a policy: version 1, what is released, a list of expectations."""
    version, expect = data.get(VERSION), data.get(EXPECT)
    yield str(version) == "1"
    declares = any(_is_declaration(one) for columns in _columns(data) for one in _values(columns))
    yield declares or any(map(_is_of_figures, (*_values(data.get(TABLES)), *_values(data.get(MODELS)))))
    yield isinstance(expect, list) and all(isinstance(one, str | Mapping) for one in expect)


def _columns(data: Mapping[Any, Any]) -> Iterator[Any]:
    """The declared columns of the release, and those of each of its tables."""
    yield data.get(ATTRIBUTES)
    yield from (one.get(ATTRIBUTES) for one in _values(data.get(TABLES)) if isinstance(one, Mapping))


def _values(section: Any) -> Iterable[Any]:
    return section.values() if isinstance(section, Mapping) else ()


def _is_of_figures(value: Any) -> bool:
    """Whether a table is one of figures, or a model has a size; a record of JSON has neither of them in mappings."""
    if not isinstance(value, Mapping):
        return False
    return any(isinstance(value.get(key), Mapping) for key in ("measures", "dimensions")) or "parameters" in value


def _is_declaration(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "role" in value
    return isinstance(value, str) and value.strip().lower().replace("-", "_") in set(Role)
