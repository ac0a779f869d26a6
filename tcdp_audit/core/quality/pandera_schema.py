"""Loading a pandera schema, and taking from it every way to pass a release without judging it as it is."""

from __future__ import annotations

import copy
import os
import re
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import pandera.pandas as pa
import yaml
from pandera.io.pandas_io import deserialize_schema

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.policy.policy import Policy

MODULE_AND_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_KEYS = (
    "schema_type version columns checks index dtype coerce strict name ordered unique report_duplicates "
    "unique_column_names add_missing_columns title description metadata drop_invalid_rows multiindex "
    "dataframe_library api"
)
KEYS = frozenset(_KEYS.split())
EDITABLE = "__editable__"  # what the finders of editable installations are called
UNTRUSTED = (
    "is code that is not installed; code next to a policy runs only with --trust-policy-code (in Python: "
    "load_policy(..., trust_policy_code=True)), or if this program has imported it"
)


@dataclass(frozen=True)
class SchemaDemands:
    """A schema that judges the release as it is."""

    name: str  # what messages call the schema
    schema: Any  # a copy of it that drops, filters, fills in and parses nothing, and whose failures all count
    warnings: frozenset[int]  # the ids of those of its checks whose failure only warns

    @property
    def columns(self) -> int:
        """Number of columns that it describes."""
        return len(self.schema.columns)

    @property
    def checks(self) -> int:
        """Number of its checks, on columns and on the table."""
        return sum(len(part.checks or ()) for part in _parts(self.schema))

    @staticmethod
    def of(schema: Any, name: str) -> SchemaDemands:
        """A schema of pandas or polars without its silent ways out."""
        strict = copy.deepcopy(schema)
        return SchemaDemands(name, strict, frozenset(_without_ways_out(strict)))

    def observed_by(self, see: Callable[[int], None]) -> Any:
        """The schema with one more check, which reports how many records pandera showed to it."""

        def seen(shown: Any) -> bool:
            see(len(shown.lazyframe.collect() if hasattr(shown, "lazyframe") else shown))
            return True

        observed = copy.copy(self.schema)
        observed.checks = [*(self.schema.checks or ()), pa.Check(seen, name="every record is seen")]
        return observed


def demands_of(policy: Policy) -> SchemaDemands:
    """The policy's schema, without its silent ways out.

    Raises:
        PolicyError: it cannot be loaded, is of another library than pandas, or demands nothing.
    """
    location = str(policy.document.schema_)
    try:
        by_name = MODULE_AND_NAME.fullmatch(location)
        schema = _imported(location, policy) if by_name else _read(Path(policy.resolve(location)))
        demands = SchemaDemands.of(schema, location)
        _require_demand(demands.schema)
    except _Fault as fault:
        raise PolicyError(f"{policy.name}: schema: {location}: {fault}") from None
    return demands


class _Fault(Exception):  # noqa: N818 - it becomes a PolicyError
    """Reason why a schema cannot be used."""


def _read(path: Path) -> pa.DataFrameSchema:
    """A schema as `to_yaml` of pandera writes it; a key that pandera would overlook is a fault."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _Fault(f"cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _Fault(f"is not YAML ({type(error).__name__})") from None
    if not isinstance(content, dict):
        raise _Fault("is not a pandera schema: it must be a mapping with the key `columns`")
    unknown = sorted(str(key) for key in content if key not in KEYS)
    if unknown:
        raise _Fault(f"has keys that pandera does not know: {', '.join(unknown)}")
    if content.get("dataframe_library", content.get("api", "pandas")) != "pandas":
        raise _Fault("is a schema for another library; the release is validated as a pandas frame")
    try:
        schema: pa.DataFrameSchema = deserialize_schema(content)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - pandera raises whatever its parts raise
        raise _Fault(f"is not a pandera schema ({type(error).__name__}: {error})") from None
    return schema


def _imported(location: str, policy: Policy) -> pa.DataFrameSchema:
    """The schema or model `module:Name`, if its code may run."""
    module, _, name = location.partition(":")
    try:
        named = getattr(module_of(module, policy), name)
        schema = named.to_schema() if isinstance(named, type) and issubclass(named, pa.DataFrameModel) else named
    except UntrustedError:
        raise _Fault(UNTRUSTED) from None
    except ModuleNotFoundError as error:
        raise _Fault(f"no module {error.name!r} can be imported from here") from None
    except AttributeError as error:
        lacks = error.name == name
        raise _Fault(f"the module has no {name!r}" if lacks else "the module raised AttributeError") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the code of a policy's author
        raise _Fault(f"importing it raised {type(error).__name__}") from None
    if not isinstance(schema, pa.DataFrameSchema):
        kind = f"{type(schema).__module__.split('.')[0]} {type(schema).__name__}"
        raise _Fault(f"is a {kind}; it must be a DataFrameSchema or a DataFrameModel of `pandera.pandas`")
    return schema


def _parts(schema: Any) -> Iterator[Any]:
    """The schema, its columns and its index, each of which has checks of its own."""
    yield schema
    yield from schema.columns.values()
    yield from getattr(schema.index, "indexes", [] if schema.index is None else [schema.index])


def _without_ways_out(schema: Any) -> Iterator[int]:
    """Change a schema so that nothing passes by being dropped, filled in, parsed or sampled.

    Yields:
        The id of each check that was declared to warn only; it now fails, and the outcome warns.
    """
    schema.strict = True if schema.strict == "filter" else schema.strict
    schema.add_missing_columns = False
    for part in _parts(schema):
        part.drop_invalid_rows = False
        part.parsers = []
        if hasattr(part, "default"):
            part.default = None
        for check in part.checks:
            check.n_failure_cases = None
            if check.raise_warning:
                check.raise_warning = False
                yield id(check)


def _require_demand(schema: pa.DataFrameSchema) -> None:
    if not any(map(_demands, _parts(schema))):
        raise _Fault("it demands nothing: it has no column, no check and no type")


def _demands(part: Any) -> bool:
    """True if a release could fail a part of a schema."""
    if isinstance(part, pa.DataFrameSchema):
        own = part.dtype, part.unique, part.unique_column_names, part.strict, part.ordered and part.columns
        return bool(part.checks) or any(own)
    return bool(part.checks) or part.dtype is not None or part.unique or not part.nullable or part.required


class UntrustedError(Exception):
    """The module is not installed, and the policy's own code is not trusted."""


def module_of(name: str, policy: Policy) -> ModuleType:
    """A module that a policy names, imported.

    Args:
        name: with dots.
        policy: it; where its code is trusted, a module is looked for in the current folder, too.

    Raises:
        UntrustedError: it is not installed, not imported by this program, and not trusted.
        ImportError: it cannot be imported. Whatever else its code raises is raised as well.
    """
    if policy.trusts_code:
        with _path([*sys.path, os.getcwd()]):  # noqa: PTH109 - an entry of sys.path; last, so that it replaces nothing
            return import_module(name)
    if name in sys.modules:
        return sys.modules[name]
    folders = [one for one in _folders_of_packages() if not _same(one, policy.directory)]
    if "__main__" in name.split(".") or not _is_installed(name.partition(".")[0], folders):
        raise UntrustedError
    with _path([*_folders_of_python(), *folders]):
        return import_module(name)


def _is_installed(top: str, folders: list[str]) -> bool:
    """True if a package of this name is found in folders of packages; nothing is imported."""
    if PathFinder.find_spec(top, folders) is not None:
        return True
    finders = [one for one in sys.meta_path if getattr(one, "__module__", "").startswith(EDITABLE)]
    return any(one.find_spec(top, None) is not None for one in finders)


def _folders_of_packages() -> list[str]:
    """The entries of the path that are folders of packages, or that a file of paths in one of them names."""
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        own.add(site.getusersitepackages())
    named = {str(Path(folder, line)) for folder in own for line in _lines(folder)}
    return [one for one in sys.path if one and any(_same(one, other) for other in (*own, *named))]


def _lines(folder: str) -> Iterator[str]:
    """The folders that the files of paths in a folder of packages name."""
    for file in sorted(Path(folder).glob("*.pth")):
        with suppress(OSError, UnicodeDecodeError):
            lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            yield from (line.strip() for line in lines if not line.startswith(("#", "import ", "import\t")))


def _folders_of_python() -> list[str]:
    """The entries of the path that are Python's own."""
    own = [os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    return [one for one in sys.path if one and any(Path(os.path.realpath(one)).is_relative_to(root) for root in own)]


def _same(one: str | Path, other: str | Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


@contextmanager
def _path(entries: list[str]) -> Iterator[None]:
    """For a while, look for modules in these folders only."""
    before = sys.path
    sys.path = entries
    try:
        yield
    finally:
        sys.path = before
