"""`--format github`: the log, annotations at lines of the policy, a step summary, and outputs for later steps.

A workflow obeys lines of a log that begin with `::`. The log is printed between `::stop-commands::TOKEN` and
`::TOKEN::`, so that no name in a release is obeyed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from tcdp_audit.api import os_error_reason, visible_lines
from tcdp_audit.cli.audits import Form, ForPeople, Result
from tcdp_audit.cli.printing import current, write
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.findings import Level, ToolFinding, findings_of, name_in_repository
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.results.verdict import VERDICTS, verdict_title
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import count, visible

SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"
MOST_ANNOTATIONS = 10  # of a level that GitHub shows of one step
MOST_BYTES = 1024 * 1024 - 1024  # of a step's summaries together: GitHub drops what is larger than a MiB
COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
GRAVITY = ("passed", "measured", "failed", "error")
JUDGED = {0: "passed", 1: "failed", 3: "measured"}  # a complete audit by its exit code
MARKDOWN = ".md"
CUT = "\n\n**The report is cut here**: a step's summary holds no more. The log and the reports have all of it.\n"


@dataclass
class ForGitHub(Form):
    """The form of a step of GitHub Actions, where `fail_on_warning` annotates a warning as an error."""

    quiet: bool
    fail_on_warning: bool
    log: ForPeople = field(default_factory=ForPeople)
    token: str = field(default_factory=lambda: token_hex(16))
    reports: list[str] = field(default_factory=list)
    unobeyed: ExitStack = field(default_factory=ExitStack)

    def begin(self, policies: Sequence[Path]) -> None:
        """Let the workflow obey nothing that follows."""
        self.unobeyed.enter_context(escaped_workflow_commands(self.token))
        self.log.begin(policies)

    def start(self, policy: Path) -> None:
        """Name the policy in the log."""
        if not self.quiet:
            self.log.start(policy)

    def print_result(self, result: Result, written: Sequence[str]) -> None:
        """Print one audit to the log."""
        self.reports += written
        if not self.quiet:
            self.log.print_result(result, written)

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:
        """End the log, annotate, write the summary and the outputs.

        Raises:
            UsageError: a file that GitHub names cannot be written.
        """
        self.reports += written
        if not self.quiet:
            self.log.end(results, code, written)
        self.unobeyed.close()
        write("".join(f"{line}\n" for line in annotated(findings_of(results), fail_on_warning=self.fail_on_warning)))
        _append(SUMMARY, lambda used: summary(results, MOST_BYTES - used))
        _append(OUTPUT, lambda _: "".join(self._outputs(results, code)))

    def _outputs(self, results: Sequence[Result], code: int) -> Iterator[str]:
        outcomes = [one for result in results if isinstance(result, Audit) for one in result.outcomes]
        failing = sum(one.blocks or (self.fail_on_warning and one.is_warning) for one in outcomes)
        status = status_of(results, fail_on_warning=self.fail_on_warning)
        yield f"status={status}\nexit-code={code}\nfailing={failing}\n"
        paths = "".join(f"{visible(str(Path(path).resolve()))}\n" for path in self.reports)
        yield f"reports<<{self.token}\n{paths}{self.token}\n"


@contextmanager
def escaped_workflow_commands(token: str | None = None) -> Iterator[None]:
    """Print text that the workflow must not obey, whatever its lines begin with."""
    token = token or token_hex(16)
    write(f"::stop-commands::{token}\n")
    current().out.flush()  # before anything on standard error
    yield
    write(f"::{token}::\n")


def status_of(results: Sequence[Result], *, fail_on_warning: bool = False) -> str:
    """The gravest status of a run: a policy that could not be audited is an error.

    With `fail_on_warning`, demands of severity warning count, as they then do in the exit code.
    """
    return max((_status(one, fail_on_warning=fail_on_warning) for one in results), key=GRAVITY.index)


def _status(result: Result, *, fail_on_warning: bool) -> str:
    if isinstance(result, Unaudited) or result.status == "error":
        return "error"
    return JUDGED[result.exit_code(fail_on_warning=True)] if fail_on_warning else result.status


def annotated(findings: Iterable[ToolFinding], *, fail_on_warning: bool = False) -> Iterator[str]:
    """A workflow command for each finding, as many of a level as GitHub shows; the last says how many are left."""
    by_level: dict[Level, list[ToolFinding]] = {level: [] for level in Level}
    for one in findings:
        fails = fail_on_warning and one.level is Level.WARNING and one.outcome is not None
        by_level[Level.ERROR if fails else one.level].append(one)
    for level, listed in by_level.items():
        shown = listed if len(listed) <= MOST_ANNOTATIONS else listed[: MOST_ANNOTATIONS - 1]
        yield from (_annotation(level, one) for one in shown)
        if len(shown) < len(listed):
            rest = f"{count(len(listed) - len(shown), 'finding')} more: see the log and the step's summary"
            yield _command(level, rest, {"title": "tcdp-audit"})


def _annotation(level: Level, finding: ToolFinding) -> str:
    properties = {"title": finding.title}
    if finding.place is not None:
        place = finding.place
        properties = {"file": place.path, "line": str(place.line), **properties}
        if place.column is not None:
            properties["col"] = str(place.column)
    return _command(level, finding.message, properties)


def _command(level: Level, message: str, properties: Mapping[str, str]) -> str:
    """A workflow command; percent signs, line ends, colons and commas are escaped as the runner reads them."""
    listed = ",".join(f"{name}={_escaped(visible(value), ':,')}" for name, value in properties.items())
    return f"::{COMMANDS[level]} {listed}::{_escaped(visible_lines(message))}"


def _escaped(text: str, further: str = "") -> str:
    for character in ("%", "\r", "\n", *further):  # the percent sign first
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def summary(results: Sequence[Result], most: int = MOST_BYTES) -> str:
    """The run in Markdown, at most so many bytes of it: whole paragraphs, and a sentence where it is cut."""
    text = b"" if len(results) == 1 else f"{_table(results)}\n\n".encode()
    for result in results:
        text += f"{_markdown(result)}\n\n".encode()
        if len(text) > most:
            return _cut(text, most)
    return text.decode()


def _cut(text: bytes, most: int) -> str:
    """The whole lines of a text that fit, with the sentence that it is cut."""
    room = most - len(CUT.encode())
    head = text[: max(room, 0)].decode(errors="ignore")
    return head[: max(head.rfind("\n"), 0)].rstrip() + CUT if room > 0 else ""


def _markdown(result: Result) -> str:
    if isinstance(result, Audit):
        return result.render(MARKDOWN).rstrip()
    sentences = "\n".join(f"- {_plain(sentence)}" for _, _, sentence in result.reasons)
    return f"# {VERDICTS['error']}: {_plain(result.name)}\n\n{sentences}"


def _table(results: Sequence[Result]) -> str:
    rows = [
        (name_in_repository(result.path), "–", VERDICTS["error"])
        if isinstance(result, Unaudited)
        else (_policy_of(result), result.release.name, verdict_title(result))
        for result in results
    ]
    lines = ["| Policy | Release | Verdict |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_plain, row))} |" for row in rows)])


def _policy_of(audit: Audit) -> str:
    return audit.policy.name if audit.policy.path is None else name_in_repository(audit.policy.path)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: whatever is neither a letter nor harmless becomes an entity."""
    return "".join(one if one.isalnum() or one in " .,;'/–" else f"&#{ord(one)};" for one in visible(text))


def _append(variable: str, text: Callable[[int], str]) -> None:
    """Append to the file that an environment variable names, if any, a text given the bytes that are there already."""
    name = os.environ.get(variable)
    if not name:
        return
    path = Path(name)
    try:
        used = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text(used))
    except OSError as error:
        raise UsageError(f"{variable}={path}: cannot be written: {os_error_reason(error)}") from None
