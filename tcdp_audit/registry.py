"""Loading plugins so that none can take another down, and none can turn a failure into a pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from tcdp_audit import hookspecs
from tcdp_audit.errors import PluginError
from tcdp_audit.frozen import FrozenDict, frozen
from tcdp_audit.plugin_faults import first_line
from tcdp_audit.provenance import PluginInfo

if TYPE_CHECKING:
    from tcdp_audit.check.kinds import Check
    from tcdp_audit.remedy.remedy import Remedy
    from tcdp_audit.results.reporter import Reporter, ReportSection

GROUP = "tcdp_audit"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

Spec = TypeVar("Spec")


@dataclass
class Plugins:
    """The plugins of one run, each registered by itself, and what they provide.

    Installed plugins are listed at once and imported when something is first asked of them; so those that a policy
    does not allow are never imported.

    Args:
        external: whether plugins of other distributions are used at all.
        blocked: names of plugins to leave out.
        allowed: names of the external plugins that may be used; None for all.
    """

    external: bool = True
    blocked: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    _waiting: list[EntryPoint] = field(default_factory=list)  # installed, and not imported yet
    _infos: list[PluginInfo] = field(default_factory=list)
    _provided: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # (plugin, hook): names
    _manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(hookspecs.PROJECT))

    def __post_init__(self) -> None:
        """Know the hooks before the first plugin comes."""
        self._manager.add_hookspecs(hookspecs)

    @classmethod
    def load(cls, *, external: bool = True, blocked: Iterable[str] = ()) -> Plugins:
        """Every installed plugin. A broken one is listed with its error and otherwise ignored."""
        plugins = cls(external=external, blocked=frozenset(blocked))
        plugins._waiting = sorted(entry_points(group=GROUP), key=_built_in_first)
        return plugins

    def register(self, plugin: Any, name: str, distribution: str = "(in this process)", version: str = "") -> None:
        """Add one plugin object.

        Raises:
            PluginError: a hook of it has the wrong signature, it has no hook at all, or the name is taken.
        """
        self._import(built_in_only=True)  # they answer first, so that a clash blames the other
        if any(entry.name == name and self._is_wanted(_info(entry)) for entry in self._waiting):
            raise PluginError(f"another plugin is called {name!r}; only the first of them is used")
        self._register(plugin, PluginInfo(name, distribution, version))

    def _register(self, plugin: Any, info: PluginInfo) -> None:
        name = info.name
        if self._manager.has_plugin(name):
            raise PluginError(f"another plugin is called {name!r}; only the first of them is used")
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
            hooks = self._hooks(plugin)
        except (pluggy.PluginValidationError, ValueError) as error:
            self._forget(name)
            raise PluginError(f"plugin {name!r} cannot be registered: {_flattened(error)}") from error
        except BaseException:
            self._forget(name)
            raise
        self._infos.append(replace(info, hooks=hooks))
        for asked in ("checks", "remedies", "reporters"):
            self.__dict__.pop(asked, None)  # the answers now are more

    def _forget(self, name: str) -> None:
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def _hooks(self, plugin: Any) -> tuple[str, ...]:
        hooks = tuple(sorted(caller.name for caller in self._manager.get_hookcallers(plugin) or []))
        if not hooks:
            raise ValueError("it implements no hook; decorate its functions with `tcdp_audit.hookimpl`")
        return hooks

    def _is_wanted(self, info: PluginInfo) -> bool:
        if info.name in self.blocked:
            return False
        return not info.is_external or (self.external and (self.allowed is None or info.name in self.allowed))

    def _import(self, *, built_in_only: bool = False) -> None:
        """Import what is installed and wanted, each once."""
        waiting, self._waiting = self._waiting, []
        for position, entry in enumerate(waiting):
            if built_in_only and _info(entry).is_external:  # the built-in ones stand first
                self._waiting = waiting[position:]
                return
            if self._is_wanted(_info(entry)):
                self._load(entry)

    def _load(self, entry: EntryPoint) -> None:
        info = _info(entry)
        try:
            self._register(entry.load(), info)
        except KeyboardInterrupt:
            raise
        except PluginError as error:
            self._infos.append(replace(info, error=str(error)))
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises must not stop the others
            self._infos.append(replace(info, error=f"{type(error).__name__}: {first_line(error)}"))

    @property
    def infos(self) -> tuple[PluginInfo, ...]:
        """What is in use, and what should be and does not work."""
        self._import()
        return tuple(self._infos)

    @property
    def provided(self) -> Mapping[tuple[str, str], list[str]]:
        """The names that each plugin has yielded for each hook asked so far: (plugin, hook) to names."""
        return frozen(self._provided)

    @property
    def broken(self) -> list[PluginInfo]:
        """Plugins that did not load, or whose hooks did not answer."""
        _ = self.checks, self.remedies, self.reporters, self.report_sections
        return [info for info in self.infos if info.error]

    def require(self, name: str) -> None:
        """Insist on a plugin that a policy names.

        Raises:
            PluginError: it is not installed, left out, or broken.
        """
        _ = self.checks, self.remedies, self.reporters, self.report_sections
        info = next((info for info in self.infos if info.name == name), None)
        if info is None:
            hint = "it was left out on the command line" if name in self.blocked or not self.external else "install it"
            raise PluginError(f"the policy needs the plugin {name!r}, which is not loaded; {hint}")
        if info.error:
            raise PluginError(f"the policy needs the plugin {name!r}, which does not work: {info.error}")

    def only(self, allowed: Iterable[str]) -> Plugins:
        """These plugins without the external ones that a policy does not name. None is imported for it."""
        allowed = frozenset(allowed)
        kept = Plugins(self.external, self.blocked, allowed if self.allowed is None else allowed & self.allowed)
        kept._waiting = list(self._waiting)
        for info in self._infos:
            if info.is_external and info.name not in allowed:
                continue  # of those that are here already, also objects registered in this process
            if info.hooks:
                kept._register(self._manager.get_plugin(info.name), replace(info, error=""))
            else:
                kept._infos.append(info)  # it did not load
        return kept

    def provider_of(self, hook: str, name: str) -> str:
        """The external plugin that yields a name for a hook; nothing for a built-in one."""
        external = {info.name for info in self._infos if info.is_external}
        providers = (plugin for (plugin, of), names in self._provided.items() if of == hook and name in names)
        return next((plugin for plugin in providers if plugin in external), "")

    @cached_property
    def checks(self) -> Mapping[str, Check]:
        """Every registered check by name."""
        from tcdp_audit.check.kinds import KINDS  # noqa: PLC0415 - listing plugins should not import numpy

        return self._named("tcdp_audit_checks", KINDS)

    @cached_property
    def remedies(self) -> Mapping[str, Remedy[Any]]:
        """Every registered remedy by name."""
        from tcdp_audit.remedy.remedy import Remedy  # noqa: PLC0415

        return self._named("tcdp_audit_remedies", (Remedy,))

    @cached_property
    def reporters(self) -> Mapping[str, Reporter]:
        """Every registered report format by name."""
        from tcdp_audit.results.reporter import Reporter  # noqa: PLC0415

        return self._named("tcdp_audit_reporters", (Reporter,))

    @cached_property
    def report_sections(self) -> Mapping[str, ReportSection]:
        """Every registered section of reports by name."""
        from tcdp_audit.results.reporter import ReportSection  # noqa: PLC0415

        return self._named("tcdp_audit_report_sections", (ReportSection,))

    def _named(self, hook: str, kinds: tuple[type[Spec], ...]) -> dict[str, Spec]:
        """What the plugins yield for a hook, by name, each plugin guarded by itself.

        Raises:
            PluginError: two plugins provide the same name. Both are named, because neither may win by luck.
        """
        self._import()
        found: dict[str, Spec] = {}
        provider: dict[str, str] = {}  # of a name, and of what else must be unique
        answers = list(self._answers(hook, kinds))
        self._provided |= {(plugin, hook): _names(specs) for plugin, specs in answers}
        for plugin, specs in answers:
            for spec in specs:
                for unique in _unique(spec):
                    if unique in provider:
                        raise PluginError(
                            f"{unique!r} is provided by the plugin {provider[unique]!r} and by {plugin!r}; "
                            f"leave one of them out with `-p no:{plugin}`"
                        )
                    provider[unique] = plugin
                found[str(spec.name)] = spec  # type: ignore[attr-defined]
        return FrozenDict(found)

    def _answers(self, hook: str, kinds: tuple[type[Spec], ...]) -> Iterator[tuple[str, list[Spec]]]:
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            try:
                specs = list(implementation.function())
                for spec in specs:
                    _validate(spec, kinds)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - one raising hook must not discard the others' results
                self._fail(implementation.plugin_name, f"{hook}: {type(error).__name__}: {first_line(error)}")
            else:
                yield implementation.plugin_name, specs

    def _fail(self, name: str, error: str) -> None:
        for position, info in enumerate(self._infos):
            if info.name == name and info.hooks:
                self._infos[position] = replace(info, error=error)


def _validate(spec: Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(spec, kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"yielded a {type(spec).__name__} where a {expected} is expected")
    if not NAME.fullmatch(spec.name):  # type: ignore[attr-defined]
        raise ValueError(f"the name {spec.name!r} is not snake_case")  # type: ignore[attr-defined]


def _unique(spec: Any) -> list[str]:
    """What no other specification of its kind may have: its name, and the file extension of a reporter."""
    return [str(one) for one in (spec.name, getattr(spec, "suffix", None)) if one is not None]


def _names(specs: Iterable[Any]) -> list[str]:
    return sorted(str(spec.name) for spec in specs)


def _info(entry: EntryPoint) -> PluginInfo:
    """What is known of an installed plugin without importing it."""
    return PluginInfo(entry.name, entry.dist.name if entry.dist else "", entry.dist.version if entry.dist else "")


def _built_in_first(entry: EntryPoint) -> tuple[bool, str, str]:
    info = _info(entry)
    return info.is_external, info.name, info.distribution


def _flattened(error: BaseException) -> str:
    """Pluggy's reason in one line, without the path of the plugin."""
    return "; ".join(str(error).split(" in plugin <")[0].splitlines())
