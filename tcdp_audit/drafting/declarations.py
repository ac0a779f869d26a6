"""The declaration of a column, and the words that declare a role."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tcdp_audit.drafting.vocabulary import words_of
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import UsageError

ROLES = {
    Role.IDENTIFIER: "identifier, direct identifier, primary identifier, direct pii, personal identifier",
    Role.QUASI_IDENTIFIER: "quasi identifier, quasiidentifier, qi, qid, indirect identifier, indirect pii, key "
    "variable",
    Role.SENSITIVE: "sensitive, sensitive attribute, sensitive personal data, special category, special categories, "
    "confidential attribute",
    Role.INSENSITIVE: "insensitive, non sensitive, nonsensitive, not sensitive, non personal",
}
OF_WORDS = {word.strip(): role for role, words in ROLES.items() for word in words.split(",")}
KEYS = frozenset(
    {
        *("role", "tcdp role", "privacy role", "disclosure role", "tcdp", "classification", "data classification"),
        *("privacy", "sensitivity", "pii type", "pii", "contains pii", "personal data"),
    }
)
PERSONAL = ("pii", "contains pii", "personal data")  # say that it is about a person, and not in which way
KNOWN_CLASSES = frozenset({"public", "internal", "restricted", "confidential", "secret", "private", "pii", "phi"})


@dataclass(frozen=True)
class Declaration:
    """The declaration of one column in a file."""

    role: Role | None  # in the policy's words; None where it says something else that matters
    said: str  # how, in words


@dataclass(frozen=True)
class Declarations:
    """The declarations of a table's columns in a file."""

    location: str  # of the file
    columns: Mapping[str, Declaration]  # by name
    named: bool = False  # whether the call names the table in it


def declaration_of(properties: Any, tags: Any = ()) -> Declaration | None:
    """The declaration in a column's properties and tags; a role first, then that it is about a person.

    Example:
        >>> declaration_of({"classification": "quasi-identifier"}).role.value, declaration_of({"owner": "finance"})
        ('quasi_identifier', None)
    """
    said = [*_said(properties), *_tagged(tags)]
    return next((one for one in said if one.role is not None), next(iter(said), None))


def role_of(word: Any) -> Role | None:
    """The role that a word names; None where it is none."""
    return OF_WORDS.get(_plain(word)) if isinstance(word, str) else None


def _said(properties: Any, within: str = "") -> Iterator[Declaration]:
    if not isinstance(properties, Mapping):
        return
    for key, value in properties.items():
        if _plain(key) in KEYS:
            name = f"{within}{_plain(key).replace(' ', '_')}"
            yield from _said(value, f"{name}.") if isinstance(value, Mapping) else _of_value(name, _plain(key), value)


def _of_value(name: str, key: str, value: Any) -> Iterator[Declaration]:
    """What the value of one property declares; unknown words are not repeated."""
    role = role_of(value)
    if role is not None:
        yield Declaration(role, f"declared {name}: {_plain(value)}")
    elif key in PERSONAL and value in (True, "true", "True", "yes"):
        yield Declaration(None, f"declared {name}, which does not say in which way it identifies")
    elif isinstance(value, str) and _plain(value) in KNOWN_CLASSES:
        yield Declaration(None, f"declared {name}: {_plain(value)}, which is no role")


def _tagged(tags: Any) -> Iterator[Declaration]:
    for tag in tags if isinstance(tags, Iterable) and not isinstance(tags, Mapping) else ():
        word = tag.rpartition(":")[2] if isinstance(tag, str) else tag
        role = role_of(word)
        if role is not None:
            yield Declaration(role, f"declared by the tag {_plain(word)}")
        elif isinstance(word, str) and _plain(word) in PERSONAL:
            yield Declaration(None, "declared by the tag pii, which does not say in which way it identifies")


def _plain(word: Any) -> str:
    return " ".join(words_of(str(word)))


def roles_in(parameters: Any, said: str) -> dict[str, Declaration]:
    """Columns with the roles that an expectation of ours gives them by its parameters."""
    roles: dict[str, Declaration] = {}
    if not isinstance(parameters, Mapping):
        return roles
    declared = parameters.get("declarations")
    for column, one in declared.items() if isinstance(declared, Mapping) else ():
        role = role_of(one.get("role")) if isinstance(one, Mapping) else None
        if role is not None:
            roles[str(column)] = Declaration(role, said)
    if "quasi_identifiers" in parameters:
        for key in ("column", "attribute"):
            if isinstance(parameters.get(key), str):
                roles.setdefault(parameters[key], Declaration(Role.SENSITIVE, said))
        for column in as_names(parameters["quasi_identifiers"]):
            roles[column] = Declaration(Role.QUASI_IDENTIFIER, said)
    return roles


def as_names(given: Any) -> list[str]:
    """One name or several."""
    return [given] if isinstance(given, str) else [str(one) for one in given] if isinstance(given, list | tuple) else []


SAID = "quasi-identifiers and attributes of an expectation in the schema"
SCHEMAS = ("DataFrameSchema", "DataFrameModel", "SchemaModel")


def is_serialized(content: Any) -> bool:
    """Whether YAML is a schema as `to_yaml` of pandera writes it."""
    return isinstance(content, Mapping) and content.get("schema_type") == "dataframe"


def serialized_of(content: Any, _: str, __: str) -> Mapping[str, Declaration]:
    """What a written schema declares. pandera leaves `metadata` out of it, which is read where it was added."""
    checks = content.get("checks")
    listed = checks.values() if isinstance(checks, Mapping) else checks if isinstance(checks, list) else ()
    columns = content.get("columns")
    metadata = {
        str(name): one.get("metadata")
        for name, one in (columns.items() if isinstance(columns, Mapping) else ())
        if isinstance(one, Mapping)
    }
    return _declared(metadata, listed)


def imported_of(location: str) -> Mapping[str, Declaration]:
    """What a schema in Python declares: `FILE.py`, `FILE.py:NAME` or `package.module:NAME`. It is imported.

    Raises:
        UsageError: it cannot be imported, or is no schema.
    """
    place, _, name = location.partition(":")
    try:
        module = _module(place)
        schema = _schema(module, name, location)
        columns = {str(key): one.metadata for key, one in schema.columns.items()}
        return _declared(columns, [one.statistics for one in schema.checks or ()])
    except UsageError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(f"--roles-from {location}: no module {error.name!r} can be imported from here") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is a user's code
        raise UsageError(f"--roles-from {location}: importing it raised {type(error).__name__}") from None


def _module(place: str) -> ModuleType:
    here = os.getcwd()  # noqa: PTH109 - an entry of sys.path is a text
    sys.path.append(here)  # last, so that no file here replaces an installed module
    try:
        return _from_file(Path(place)) if place.endswith(".py") else import_module(place)
    finally:
        sys.path.remove(here)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"--roles-from {path}: no such file")
    spec = spec_from_file_location("tcdp_audit_declared_schema", path)
    module = module_from_spec(spec)  # type: ignore[arg-type]  # a file that ends in .py has one
    sys.modules["tcdp_audit_declared_schema"] = module  # pandera's models ask for their own module
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def _schema(module: ModuleType, name: str, location: str) -> Any:
    """The schema of a name, or the only one of a module."""
    if name and not hasattr(module, name):
        raise UsageError(f"--roles-from {location}: the module has no {name!r}")
    own = [one for one in vars(module).values() if _is_schema(one) and _is_own(one, module)]
    if not name and len(own) != 1:
        raise UsageError(f"--roles-from {location}: the module has {len(own)} schemas; name one as {location}:NAME")
    schema: Any = getattr(module, name) if name else own[0]
    if not _is_schema(schema):
        raise UsageError(f"--roles-from {location}: it is no DataFrameSchema or DataFrameModel of pandera")
    model: Any = schema
    return model.to_schema() if isinstance(schema, type) else schema


def _is_schema(one: Any) -> bool:
    kinds = (one if isinstance(one, type) else type(one)).__mro__
    return any(kind.__name__ in SCHEMAS and kind.__module__.split(".")[0] == "pandera" for kind in kinds)


def _is_own(one: Any, module: ModuleType) -> bool:
    """Whether a schema is defined in a module and not imported from pandera: a class says where it is from."""
    return not isinstance(one, type) or one.__module__ == module.__name__


def _declared(metadata: Mapping[str, Any], checks: Iterable[Any]) -> Mapping[str, Declaration]:
    declared: dict[str, Declaration] = {}
    for one in checks:
        declared |= roles_in(one, SAID)
    own = {
        name: declaration_of(one, one.get("tags") or ()) for name, one in metadata.items() if isinstance(one, Mapping)
    }
    return {**declared, **{name: one for name, one in own.items() if one is not None}}
