"""The forms in which a run of `check` prints its results: for people, as JSON, for GitHub, for GitLab, or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Protocol

from tcdp_audit.api import Plugins
from tcdp_audit.cli.printing import write
from tcdp_audit.core.results.audit import Audit, render_several
from tcdp_audit.core.results.reporter import Unaudited, reporter_of

Result = Audit | Unaudited
JSON = ".json"
CODE_QUALITY = "gl.codequality.json"  # any name that selects the format


class Form(Protocol):
    """What a run calls as it goes."""

    def begin(self, policies: Sequence[Path]) -> None:
        """Before the first audit."""
        ...

    def start(self, policy: Path) -> None:
        """Before each audit."""
        ...

    def print_result(self, result: Result, written: Sequence[str]) -> None:
        """After each audit, and after the reports of it alone."""
        ...

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:
        """After the last audit, and after the reports of all of them."""
        ...


class Quiet:
    """Nothing is printed."""

    def begin(self, policies: Sequence[Path]) -> None:
        """Print nothing."""

    def start(self, policy: Path) -> None:
        """Print nothing."""

    def print_result(self, result: Result, written: Sequence[str]) -> None:
        """Print nothing."""

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:
        """Print nothing."""


class AsJson(Quiet):
    """The JSON result of the one audit."""

    def print_result(self, result: Result, written: Sequence[str]) -> None:  # noqa: ARG002 - nothing but JSON is printed
        """Print it."""
        if isinstance(result, Audit):
            write(result.render(JSON))


@dataclass
class ForGitLab(Quiet):
    """GitLab's code quality, and nothing else, so that it can be sent to a file.

    Args:
        plugins: those that the format is one of.

    Raises:
        UsageError: it is none of theirs.
    """

    plugins: Plugins

    def __post_init__(self) -> None:
        """Find the format before the work begins."""
        self.reporter = reporter_of(Path(CODE_QUALITY), self.plugins.reporters.values())

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:  # noqa: ARG002 - likewise
        """Print it."""
        write(render_several(self.reporter, results, self.plugins))


@dataclass
class ForPeople:
    """Lines and sentences, as each audit ends; after several a table of them all.

    Args:
        brief: whether only what needs action is printed.
        several: whether there are several audits.
        listed: the reports that were written.
        started: when the audit began that is printed next.
    """

    brief: bool = False
    several: bool = False
    listed: list[str] = field(default_factory=list)
    started: float = field(default_factory=monotonic)

    def begin(self, policies: Sequence[Path]) -> None:
        """Remember whether there are several audits."""
        self.several = len(policies) > 1

    def start(self, policy: Path) -> None:
        """Say which of several policies it is about, before the work."""
        self.started = monotonic()
        if self.several:
            from tcdp_audit.cli.terminal import announce  # noqa: PLC0415 - imports rich

            announce(policy)

    def print_result(self, result: Result, written: Sequence[str]) -> None:
        """Print one audit; the only one when all of its reports are written."""
        if not self.several:
            self.listed += written
        elif isinstance(result, Audit):
            self._show(result, written)

    def end(self, results: Sequence[Result], code: int, written: Sequence[str]) -> None:
        """Print the only audit, or a table of all."""
        if self.several:
            from tcdp_audit.cli.terminal import summarise  # noqa: PLC0415 - imports rich

            summarise(results, written, code)
        elif isinstance(results[0], Audit):
            self._show(results[0], [*self.listed, *written])

    def _show(self, audit: Audit, written: Sequence[str]) -> None:
        from tcdp_audit.cli.document import console  # noqa: PLC0415 - imports rich
        from tcdp_audit.cli.terminal import print_audit  # noqa: PLC0415 - likewise

        print_audit(console(), audit, written, brief=self.brief, seconds=monotonic() - self.started)
        if audit.variants:
            from tcdp_audit.cli.terminal import show_conventions  # noqa: PLC0415 - only where it is asked for

            show_conventions(audit.policy, audit.variants)
