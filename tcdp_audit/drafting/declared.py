"""Roles that somebody declared elsewhere: in a pandera schema, a Great Expectations suite, dbt's manifest, a contract.

Files are read as data: neither dbt nor Great Expectations is imported. A pandera schema in Python is imported by
pandera, as the policy's `schema` is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from tcdp_audit.drafting.declarations import Declaration, Declarations
from tcdp_audit.drafting.declared_contract import contract_of, is_contract
from tcdp_audit.drafting.declared_dbt import is_manifest, manifest_of
from tcdp_audit.drafting.declared_pandera import imported_of, is_serialized, serialized_of
from tcdp_audit.drafting.declared_suite import is_suite, suite_of
from tcdp_audit.plugin.engine import UsageError, redact_errors

KNOWN = (
    "known are a pandera schema (YAML, or FILE.py:NAME), a Great Expectations suite (JSON), dbt's manifest.json, "
    "and an Open Data Contract (YAML)"
)
PYTHON = re.compile(
    r"(?P<file>.+\.py)(?::(?P<name>[A-Za-z_]\w*))?|(?P<module>[A-Za-z_][\w.]*):(?P<object>[A-Za-z_]\w*)"
)


@dataclass(frozen=True)
class _Form:
    """A form of file.

    Args:
        fits: whether the content of a file is one.
        read: what it declares, given its content, its name, and what the table is called.
    """

    fits: Callable[[Any], bool]
    read: Callable[[Any, str, str], Mapping[str, Declaration]]


FORMS = (
    _Form(is_manifest, manifest_of),
    _Form(is_suite, suite_of),
    _Form(is_contract, contract_of),
    _Form(is_serialized, serialized_of),
)


@redact_errors()
def declarations_in(location: str, table: str) -> Declarations:
    """What a file declares of the columns of a table.

    Args:
        location: a path; of a Python file also `FILE.py:NAME`; of a file with several tables also `FILE#TABLE`.
        table: what the table is called, to find it among several.

    Raises:
        UsageError: it cannot be read, is none of the known forms, or has no such table.
    """
    python = PYTHON.fullmatch(location)
    if python and (python["file"] or not Path(location).exists()):
        return Declarations(location, imported_of(location))
    name, _, chosen = location.partition("#") if not Path(location).exists() else (location, "", "")
    content = _content(Path(name))
    form = next((one for one in FORMS if one.fits(content)), None)
    if form is None:
        raise UsageError(f"--roles-from {name}: the file is none that declares roles; {KNOWN}")
    return Declarations(location, form.read(content, name, chosen or table), named=bool(chosen))


def _content(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe one
    except FileNotFoundError:
        raise UsageError(f"--roles-from {path}: no such file") from None
    except OSError as error:
        raise UsageError(f"--roles-from {path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"--roles-from {path}: not UTF-8 text; save it as UTF-8") from None
    except (ValueError, yaml.YAMLError, RecursionError):
        kind = "JSON" if path.suffix.lower() == ".json" else "YAML"
        raise UsageError(f"--roles-from {path}: not {kind} that can be read; {KNOWN}") from None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads dates and numbers as the texts that they are: a name may look like one."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag.endswith((":bool", ":null", ":merge"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
