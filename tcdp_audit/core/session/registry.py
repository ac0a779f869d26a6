"""The plugin registry: an error in a plugin affects no other plugin and never turns a failure into a pass."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

import pluggy

from tcdp_audit.core.base.declared_types import type_faults
from tcdp_audit.core.base.errors import PluginError, first_line
from tcdp_audit.core.base.frozen import FrozenDict, dataclass, frozen
from tcdp_audit.core.base.provenance import PluginInfo
from tcdp_audit.core.session import hookspecs

if TYPE_CHECKING:
    from tcdp_audit.core.check.kinds import Announced, Check, ChecksByName
    from tcdp_audit.core.detection.detector import Detector
    from tcdp_audit.core.engines.opening import EngineOpener
    from tcdp_audit.core.remedy.remedy import Remedy
    from tcdp_audit.core.results.reporter import Reporter, ReportSection

GROUP = "tcdp_audit"
CHECKS = "tcdp_audit_checks"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


@dataclass(frozen=True)
class _Answers:
    """The specifications that plugins yield for one hook.

    Args:
        specs: the specifications by plugin, in the order of registration.
        errors: the error of each plugin that failed.
    """

    specs: Mapping[str, tuple[Any, ...]]
    errors: Mapping[str, str]

    @cached_property
    def named(self) -> Mapping[str, Any]:
        """Every specification by name.

        Raises:
            PluginError: two plugins provide the same name; the message names both.
        """
        provider: dict[str, str] = {}  # unique name or suffix -> plugin
        for plugin, specs in self.specs.items():
            for unique in (one for spec in specs for one in _unique(spec)):
                if unique in provider:
                    raise PluginError(
                        f"{unique!r} is provided by the plugin {provider[unique]!r} and by {plugin!r}; "
                        f"leave one of them out with `-p no:{plugin}`"
                    )
                provider[unique] = plugin
        return FrozenDict({str(spec.name): spec for specs in self.specs.values() for spec in specs})


class Plugins:
    """The plugins of one run, each registered separately, and what they provide.

    Installed plugins are listed at once and imported on first use, so those that a policy does not allow are never
    imported. Each hook is called once, and again after another plugin is registered.

    Args:
        external: whether plugins of other distributions are used at all.
        blocked: names of plugins to leave out.
        allowed: names of the external plugins that may be used; None for all.
    """

    def __init__(
        self, *, external: bool = True, blocked: frozenset[str] = frozenset(), allowed: frozenset[str] | None = None
    ) -> None:
        self.external, self.blocked, self.allowed = external, blocked, allowed
        self._waiting: list[EntryPoint] = []  # installed, and not imported yet
        self._registered: list[PluginInfo] = []  # those that did not load have an error and no hooks
        self._answers: dict[str, _Answers] = {}  # by hook, since the last registration
        self._checks: ChecksByName | None = None  # likewise
        self._unloadable: dict[str, str] = {}  # plugin -> why a check that it announces does not load
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)

    @classmethod
    def load(cls, *, external: bool = True, blocked: Iterable[str] = ()) -> Plugins:
        """The installed plugins. A broken one is listed with its error and otherwise ignored."""
        plugins = cls(external=external, blocked=frozenset(blocked))
        plugins._waiting = [*_entries_in(tuple((one, _change_of(one)) for one in sys.path))]
        return plugins

    def register(self, plugin: Any, name: str, distribution: str = "(in this process)", version: str = "") -> None:
        """Add one plugin object.

        Raises:
            PluginError: a hook of it has the wrong signature, it has no hook at all, or the name is taken.
        """
        self._import(built_in_only=True)  # built-in plugins come first, so that a clash is reported for the other
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
        self._registered.append(replace(info, hooks=hooks))
        self._answers.clear()
        self._unloadable.clear()
        self._checks = None

    def _forget(self, name: str) -> None:
        if self._manager.has_plugin(name):
            self._manager.unregister(name=name)

    def _hooks(self, plugin: Any) -> tuple[str, ...]:
        callers = self._manager.get_hookcallers(plugin) or []
        hooks = tuple(sorted(caller.name for caller in callers))
        if not hooks:
            raise ValueError("it implements no hook; decorate its functions with `tcdp_audit.hookimpl`")
        for one in (one for caller in callers for one in caller.get_hookimpls() if one.plugin is plugin):
            if one.wrapper or one.hookwrapper:
                raise ValueError(
                    f"{one.function.__name__} wraps a hook; a plugin yields what it provides and wraps none"
                )
        return hooks

    def _is_wanted(self, info: PluginInfo) -> bool:
        if info.name in self.blocked:
            return False
        return not info.is_external or (self.external and (self.allowed is None or info.name in self.allowed))

    def _import(self, *, built_in_only: bool = False) -> None:
        """Import each installed plugin that is wanted, once."""
        waiting, self._waiting = self._waiting, []
        for position, entry in enumerate(waiting):
            if built_in_only and _info(entry).is_external:  # the built-in ones come first
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
            self._registered.append(replace(info, error=str(error)))
        except BaseException as error:  # noqa: BLE001 - an error in a plugin must not stop the others
            self._registered.append(replace(info, error=f"{type(error).__name__}: {first_line(error)}"))

    @property
    def infos(self) -> tuple[PluginInfo, ...]:
        """The plugins in use and those that do not work, as far as their hooks were called."""
        self._import()
        unanswered = {plugin: error for one in self._answers.values() for plugin, error in one.errors.items()}
        errors = self._unloadable | unanswered
        return tuple(
            replace(info, error=errors[info.name]) if info.hooks and info.name in errors else info
            for info in self._registered
        )

    @property
    def provided(self) -> Mapping[tuple[str, str], list[str]]:
        """The names that each plugin has yielded for each hook called so far: (plugin, hook) to names."""
        asked = ((hook, plugin, specs) for hook, one in self._answers.items() for plugin, specs in one.specs.items())
        return frozen({(plugin, hook): sorted(str(spec.name) for spec in specs) for hook, plugin, specs in asked})

    @property
    def broken(self) -> list[PluginInfo]:
        """The plugins that did not load, whose hooks failed, or that announce a check that does not load."""
        self._ask_everything()
        self.load_checks()
        return [info for info in self.infos if info.error]

    def _ask_everything(self) -> tuple[Mapping[str, Any], ...]:
        return self.announced_checks, self.remedies, self.reporters, self.report_sections, self.engines, self.detectors

    def load_checks(self, plugin: str | None = None) -> None:
        """Load the announced checks of one plugin or of all, so that `infos` lists those that do not load."""
        for name, specs in self._answers[CHECKS].specs.items():
            for one in specs if plugin in (name, None) else ():
                with suppress(PluginError):  # it is recorded
                    self._loaded(one, name)

    def require(self, name: str) -> None:
        """Raise `PluginError` if a plugin that a policy names is not installed, left out, or broken."""
        self._ask_everything()
        self.load_checks(name)
        info = next((info for info in self.infos if info.name == name), None)
        if info is None:
            hint = "it was left out on the command line" if name in self.blocked or not self.external else "install it"
            raise PluginError(f"the policy needs the plugin {name!r}, which is not loaded; {hint}")
        if info.error:
            raise PluginError(f"the policy needs the plugin {name!r}, which does not work: {info.error}")

    def only(self, allowed: Iterable[str]) -> Plugins:
        """These plugins without the external ones that a policy does not name; this imports none."""
        names = frozenset(allowed)
        both = names if self.allowed is None else names & self.allowed
        plugins = Plugins(external=self.external, blocked=self.blocked, allowed=both)
        plugins._waiting = list(self._waiting)
        for info in self._registered:
            if info.is_external and info.name not in names:
                continue  # already present, including objects registered in this process
            if info.hooks:
                plugins._register(self._manager.get_plugin(info.name), info)
            else:
                plugins._registered.append(info)  # it did not load
        return plugins

    def provider_of(self, hook: str, name: str) -> str:
        """The external plugin that yields a name for a hook; empty for a built-in one."""
        external = (info.name for info in self._registered if info.is_external)
        return next((plugin for plugin in external if name in self.provided.get((plugin, hook), ())), "")

    @property
    def checks(self) -> Mapping[str, Check]:
        """Every registered check by name, loaded when it is looked up; `PluginError` if that fails."""
        from tcdp_audit.core.check.kinds import ChecksByName  # noqa: PLC0415 - importing the registry imports no numpy

        announced = self.announced_checks
        if self._checks is None:
            providers = {one.name: plugin for plugin, specs in self._answers[CHECKS].specs.items() for one in specs}
            self._checks = ChecksByName(announced, lambda one: self._loaded(one, providers[one.name]))
        return self._checks

    @property
    def announced_checks(self) -> Mapping[str, Announced]:
        """Every registered check by name as its plugin yields it, with name, title and quarter; maybe not loaded."""
        from tcdp_audit.core.check.kinds import KINDS, LazyCheck  # noqa: PLC0415 - likewise

        return self._asked(CHECKS, *KINDS, LazyCheck)

    def _loaded(self, announced: Announced, plugin: str) -> Check:
        from tcdp_audit.core.check.kinds import load_announced  # noqa: PLC0415 - likewise

        try:
            return load_announced(announced)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._unloadable[plugin] = f"the check {announced.name}: {type(error).__name__}: {first_line(error)}"
            raise PluginError(f"the plugin {plugin!r} does not work: {self._unloadable[plugin]}") from error

    @property
    def remedies(self) -> Mapping[str, Remedy[Any]]:
        """Every registered remedy by name."""
        from tcdp_audit.core.remedy.remedy import Remedy  # noqa: PLC0415

        return self._asked("tcdp_audit_remedies", Remedy)

    @property
    def reporters(self) -> Mapping[str, Reporter]:
        """Every registered report format by name."""
        from tcdp_audit.core.results.reporter import Reporter  # noqa: PLC0415

        return self._asked("tcdp_audit_reporters", Reporter)

    @property
    def report_sections(self) -> Mapping[str, ReportSection]:
        """Every registered section of reports by name."""
        from tcdp_audit.core.results.reporter import ReportSection  # noqa: PLC0415

        return self._asked("tcdp_audit_report_sections", ReportSection)

    @property
    def engines(self) -> Mapping[str, EngineOpener]:
        """Every registered opener of tables by name."""
        from tcdp_audit.core.engines.opening import EngineOpener  # noqa: PLC0415

        return self._asked("tcdp_audit_engines", EngineOpener)

    @property
    def detectors(self) -> Mapping[str, Detector]:
        """Every registered detector of identifiers by name."""
        from tcdp_audit.core.detection.detector import ColumnDetector, ValueDetector  # noqa: PLC0415

        return self._asked("tcdp_audit_detectors", ValueDetector, ColumnDetector)

    def _asked(self, hook: str, *kinds: type) -> Mapping[str, Any]:
        """The specifications that plugins yield for a hook, by name; an error affects only its plugin."""
        self._import()
        if hook not in self._answers:
            self._answers[hook] = self._ask(hook, kinds)
        return self._answers[hook].named

    def _ask(self, hook: str, kinds: tuple[type, ...]) -> _Answers:
        specs: dict[str, tuple[Any, ...]] = {}
        errors: dict[str, str] = {}
        built_in = {info.name for info in self._registered if not info.is_external}
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            plugin = implementation.plugin_name
            function = implementation.function
            try:
                answer = _answer_of_built_in(function) if plugin in built_in else _answer(function, kinds)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - one raising hook must not discard the others' results
                errors[plugin] = f"{hook}: {type(error).__name__}: {first_line(error)}"
            else:
                specs[plugin] = answer
        return _Answers(specs, errors)


def _answer(function: Callable[[], Iterable[Any]], kinds: tuple[type, ...]) -> tuple[Any, ...]:
    """The specifications that a plugin's hook yields, each of one of the kinds and with fields of their types."""
    specs = tuple(function())
    for spec in specs:
        _validate(spec, kinds)
    return specs


@lru_cache(maxsize=32)
def _answer_of_built_in(function: Callable[[], Iterable[Any]]) -> tuple[Any, ...]:
    """The same of a built-in plugin, whose hooks yield the same in every run: a test validates them."""
    return tuple(function())


def _validate(spec: Any, kinds: tuple[type, ...]) -> None:
    if not issubclass(type(spec), kinds):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"yielded a {type(spec).__name__} where a {expected} is expected")
    for fault in type_faults(spec):
        raise TypeError(f"{type(spec).__name__} {spec.name!r}: {fault}")
    if not NAME.fullmatch(spec.name):
        raise ValueError(f"the name {spec.name!r} is not snake_case")


def _unique(spec: Any) -> list[str]:
    """The unique properties of a specification: its name, and the file extension of a reporter."""
    return [str(one) for one in (spec.name, getattr(spec, "suffix", None)) if one is not None]


def _change_of(folder: str) -> int:
    """The time of the last change of a folder's entries, in nanoseconds; 0 where there is none."""
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 - of each folder of `sys.path`, for every audit
    except OSError:
        return 0


@lru_cache(maxsize=4)  # to read what all distributions provide takes as long as to audit a small table
def _entries_in(folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:  # noqa: ARG001 - what they depend on
    """The entry points of plugins, those of built-in ones first."""
    return tuple(sorted(entry_points(group=GROUP), key=_built_in_first))


def _info(entry: EntryPoint) -> PluginInfo:
    """The metadata of an installed plugin, without importing it."""
    return PluginInfo(entry.name, *(_name_and_version(entry.dist) if entry.dist else ("", "")))


@lru_cache(maxsize=32)  # the standard library parses a distribution's whole description for each of the two
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


def _built_in_first(entry: EntryPoint) -> tuple[bool, str, str]:
    info = _info(entry)
    return info.is_external, info.name, info.distribution


def _flattened(error: BaseException) -> str:
    """Pluggy's reason in one line, without the path of the plugin."""
    return "; ".join(str(error).split(" in plugin <")[0].splitlines())
