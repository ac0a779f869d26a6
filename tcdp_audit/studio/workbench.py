"""The state of a workbench: the session, the policy that is worked on, and the choices of its screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import ColumnProfile, Plugins, Policy, Session, open_session
from tcdp_audit.drafting import Decision, PolicyEditor, draft_policy
from tcdp_audit.plugin.detector import Role, Scale
from tcdp_audit.plugin.engine import TcdpAuditError, UsageError
from tcdp_audit.plugin.report import Run
from tcdp_audit.studio.choices import Choices, Place, declaration, now, roles_of
from tcdp_audit.studio.decisions import DecisionFile
from tcdp_audit.studio.work import Newest, Progress, Work

if TYPE_CHECKING:
    from tcdp_audit.studio.release import Signer

EXAMPLES = 3  # values of a column, where a person asks for them
COMPARED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


class Workbench:
    """One table on a workbench. Its pages may ask from any thread.

    Args:
        place: the files that it is about.
        plugins: the plugins to use.
        memory: budget in bytes; None for the default.
        by: who decides, as decisions and results say.
        signer: signs the last step; None where the call names no key.
        run: who runs this and by which command, as results say.
    """

    def __init__(
        self,
        place: Place,
        plugins: Plugins | None = None,
        memory: int | None = None,
        by: str | None = None,
        signer: Signer | None = None,
        run: Run | None = None,
    ) -> None:
        self.place, self.memory, self.by, self.signer = place, memory, by, signer
        self.run = run or Run(by)
        self.plugins = plugins or Plugins.load()
        self.file = DecisionFile(place.decisions, place.title)
        self.choices = Choices()
        self.columns: list[ColumnProfile] = []
        self.notes: Mapping[str, str] = {}
        self.values: Mapping[str, Sequence[str]] = {}  # examples of each column, where someone asked for them
        self.unsaved = ""  # why the last decision is not in the file
        self.shape = 0  # grows where the places of demands change, so that an older page is recognised
        self.slid: tuple[int, Decision] | None = None  # the demand whose slider moved last, and what that decided
        self.opening, self.work = Work(), Work()
        self.front: Any = None  # the points of the last search; see `screens.remedies.Front`
        self.trial: Any = None  # the last release that was made; see `release.Trial`
        self.written_as = ""  # the policy under which this run wrote a release last
        self.lock = RLock()
        self._session: Session | None = None
        self._editor: PolicyEditor | None = None
        self.figures = Newest(self._cancel_figures)

    # opening

    def open(self) -> None:
        """Begin to open the table, to read its columns and to draft a policy where there is none."""
        self.opening.begin("opening the table", self._open)

    def _open(self, progress: Progress) -> None:
        self.columns.clear()
        saved = self.file.read()
        editor = self._known_editor(saved)
        policy = editor.policy() if editor is not None and self.place.release is None else _sound(editor)
        session = open_session(self.place.release, policy, plugins=self.plugins, memory=self.memory)
        try:
            names = () if policy is not None and policy.document.has_figures else session.column_names()
            for done, name in enumerate(names):
                progress("reading columns", done, len(names))
                self.columns += session.profiles([name])
            progress("reading columns", len(names), len(names))
            if editor is None:
                editor = self._drafted(session, progress)
        except BaseException:
            session.close()
            raise
        with self.lock:
            self._session, self._editor = session, editor
            if saved is not None:
                known = {name: saved[name] for name in vars(self.choices) if name in saved}
                self.choices = Choices(**known)
                self.notes = saved.get("notes", {})
            self.save()

    def _known_editor(self, saved: Mapping[str, Any] | None) -> PolicyEditor | None:
        """The editor of the policy as it was left, or of the policy's file; None where there is neither."""
        path = self.place.policy
        if saved is not None:
            return PolicyEditor.resume(saved["history"], path, by=self.by, plugins=self.plugins)
        if self.place.is_given or path.exists():
            return PolicyEditor.open(path, by=self.by, plugins=self.plugins)
        return None

    def _drafted(self, session: Session, progress: Progress) -> PolicyEditor:
        """The editor of a draft; its hierarchies are written, as audits read them."""
        draft = draft_policy(session, progress=progress)
        draft.write_hierarchies(self.place.policy, force=False)
        self.notes = {one.name: one.note for one in draft.columns}
        return PolicyEditor(draft.text(self.place.policy), path=self.place.policy, by=self.by, plugins=self.plugins)

    @property
    def is_open(self) -> bool:
        """Whether the table is open and its policy is there."""
        return self._session is not None and self._editor is not None

    @property
    def session(self) -> Session:
        """The session over the table.

        Raises:
            UsageError: the table is not open.
        """
        if self._session is None:
            raise UsageError("the table is not open yet; wait until its columns are read")
        return self._session

    @property
    def editor(self) -> PolicyEditor:
        """The policy that is worked on.

        Raises:
            UsageError: the table is not open.
        """
        if self._editor is None:
            raise UsageError("the table is not open yet; wait until its columns are read")
        return self._editor

    def close(self) -> None:
        """End what runs, save the decisions and close the table."""
        for work in (self.opening, self.work):
            work.cancel()
            work.wait()
        if self._session is not None:
            self._session.close()

    # the policy, and figures under it

    @property
    def policy(self) -> Policy:
        """The policy as it is now.

        Raises:
            PolicyError: it has faults, such as a column without a role.
        """
        with self.lock:
            text = self.editor.text
            if self._read[0] != text:
                self._read = (text, self.editor.policy())
            policy = self._read[1]
            assert isinstance(policy, Policy)  # noqa: S101 - the text was read
            return policy

    @cached_property
    def _read(self) -> tuple[str, Policy | None]:
        return "", None

    @property
    def fault(self) -> str:
        """The reason why the policy cannot be judged yet, in a sentence; empty where it can."""
        try:
            self.policy  # noqa: B018 - it is read to see whether it can be
        except TcdpAuditError as error:
            return str(error).splitlines()[0]
        return ""

    @property
    def view(self) -> Session:
        """The session at the levels that are tried out."""
        known = self.policy.attributes
        levels = {name: level for name, level in self.choices.levels.items() if name in known}
        return self.session.levels(levels) if levels else self.session

    @property
    def key(self) -> tuple[Any, ...]:
        """A key of everything that figures depend on."""
        return (self.editor.text, tuple(sorted(self.choices.levels.items())), tuple(sorted(self.choices.unknown)))

    def ask(self, name: str, compute: Callable[[], Any]) -> Any:
        """An answer of the session to the newest question; None where a newer one came meanwhile.

        Raises:
            UsageError: a long computation has the session.
            TcdpAuditError: as the question does.
        """
        if self.work.is_running:
            raise UsageError(f"{self.work.name} is under way; figures follow when it ends, or stop it")
        return self.figures.answer(name, self.key, compute)

    def _cancel_figures(self) -> None:
        if self._session is not None and not self.work.is_running:
            self._session.cancel()

    # decisions

    @contextmanager
    def deciding(self) -> Iterator[PolicyEditor]:
        """Change the policy or a choice, and save it; a policy that was sound and is no longer is an error.

        Raises:
            UsageError: a long computation needs the policy as it is.
            PolicyError: the change would make the policy unsound; it is taken back.
        """
        with self.lock:
            if self.work.is_running:
                raise UsageError(f"{self.work.name} is under way; stop it before you decide otherwise")
            editor, before = self.editor, self.editor.decisions
            was_sound = not self.fault
            yield editor
            if was_sound and self.fault:
                try:
                    self.policy  # noqa: B018 - it raises
                finally:
                    while editor.decisions != before[: len(editor.decisions)]:
                        editor.undo()
            self.save()

    def declare(self, column: str, role: Role, reason: str = "") -> None:
        """Decide the role of a column; the same role again accepts it.

        Raises:
            UsageError: the table has no such column.
        """
        if column not in {one.name for one in self.columns}:
            raise UsageError("the table has no such column; load the page again")
        with self.deciding() as editor:
            path, declared = declaration(editor.data, column)
            entry = {name: one for name, one in declared.items() if name != "reason" or declared.get("role") == role}
            entry["role"] = role.value
            if role in COMPARED and not declared.get("scale"):
                kind = next(one.kind for one in self.columns if one.name == column)
                entry["scale"] = (Scale.NUMERIC if kind == "number" else Scale.NOMINAL).value
            if reason.strip():
                entry["reason"] = reason.strip()
            editor.set(path, entry, reason=reason)
            self.choices.accepted[column] = now()
            self.choices.unknown = [one for one in self.choices.unknown if one != column]

    def accept_all(self) -> None:
        """Accept every role that is proposed and not accepted yet."""
        with self.deciding() as editor:
            undecided = [name for name, role in roles_of(editor.data).items() if role not in {*Role}]
            if undecided:
                raise UsageError(f"{len(undecided)} roles are left to you; choose them first")
            for name in roles_of(editor.data):
                self.choices.accepted.setdefault(name, now())

    def try_out(self, levels: Mapping[str, int], unknown: Sequence[str]) -> None:
        """Look at columns at levels of their hierarchies, and at an intruder who does not know some of them."""
        with self.deciding():
            self.choices.levels = {name: level for name, level in levels.items() if level}
            self.choices.unknown = list(unknown)

    def show_values(self) -> None:
        """Read examples of each column, as a person has asked for; the file of decisions says so.

        Raises:
            UsageError: another computation runs.
        """
        policy = _sound(self.editor)

        def read(progress: Progress) -> None:
            with self.session_with_values(policy) as session:
                names = [one.name for one in self.columns]
                for done, name in enumerate(names):
                    progress("reading examples", done, len(names))
                    (profile,) = session.profiles([name])
                    self.values = {**self.values, name: [value for value, _ in (profile.commonest or ())[:EXAMPLES]]}

        if not self.work.begin("the reading of examples", read):
            raise UsageError(f"{self.work.name} is under way; wait for its end, or stop it")
        with self.lock:
            self.choices.values_shown = self.choices.values_shown or now()
            self.save()

    def session_with_values(self, policy: Policy | None) -> Session:
        """A second session, whose evidence may name cells; it takes half of the memory, since the first one is idle."""
        memory = None if self.memory is None else self.memory // 2
        return open_session(self.place.release, policy, plugins=self.plugins, memory=memory, show_values=True)

    def undo(self) -> Decision:
        """Take back the last decision."""
        with self.lock:
            self.shape += 1
            decision = self.editor.undo()
            self.save()
            return decision

    def redo(self) -> Decision:
        """Make the decision again that was taken back last."""
        with self.lock:
            self.shape += 1
            decision = self.editor.redo()
            self.save()
            return decision

    def save(self) -> None:
        """Save every decision; where that fails, pages say why, and the next decision tries again."""
        try:
            self.file.save({"history": self.editor.history, "notes": dict(self.notes), **vars(self.choices)})
            self.unsaved = ""
        except UsageError as error:
            self.unsaved = str(error)


def _sound(editor: PolicyEditor | None) -> Policy | None:
    """The policy of an editor; None where there is none, or it has faults that a person is to mend."""
    try:
        return None if editor is None else editor.policy()
    except TcdpAuditError:
        return None
