"""The reports of a run: each file with its format, checked before the work and written whole after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tcdp_audit.api import SUFFIXES, require_language, require_writable, translating, write_atomically
from tcdp_audit.cli.options import require_libraries
from tcdp_audit.core.results.reporter import Reporter, reporter_of
from tcdp_audit.plugin.engine import PluginError, UsageError

if TYPE_CHECKING:
    from tcdp_audit.api import Plugins
    from tcdp_audit.core.results.audit import Audit
    from tcdp_audit.core.results.reporter import Unaudited


POLICY = "{policy}"  # in the name of a report: the name of the policy, without its extension


@dataclass
class Written:
    """The reports that were written, and the faults of those that could not be made, which stop no other."""

    paths: list[str] = field(default_factory=list)
    faults: list[PluginError] = field(default_factory=list)

    def and_also(self, other: Written) -> Written:
        """Both together."""
        return Written([*self.paths, *other.paths], [*self.faults, *other.faults])

    def raise_fault(self) -> None:
        """Raise the first fault, if there is one, as a PluginError."""
        if self.faults:
            raise self.faults[0]


@dataclass(frozen=True)
class Reports:
    """The reports of a run."""

    own: tuple[tuple[str, Reporter], ...]  # of one audit each, with `{policy}` in the name
    common: tuple[tuple[Path, Reporter], ...]  # the files that hold all audits of the run
    plugins: Plugins  # the plugins that the formats of `common` come from
    language: str = "en"  # of reports for people

    @classmethod
    def chosen(cls, names: Sequence[str], policies: Sequence[Path], plugins: Plugins, language: str = "en") -> Reports:
        """The reports that a call asks for. A file that could not be written is refused before the work begins.

        Args:
            names: of the files; one with `{policy}` is a file a policy.
            policies: those of the run.
            plugins: those that every policy of the run allows.
            language: the language of reports for people.

        Raises:
            UsageError: no reporter has the extension, a library that it needs is not installed, there are no reports in
                the language, a file cannot be written, or it would have to hold several audits and its format holds
                one.
        """
        require_language(language)
        reporters = list(plugins.reporters.values()) if names else []
        chosen = [(name, reporter_of(Path(name), reporters)) for name in names]
        common = [(name, one) for name, one in chosen if POLICY not in name and one.render_several is not None]
        own = [one for one in chosen if one not in common]
        for name, reporter in own:
            if POLICY not in name and len(policies) > 1:
                raise UsageError(
                    f"{name}: a report in {reporter.suffix} holds one audit, and {len(policies)} policies are audited; "
                    f"put {POLICY} into its name for a report of each"
                )
        reports = cls(tuple(own), tuple((Path(name), one) for name, one in common), plugins, language)
        require_libraries(reports.reporters)
        for path in reports.files(policies):
            require_writable(path)
        return reports

    @property
    def reporters(self) -> list[Reporter]:
        """Every format that is asked for."""
        return [reporter for _, reporter in (*self.own, *self.common)]

    def files(self, policies: Sequence[Path]) -> list[Path]:
        """Every file that is written for these policies."""
        own = [path for policy in policies for path, _ in self._files_of(policy)]
        return [*own, *(path for path, _ in self.common)]

    def _files_of(self, policy: Path) -> Iterator[tuple[Path, Reporter]]:
        yield from ((Path(name.replace(POLICY, _stem(policy))), reporter) for name, reporter in self.own)

    def write_own(self, audit: Audit, policy: Path) -> Written:
        """Write the reports of one audit."""
        render = partial(audit.render, language=self.language)
        return _written((path, partial(render, reporter.suffix)) for path, reporter in self._files_of(policy))

    def write_fault(self, result: Unaudited) -> Written:
        """Write the reports of a policy that could not be audited, in the formats that can state so."""
        files = [one for one in self._files_of(result.path) if one[1].render_several is not None]
        return _written((path, partial(self._several, reporter, [result])) for path, reporter in files)

    def write_common(self, results: Sequence[Audit | Unaudited]) -> Written:
        """Write the reports that hold all results of the run."""
        return _written((path, partial(self._several, reporter, results)) for path, reporter in self.common)

    def _several(self, reporter: Reporter, results: Sequence[Audit | Unaudited]) -> str:
        from tcdp_audit.core.results.audit import render_several  # noqa: PLC0415 - imports pydantic

        return render_several(reporter, results, self.plugins)


def _written(renderings: Iterable[tuple[Path, Callable[[], str | bytes]]]) -> Written:
    written = Written()
    for path, render in renderings:
        try:
            write_atomically(path, render())
            written.paths.append(str(path))
        except PluginError as fault:
            written.faults.append(PluginError(f"{path}: {fault}"))
    return written


def _stem(policy: Path) -> str:
    ends = (*SUFFIXES, policy.suffix)
    return next((policy.name.removesuffix(end) for end in ends if end and policy.name.endswith(end)), "") or "policy"


Form = Literal["render_comparison", "render_frontier"]
Chosen = Sequence[tuple[Path, "Reporter"]]


def chosen_reports(
    form: Form, names: Sequence[str], plugins: Plugins, require_own: Callable[[list[tuple[str, Path]]], None]
) -> Chosen:
    """The reports that are asked for, each with its format, which renders them by its field `form`.

    `require_own` raises where a file, given with its option, is also read.

    Raises:
        UsageError: a format has no such form, a library that it needs is not installed, or a file cannot be written.
    """
    known = [one for one in plugins.reporters.values() if getattr(one, form) is not None] if names else []
    chosen = [(Path(name), reporter_of(Path(name), known)) for name in names]
    require_own([("--report", path) for path, _ in chosen])
    require_libraries([reporter for _, reporter in chosen])
    for path, _ in chosen:
        require_writable(path)
    return chosen


def write_reports(form: Form, chosen: Chosen, result: Any, plugins: Plugins, language: str = "en") -> list[str]:
    """Write the reports that were chosen, those for people in a language; the paths of their files.

    Raises:
        PluginError: a format raised, or gave no text.
        UsageError: a file cannot be written any more.
    """
    from tcdp_audit.core.results.audit import blaming_reporter  # noqa: PLC0415 - imports pydantic

    for path, reporter in chosen:
        with translating(language), blaming_reporter(reporter.name, plugins):
            content = getattr(reporter, form)(result)
        write_atomically(path, content)
    return [str(path) for path, _ in chosen]
