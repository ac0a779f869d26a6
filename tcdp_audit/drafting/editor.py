"""A policy while a person works on it: each change is a decision that can be undone, and the rest of the text stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from tcdp_audit.api import (
    Plugins,
    Policy,
    PolicyError,
    ResultError,
    frozen,
    os_error_reason,
    parse_yaml,
    policy_of_text,
    policy_source,
    write_atomically,
)
from tcdp_audit.drafting.draft import PolicyDraft
from tcdp_audit.drafting.yaml_edits import ABSENT, Place, changed, is_same, text_of, with_data, without
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import UsageError, redact_errors

ATTRIBUTES, EXPECT, CONVENTIONS, REASON = "attributes", "expect", "conventions", "reason"
OWNED = 2  # places that lead to an attribute or an expectation
MARK = "\ufeff"  # of the order of bytes, with which some programs begin a file


@dataclass(frozen=True)
class Decision:
    """One change of a policy.

    Args:
        path: the keys and places that lead to what was changed, such as `("attributes", "age")`.
        old: what it was; None where it was not there.
        new: what it is; None where it was removed.
        reason: why, in the words of the person who decided; nothing without one.
        when: in UTC.
        by: who decided; None where that is not known.
    """

    path: Place
    old: Any
    new: Any
    reason: str
    when: datetime
    by: str | None

    @property
    def what(self) -> str:
        """The path as messages about policies write it: `attributes.age`, `expect[0].k_anonymity`."""
        return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in self.path).removeprefix(".")


@dataclass(frozen=True)
class _State:
    """A text and what it says."""

    text: str
    data: Any


@dataclass(frozen=True)
class _Step:
    """A decision, and the part of the text that it changed: between two ends that stayed.

    An editor keeps one text and its steps, so that a long session takes a few hundred bytes for each decision.

    Args:
        decision: the decision.
        ends: how many characters stayed at the beginning, and how many at the end.
        before: the part between them before the decision.
        after: the part between them after it.
        is_removed: whether the decision removed what is at its path.
    """

    decision: Decision
    ends: tuple[int, int]
    before: str
    after: str
    is_removed: bool

    @classmethod
    def between(cls, before: str, state: _State, decision: Decision) -> _Step:
        """The step from a text to a state."""
        after = state.text
        most = min(len(before), len(after))
        start = next((place for place in range(most) if before[place] != after[place]), most)
        most -= start
        end = next((place for place in range(most) if before[-1 - place] != after[-1 - place]), most)
        is_removed = decision.new is None and _value_at(state.data, decision.path) is not None
        return cls(
            decision, (start, end), before[start : len(before) - end], after[start : len(after) - end], is_removed
        )

    def text_after(self, text: str) -> str:
        """The text after the decision."""
        return self._with(text, self.after)

    def text_before(self, text: str) -> str:
        """The text before the decision."""
        return self._with(text, self.before)

    def _with(self, text: str, part: str) -> str:
        start, end = self.ends
        return text[:start] + part + text[len(text) - end :]

    def as_json(self) -> dict[str, Any]:
        """The entry of a history."""
        decision = self.decision
        return {
            "path": list(decision.path),
            "removed": self.is_removed,
            "reason": decision.reason,
            "when": decision.when.isoformat(),
            "by": decision.by,
            "same": list(self.ends),
            "text": self.after,
        }


class PolicyEditor:
    """A policy that remembers how it came about.

    It may be unsound between two changes; `policy` says so. An editor is for one thread.

    Args:
        text: a policy in YAML.
        path: the file that it is for: paths in it start at that folder, and `write` writes it.
        by: who decides; decisions repeat it.
        plugins: the plugins whose checks and remedies it may name; by default all that are installed.

    Raises:
        PolicyError: the text is no policy, or no YAML. A policy with other faults is accepted.

    Example:
        >>> from tcdp_audit.drafting import PolicyEditor
        >>> editor = PolicyEditor('''version: 1
        ... attributes:
        ...   age: {role: insensitive}  # in years
        ... expect:
        ...   - k_anonymity: {k: 3}
        ... ''')
        >>> editor.declare("age", role="quasi_identifier", reason="the register has it").what
        'attributes.age'
        >>> print(editor.text.splitlines()[2])
          age: {role: quasi_identifier, reason: the register has it}  # in years
        >>> editor.policy().attributes["age"].reason
        'the register has it'
        >>> editor.undo().reason, editor.text.splitlines()[2]
        ('the register has it', '  age: {role: insensitive}  # in years')
    """

    @redact_errors()
    def __init__(
        self, text: str, *, path: str | Path | None = None, by: str | None = None, plugins: Plugins | None = None
    ) -> None:
        self.path = None if path is None else Path(path)
        self.by = by
        self._mark = MARK * text.startswith(MARK)
        text = text.removeprefix(MARK)
        self._first = text
        self._state = _State(text, policy_source(text, self.path).data)
        self._steps: list[_Step] = []
        self._undone: list[_Step] = []
        self._plugins = plugins
        self._on_disk: bytes | None = None  # what the file held when it was read or written
        self._draft: PolicyDraft | None = None

    @classmethod
    @redact_errors()
    def open(cls, path: str | Path, *, by: str | None = None, plugins: Plugins | None = None) -> PolicyEditor:
        """Edit a policy file.

        Raises:
            UsageError: it does not exist or cannot be read.
            PolicyError: it holds no policy, or no YAML.
        """
        path = Path(path)
        content = _content(path)
        if content is None:
            raise UsageError(f"{path}: no such policy file")
        try:
            editor = cls(content.decode("utf-8"), path=path, by=by, plugins=plugins)
        except UnicodeDecodeError as error:
            raise PolicyError(f"{path}: not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None
        editor._on_disk = content
        return editor

    @classmethod
    def from_mapping(
        cls,
        policy: Mapping[str, Any],
        *,
        path: str | Path | None = None,
        by: str | None = None,
        plugins: Plugins | None = None,
    ) -> PolicyEditor:
        """Edit a policy that a program has as a mapping.

        Raises:
            UsageError: YAML has no form for a value of it.
            PolicyError: it is no policy.
        """
        return cls(text_of(_plain(policy)), path=path, by=by, plugins=plugins)

    @classmethod
    def from_draft(
        cls, draft: PolicyDraft, path: str | Path, *, by: str | None = None, plugins: Plugins | None = None
    ) -> PolicyEditor:
        """Edit a draft, whose roles to be decided are faults until they are.

        Args:
            draft: of a table.
            path: the file that the policy will be; `write` writes the hierarchies of the draft next to it.
            by: who decides.
            plugins: as of the editor.
        """
        editor = cls(draft.text(Path(path)), path=path, by=by, plugins=plugins)
        editor._draft = draft
        return editor

    @property
    def history(self) -> Mapping[str, Any]:
        """The editor as data that JSON can hold: its first text, and what each decision changed in it.

        It holds what the policy holds, and nothing else of a table. See `resume`.
        """
        return {
            "text": self._mark + self._first,
            "decisions": [one.as_json() for one in (*self._steps, *reversed(self._undone))],
            "undone": len(self._undone),
            "on_disk": None if self._on_disk is None else sha256(self._on_disk).hexdigest(),
        }

    @classmethod
    @redact_errors()
    def resume(
        cls, history: Mapping[str, Any], path: str | Path, *, by: str | None = None, plugins: Plugins | None = None
    ) -> PolicyEditor:
        """Go on with an editor from its `history`: every decision can be undone as before.

        Args:
            history: of an editor.
            path: the file that the policy is for.
            by: who decides from now on.
            plugins: as of the editor.

        Raises:
            ResultError: the data is no history.
        """
        try:
            editor = cls(str(history["text"]), path=path, by=by, plugins=plugins)
            for entry in history["decisions"]:
                editor._repeat(entry)
            undone, digest = int(history["undone"]), history["on_disk"]
            for _ in range(undone):
                editor.undo()
        except (KeyError, TypeError, ValueError, UsageError, PolicyError):
            raise ResultError("the history of a policy is damaged; begin again with the policy's file") from None
        content = _content(Path(path))
        is_own = content is not None and digest == sha256(content).hexdigest()
        editor._on_disk = content if is_own else None if digest is None else b""  # no file is empty and a policy
        return editor

    @property
    def text(self) -> str:
        """The policy in YAML: what was not changed is as the person wrote it."""
        return self._mark + self._state.text

    @property
    def data(self) -> Mapping[str, Any]:
        """The content of the text, as read-only plain data."""
        data: Mapping[str, Any] = frozen(self._state.data)
        return data

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions that hold, the first one first."""
        return tuple(one.decision for one in self._steps)

    @property
    def undone(self) -> tuple[Decision, ...]:
        """The decisions that `redo` makes again, the next one first."""
        return tuple(one.decision for one in reversed(self._undone))

    def declare(
        self,
        column: str,
        *,
        role: Role | str | None = None,
        scale: Scale | str | None = None,
        order: Sequence[str] | None = None,
        hierarchy: str | Mapping[str, Any] | None = None,
        distribution: str | Mapping[str, Any] | None = None,
        label: str | None = None,
        acknowledged: str | None = None,
        reason: str = "",
    ) -> Decision | None:
        """Declare a column, or change what is given of its declaration.

        `acknowledged` says why a column that looks like an identifier is none. The reason becomes that of the column. A
        changed role without a reason has none: the former reason was for the former role.

        Returns:
            The decision; None where nothing changes.
        """
        keys = ("role", "scale", "order", "hierarchy", "distribution", "label", "acknowledged")
        values = (role, scale, order, hierarchy, distribution, label, acknowledged)
        given = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
        old = self._at(ATTRIBUTES, str(column))
        new = {**_entries(old, {}), **_plain(given)}
        if _entries(old, {}).get("role") != new.get("role"):
            new.pop(REASON, None)
        return self._decide((ATTRIBUTES, str(column)), new, reason)

    def remove_column(self, column: str, *, reason: str = "") -> Decision | None:
        """Remove the declaration of a column.

        Raises:
            UsageError: there is none.
        """
        return self.remove((ATTRIBUTES, str(column)), reason=reason)

    def add_expectation(
        self, check: str, parameters: Mapping[str, Any] | None = None, *, reason: str = ""
    ) -> Decision | None:
        """Add an expectation behind the others."""
        place = len(_entries(self._at(EXPECT)))
        return self._decide((EXPECT, place), {check: _plain(parameters or {})}, reason)

    def change_expectation(self, index: int, parameters: Mapping[str, Any], *, reason: str = "") -> Decision | None:
        """Change parameters of an expectation; None removes one. Without a reason it has none afterwards.

        Args:
            index: its place among the policy's own, from 0.
            parameters: those that change.
            reason: why.

        Raises:
            UsageError: there is no such expectation.
        """
        entry = self._at(EXPECT, index)
        if not isinstance(entry, Mapping) or len(entry) != 1:
            raise UsageError(f"expect[{index}]: there is no expectation here, so nothing can be changed")
        ((check, old),) = entry.items()
        new = {name: one for name, one in {**_entries(old, {}), **_plain(parameters)}.items() if one is not None}
        if is_same(_entries(old, {}), new):
            new = old  # without parameters at all it stays so
        elif REASON not in parameters:
            new.pop(REASON, None)
        return self._decide((EXPECT, index, check), new, reason)

    def remove_expectation(self, index: int, *, reason: str = "") -> Decision | None:
        """Remove an expectation by its place among the policy's own, from 0.

        Raises:
            UsageError: there is no such expectation.
        """
        return self.remove((EXPECT, index), reason=reason)

    def set_conventions(self, *, reason: str = "", **conventions: Any) -> Decision | None:
        """Set conventions, such as `suppressed="exempt"`."""
        return self._decide((CONVENTIONS,), {**_entries(self._at(CONVENTIONS), {}), **_plain(conventions)}, reason)

    def set(self, path: str | Sequence[str | int], value: Any, *, reason: str = "") -> Decision | None:
        """Set any value.

        Args:
            path: a key of the policy such as `seed`, or the keys and places that lead to a value.
            value: a text, a number, true, false, None, a list or a mapping of such.
            reason: why.

        Raises:
            UsageError: no path leads there, or YAML has no form for the value.
        """
        return self._decide(_path(path), _plain(value), reason)

    def remove(self, path: str | Sequence[str | int], *, reason: str = "") -> Decision | None:
        """Remove any value.

        Raises:
            UsageError: there is none.
        """
        place = _path(path)
        if self._at(*place) is ABSENT:
            raise UsageError(f"{'.'.join(map(str, place))}: is not in the policy, so it cannot be removed")
        return self._decide(place, ABSENT, reason)

    def undo(self) -> Decision:
        """Undo the last decision that holds, to the letter.

        Raises:
            UsageError: there is none.
        """
        if not self._steps:
            raise UsageError("there is no decision to undo")
        step = self._steps[-1]
        self._state = _state_of(step.text_before(self._state.text))
        self._undone.append(self._steps.pop())
        return step.decision

    def redo(self) -> Decision:
        """Make the decision again that was undone last; a new decision forgets those that were undone.

        Raises:
            UsageError: there is none.
        """
        if not self._undone:
            raise UsageError("there is no decision to make again")
        step = self._undone[-1]
        self._state = _state_of(step.text_after(self._state.text))
        self._steps.append(self._undone.pop())
        return step.decision

    @redact_errors()
    def policy(self) -> Policy:
        """The policy as it would be read from its file.

        Raises:
            PolicyError: it is not sound; the message lists every fault with line and column.
            PluginError: it names what is unknown while a plugin that may define it is broken.
        """
        if self._plugins is None:
            self._plugins = Plugins.load()
        text = "\n".join(self._state.text.replace("\r\n", "\n").split("\r"))
        return policy_of_text(text, self._plugins, self.path, self.text.encode())

    @redact_errors()
    def write(self, path: str | Path | None = None, *, force: bool = False) -> Path:
        """Write the policy; the file appears whole. The hierarchies of a draft are written first.

        Args:
            path: the file; by default that of the editor, which it becomes. Relative paths in it stay as they are.
            force: replace a file that is there and that this editor neither read nor wrote as it is.

        Returns:
            The file.

        Raises:
            UsageError: there is no file to write, it was changed since it was read, or it cannot be written.
        """
        target = self.path if path is None else Path(path)
        if target is None:
            raise UsageError("policy: it has no file yet; name one")
        known = self._on_disk if target == self.path else None
        there = _content(target)
        if there != known and not force:
            if known is None:
                raise UsageError(f"{target}: is there already; name another file, or replace it with force")
            what = "is no longer there" if there is None else "was changed by another program"
            raise UsageError(f"{target}: {what} since it was read; open it again, or write it with force")
        if self._draft is not None and target != self.path:
            raise UsageError(f"{target}: the paths in this draft are those of {self.path}; write it there first")
        if self._draft is not None:
            self._draft.write_hierarchies(target, force=force)
            self._draft = None
        write_atomically(target, self.text)
        self.path, self._on_disk = target, self.text.encode()
        return target

    def _at(self, *path: str | int) -> Any:
        """The value at a path, or `ABSENT`."""
        return _value_at(self._state.data, path)

    def _decide(self, path: Place, value: Any, reason: str) -> Decision | None:
        """Change what is at a path; with a reason, also that of the attribute or the expectation that it is part of."""
        before = self._state.data
        _require_place(before, path)
        after = changed(before, path, value)
        if reason.strip() and (value is not ABSENT or len(path) > OWNED):  # the next expectation has this place now
            after = _with_reason(after, path, reason.strip())
        if is_same(before, after):
            return None
        text = self._state.text
        if value is ABSENT:
            text, before = without(text, before, path), changed(before, path, value)
        text = with_data(text, before, after)
        left = ABSENT if value is ABSENT else _value_at(after, path)
        old, new = (None if one is ABSENT else frozen(one) for one in (self._at(*path), left))
        decision = Decision(path, old, new, reason.strip(), datetime.now(UTC), self.by)
        self._advance(_state_of(text), decision)
        self._undone.clear()
        return decision

    def _advance(self, state: _State, decision: Decision) -> None:
        self._steps.append(_Step.between(self._state.text, state, decision))
        self._state = state

    def _repeat(self, entry: Mapping[str, Any]) -> None:
        """Make the decision again that an entry of a history is about."""
        before, (start, end) = self._state, map(int, entry["same"])
        after = _state_of(before.text[:start] + str(entry["text"]) + before.text[len(before.text) - end :])
        path = tuple(entry["path"])
        values = (_value_at(before.data, path), ABSENT if entry["removed"] else _value_at(after.data, path))
        old, new = (None if one is ABSENT else frozen(one) for one in values)
        by = None if entry["by"] is None else str(entry["by"])
        when = datetime.fromisoformat(entry["when"])
        self._advance(after, Decision(path, old, new, str(entry["reason"]), when, by))


def _state_of(text: str) -> _State:
    return _State(text, parse_yaml(text).data)


def _with_reason(data: Any, path: Place, reason: str) -> Any:
    """The data with the reason where the path is in an attribute or an expectation that is still there."""
    owner, entry = path[:2], _value_at(data, path[:2])
    if len(owner) < OWNED or not isinstance(entry, Mapping):
        return data
    if owner[0] == ATTRIBUTES:
        return changed(data, (*owner, REASON), reason)
    if owner[0] != EXPECT or len(entry) != 1:
        return data
    ((check, parameters),) = entry.items()
    return changed(data, (*owner, check), {**_entries(parameters, {}), REASON: reason})


def _entries(value: Any, empty: Any = ()) -> Any:
    """A list or a mapping; an empty one in place of what is not there or has another form."""
    return value if isinstance(value, type(empty) if isinstance(empty, dict) else list) else empty


def _value_at(data: Any, path: Place) -> Any:
    """The value at a path, or `ABSENT`."""
    for part in path:
        if not _has_part(data, part):
            return ABSENT
        data = data[part]
    return data


def _has_part(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and 0 <= part < len(data)
    return isinstance(data, Mapping) and part in data


def _require_place(data: Any, path: Place) -> None:
    """Refuse a path through a text or a number, or one that leaves places of a list empty."""
    for depth, part in enumerate(path):
        if isinstance(data, list):
            fits = isinstance(part, int) and 0 <= part <= len(data)
            data = data[part] if fits and isinstance(part, int) and part < len(data) else None
        else:
            fits = isinstance(data, Mapping | None) and (isinstance(part, str) or (data is None and part == 0))
            data = data.get(part) if isinstance(data, Mapping) else None
        if not fits:
            where = ".".join(map(str, path[: depth + 1]))
            raise UsageError(f"{where}: there is no such place in the policy")


def _path(path: str | Sequence[str | int]) -> Place:
    place = (path,) if isinstance(path, str) else tuple(path)
    if not place or any(isinstance(one, bool) or not isinstance(one, str | int) for one in place):
        raise UsageError("path: must be a key, or a list of keys and of places in lists")
    return place


def _plain(value: Any) -> Any:
    """A value as YAML reads it: text keys, lists, texts, numbers, true, false and None; a fraction is a text.

    Raises:
        UsageError: it is something else.
    """
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    raise UsageError(f"a value of a policy must be a text, a number, a list or a mapping, not {type(value).__name__}")


def _content(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {os_error_reason(error)}") from None
