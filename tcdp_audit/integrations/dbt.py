"""dbt: the models that have a policy, and the address of the database that they were built in.

Everything is read from the project's files as dbt writes them: `dbt_project.yml`, `profiles.yml`, and `manifest.json`
and `run_results.json` of the last run. dbt is not imported, so it may live in another environment. What a profile says
goes into addresses only: no message quotes a value of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from jinja2.exceptions import TemplateError
from jinja2.sandbox import SandboxedEnvironment

from tcdp_audit.plugin.engine import DataError, UsageError
from tcdp_audit.plugin.sentences import listing

KEY = "tcdp_audit"  # in `meta` of a model and of its columns
KINDS = ("model", "seed", "snapshot")
BUILT = ("success", "pass", "no-op")  # what dbt says of a model whose table is there
OTHERS = "give the address of its database with --database, such as snowflake://USER@ACCOUNT/DATABASE"
TO_DRIVER = ("sslmode", "sslcert", "sslkey", "sslrootcert", "connect_timeout")  # of a profile, as PostgreSQL calls it


@dataclass(frozen=True)
class Model:
    """A model with a policy.

    Args:
        name: its name in the project.
        path: its file: the SQL of a model, the CSV of a seed.
        policy: the policy's file, or its content as a mapping.
        database: the database of its table.
        schema: the schema of its table.
        table: the name of its table.
        reason: why its table cannot be audited; empty where it can.
    """

    name: str
    path: Path
    policy: Path | Mapping[str, Any]
    database: str
    schema: str
    table: str
    reason: str = ""

    @property
    def place(self) -> str:
        """Its table as an address names it: `schema.table`, odd names quoted."""
        return ".".join(_quoted(one) for one in (self.schema, self.table) if one)

    def require_built(self) -> None:
        """Require that the last run of dbt made its table.

        Raises:
            DataError: it did not; what the database holds may be an older table.
        """
        if self.reason:
            raise DataError(f"{self.name}: {self.reason}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if {'"', ".", "&", "#"} & set(name) else name


@dataclass(frozen=True)
class Project:
    """A project of dbt after a run.

    Args:
        folder: the folder of its `dbt_project.yml`.
        settings: the content of that file.
    """

    folder: Path
    settings: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Project:
        """The project of a folder.

        Raises:
            UsageError: it has no `dbt_project.yml`, or that cannot be read.
        """
        return cls(folder, _yaml(folder / "dbt_project.yml", "run this in a dbt project, or name it by --project-dir"))

    def models(self, selected: Sequence[str] = ()) -> list[Model]:
        """The models that have a policy, in the order of their names; with `selected` those of these names.

        Raises:
            UsageError: dbt has not run, no model has a policy, a selected one has none, or `meta` has no policy.
        """
        target = Path(os.environ.get("DBT_TARGET_PATH") or str(self.settings.get("target-path") or "target"))
        folder = self.folder / target
        nodes = _json(folder / "manifest.json").get("nodes") or {}
        states = _states(folder / "run_results.json")
        listed = [one for key, node in nodes.items() if (one := self._model(node, states.get(key, ""))) is not None]
        listed.sort(key=lambda one: one.name)
        if unknown := sorted({*selected} - {one.name for one in listed}):
            raise UsageError(f"--select {unknown[0]}: no model of this name has meta.{KEY}; {_known(listed)}")
        if not listed:
            raise UsageError(
                f"{self.folder / 'dbt_project.yml'}: no model has meta.{KEY}, so there is nothing to audit"
            )
        return [one for one in listed if not selected or one.name in selected]

    def _model(self, node: Mapping[str, Any], state: str) -> Model | None:
        given = _meta(node)
        if node.get("resource_type") not in KINDS or given is None:
            return None
        name = str(node["name"])
        if isinstance(given, str):
            policy: Path | Mapping[str, Any] = self.folder / given
        elif isinstance(given, Mapping):
            policy = _with_columns(given, node.get("columns") or {})
        else:
            raise UsageError(f"{name}: meta.{KEY} must be the path of a policy, or a policy itself")
        return Model(
            name,
            self.folder / str(node["original_file_path"]),
            policy,
            str(node.get("database") or ""),
            str(node.get("schema") or ""),
            str(node.get("alias") or name),
            _reason(node, state),
        )


def _meta(node: Mapping[str, Any]) -> Any:
    """The policy or declaration in the `meta` of a model or a column; dbt has it below `config` since 1.10."""
    config = node.get("config") or {}
    return {**(node.get("meta") or {}), **(config.get("meta") or {})}.get(KEY)


def _with_columns(policy: Mapping[str, Any], columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """A policy in `meta`, with the declarations in the `meta` of columns."""
    declared = {str(one.get("name", key)): given for key, one in columns.items() if (given := _meta(one)) is not None}
    own = policy.get("attributes") or {}
    if twice := sorted(declared.keys() & own.keys()):
        raise UsageError(
            f"the column {twice[0]!r} is declared by its own meta.{KEY} and by that of its model; keep one"
        )
    return {**policy, "attributes": {**declared, **own}} if declared else policy


def _reason(node: Mapping[str, Any], state: str) -> str:
    if (node.get("config") or {}).get("materialized") == "ephemeral":
        return "is ephemeral, so it has no table to audit; give it another materialization"
    if state and state not in BUILT:
        return f"was not built by the last run of dbt (its state is {state!r}); run dbt build"
    return ""


def _states(path: Path) -> dict[str, str]:
    """The state of each node after the last run, by its unique name; empty where that is not known."""
    if not path.exists():
        return {}
    return {str(one["unique_id"]): str(one["status"]) for one in _json(path).get("results") or ()}


def _known(models: Iterable[Model]) -> str:
    names = listing([repr(one.name) for one in models])
    return f"those that have one are {names}" if names else "no model has one"


@dataclass(frozen=True)
class Profile:
    """The entries of `profiles.yml` on the database of a target; its representation hides them.

    Args:
        name: the profile's name.
        target: the target's name.
        output: the entries of the target.
    """

    name: str
    target: str
    output: Mapping[str, Any]

    def __repr__(self) -> str:
        """Its names, without an entry."""
        return f"<Profile {self.name}, target {self.target}>"

    @classmethod
    def read(cls, project: Project, folder: Path | None = None, name: str = "", target: str = "") -> Profile:
        """The profile of a project, found as dbt finds it.

        Args:
            project: the project.
            folder: the folder of `profiles.yml`; by default DBT_PROFILES_DIR, the current folder, `~/.dbt`.
            name: the profile; by default that of the project.
            target: the target; by default DBT_TARGET, that of the profile, `default`.

        Raises:
            UsageError: there is no such file, profile or target, or a variable of the environment is not set.
        """
        path = (folder or _profiles_folder()) / "profiles.yml"
        content = _yaml(path, "dbt debug says where dbt looks; name the folder by --profiles-dir")
        name = name or str(_rendered(project.settings.get("profile") or "", path))
        profile = content.get(name)
        if not isinstance(profile, Mapping):
            raise UsageError(f"{path}: has no profile {name!r}; name one by --profile")
        target = target or os.environ.get("DBT_TARGET") or str(_rendered(profile.get("target") or "default", path))
        output = (profile.get("outputs") or {}).get(target)
        if not isinstance(output, Mapping):
            raise UsageError(f"{path}: the profile {name!r} has no target {target!r}; name one by --target")
        return cls(name, target, {key: _rendered(value, path) for key, value in output.items()})

    def address_of(self, model: Model) -> str:
        """The address of a model's table, with what the profile says of user and password.

        Raises:
            UsageError: its type is another one than duckdb and postgres, or an entry is missing.
        """
        kind = str(self.output.get("type", ""))
        if kind == "duckdb":
            return with_table(self._duckdb(model), model)
        if kind in ("postgres", "postgresql"):
            return with_table(self._postgres(model), model)
        raise UsageError(f"the profile {self.name!r} is of the type {kind!r}: {OTHERS}")

    def _duckdb(self, model: Model) -> str:
        path = str(self.output.get("path") or ":memory:")
        if path == ":memory:" or "://" in path or path.startswith("md:"):
            raise UsageError(
                f"the profile {self.name!r} names no file of DuckDB, so no table outlasts dbt; name one by path"
            )
        if model.database != Path(path).stem:
            raise UsageError(f"{model.name}: is in an attached database; write one of the profile's own database")
        return f"duckdb:///{Path(path).absolute()}"

    def _postgres(self, model: Model) -> str:
        get = self.output.get
        host, user, database = (str(get(key) or "") for key in ("host", "user", "dbname"))
        database = database or str(get("database") or "")
        password = get("password") or get("pass")
        if not (host and user and database):
            raise UsageError(f"the profile {self.name!r} lacks host, user or dbname")
        if model.database != database:
            raise UsageError(f"{model.name}: is in another database than that of the profile")
        secret = "" if password is None else f":{quote(str(password), safe='')}"
        options = [f"{key}={quote(str(value), safe='')}" for key in TO_DRIVER if (value := get(key))]
        if role := get("role"):
            options.append("options=" + quote(f"-c role={role}", safe=""))
        port = get("port") or 5432
        server = f"{quote(host, safe='.:[]')}:{port}"
        if host.startswith("/"):  # the folder of a socket
            server, options = "", [f"host={quote(host)}", f"port={port}", *options]
        return f"postgresql://{quote(user, safe='')}{secret}@{server}/{quote(database)}" + (
            f"?{'&'.join(options)}" if options else ""
        )


def with_table(address: str, model: Model) -> str:
    """The address of a database with the table of a model."""
    return f"{address}{'&' if '?' in address else '?'}table={quote(model.place, safe='.')}"


def _profiles_folder() -> Path:
    """The folder in which dbt looks for `profiles.yml`."""
    if named := os.environ.get("DBT_PROFILES_DIR"):
        return Path(named)
    return Path() if Path("profiles.yml").exists() else Path.home() / ".dbt"


def _rendered(value: Any, path: Path) -> Any:
    """A value of a profile, its `{{ env_var(…) }}` replaced as dbt does; anything else stays as it is."""
    if not isinstance(value, str) or "{" not in value:
        return value
    missing: list[str] = []

    def env_var(name: str, default: str | None = None) -> str:
        value = os.environ.get(name, default)
        if value is None:
            missing.append(name)
        return value or ""

    environment = SandboxedEnvironment()
    environment.filters.update(dict.fromkeys(("as_number", "as_bool", "as_native", "as_text"), lambda text: text))
    try:
        text = environment.from_string(value).render(env_var=env_var)
    except (TemplateError, TypeError, ValueError):
        text = ""
        missing.append("")
    if not missing:
        return text
    if missing[0]:
        raise UsageError(f"{path}: the variable {missing[0]} is not set in the environment")
    raise UsageError(f"{path}: an entry calls what only dbt can answer; {OTHERS}")


def _yaml(path: Path, advice: str) -> Mapping[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); {advice}") from None
    except (UnicodeDecodeError, yaml.YAMLError):
        content = None
    if not isinstance(content, Mapping):
        raise UsageError(f"{path}: is no file of dbt in YAML")
    return content


def _json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); run dbt build first") from None
    except ValueError:
        content = None
    if not isinstance(content, Mapping):
        raise UsageError(f"{path}: is no file that dbt writes; run dbt build")
    return content
