"""From a policy's text to a `Policy`, or to all of its faults at once."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tcdp_audit.core.base.errors import PluginError, PolicyError, UsageError, redact_errors
from tcdp_audit.core.base.plugin_faults import blaming
from tcdp_audit.core.policy.faults import MOST, from_validation, located, nearest, unsound
from tcdp_audit.core.policy.given import plain
from tcdp_audit.core.policy.model import PolicyDocument, Role, Scale
from tcdp_audit.core.policy.policy import Expectation, PlannedRemedy, Policy
from tcdp_audit.core.policy.profiled import Profiled
from tcdp_audit.core.policy.recognition import is_policy, is_policy_text, no_policy
from tcdp_audit.core.policy.registered import Registered, Registry
from tcdp_audit.core.policy.section import Entry, Section
from tcdp_audit.core.policy.source import Fault, Source, SourceFault, parse
from tcdp_audit.core.policy.utility import faults_of_utility

CHECKS, REMEDIES = "tcdp_audit_checks", "tcdp_audit_remedies"

T = TypeVar("T", bound=Registered)


@redact_errors()
def read_policy(policy: str | Path | Mapping[str, Any] | Policy, plugins: Registry) -> Policy:
    """Read a policy from a file, or take it from a mapping of the same form.

    Args:
        policy: path of a `*.tcdp.yaml` file, or its content as a mapping.
        plugins: the plugins whose checks and remedies it may name.

    Raises:
        UsageError: the file does not exist or cannot be read.
        PolicyError: the policy is wrong; the message lists every fault with line and column.
        PluginError: it names a check or a remedy that is unknown while a plugin that may define it is broken.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        given = _unfolded(policy)
        source, text, path = Source(given, None), json.dumps(_named(given), sort_keys=True, default=str), None
        return _Reading(source, text, path, plugins).policy()
    if not isinstance(policy, str | PathLike):
        raise UsageError(f"policy: must be a path, a mapping or a Policy, not of type {type(policy).__name__}")
    path = Path(policy)
    content = _read(path)
    text = _decoded(content, path)
    return replace(_Reading(_source(text, path), text, path, plugins).policy(), content=content)


def data_of_policy(path: Path) -> Any:
    """What a policy's file says, before it is judged: a mapping as a program would give it.

    Raises:
        UsageError: the file does not exist or cannot be read.
        PolicyError: it holds no policy, and nothing of it is quoted; or its YAML is wrong.
    """
    return _source(_decoded(_read(path), path), path).data


def _source(text: str, path: Path) -> Source:
    """The text of a policy, parsed. Of what is no policy nothing is quoted."""
    try:
        source = parse(text)
    except SourceFault as fault:
        first = fault.faults[0]
        if first.line and not is_policy_text(text):
            raise no_policy(str(path), first.line, first.column) from None
        raise unsound(str(path), text, fault.faults) from None
    if not is_policy(source.data):
        raise no_policy(str(path))
    return source


def _unfolded(policy: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping as YAML would give it."""
    try:
        given: dict[str, Any] = plain(policy)
    except RecursionError:
        raise UsageError("policy: a list or a mapping in it holds itself; give it as a file would") from None
    columns = given.get("attributes")
    if isinstance(columns, dict) and len(set(map(str, columns))) < len(columns):
        raise UsageError("policy: attributes: a column is declared twice, by a number and by the same number as text")
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


class _Reading:
    """One policy while it is being read; collects faults."""

    def __init__(self, source: Source, text: str, path: Path | None, plugins: Registry) -> None:
        self.text, self.path, self.plugins = text, path, plugins
        self.faults: list[Fault] = []
        self.profiled = Profiled.of(source)
        self.source = self.profiled.source

    def policy(self) -> Policy:
        document = self._document()
        self.faults += self.profiled.faults
        expectations, remedies = tuple(self._expectations(document)), tuple(self._remedies(document))
        if self.faults or document is None:
            name = "policy" if self.path is None else str(self.path)
            ordered = sorted(self.faults, key=lambda fault: (fault.line, fault.column))
            raise unsound(name, self.text if self.path else "", ordered)
        profiles, line = self.profiled.profiles, self.source.position(["profile"])[0]
        return Policy(
            document, expectations, self.text, self.path, remedies, profiles=profiles, profile_line=line or None
        )

    def _document(self) -> PolicyDocument | None:
        try:
            document = PolicyDocument.model_validate(self.source.data)
        except ValidationError as error:
            self.faults += from_validation(error, self.source, PolicyDocument)
            self._leave_unnamed_plugins_out()
            return None
        if document.unit in document.attributes and document.unit is not None:
            role = document.attributes[document.unit].role
            if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
                self._fault(["unit"], f"the unit of privacy cannot be a {role.value.replace('_', '-')} as well")
        if document.keep_key and document.key is None:
            self._fault(["keep_key"], "the policy names no `key:` that could be kept")
        self._unit_released(document)
        self._columns_named(document)
        self._columns_kept(document)
        self._questions_answered(document)
        for location, sentence in islice(faults_of_utility(document), MOST + 1):
            self._fault(location, sentence)
        if document.plugins is not None:
            self.plugins = self.plugins.only(document.plugins)
        for plugin in document.plugins or ():
            self.plugins.require(plugin)
        return document

    def _unit_released(self, document: PolicyDocument) -> None:
        """Only a unit that is named can be dropped, and not one that is the key to be kept."""
        if document.unit_released:
            return
        if document.unit is None:
            self._fault(["unit_released"], "the policy names no `unit:` that could be dropped")
        elif document.keep_key and document.key == document.unit:
            self._fault(["unit_released"], "the unit is the key as well, which `keep_key: true` keeps; say one of them")

    def _columns_named(self, document: PolicyDocument) -> None:
        """What can be known of the weight without data: it is a number."""
        weight = document.attributes.get(document.weight or "")
        if weight is not None and weight.scale is not Scale.NUMERIC:
            example = f"{document.weight}: {{role: {weight.role.value}, scale: numeric}}"
            self._fault(["weight"], f"{document.weight!r} is not declared as numeric; a weight is: `{example}`")

    def _columns_kept(self, document: PolicyDocument) -> None:
        """Of the columns that `keep` names the loss is measured."""
        lossy = dict.fromkeys((*document.with_role(Role.QUASI_IDENTIFIER), *document.with_role(Role.SENSITIVE)))
        unknown = [name for name in document.keep or {} if name not in lossy]
        for name in unknown[: MOST + 1]:
            asked = "is not declared as a quasi-identifier or as sensitive, so nothing is measured of it"
            self._fault(["keep", name], f"{name!r} {asked}{nearest(name, lossy)}")

    def _questions_answered(self, document: PolicyDocument) -> None:
        """An answer belongs to a question that a profile asks."""
        asked = [one.key for profile in self.profiled.profiles for one in profile.questions]
        unknown = [] if self.profiled.faults else [key for key in document.answers or {} if key not in asked]
        for key in unknown[: MOST + 1]:
            known = nearest(key, asked) or (f"; asked are {', '.join(dict.fromkeys(asked))}" if asked else "")
            nothing = "no profile of the policy asks" if asked else "the policy names no profile that asks"
            self._fault(["answers", key], f"{nothing} a question {key!r}{known}")

    def _leave_unnamed_plugins_out(self) -> None:
        """Also where a policy is unsound, look for its other faults with the external plugins that it names only."""
        named = self.source.data.get("plugins") if isinstance(self.source.data, Mapping) else None
        if named is not None:
            self.plugins = self.plugins.only(map(str, named) if isinstance(named, list) else ())

    def _expectations(self, document: PolicyDocument | None) -> Iterator[Expectation]:
        section = Section(
            "expect", "check", CHECKS, lambda: self.plugins.checks, lambda check, *where: check.faults(*where)
        )
        for entry in self._entries(section, document):
            plugin = self.plugins.provider_of(CHECKS, entry.registered.name)
            profile, says = self.profiled.origin(entry.index)
            yield Expectation(entry.registered, entry.parameters, entry.line, plugin, entry.column, profile, says)

    def _remedies(self, document: PolicyDocument | None) -> Iterator[PlannedRemedy]:
        section = Section(
            "remedy", "remedy", REMEDIES, lambda: self.plugins.remedies, lambda one, *where: one.validate(*where)
        )
        for entry in self._entries(section, document):
            plugin = self.plugins.provider_of(REMEDIES, entry.registered.name)
            yield PlannedRemedy(entry.registered, entry.parameters, entry.line, plugin)

    def _entries(self, section: Section[T], document: PolicyDocument | None) -> Iterator[Entry[T]]:
        """Every sound entry of a section; also where the rest of the document is not, to find all faults at once."""
        data = self.source.data
        entries = data.get(section.key) if isinstance(data, Mapping) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, Mapping) or len(entry) != 1:
                if isinstance(entry, Mapping) or document is not None:
                    self._fault([section.key, index], f"must be one {section.noun} name with its parameters")
                continue
            if len(self.faults) > MOST:
                return
            name, given = next(iter(entry.items()))
            location: list[str | int] = [section.key, index, str(name)]
            registered = self._registered(section, str(name), location)
            if registered is not None:
                yield from self._entry(section, registered, {} if given is None else given, location, document)

    def _registered(self, section: Section[T], name: str, location: list[str | int]) -> T | None:
        known = section.known()
        if name in known:
            return known[name]
        if self.plugins.broken:
            reasons = "; ".join(f"{plugin.name}: {plugin.error}" for plugin in self.plugins.broken)
            raise PluginError(
                f"no {section.noun} {name!r} is known, and a plugin that may define it did not load ({reasons})"
            )
        line, column = self.source.position(location[:-1])
        sentence = f"unknown {section.noun} {name!r}{nearest(name, known)}"
        self.faults.append(Fault(f"{section.key}[{location[1]}]", sentence, line, column))
        return None

    def _entry(
        self, section: Section[T], registered: T, given: Any, location: list[str | int], document: PolicyDocument | None
    ) -> Iterator[Entry[T]]:
        if not isinstance(given, Mapping | registered.parameters):
            self._fault(location, f"must be a mapping of parameters to values, such as `{_example(registered)}`")
            return
        model, name = registered.parameters, str(location[-1])
        plugin = self.plugins.provider_of(section.hook, name)
        with blaming(f"the {section.noun} {name!r}, asked about its parameters,", plugin):
            try:
                parameters = model.model_validate(given)
            except ValidationError as error:
                self.faults += from_validation(error, self.source, model, location)
                return
            if document is None:
                return
            faults = list(section.faults(registered, parameters, document))
        for parameter, message in faults:
            self._fault([*location, parameter] if parameter else location, message)
        if not faults:
            line, column = self.source.position(location)
            yield Entry(registered, parameters, line or None, column or None, int(location[1]))

    def _fault(self, location: list[str | int], message: str) -> None:
        self.faults.append(located(self.source, location, message))


def _example(registered: Registered) -> str:
    """A line of a policy that names a check or a remedy: the first of its guide's."""
    lines = str(registered.guide.example).strip().splitlines()
    return lines[0] if len(lines) == 1 else f"- {registered.name}: {{parameter: value}}"
