"""The differences between a written result and the recomputed one, in sentences without a cell.

Numbers and the words of the contract are quoted; any other text only "differs": it may have been forged to hold a cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tcdp_audit.api import RESTORED_COLUMNS, NamedFile, Table, part_name
from tcdp_audit.core.results.change import matched
from tcdp_audit.core.results.verifier import PROOF, digest_of_result
from tcdp_audit.core.results.written import Entry, WrittenAudit, files_in, is_structural, table_of
from tcdp_audit.plugin.sentences import count, listing, visible
from tcdp_audit.verification.digests import ABSENT, Difference, Point, State, differences, shown

CIRCUMSTANCES = ("audited_at", "run")  # which an audit made again cannot know
COMPARED_SEPARATELY = (
    *("release", "policy", "companions", "files", "outcomes", "tool", "plugins"),
    *("change_log", "remedy_trial", *CIRCUMSTANCES),
)
FOLLOWING = ("status", "verdict", "exposed", "scenarios", "summary", "flips")  # consequences of the outcomes
WITH_MORE = (
    "it was judged with a column, or in an order, that the release does not have, and so was the verdict; name the "
    "release before the repair with --source-release"
)
SAFE = frozenset({"passed", "failed", "error", "skipped", "measured", "warning", ">=", "<=", "<", ">", "infinity"})
NAMES = {"observed": "the figure", "threshold": "the demand", "comparison": "the comparison", "message": "the sentence"}
NOT_CHECKED = "not checked"
PARTS = ("column_risks", "variants", "change_log", "remedy_trial")  # optional parts of an audit
VERSION = re.compile(r"[0-9][0-9A-Za-z.+!_-]{0,39}")
LONGEST = 40  # letters of a key or a name in a sentence


def points_of(written: WrittenAudit, now: Mapping[str, Any]) -> Iterator[Point]:
    """The comparison of every part of two results: the written one, and that of the audit made again."""
    points = list(_points_of(written.result, now, Wording(written.version, now["tool"]["version"])))
    yield from points
    if all(one.state is State.CONFIRMED or one.subject == NOT_CHECKED for one in points):
        yield from _seal(written.result)


def _seal(was: Mapping[str, Any]) -> Iterator[Point]:
    """The digest that a result holds of itself, where nothing else has changed: circumstances are part of it."""
    proof = was.get(PROOF)
    if isinstance(proof, Mapping) and proof.get("sha256") != digest_of_result(was):
        yield Point("figures", State.DIFFERS, "proof.sha256 is not the digest of the result")


def _points_of(was: Mapping[str, Any], now: Mapping[str, Any], wording: Wording) -> Iterator[Point]:
    yield from wording.tables("release", was["release"], now["release"])
    yield from _policy(was["policy"], now["policy"])
    yield from wording.files(files_in(was), files_in(now))
    for name in {**was["companions"], **now["companions"]}:
        yield from wording.companion(name, was["companions"].get(name), now["companions"].get(name))
    yield from wording.figures(was, now)
    yield from wording.writers(was, now)
    yield from _versions(was, now)
    yield from _not_checked(was, now)


class Wording:
    """Differences as points, between results of the version `was` of tcdp-audit and of the version `now`."""

    def __init__(self, was: str, now: str) -> None:
        self.is_one_version = was == now
        self.was = visible(was)[:LONGEST]

    def tables(self, subject: str, was: Entry, now: Entry) -> Iterator[Point]:
        """A table's digest or version, its size and its name."""
        tables = [table_of(one) for one in (was, now)]
        if tables[0].in_memory != tables[1].in_memory:
            problem = "it was a table in memory, whose digest is of its content; verify it from Python, as a table"
            yield Point(subject, State.UNVERIFIED, problem)
        elif was["sha256"] != now["sha256"]:
            sentence = f"another one: SHA-256 was {shown(was['sha256'])}, is {shown(now['sha256'])}"
            yield Point(subject, State.DIFFERS, sentence)
        elif any(one.version is not None for one in tables):
            yield _versions_of(subject, *tables)
        elif any(one.content for one in tables):
            yield _rows(subject, *(one.content for one in tables))
        elif was["sha256"] is None:
            yield Point(subject, State.NOTE, "it has no digest, so only its figures tie it to the result")
        else:
            yield Point(subject, State.CONFIRMED, f"the same to the byte, SHA-256 {shown(was['sha256'])}")
        apart = ("uri", "sha256", "version", "state", "tables")
        rest = {key: value for key, value in was.items() if key not in apart}
        others = {key: value for key, value in now.items() if key not in apart}
        yield from self._points(subject, "", differences(rest, others))
        yield from _name(subject, tables[0].name, tables[1].name)
        parts = [one.get("tables", {}) for one in (was, now)]
        for name in {**parts[0], **parts[1]}:
            yield from self._part(f"table {_short(name)}", parts[0].get(name), parts[1].get(name))

    def _part(self, subject: str, was: Entry | None, now: Entry | None) -> Iterator[Point]:
        """One of several linked tables."""
        if was is None or now is None:
            change = "not in the result, and is read now" if was is None else "in the result, and is not read now"
            yield Point(subject, State.DIFFERS, change)
        else:
            yield from self.tables(subject, was, now)

    def companion(self, name: str, was: Entry | None, now: Entry | None) -> Iterator[Point]:
        """A table that the release is compared with."""
        subject = _short(name)
        if was is None or now is None:
            change = "not compared with before, and is now" if was is None else "compared with before, and is not now"
            yield Point(subject, State.DIFFERS, change)
        else:
            yield from self.tables(subject, was, now)

    def files(self, was: Sequence[NamedFile], now: Sequence[NamedFile]) -> Iterator[Point]:
        """The files that the policy names, except tables: hierarchies, a schema, a suite."""
        old, new = ({one.title: one for one in files} for files in (was, now))
        for title in {**old, **new}:
            yield from self._file(_short(title), old.get(title), new.get(title))

    def _file(self, subject: str, was: NamedFile | None, now: NamedFile | None) -> Iterator[Point]:
        if was is None and now is not None:
            state = State.DIFFERS if self.is_one_version else State.NOTE
            yield Point(subject, state, f"SHA-256 is {shown(now.sha256)}, and is not in the result")
        elif was is not None and now is None:
            yield Point(subject, State.DIFFERS, f"SHA-256 was {shown(was.sha256)}, and no such file is read now")
        elif was is not None and now is not None:
            yield _digests(subject, was.sha256, now.sha256)
            yield from _name(subject, _file_name(was.uri), _file_name(now.uri))

    def figures(self, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Point]:
        """All computed values: status, summary, outcomes, and the additions of a version."""
        unknown = _judged_with_more(was, now)
        points = [*self._rest(was, now), *self._outcomes(was["outcomes"], now["outcomes"], unknown)]
        yield from points
        if all(one.state in (State.CONFIRMED, State.NOTE) for one in points):
            sentence = f"{count(len(now['outcomes']), 'outcome')} computed again, every figure the same"
            yield Point("figures", State.CONFIRMED, sentence)

    def _rest(self, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Point]:
        left_out = {*COMPARED_SEPARATELY, *(FOLLOWING if _judged_with_more(was, now) else ())}
        left, right = ({key: _by_name(one[key]) for key in one if key not in left_out} for one in (was, now))
        for one in (left, right):  # the digest covers circumstances as well, and is compared last
            if isinstance(one.get(PROOF), Mapping):
                one[PROOF] = {key: value for key, value in one[PROOF].items() if key != "sha256"}
        yield from self._points("figures", "", differences(left, right))

    def _outcomes(self, was: Sequence[Entry], now: Sequence[Entry], unknown: Sequence[Entry]) -> Iterator[Point]:
        for old, new in matched(was, now):
            if old is None and new is not None:
                yield Point("figures", State.DIFFERS, f"{name_of(new, now)} is not in the result")
            elif new is None and old is not None:
                yield Point("figures", State.DIFFERS, f"{name_of(old, was)} does not come of this release and policy")
            elif old is not None and new is not None and old in unknown:
                yield Point("figures", State.UNVERIFIED, f"{name_of(old, was)}: {WITH_MORE}")
            elif old is not None and new is not None:
                yield from self._points("figures", name_of(new, now), differences(old, new))
        orders = [[_key(one) for one in outcomes] for outcomes in (was, now)]
        if orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1]):
            yield Point("figures", State.DIFFERS, "the outcomes are in another order")

    def writers(self, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Point]:
        """The result's statements on its writers, except versions, which are compared separately."""
        subject = "writers"
        if was["tool"]["name"] != now["tool"]["name"] or any(key not in now["tool"] for key in was["tool"]):
            yield Point(subject, State.DIFFERS, "what it calls the tool that wrote it is not what that writes")
        if self.is_one_version and was["tool"]["libraries"].keys() != now["tool"]["libraries"].keys():
            yield Point(subject, State.DIFFERS, "the libraries that it names are not those that this version names")
        given = [one for one in _version_by_name(was).values() if one]  # a plugin that is no distribution has none
        if not all(map(VERSION.fullmatch, given)):
            yield Point(subject, State.DIFFERS, "what it gives as a version is none")
        if self.is_one_version and not isinstance(was.get("run"), Mapping):
            yield Point(subject, State.DIFFERS, "who ran it is missing in the result")
        for one in was["plugins"]:
            same = [other for other in now["plugins"] if _is_same_plugin(one, other)]
            if self.is_one_version and same and one not in same:
                yield Point(subject, State.DIFFERS, f"what it says of the plugin {_short(one['name'])} is another")
            elif not same:
                yield Point(subject, State.NOTE, f"not checked: what it says of the plugin {_short(one['name'])}")

    def log(self, was: Any, now: Any) -> Iterator[Point]:
        """The changes of remedies."""
        points = list(self._points("changes", "", differences(_without_uri(was), _without_uri(now))))
        yield from points
        if not points:
            yield Point("changes", State.CONFIRMED, "what remedies did was done again, and came out the same")

    def trial(self, was: Any, now: Any) -> Iterator[Point]:
        """The changes that remedies would make."""
        points = list(self._points("remedies", "", differences(was, now)))
        yield from points
        if not points:
            yield Point("remedies", State.CONFIRMED, "what remedies would do was tried again, and came out the same")

    def _points(self, subject: str, about: str, all_differences: Iterator[Difference]) -> Iterator[Point]:
        for one in all_differences:
            sentence = f"{about}: {_sentence(one)}" if about else _sentence(one)
            yield Point(subject, *self._judged(one, sentence))

    def _judged(self, one: Difference, sentence: str) -> tuple[State, str]:
        """A difference between two versions may be due to them: of keys, or of the wording of a sentence."""
        if self.is_one_version or not (one.is_of_keys or _is_wording(one)):
            return State.DIFFERS, sentence
        if one.was is ABSENT:
            return State.NOTE, f"{sentence}: tcdp-audit {self.was} did not write it"
        return State.UNVERIFIED, f"{sentence}: verify it with tcdp-audit {self.was}, which wrote it"


def _judged_with_more(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[Entry]:
    """The outcomes that were judged with columns that the release lacks, where no repair was repeated."""
    if "change_log" in now:
        return []
    return [one for one in was["outcomes"] if not RESTORED_COLUMNS.isdisjoint(one["details"])]


def _key(entry: Entry) -> tuple[str, str, str]:
    return entry["check"], str(entry["attribute"]), part_name(entry)


def name_of(entry: Entry, among: Sequence[Entry]) -> str:
    """The name of an outcome for a person: the number of its expectation, its check and its attribute."""
    check = _short(entry["check"])
    attribute = "" if entry["attribute"] is None else f" on {_short(entry['attribute'])!r}"
    if is_structural(entry):
        return f"columns, {check}{attribute}"
    attribute += f" in scenario {_short(entry['scenario'])}" if "scenario" in entry else ""
    attribute += f" for each {_short(entry['unit'])}" if "unit" in entry else ""
    return f"expectation {_position(entry, among)}, {check}{attribute}"


def _position(entry: Entry, among: Sequence[Entry]) -> int:
    expectations = [one for one in among if not is_structural(one)]
    return next((number for number, one in enumerate(expectations, 1) if one is entry), 0)


def _by_name(value: Any) -> Any:
    """A list of things with unique names, such as columns, as a mapping; anything else unchanged."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) and "name" in one for one in value):
        return value
    mapping = {str(one["name"]): one for one in value}
    return mapping if len(mapping) == len(value) else value


def _versions_of(subject: str, before: Table, after: Table) -> Point:
    """The comparison of a table that keeps several versions."""
    was, now = before.version, after.version
    if was is not None and now is not None and was.identity == now.identity:
        return Point(subject, State.CONFIRMED, f"the same, {visible(now.sentence)}")
    is_now = "it is a table without versions" if now is None else f"it is {visible(now.sentence)}"
    return Point(subject, State.DIFFERS, f"another version than that of the result: {is_now}")


def _rows(subject: str, was: str, now: str) -> Point:
    """The comparison of the rows of a database's table by their content hash."""
    if was == now:
        return Point(subject, State.CONFIRMED, f"the same rows, content hash {shown(was)}")
    return Point(subject, State.DIFFERS, f"other rows: content hash was {shown(was or None)}, is {shown(now or None)}")


def _digests(subject: str, was: str, now: str) -> Point:
    """The comparison of a file by its digest."""
    if was == now:
        return Point(subject, State.CONFIRMED, f"the same to the byte, SHA-256 {shown(was)}")
    return Point(subject, State.DIFFERS, f"changed: SHA-256 was {shown(was)}, is {shown(now)}")


def _policy(was: Entry, now: Entry) -> Iterator[Point]:
    yield _digests("policy", was["sha256"], now["sha256"])
    yield from _name("policy", *(_file_name(one["uri"]) for one in (was, now)))


def _name(subject: str, was: str, now: str) -> Iterator[Point]:
    if was != now:
        yield Point(subject, State.NOTE, f"was called {_short(was)!r}, is {_short(now)!r}")


def _file_name(uri: str | None) -> str:
    return "" if uri is None else uri.replace("\\", "/").rsplit("/", 1)[-1]


def _versions(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Point]:
    """The versions of program, libraries and plugins, for information, since the figures have been compared."""
    left, right = (_version_by_name(one) for one in (was, now))
    for name in {**left, **right}:
        if left.get(name) != right.get(name):
            versions = [_short(one) if one else "not there" for one in (left.get(name), right.get(name))]
            yield Point("versions", State.NOTE, f"{_short(name)} was {versions[0]}, is {versions[1]}")


def _is_same_plugin(one: Entry, other: Entry) -> bool:
    return bool(one["name"] == other["name"] and one["version"] == other["version"])


def _not_checked(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Point]:
    """The parts that were not compared: those taken from the result, and those that it lacks."""
    words = ["when it was made", "who ran it, how and configured by what", "where its files were"]
    if _version_by_name(was) != _version_by_name(now):
        words.append("the versions that are others here")
    yield Point(NOT_CHECKED, State.NOTE, f"the result's word for {listing(words)}")
    absent = [name for name in PARTS if name not in was]
    if absent:
        yield Point(NOT_CHECKED, State.NOTE, f"parts that a result may have and this one has not: {', '.join(absent)}")


def _version_by_name(result: Mapping[str, Any]) -> dict[str, str]:
    tool = result["tool"]
    plugins = {f"plugin {one['name']}": one["version"] for one in result["plugins"]}
    return {tool["name"]: tool["version"], "Python": tool["python"], **tool["libraries"], **plugins}


def _sentence(one: Difference) -> str:
    """A difference in words, with both values where they can be quoted."""
    name = NAMES.get(one.path[-1], "") if len(one.path) == 1 else ""
    place = name or ".".join(map(_short, one.path)) or "it"
    if one.was is ABSENT:
        return f"{place} is missing in the result"
    if one.now is ABSENT:
        return f"{place} does not come of the audit"
    quoted = [_quoted(value) for value in (one.was, one.now)]
    return f"{place} was {quoted[0]}, is {quoted[1]}" if all(quoted) and quoted[0] != quoted[1] else f"{place} differs"


def _is_wording(one: Difference) -> bool:
    """Whether two texts differ that are no words of the contract."""
    return all(isinstance(value, str) and value not in SAFE for value in (one.was, one.now))


def _quoted(value: Any) -> str:
    """A value that is no cell: a number, a word of the contract, or none; otherwise empty."""
    if value is None:
        return "none"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return value if isinstance(value, str) and value in SAFE else ""


def _short(text: str) -> str:
    whole = visible(text)
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"


def _without_uri(value: Any) -> Any:
    """A table's entry without its location, which may change."""
    if not isinstance(value, Mapping) or not isinstance(value.get("input"), Mapping):
        return value
    return {**value, "input": _contents(value["input"])}


def _contents(table: Entry) -> Entry:
    """A table's entry without its location and moment, and without those of the linked tables that it consists of."""
    parts: dict[str, Any] = {}
    if isinstance(tables := table.get("tables"), Mapping) and all(isinstance(one, Mapping) for one in tables.values()):
        parts["tables"] = {name: _contents(one) for name, one in tables.items()}
    return {key: one for key, one in {**table, **parts}.items() if key not in ("uri", "state")}
