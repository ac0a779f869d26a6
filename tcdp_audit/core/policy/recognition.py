"""Whether a document is a policy at all: of anything else nothing is quoted, since it may be a table of people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.visible import visible
from tcdp_audit.core.policy.model import Role

ENOUGH = 2  # signs of a policy: a record of JSON may have one of the keys
VERSION, ATTRIBUTES, EXPECT = "version", "attributes", "expect"
LINES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (r"^version:[ \t]*1[ \t]*(#.*)?$", r"^attributes:[ \t]*([{#].*)?$", r"^expect:[ \t]*([\[#].*)?$")
)
NO_POLICY = (
    "no policy, which has `version: 1`, `attributes:` with roles and a list `expect:`; nothing of it is quoted, since "
    "it may be a table: name a table as RELEASE, a policy with --policy"
)


def is_policy(data: Any) -> bool:
    """Whether data has two of the signs of a policy: version 1, declared roles, a list of expectations."""
    return isinstance(data, Mapping) and sum(_signs(data)) >= ENOUGH


def is_policy_text(text: str) -> bool:
    """The same of a text that cannot be read as data, by the lines in it that begin a section."""
    return sum(pattern.search(text) is not None for pattern in LINES) >= ENOUGH


def no_policy(name: str, line: int = 0, column: int = 0) -> PolicyError:
    """The error that a file is no policy.

    Args:
        name: the file.
        line: where it stops being YAML, from 1; 0 where it is YAML.
        column: likewise.
    """
    sentence = f"not YAML here, and {NO_POLICY}" if line else NO_POLICY
    where = f"{visible(name)}:{line}:{column}" if line else visible(name)
    return PolicyError(f"{where}: {sentence}", [(line, column, sentence)])


def _signs(data: Mapping[Any, Any]) -> Iterator[bool]:
    version, attributes, expect = (data.get(key) for key in (VERSION, ATTRIBUTES, EXPECT))
    yield str(version) == "1"
    yield isinstance(attributes, Mapping) and any(map(_is_declaration, attributes.values()))
    yield isinstance(expect, list) and all(isinstance(one, str | Mapping) for one in expect)


def _is_declaration(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "role" in value
    return isinstance(value, str) and value.strip().lower().replace("-", "_") in set(Role)
