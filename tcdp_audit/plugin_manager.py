"""Loading plugins so that none can take another down, and none can turn a failure into a pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from tcdp_audit import hookspecs
from tcdp_audit.errors import PluginError

if TYPE_CHECKING:
    from tcdp_audit.check import Check
    from tcdp_audit.remedy import Remedy
    from tcdp_audit.reporter import Reporter

GROUP = "tcdp_audit"
BUILT_IN = "tcdp-audit"  # the distribution whose entry points are the built-in plugins
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

Spec = TypeVar("Spec")


@dataclass(frozen=True)
class PluginInfo:
    """One plugin as `tcdp-audit plugins` lists it; `error` says why it is not in use."""

    name: str
    distribution: str
    version: str
    hooks: tuple[str, ...] = ()
    error: str = ""

    @property
    def is_external(self) -> bool:
        """True for every plugin that tcdp-audit does not bring itself."""
        return self.distribution != BUILT_IN

    def as_json(self) -> dict[str, str | list[str]]:
        """The entry in the JSON result."""
        plain: dict[str, str | list[str]] = {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "hooks": list(self.hooks),
        }
        return {**plain, "error": self.error} if self.error else plain


@dataclass
class Plugins:
    """The plugins of one run, each registered by itself, and what they provide.

    Args:
        external: whether plugins of other distributions are loaded at all.
        blocked: names of plugins to leave out.
    """

    external: bool = True
    blocked: frozenset[str] = frozenset()
    infos: list[PluginInfo] = field(default_factory=list)
    provided: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # (plugin, hook): names
    _manager: pluggy.PluginManager = field(default_factory=lambda: pluggy.PluginManager(hookspecs.PROJECT))

    def __post_init__(self) -> None:
        """Know the hooks before the first plugin comes."""
        self._manager.add_hookspecs(hookspecs)

    @classmethod
    def load(cls, *, external: bool = True, blocked: Iterable[str] = ()) -> Plugins:
        """Load every installed plugin. A broken one is listed with its error and otherwise ignored."""
        plugins = cls(external=external, blocked=frozenset(blocked))
        for entry in sorted(entry_points(group=GROUP), key=_built_in_first):
            plugins._load(entry)
        return plugins

    def register(self, plugin: Any, name: str, distribution: str = "(in this process)", version: str = "") -> None:
        """Add one plugin object.

        Raises:
            PluginError: a hook of it has the wrong signature, it has no hook at all, or the name is taken.
        """
        if self._manager.has_plugin(name):
            raise PluginError(f"another plugin is called {name!r}; only the first of them is used")
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
            hooks = self._hooks(plugin)
        except (pluggy.PluginValidationError, ValueError) as error:
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            raise PluginError(f"plugin {name!r} cannot be registered: {_flattened(error)}") from error
        self.infos.append(PluginInfo(name, distribution, version, hooks))
        for asked in ("checks", "remedies", "reporters"):
            self.__dict__.pop(asked, None)  # the answers now are more

    def _hooks(self, plugin: Any) -> tuple[str, ...]:
        hooks = tuple(sorted(caller.name for caller in self._manager.get_hookcallers(plugin) or []))
        if not hooks:
            raise ValueError("it implements no hook; decorate its functions with `tcdp_audit.hookimpl`")
        return hooks

    def _load(self, entry: EntryPoint) -> None:
        distribution = entry.dist.name if entry.dist else ""
        version = entry.dist.version if entry.dist else ""
        info = PluginInfo(entry.name, distribution, version)
        if entry.name in self.blocked or (info.is_external and not self.external):
            return
        try:
            self.register(entry.load(), entry.name, distribution, version)
        except PluginError as error:
            self._mark_broken(info, str(error))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin raises must not stop the others
            self._mark_broken(info, f"{type(error).__name__}: {_first_line(error)}")

    def _mark_broken(self, info: PluginInfo, error: str) -> None:
        self.infos.append(PluginInfo(info.name, info.distribution, info.version, error=error))

    @property
    def broken(self) -> list[PluginInfo]:
        """Plugins that did not load, or whose hooks did not answer."""
        _ = self.checks, self.remedies, self.reporters
        return [info for info in self.infos if info.error]

    def require(self, name: str) -> None:
        """Insist on a plugin that a policy names.

        Raises:
            PluginError: it is not installed, left out, or broken.
        """
        _ = self.checks, self.remedies, self.reporters
        info = next((info for info in self.infos if info.name == name), None)
        if info is None:
            hint = "it was left out on the command line" if name in self.blocked or not self.external else "install it"
            raise PluginError(f"the policy needs the plugin {name!r}, which is not loaded; {hint}")
        if info.error:
            raise PluginError(f"the policy needs the plugin {name!r}, which does not work: {info.error}")

    def only(self, allowed: Iterable[str]) -> Plugins:
        """These plugins without the external ones that a policy does not name."""
        allowed = frozenset(allowed)
        unwanted = [info for info in self.infos if info.is_external and info.name not in allowed]
        kept = Plugins(self.external, self.blocked | {info.name for info in unwanted})
        for info in self.infos:
            if info in unwanted:
                continue
            if info.hooks:
                kept.register(self._manager.get_plugin(info.name), info.name, info.distribution, info.version)
            else:
                kept.infos.append(info)  # it did not load
        return kept

    @cached_property
    def checks(self) -> Mapping[str, Check]:
        """Every registered check by name."""
        from tcdp_audit.check import KINDS  # noqa: PLC0415 - listing plugins should not import numpy

        return self._named("tcdp_audit_checks", KINDS)

    @cached_property
    def remedies(self) -> Mapping[str, Remedy[Any]]:
        """Every registered remedy by name."""
        from tcdp_audit.remedy import Remedy  # noqa: PLC0415

        return self._named("tcdp_audit_remedies", (Remedy,))

    @cached_property
    def reporters(self) -> Mapping[str, Reporter]:
        """Every registered report format by name."""
        from tcdp_audit.reporter import Reporter  # noqa: PLC0415

        return self._named("tcdp_audit_reporters", (Reporter,))

    def _named(self, hook: str, kinds: tuple[type[Spec], ...]) -> dict[str, Spec]:
        """What the plugins yield for a hook, by name, each plugin guarded by itself.

        Raises:
            PluginError: two plugins provide the same name. Both are named, because neither may win by luck.
        """
        found: dict[str, Spec] = {}
        provider: dict[str, str] = {}  # of a name, and of what else must be unique
        answers = list(self._answers(hook, kinds))
        self.provided |= {(plugin, hook): _names(specs) for plugin, specs in answers}
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
        return found

    def _answers(self, hook: str, kinds: tuple[type[Spec], ...]) -> Iterator[tuple[str, list[Spec]]]:
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            try:
                specs = list(implementation.function())
                for spec in specs:
                    _validate(spec, kinds)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - one raising hook must not discard the others' results
                self._fail(implementation.plugin_name, f"{hook}: {type(error).__name__}: {_first_line(error)}")
            else:
                yield implementation.plugin_name, specs

    def _fail(self, name: str, error: str) -> None:
        for position, info in enumerate(self.infos):
            if info.name == name and info.hooks:
                self.infos[position] = PluginInfo(info.name, info.distribution, info.version, info.hooks, error)


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


def _built_in_first(entry: EntryPoint) -> tuple[bool, str, str]:
    distribution = entry.dist.name if entry.dist else ""
    return distribution != BUILT_IN, entry.name, distribution


def _flattened(error: BaseException) -> str:
    """Pluggy's reason in one line, without the path of the plugin."""
    return "; ".join(str(error).split(" in plugin <")[0].splitlines())


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else "no message"
