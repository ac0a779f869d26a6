"""Confirm a written audit: make it again, compare everything, and report the differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

from tcdp_audit.api import Plugins, Policy, known_languages, named_files, with_plain_result
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.written import WrittenAudit, read_audit
from tcdp_audit.core.results.written_verdict import title_in
from tcdp_audit.plugin.engine import TcdpAuditError, redact_errors
from tcdp_audit.plugin.report import tool
from tcdp_audit.plugin.sentences import visible
from tcdp_audit.verification.again import (
    TRIAL,
    Given,
    as_then,
    audited_again,
    is_drawn,
    needs_repair,
    plugins_of_result,
    policy_file,
    policy_of,
    repaired_again,
)
from tcdp_audit.verification.digests import Point, State, Verification, digest_of_file, files_of_release, shown
from tcdp_audit.verification.wording import Wording, points_of

LOG = "change_log"
OTHERWISE = "what the remedies make of the release before the repair is another table than this one"
DRAWN = "a remedy draws its noise anew each time, so what remedies did cannot be done again"


@redact_errors()
def verify(
    result: str | Path | WrittenAudit,
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    original: Any = None,
    population: Any = None,
    *,
    before: Any = None,
    trust_policy_code: bool = False,
    plugins: Plugins | None = None,
    memory: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Verification:
    """Confirm a result, or a report, by auditing the release again; report the differences.

    Digests of the release, the policy and its companions are compared, then every figure and sentence, then the
    text of an HTML report with the one that the audit gives now. The time of the result and the location of its tables
    cannot be known again: they are taken from the result.

    Args:
        result: a JSON result, or an HTML report.
        release: the table that it is about; see `audit`. Of several linked tables a mapping by name, the folder that
            holds their files, or None for the files that the result names.
        policy: the policy; by default the file that the result names, or its namesake next to the result.
        original: the table that the release was made from; by default the one that the policy names.
        population: likewise.
        before: the release before the repair, for a result of `fix`, which is repaired again.
        trust_policy_code: run code next to the policy that the policy names, as for `load_policy`.
        plugins: the plugins to use; by default those of the result, as far as they are installed.
        memory: budget in bytes, as for `audit`; it affects estimates only.
        progress: called with (step, done, in all).

    Returns:
        The comparisons with their results: see `.is_confirmed` and `.points`.

    Raises:
        UsageError: a file does not exist.
        ResultError: the file holds no result, or something that it needs is missing.
        TcdpAuditError: the audit cannot be made although release and policy are unchanged.

    Cost: that of an audit, with a report where there is one, and of a repair where there was one.
    """
    written = result if isinstance(result, WrittenAudit) else read_audit(Path(result))
    given = Given(
        release=files_of_release(release, written),
        policy=policy,
        original=original,
        population=population,
        before=before,
        trust_policy_code=trust_policy_code,
        plugins=plugins_of_result(written, plugins or Plugins.load()),
        memory=memory,
        progress=progress,
    )
    changed = list(_changed(written, given))
    try:
        again = audited_again(written, given, policy_of(written, given))
    except TcdpAuditError as error:
        if not changed:
            raise
        point = Point("figures", State.UNVERIFIED, f"they cannot be computed: {error}")
        return Verification((*changed, point), written.verdict, title_in(written.result))
    return Verification(tuple(_points(written, given, again)), written.verdict, title_in(written.result))


def _changed(written: WrittenAudit, given: Given) -> Iterator[Point]:
    """The files whose bytes are known to have changed before anything is computed."""
    yield from _changed_tables(written, given)
    path, was = policy_file(written, given), str(written.result["policy"]["sha256"])
    digest = None if path is None or written.policy_path is None else digest_of_file(path)
    if digest is not None and digest != was:
        yield Point("policy", State.DIFFERS, f"changed: SHA-256 was {shown(was)}, is {shown(digest)}")
    yield from (one for one in _named_files(written, given) if one.state is State.DIFFERS)


def _changed_tables(written: WrittenAudit, given: Given) -> Iterator[Point]:
    """The release, or those of its linked tables, that are other files now."""
    was = {f"table {name}": one for name, one in written.release.tables.items()} or {"release": written.release}
    now = {f"table {name}": one for name, one in given.release.items()} if isinstance(given.release, Mapping) else {}
    if written.figures:
        now["release"] = next(one for name, one in given.release.items() if name not in written.figures)
        was |= {f"table {name}": one for name, one in written.figures.items() if f"table {name}" in now}
    for subject, table in was.items():
        digest = digest_of_file(now.get(subject, given.release))
        if digest is not None and digest != table.sha256 and not table.in_memory:
            yield Point(subject, State.DIFFERS, f"another one: SHA-256 was {shown(table.sha256)}, is {shown(digest)}")


def _named_files(written: WrittenAudit, given: Given) -> list[Point]:
    """The comparison of the files that the policy names, if the policy can be read."""
    try:
        now = named_files(policy_of(written, given))
    except TcdpAuditError:
        return []
    return list(Wording(written.version, tool()["version"]).files(written.files, now))


def _points(written: WrittenAudit, given: Given, again: Audit) -> Iterator[Point]:
    log, again = _log(written, given, again)
    points = [*points_of(written, _with_title(again, written)), *log, *_trial(written, again)]
    yield from points
    if written.page is None:
        return
    if all(one.state in (State.CONFIRMED, State.NOTE) for one in points):
        yield page_point(written, again)
    else:
        yield Point("report", State.UNVERIFIED, "its text was not compared, because its result is not confirmed")


def _with_title(again: Audit, written: WrittenAudit) -> Mapping[str, Any]:
    """The result of an audit. The columns that remedies emptied are those of the written log unless a log was made."""
    now = again.as_json()
    if again.change_log is None:
        now["verdict"]["title"] = title_in({**now, LOG: written.result.get(LOG)})
    return now


def _log(written: WrittenAudit, given: Given, again: Audit) -> tuple[list[Point], Audit]:
    """The comparison of the log of changes, and the audit with the log that was made again."""
    if LOG not in written.result:
        return [], again
    if given.before is None:
        needs = "what remedies did can be done again with the release before the repair; name it with --source-release"
        return [Point("changes", State.UNVERIFIED, needs)], again
    if is_drawn(again.policy):
        return [Point("changes", State.UNVERIFIED, DRAWN)], again
    repaired = repaired_again(written, given, again.policy)
    now = repaired.as_json()
    points = list(Wording(written.version, now["tool"]["version"]).log(written.result[LOG], now[LOG]))
    if not needs_repair(written):
        return points, replace(again, change_log=repaired.change_log)
    if repaired.release.sha256 != again.release.sha256:
        return [*points, Point("changes", State.DIFFERS, OTHERWISE)], replace(again, change_log=repaired.change_log)
    return points, replace(repaired, release=again.release)


def _trial(written: WrittenAudit, again: Audit) -> Iterator[Point]:
    """The comparison of the remedies that were tried, where they were."""
    if TRIAL not in written.result:
        return
    if is_drawn(again.policy):
        yield Point("remedies", State.UNVERIFIED, DRAWN)
        return
    now = again.as_json()
    yield from Wording(written.version, now["tool"]["version"]).trial(written.result[TRIAL], now.get(TRIAL))


HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
UNSEEN = frozenset({"style", "script", "template", "title"})
PIECE = re.compile(r"<(?P<end>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9]*)?[^<>]*>|(?P<text>[^<]+|<)")
LANGUAGE = re.compile(r'<html lang="([a-z]+)')
LONGEST = 80  # letters of a report's expected text that a sentence quotes


def page_point(written: WrittenAudit, again: Audit) -> Point:
    """Whether a report states what its result does, and nothing else.

    The result has been confirmed. Another version, or other plugins, may write another report.
    """
    with as_then(again, written) as then:
        expected = then.render(".html", _language(written.page or "")).encode("utf-8", "backslashreplace").decode()
    page = "" if written.page is None else with_plain_result(written.page, str(written.path))
    expected = with_plain_result(expected, str(written.path))
    if expected == page:
        same = "it says what its result says, and nothing else; what is not checked is in both"
        return Point("report", State.CONFIRMED, same)
    others = _other_writers(written, again)
    if others:
        sentence = f"its text can be verified with what wrote it: {_short(', '.join(others))}"
        return Point("report", State.UNVERIFIED, sentence)
    return Point("report", State.DIFFERS, _where(expected, page, quote=not written.names_cells))


def _language(page: str) -> str:
    """The language that a page says it is in; English where no reports can be written in that."""
    match = LANGUAGE.search(page)
    return match[1] if match is not None and match[1] in known_languages() else "en"


def _other_writers(written: WrittenAudit, again: Audit) -> list[str]:
    """The program and plugins of the written audit that now have another version, or are missing."""
    now = {f"plugin {one.name}": one.version for one in again.plugins.infos}
    now["tcdp-audit"] = str(again.as_json()["tool"]["version"])
    then = {f"plugin {one['name']}": one["version"] for one in written.result["plugins"]}
    others = {"tcdp-audit": written.version, **then}.items()
    return [f"{name} {version}" for name, version in others if now.get(name) != version]


def _where(expected: str, page: str, *, quote: bool) -> str:
    """The heading under which a report begins to differ; the text that is expected there, but never the actual one."""
    right, wrong = (list(_texts(one)) for one in (expected, page))
    for (heading, text), other in zip(right, [*wrong, ("", "")], strict=False):
        if (heading, text) != other:
            should = f'; it should read "{_short(text)}"' if quote else ""
            return f'its text is not what its result says, first under "{_short(heading)}"{should}'
    if len(wrong) > len(right):
        return "it has more text than its result gives, after the end of the page"
    lines = zip([*expected.split("\n"), ""], [*page.split("\n"), ""], strict=False)
    line = next(number for number, (one, other) in enumerate(lines, 1) if one != other)
    return f"its text is what its result says, but its markup is not, first in line {line:,}"


def _short(text: str) -> str:
    whole = visible(" ".join(text.split()))
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"


def _texts(page: str) -> Iterator[tuple[str, str]]:
    """The visible texts of a page, each with its heading.

    A tag ends at the next angle bracket, even within quotes: so a page that was forged for it costs no more than its
    length, where a parser of HTML may need its square.
    """
    heading, within, unseen = "", False, 0
    for piece in PIECE.finditer(page):
        if piece["text"] is None:
            ends, tag = bool(piece["end"]), (piece["tag"] or "").lower()
            if tag in HEADINGS:
                heading, within = (heading if ends else ""), not ends
            unseen += 0 if tag not in UNSEEN else -(unseen > 0) if ends else 1
        elif text := unescape(piece["text"]).strip():
            heading = f"{heading} {text}".strip()[: 2 * LONGEST] if within else heading
            if not unseen:
                yield heading, text
