"""An edited policy says what a plain mapping says that had the same changes, and all else is as the person wrote it."""

from __future__ import annotations

import copy
import gc
import json
import re
import tracemalloc
from dataclasses import FrozenInstanceError
from datetime import UTC
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings, strategies as st

from tcdp_audit import PolicyError, UsageError, draft_policy
from tcdp_audit.core.base.errors import ResultError
from tcdp_audit.core.policy.source import parse_yaml
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import PolicyEditor
from tcdp_audit.drafting.yaml_edits import is_same, with_data

PLUGINS = Plugins.load(external=False)
POLICY = """\
# Head
version: 1   # the only one

attributes:
  # what neighbours know
  age:      {role: quasi_identifier, scale: numeric}  # years

  "zip": {role: 'quasi_identifier',  # five digits
          scale: nominal}
  disease:
    # of ICD-10
    role: sensitive   # of course
    label: "the diagnosis"

expect:  # demands
  - k_anonymity: {k: 5}   # the board
  # between
  - distinct_l_diversity:
      l: 2
      # least
  - k_anonymity:  # a measurement
conventions: {}
# Tail
"""


def editor_of(text: str = POLICY, **given: Any) -> PolicyEditor:
    return PolicyEditor(text, plugins=PLUGINS, **given)


def lines_changed(before: str, after: str) -> list[tuple[str, ...]]:
    """The lines that only one of two texts has."""
    old, new = before.splitlines(), after.splitlines()
    return [tuple(one for one in old if one not in new), tuple(one for one in new if one not in old)]


@pytest.mark.parametrize(
    ("call", "old", "new"),
    [
        (
            lambda one: one.declare("age", role="sensitive", reason="it is\nrare"),
            ["  age:      {role: quasi_identifier, scale: numeric}  # years"],
            ['  age:      {role: sensitive, scale: numeric, reason: "it is\\nrare"}  # years'],
        ),
        (
            lambda one: one.declare("zip", role="insensitive"),
            ["  \"zip\": {role: 'quasi_identifier',  # five digits"],
            ['  "zip": {role: insensitive,  # five digits'],
        ),
        (lambda one: one.declare("disease", reason="asked"), [], ["    reason: asked"]),
        (lambda one: one.declare("new", role="identifier", label="id"), [], ["  new: {role: identifier, label: id}"]),
        (
            lambda one: one.declare("new", role="insensitive", acknowledged="a number of the study"),
            [],
            ["  new: {role: insensitive, acknowledged: a number of the study}"],
        ),
        (
            lambda one: one.remove_column("disease"),
            [
                "  disease:",
                "    # of ICD-10",
                "    role: sensitive   # of course",
                '    label: "the diagnosis"',
            ],
            [],
        ),
        (
            lambda one: one.change_expectation(0, {"k": 11}, reason="the law"),
            ["  - k_anonymity: {k: 5}   # the board"],
            ["  - k_anonymity: {k: 11, reason: the law}   # the board"],
        ),
        (lambda one: one.change_expectation(1, {"l": 3}), ["      l: 2"], ["      l: 3"]),
        (
            lambda one: one.change_expectation(2, {"k": 3}),
            ["  - k_anonymity:  # a measurement"],
            ["  - k_anonymity: {k: 3}  # a measurement"],
        ),
        (
            lambda one: one.add_expectation("t_closeness", {"t": Fraction(1, 5)}, reason="usual"),
            [],
            ['  - t_closeness: {t: "1/5", reason: usual}'],
        ),
        (lambda one: one.remove_expectation(0), ["  - k_anonymity: {k: 5}   # the board"], []),
        (
            lambda one: one.set_conventions(suppressed="exempt"),
            ["conventions: {}"],
            ["conventions: {suppressed: exempt}"],
        ),
        (lambda one: one.set("seed", 7), [], ["seed: 7"]),
        (
            lambda one: one.set(["conventions", "missing_tokens"], ["?"]),
            ["conventions: {}"],
            ['conventions: {missing_tokens: ["?"]}'],
        ),
        (lambda one: one.set(["utility", "models"], []), [], ["utility:", "  models: []"]),
        (lambda one: one.remove(["attributes", "zip", "scale"]), ["          scale: nominal}"], ["          }"]),
    ],
)
def test_an_edit_changes_its_lines_alone(call: Any, old: list[str], new: list[str]) -> None:
    editor = editor_of()
    assert call(editor) is not None
    assert lines_changed(POLICY, editor.text) == [tuple(old), tuple(new)]
    editor.undo()
    assert editor.text == POLICY


def test_a_decision_has_what_was_decided_by_whom_and_when() -> None:
    editor = editor_of(by="A. Person")
    made = editor.declare("age", role="sensitive", reason=" rare ")
    assert made is not None
    assert (made.what, made.reason, made.by, made.when.tzinfo) == ("attributes.age", "rare", "A. Person", UTC)
    assert made.old == {"role": "quasi_identifier", "scale": "numeric"}
    assert made.new == {"role": "sensitive", "scale": "numeric", "reason": "rare"}
    with pytest.raises(TypeError):
        made.new["role"] = "identifier"
    with pytest.raises(FrozenInstanceError):
        made.by = None  # type: ignore[misc]
    editor.remove_expectation(2)
    assert [(one.what, one.new) for one in editor.decisions] == [(made.what, made.new), ("expect[2]", None)]
    assert editor.declare("age", role="sensitive") is None
    assert len(editor.decisions) == 2
    removed = editor.remove_expectation(0, reason="no longer asked")
    assert removed is not None
    assert (removed.old, removed.new) == ({"k_anonymity": {"k": 5}}, None)
    assert editor.data["expect"] == [{"distinct_l_diversity": {"l": 2}}]


def test_undone_decisions_are_made_again_until_another_one() -> None:
    editor = editor_of()
    first, second = editor.set("seed", 1), editor.set("seed", 2)
    after = editor.text
    assert (editor.undo(), editor.undo(), editor.undone) == (second, first, (first, second))
    assert (editor.redo(), editor.redo(), editor.text) == (first, second, after)
    editor.undo()
    editor.set("seed", 3)
    assert editor.undone == ()
    with pytest.raises(UsageError, match=r"^there is no decision to make again$"):
        editor.redo()
    editor.undo()
    editor.undo()
    with pytest.raises(UsageError, match=r"^there is no decision to undo$"):
        editor.undo()


def test_a_reason_goes_with_what_it_was_given_for() -> None:
    editor = editor_of()
    editor.declare("age", role="sensitive", reason="rare")
    editor.declare("age", label="years")
    assert editor.data["attributes"]["age"]["reason"] == "rare"
    editor.declare("age", role="insensitive")
    assert "reason" not in editor.data["attributes"]["age"]
    editor.change_expectation(0, {"k": 9}, reason="usual")
    assert editor.data["expect"][0]["k_anonymity"] == {"k": 9, "reason": "usual"}
    editor.change_expectation(0, {"k": 5})
    assert editor.data["expect"][0]["k_anonymity"] == {"k": 5}
    editor.set(["expect", 0, "k_anonymity", "k"], 6, reason="by path")
    assert editor.data["expect"][0]["k_anonymity"] == {"k": 6, "reason": "by path"}


def test_an_editor_may_be_unsound_and_says_every_fault() -> None:
    editor = editor_of()
    assert editor.policy().expectations[0].parameters.k == 5
    editor.declare("age", role="quasi")
    editor.change_expectation(0, {"k": 0})
    with pytest.raises(PolicyError) as raised:
        editor.policy()
    assert [line for line, _, _ in raised.value.faults] == [6, 16]
    editor.undo()
    editor.undo()
    assert editor.policy().attributes["age"].role == "quasi_identifier"


def test_a_text_that_is_no_policy_is_not_quoted() -> None:
    with pytest.raises(PolicyError) as raised:
        PolicyEditor("name,age\nMarker,5\n")
    assert "Marker" not in str(raised.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ([], 1),
        ([True], 1),
        (["version", "x"], 1),
        (["expect", 9], {}),
        (["expect", "x"], 1),
        (["expect", -1], 1),
        ("seed", float("nan")),
        ("seed", 2**70),
        ("seed", {1, 2}),
    ],
)
def test_what_has_no_place_or_form_is_refused(path: Any, value: Any) -> None:
    editor = editor_of()
    with pytest.raises(UsageError):
        editor.set(path, value)
    assert (editor.text, editor.decisions) == (POLICY, ())


def test_what_is_not_there_cannot_be_removed_or_changed() -> None:
    editor = editor_of()
    paths: list[tuple[str | int, ...]] = [("attributes", "none"), ("expect", 3), ("key",)]
    for path in paths:
        with pytest.raises(UsageError, match="is not in the policy, so it cannot be removed"):
            editor.remove(path)
    with pytest.raises(UsageError, match=r"^expect\[3\]: there is no expectation here"):
        editor.change_expectation(3, {"k": 1})


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_keeps_its_line_ends_and_its_mark(tmp_path: Path, feed: str, mark: bytes) -> None:
    path = tmp_path / "p.tcdp.yaml"
    content = mark + POLICY.replace("\n", feed).encode()
    path.write_bytes(content)
    editor = PolicyEditor.open(path, plugins=PLUGINS)
    editor.set("seed", 3)
    editor.declare("disease", scale="nominal", reason="asked")
    assert editor.write() == path
    written = path.read_bytes()
    assert written == content.replace(
        f'diagnosis"{feed}'.encode(), f'diagnosis"{feed}    scale: nominal{feed}    reason: asked{feed}'.encode()
    ).replace(f"{{}}{feed}".encode(), f"{{}}{feed}seed: 3{feed}".encode())
    assert editor.policy().sha256 == PolicyEditor.open(path, plugins=PLUGINS).policy().sha256
    editor.undo()
    editor.undo()
    editor.write()
    assert path.read_bytes() == content


def test_a_file_that_another_program_changed_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "p.tcdp.yaml"
    path.write_text(POLICY, encoding="utf-8")
    editor = PolicyEditor.open(path)
    editor.set("seed", 3)
    path.write_text(POLICY + "# mine\n", encoding="utf-8")
    with pytest.raises(UsageError, match="was changed by another program since it was read"):
        editor.write()
    assert path.read_text(encoding="utf-8") == POLICY + "# mine\n"
    path.unlink()
    with pytest.raises(UsageError, match="is no longer there since it was read"):
        editor.write()
    editor.write(force=True)
    editor.set("seed", 4)
    editor.write()
    other = tmp_path / "other.tcdp.yaml"
    other.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is there already"):
        editor.write(other)
    assert other.read_text(encoding="utf-8") == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other.tcdp.yaml", "p.tcdp.yaml"]
    with pytest.raises(UsageError, match="it has no file yet"):
        editor_of().write()
    with pytest.raises(UsageError, match="no such policy file"):
        PolicyEditor.open(tmp_path / "none.yaml")


def test_a_history_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "p.tcdp.yaml"
    path.write_text(POLICY, encoding="utf-8")
    editor = PolicyEditor.open(path, by="a steward", plugins=PLUGINS)
    editor.declare("age", role="sensitive", reason="it is\nrare")
    editor.change_expectation(0, {"k": 7})
    editor.remove_expectation(1)
    editor.set("seed", None)
    editor.remove_column("zip", reason="unknown")
    editor.undo()
    editor.undo()

    again = PolicyEditor.resume(json.loads(json.dumps(editor.history)), path, plugins=PLUGINS)

    assert (again.text, again.decisions, again.undone) == (editor.text, editor.decisions, editor.undone)
    for _ in range(2):
        assert again.redo() == editor.redo()
    assert again.text == editor.text
    again.write()  # the file is the one that was read
    path.write_text("version: 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="was changed by another program since"):
        PolicyEditor.resume(editor.history, path, plugins=PLUGINS).write()


@pytest.mark.parametrize(
    "damage", [{"text": 3}, {"decisions": [{}]}, {"undone": 9}, {"undone": "x"}, {"decisions": [{"path": 1}]}]
)
def test_a_damaged_history_is_refused(damage: Any, tmp_path: Path) -> None:
    editor = editor_of()
    editor.set("seed", 3)
    with pytest.raises(ResultError, match=r"^the history of a policy is damaged"):
        PolicyEditor.resume({**editor.history, **damage}, tmp_path / "p.yaml", plugins=PLUGINS)


def test_a_mapping_becomes_a_text() -> None:
    policy = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier", "order": None}, 7: {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": 3}}, {"t_closeness": {"t": 1e-7}}],
        "conventions": {"missing_tokens": ["no", ""]},
    }
    editor = PolicyEditor.from_mapping(policy)
    assert editor.text == (
        "version: 1\nattributes:\n  age: {role: quasi_identifier, order: null}\n"
        '  "7": {role: insensitive}\nexpect:\n  - k_anonymity: {k: 3}\n  - t_closeness: {t: 0.0000001}\n'
        'conventions:\n  missing_tokens: ["no", ""]\n'
    )
    with pytest.raises(PolicyError):
        PolicyEditor.from_mapping({})


def test_a_draft_becomes_a_policy_with_its_hierarchies(tmp_path: Path) -> None:
    table = pa.table({"age": list(range(20, 60)) * 2, "thing": ["a", "b"] * 40})
    draft = draft_policy(table)
    path = tmp_path / "d.tcdp.yaml"
    editor = PolicyEditor.from_draft(draft, path, plugins=PLUGINS)
    for name in draft.undecided:
        editor.declare(name, role="insensitive", reason="a person looked")
    editor.add_expectation("k_anonymity", {"k": 2})
    with pytest.raises(UsageError, match="write it there first"):
        editor.write(tmp_path / "e.tcdp.yaml")
    editor.write()
    policy = PolicyEditor.open(path, plugins=PLUGINS).policy()
    named = [one.hierarchy for one in policy.attributes.values() if one.hierarchy is not None]
    assert named
    assert all((tmp_path / str(one)).is_file() for one in named)
    comments = [line for line in draft.text(path).splitlines() if line.lstrip().startswith("#")]
    assert [line for line in editor.text.splitlines() if line.lstrip().startswith("#")] == comments


NAMES = st.sampled_from(["age", "zip", "no", "a b", "x: y", "#1", "é", "'q'", "02", "n,m", "[z]"])
TEXTS = st.sampled_from(["plain", "no", "1", "a: b", "# x", "two\nlines", "{", "§ 16", "'", '"', "*"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
SCALARS = st.one_of(TEXTS, st.integers(-5, 10**6), st.booleans(), st.none(), NUMBERS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


class Writer:
    """Lines of a policy with a numbered comment wherever one may stand, in the forms that people write."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.comments = count()

    def line(self, text: str) -> None:
        comment = f"  # c{next(self.comments)};" if self.draw(st.booleans()) else ""
        self.lines.append(text + comment)

    def between(self, indent: str) -> None:
        choice = self.draw(st.integers(0, 3))
        self.lines.extend([""] * (choice == 0) + [f"{indent}# c{next(self.comments)};"] * (choice == 1))

    def owner(self, head: str, indent: str, entries: dict[str, str]) -> None:
        """An attribute or an expectation: on one line, on two, or in a block."""
        form = self.draw(st.integers(0, 3))
        pairs = [f"{key}: {value}" for key, value in entries.items()]
        if form == 0 or len(pairs) < 2:
            self.line(f"{head} {{{', '.join(pairs)}}}")
        elif form == 1:
            self.line(f"{head} {{{pairs[0]},")
            self.line(f"{indent}   {', '.join(pairs[1:])}{self.draw(st.sampled_from(['', ' ', ',']))}}}")
        else:
            self.line(head)
            for pair in pairs:
                self.between(f"{indent}  ")
                self.line(f"{indent}  {pair}")

    def attributes(self) -> None:
        self.line("attributes:")
        for name in self.draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
            self.between("  ")
            keys = self.draw(st.lists(st.sampled_from(["scale", "label", "reason"]), unique=True))
            role = self.draw(st.sampled_from(["TODO", "'sensitive'", "identifier"]))
            self.owner(f'  "{name}":', "  ", {"role": role, **dict.fromkeys(keys, "some")})

    def expectations(self) -> None:
        self.line("expect:")
        indent = self.draw(st.sampled_from(["", "  "]))
        for _ in range(self.draw(st.integers(1, 3))):
            self.between(indent)
            keys = self.draw(st.none() | st.lists(st.sampled_from(["k", "l", "reason"]), unique=True))
            if keys is None:
                self.line(f"{indent}- t_closeness:")
            else:
                self.owner(f"{indent}- k_anonymity:", f"{indent}  ", dict.fromkeys(keys, "5"))


@st.composite
def commented(draw: Any) -> str:
    """A policy that a person wrote."""
    writer = Writer(draw)
    writer.between("")
    writer.line("version: 1")
    writer.between("")
    writer.attributes()
    writer.between("")
    writer.expectations()
    if draw(st.booleans()):
        writer.line(f"conventions:{draw(st.sampled_from(['', ' {}', ' {suppressed: counted}']))}")
    writer.between("")
    feed: str = draw(st.sampled_from(["\n", "\r\n"]))
    return feed.join(writer.lines) + str(draw(st.sampled_from(["", feed])))


def numbered(text: str) -> set[str]:
    return set(re.findall(r"# c\d+;", text))


def last_line(node: yaml.Node) -> int:
    """The line of the last character of a node, without comments behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        parts = [part for one in node.value for part in (one if isinstance(one, tuple) else [one])]
        return max(map(last_line, parts))
    return int(node.end_mark.line)


def comments_within(text: str, section: str, owner: str | int) -> set[str]:
    """The comments on the lines of an attribute or an expectation."""
    root: Any = yaml.compose(text, yaml.SafeLoader)
    entries = next(value for key, value in root.value if key.value == section)
    if isinstance(owner, int):
        first = last = entries.value[owner]
    else:
        first, last = next((key, value) for key, value in entries.value if key.value == owner)
    lines = text.splitlines()[first.start_mark.line : last_line(last) + 1]
    return numbered("\n".join(lines))


class Twin:
    """A plain mapping with the same changes, each made in the obvious way, and what they may take from the text."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def declare(self, column: str, reason: str, **given: Any) -> None:
        entry = self.data["attributes"].setdefault(column, {})
        entry = entry if isinstance(entry, dict) else {}
        self.data["attributes"][column] = entry
        if entry.get("role") != given.get("role", entry.get("role")):
            entry.pop("reason", None)
        entry.update(given)
        if reason:
            entry["reason"] = reason

    def change(self, index: int, reason: str, parameters: dict[str, Any]) -> None:
        ((check, old),) = self.data["expect"][index].items()
        new = {name: one for name, one in {**(old or {}), **parameters}.items() if one is not None}
        if new != (old or {}):
            new.pop("reason", None)
        if reason:
            new["reason"] = reason
        if old is not None or new:
            self.data["expect"][index][check] = new


def edit_attributes(editor: PolicyEditor, twin: Twin, reason: str, draw: Any) -> set[str]:
    """A random change of a column in both; the comments that may go, because an entry on their lines does."""
    text, attributes, before = editor.text, twin.data["attributes"], copy.deepcopy(twin.data["attributes"])
    column = draw(NAMES)
    if draw(st.booleans()):
        if column not in attributes:
            return set()
        editor.remove_column(column, reason=reason)
        del attributes[column]
        return comments_within(text, "attributes", column)
    given = draw(st.fixed_dictionaries({}, optional={"role": TEXTS, "label": TEXTS, "order": st.lists(TEXTS)}))
    editor.declare(column, **given, reason=reason)
    twin.declare(column, reason, **given)
    gone = before.get(column, {}).keys() - attributes[column].keys()
    return comments_within(text, "attributes", column) if gone else set()


def edit_expectations(editor: PolicyEditor, twin: Twin, reason: str, draw: Any) -> set[str]:
    """The same of an expectation."""
    text, expect, before = editor.text, twin.data["expect"], copy.deepcopy(twin.data["expect"])
    kind = draw(st.sampled_from(["add", "change", "drop"]))
    if kind == "add" or not expect:
        parameters = draw(st.dictionaries(NAMES, VALUES, max_size=2))
        editor.add_expectation("c", parameters, reason=reason)
        expect.append({"c": {**copy.deepcopy(parameters), **({"reason": reason} if reason else {})}})
        return set()
    index = draw(st.integers(0, len(expect) - 1))
    if kind == "drop":
        editor.remove_expectation(index, reason=reason)
        del expect[index]
        return comments_within(text, "expect", index)
    parameters = draw(st.dictionaries(st.sampled_from(["k", "l", "m"]), SCALARS, max_size=2))
    editor.change_expectation(index, parameters, reason=reason)
    twin.change(index, reason, parameters)
    ((check, old),) = before[index].items()
    gone = (old or {}).keys() - (expect[index][check] or {}).keys()
    return comments_within(text, "expect", index) if gone else set()


def edit_others(editor: PolicyEditor, twin: Twin, reason: str, draw: Any) -> set[str]:
    """The same of any other key."""
    if draw(st.booleans()):
        editor.set_conventions(suppressed="exempt")
        twin.data["conventions"] = {**(twin.data.get("conventions") or {}), "suppressed": "exempt"}
    else:
        value = draw(VALUES)
        editor.set("utility", value, reason=reason)
        twin.data["utility"] = copy.deepcopy(value)
    return set()


@settings(deadline=None)
@given(st.data(), commented())
def test_random_decisions(data: Any, text: str) -> None:
    editor = editor_of(text)
    states, undone = [(copy.deepcopy(parse_yaml(text).data), text)], []
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(["edit", "edit", "edit", "undo", "redo"]))
        if step == "undo" and len(states) > 1:
            undone.append(states.pop())
            editor.undo()
        elif step == "redo" and undone:
            states.append(undone.pop())
            editor.redo()
        elif step == "edit":
            before, twin, made = editor.text, Twin(copy.deepcopy(states[-1][0])), len(editor.decisions)
            edit = data.draw(st.sampled_from([edit_attributes, edit_expectations, edit_others]))
            may_go = edit(editor, twin, data.draw(st.sampled_from(["", "", "because", "two\nlines: #1"])), data.draw)
            if len(editor.decisions) > made:
                states.append((twin.data, editor.text))
                undone.clear()
                lost = numbered(before) - numbered(editor.text)
                assert lost <= may_go
        assert is_same(parse_yaml(editor.text).data, states[-1][0])
        assert editor.text == states[-1][1]
        assert len(editor.decisions) == len(states) - 1
    while editor.decisions:
        editor.undo()
    assert editor.text == text


@settings(deadline=None)
@given(VALUES, VALUES)
def test_any_data_become_any_other(old: Any, new: Any) -> None:
    text = with_data("{}\n", {}, {"a": old})
    assert is_same(parse_yaml(with_data(text, {"a": old}, {"a": new})).data, {"a": new})


def test_a_decision_keeps_what_it_changed_and_no_further_text() -> None:
    columns = "".join(f"  column_{number}: {{role: insensitive}}  # {'x' * 200}\n" for number in range(60))
    editor = PolicyEditor(f"version: 1\nattributes:\n{columns}expect:\n  - k_anonymity: {{k: 2}}\n")
    editor.change_expectation(0, {"k": 3})
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for k in range(4, 44):
            editor.change_expectation(0, {"k": k})
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10 * len(editor.text)  # of 40 decisions
    for _ in range(41):
        editor.undo()
    assert "{k: 2}" in editor.text
    for _ in range(41):
        editor.redo()
    assert "{k: 43}" in editor.text
