"""pandera schemas: `metadata` of columns, and expectations of ours among the checks of the schema."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tcdp_audit.drafting.declarations import Declaration, declaration_of, roles_in
from tcdp_audit.plugin.engine import UsageError

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
