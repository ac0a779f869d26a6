"""The counts of demands by result, which all reports and the terminal show.

A *demand* is an expectation that can fail: it is met, fails, warns (a failure of severity warning), or could not be
checked. An expectation that cannot fail is *measured*. The core's checks of columns are *schema checks*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tcdp_audit.core.base.errors import ExpectationsFailedError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import CELL_DEMANDS, Outcome, Severity, Status
from tcdp_audit.core.base.phrases import state_of
from tcdp_audit.core.base.words import agree, sentence_case
from tcdp_audit.core.check.translation import say


@dataclass(frozen=True, kw_only=True)
class DemandCount:
    """The numbers of demands by result.

    Args:
        met: demands that hold.
        failed: demands that do not hold.
        warned: demands that do not hold and only warn.
        unchecked: demands that could not be evaluated.
        measured: expectations without a demand, not in the total.
        skipped: questions that wait for a person's answer, not in the total.
        not_examined: expectations that only measure, and were not examined, not in the total.
    """

    met: int = 0
    failed: int = 0
    warned: int = 0
    unchecked: int = 0
    measured: int = 0
    skipped: int = 0
    not_examined: int = 0

    @property
    def total(self) -> int:
        """The number of demands."""
        return self.met + self.failed + self.warned + self.unchecked

    def sentence(self, noun: str) -> str:
        """`3 of 6 demands fail, 1 warns`, `all 6 demands are met`, with `noun` for demand; empty without a demand."""
        if not self.total:
            return ""
        if not self.total - self.met:
            return say("{total/total:{noun}} {total:is|are} met", total=self.total, noun=noun)
        return say(
            "[{failed>0?}{failed/total:{noun}} {failed:fails|fail}[{warned>0?}, {warned} {warned:warns|warn}]"
            "|{warned>0?}{warned/total:{noun}} {warned:warns|warn}|{unchecked/total:{noun}} could not be checked]"
            "[{follows?}{unchecked>0?}, {unchecked} could not be checked]",
            failed=self.failed,
            warned=self.warned,
            unchecked=self.unchecked,
            follows=bool(self.failed or self.warned),
            total=self.total,
            noun=noun,
        )

    @property
    def waiting(self) -> str:
        """`4 questions wait for an answer`; empty if none does."""
        return say("{n:question} {n:waits|wait} for an answer", n=self.skipped) if self.skipped else ""

    @property
    def unexamined(self) -> str:
        """`1 measurement was not made`; empty if all were."""
        return say("{n:measurement} {n:was|were} not made", n=self.not_examined) if self.not_examined else ""

    @property
    def line(self) -> str:
        """`3 failed, 1 warning, 2 passed, 1 measured`."""
        parts = [
            (self.failed, "failed"),
            (self.unchecked, "not checked"),
            (self.warned, agree(self.warned, "warning", "warnings")),
            (self.met, "passed"),
            (self.measured, "measured"),
            (self.skipped, "not answered"),
            (self.not_examined, "not examined"),
        ]
        return ", ".join(f"{number:,} {word}" for number, word in parts if number)


@dataclass(frozen=True, kw_only=True)
class DemandTally:
    """The demands of a policy, and the schema checks.

    Args:
        demands: the counts of the policy's expectations, schema and suite.
        columns: the counts of the core's checks of the columns.
        figures: the counts of the core's checks of tables of figures.
    """

    demands: DemandCount
    columns: DemandCount
    figures: DemandCount = DemandCount()

    @property
    def sentence(self) -> str:
        """All counts, as `3 of 6 demands fail; 4 questions wait for an answer; 1 of 7 schema checks warns`.

        Schema checks are included if one is not passed, and so are checks of tables of figures.
        """
        parts = [self.demands.sentence("demand"), self.demands.waiting, self.demands.unexamined]
        if self.columns.total > self.columns.met:
            parts.append(self.columns.sentence("schema check"))
        if wrong := self.figures.total - self.figures.met:
            total = self.figures.total
            parts.append(say("{n/total:check} of the tables {n:finds|find} a fault", n=wrong, total=total))
        sentence = "; ".join(part for part in parts if part)
        return say("{parts:text}.", parts=sentence_case(sentence)) if sentence else ""


def demands_of(outcomes: Iterable[Outcome]) -> DemandCount:
    """Count demands by result."""
    states: Counter[str] = Counter()
    for one in outcomes:
        state = state_of(one)
        states["not examined" if state == "skipped" and not one.is_question else state] += 1
    return DemandCount(
        met=states["passed"],
        failed=states["failed"],
        warned=states["warning"],
        unchecked=states["error"],
        measured=states["measured"],
        skipped=states["skipped"],
        not_examined=states["not examined"],
    )


def tally_of(outcomes: Iterable[Outcome]) -> DemandTally:
    """Count the outcomes of an audit."""
    listed = list(outcomes)
    return DemandTally(
        demands=demands_of(one for one in listed if not one.is_structural),
        columns=demands_of(one for one in listed if one.is_structural and one.check not in CELL_DEMANDS),
        figures=demands_of(one for one in listed if one.is_structural and one.check in CELL_DEMANDS),
    )


def status_of(outcomes: Sequence[Outcome]) -> str:
    """Error, failed, measured or passed; see `Audit.status`."""
    if not _checks(outcomes) or any(one.status is Status.ERROR for one in outcomes):
        return "error"
    if any(one.status is Status.FAILED and one.severity is Severity.ERROR for one in outcomes):
        return "failed"
    return "passed" if is_any_judged(outcomes, Severity.ERROR) else "measured"


def require_passed(what: str, outcomes: Sequence[Outcome]) -> None:
    """Raise `ExpectationsFailedError` unless outcomes pass; see `Audit.raise_for_failures`."""
    status = status_of(outcomes)
    if status == "passed":
        return
    grave = (Status.FAILED, Status.ERROR)
    reasons = [one for one in outcomes if (one.status in grave and not one.is_warning) or one.unfailable]
    lines = [f"{one.name}: {one.message}" for one in reasons]
    raise ExpectationsFailedError("\n".join([f"{what}'s status is {status}", *lines]))


def _checks(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of expectations on disclosure."""
    return [one for one in outcomes if not one.is_structural and not one.is_schema and not one.is_question]


def is_any_judged(outcomes: Sequence[Outcome], *severities: Severity) -> bool:
    """Whether an expectation of one of these severities compared a figure with a demand that can fail."""
    return any(one.is_judged and one.severity in severities for one in _checks(outcomes))
