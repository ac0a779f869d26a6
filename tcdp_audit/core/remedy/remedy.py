"""Remedies: registered code that changes a release so that it keeps its policy.

A remedy sees a `RemedyView` and answers with a `Treatment`: new columns, and which records stay. It never writes a
file, never judges itself and never touches a column that it does not name; the core audits every treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.guide_file import REMEDY_SECTIONS, GuideFile
from tcdp_audit.core.base.words import figure, listing
from tcdp_audit.core.policy.model import Model, PolicyDocument

if TYPE_CHECKING:
    from tcdp_audit.core.base.outcome import Outcome
    from tcdp_audit.core.remedy.view import RemedyView

ROUNDING = 1e-9  # relative; the same loss computed in two ways differs by less


class RemedyError(CheckError):
    """A remedy cannot do what it was asked to; the message says which condition fails and what would be attainable."""


class DominatedError(RemedyError):
    """A treated release would lose more than another one that passes, so that it would not be taken.

    Args:
        message: the sentence that says so.
        at_least: its total information loss, or less.
    """

    def __init__(self, message: str, at_least: float | None = None) -> None:
        super().__init__(message)
        self.at_least = at_least


def require_least(loss: float, least: float, because: str = "stopped: it loses at least {}") -> None:
    """Stop where a treated release will not be taken, because it loses too much.

    Args:
        loss: its total information loss, or less.
        least: that of a release that passes.
        because: the beginning of the sentence that says so, with {} for the loss.

    Raises:
        DominatedError: the loss is larger, by more than what rounding could do.
    """
    if loss > least * (1 + ROUNDING):
        raise DominatedError(
            f"{because.format(figure(loss))}, and another remedy, after which the release passes, loses "
            f"{figure(least)}",
            loss,
        )


class RemedyParameters(Model):
    """Base of every remedy's parameters."""


R = TypeVar("R", bound=RemedyParameters)


@dataclass(frozen=True)
class NewColumn:
    """A column as a remedy leaves it: distinct cells, and which of them each record gets.

    Args:
        cells: numbers (int64, float64) or text (object). A cell that the record had before stays as it was written.
        codes: for each record of the view a position in `cells`; len(cells) for no value. Shape (records,).
    """

    cells: NDArray[Any]
    codes: NDArray[Any]

    @classmethod
    def of_texts(cls, cells: Sequence[str], codes: NDArray[Any]) -> NewColumn:
        """A column of text."""
        return cls(np.array(cells, dtype=object), codes)


@dataclass(frozen=True)
class Treatment:
    """The work of a remedy on a release.

    Args:
        columns: the columns it changed, by name; each already in the release.
        retained: which records stay, bool, shape (records,); None for all of them.
        notes: figures about how it was done, under documented names; no cell among them.
        lines: policy lines that an audit of the treated release needs: how noise was added.
        attacks: checks that attack the treated release with what was done in every particular, each `{check:
            parameters}` as a policy's `expect:` has it, without a demand. `fix` runs them on what it writes, beside
            the release as it came in.
    """

    columns: Mapping[str, NewColumn] = field(default_factory=dict)
    retained: NDArray[np.bool_] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    attacks: tuple[Mapping[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True)
class RemedyGuide(GuideFile):
    """The text that a person reads about a remedy; `explain` and the documentation page show it.

    Give the parts here, or write them in a Markdown file and name it: `RemedyGuide.from_file`.

    Args:
        method: what it does, in a few sentences.
        choosing: when to use it, and how to choose its parameters.
        guarantees: what holds of a treated release by construction, and what only the re-audit tells.
        source: papers and definition numbers.
        example: lines of a policy's `remedy:` section.
        notes: what each figure in a treatment's notes means, by name.
        attack: what somebody does who knows the method and its parameters, and which check attacks the treated release
            so; or that no attack is known. Nothing for a remedy that changes no value into another one.
    """

    SECTIONS: ClassVar[Mapping[str, str]] = REMEDY_SECTIONS

    method: str
    choosing: str
    guarantees: str
    source: str
    example: str
    notes: Mapping[str, str] = field(default_factory=dict)
    attack: str = field(default_factory=str)


@dataclass(frozen=True, kw_only=True)
class Remedy(Generic[R]):
    """A way to repair a release.

    Args:
        name: snake_case name, unique among all plugins, never changed once released.
        title: what a person calls it.
        summary: one sentence on what it changes.
        guide: method, choice of parameters, guarantees and source.
        parameters: a model of its parameters, derived from `RemedyParameters`.
        apply: changes a release under its parameters. Raises `RemedyError` where that cannot be done.
        validate: faults of the parameters under a policy: (parameter or "", sentence).
        suggest_parameters: parameter sets that are worth trying on a release whose policy names no remedy, most
            promising first; asked only where `why_not_applicable` leaves something that fails.
        why_not_applicable: why it cannot help one failing demand, as a short phrase, or nothing; asked before it
            starts. The parameters are None where the policy names no remedy, so that the remedy would propose them.
        random: it draws from a source that no seed repeats, as noise for differential privacy must; it runs once only.
        once: it runs once only, because it would change again what it has changed: it moves values about.
    """

    name: str
    title: str
    summary: str
    guide: RemedyGuide
    parameters: type[R]
    apply: Callable[[RemedyView, R], Treatment]
    validate: Callable[[R, PolicyDocument], Iterable[tuple[str, str]]] = field(default=lambda _, __: ())
    suggest_parameters: Callable[[RemedyView, tuple[Outcome, ...]], Iterable[Mapping[str, Any]]] = field(
        default=lambda _, __: ()
    )
    why_not_applicable: Callable[[RemedyView, R | None, Outcome], str] = field(default=lambda _, __, ___: "")
    random: bool = False
    once: bool = False

    @property
    def source(self) -> str:
        """Paper and definition number."""
        return self.guide.source


@dataclass(frozen=True)
class Applicability:
    """The failing demands that a remedy may help, and those that it cannot.

    Args:
        helped: those that it may.
        unhelped: those that it cannot, each with the reason.
    """

    helped: Sequence[Outcome]
    unhelped: Sequence[tuple[Outcome, str]]

    @property
    def reasons(self) -> str:
        """Say why it cannot help some, each reason once, or nothing."""
        return "; ".join(dict.fromkeys(reason for _, reason in self.unhelped))

    @property
    def sentence(self) -> str:
        """Name what it does not act on, and why, or nothing.

        Example:
            >>> from tcdp_audit.core.base.outcome import Outcome, Status
            >>> failed = Outcome(check="k_anonymity", status=Status.FAILED)
            >>> Applicability((), [(failed, "only for demands beside the original")]).sentence
            'does not act on k_anonymity (only for demands beside the original)'
        """
        named: dict[str, dict[str, None]] = {}
        for one, reason in self.unhelped:
            named.setdefault(reason, {})[_named(one)] = None
        return "; ".join(f"does not act on {listing(list(names))} ({reason})" for reason, names in named.items())


def applicability(
    remedy: Remedy[Any], view: RemedyView, parameters: RemedyParameters | None, failing: Iterable[Outcome]
) -> Applicability:
    """Say which of some failing demands a remedy may help.

    Args:
        remedy: the remedy.
        view: the release.
        parameters: its own; None where it would propose them.
        failing: the failing outcomes of the release.
    """
    asked = [(one, remedy.why_not_applicable(view, parameters, one)) for one in failing]
    return Applicability([one for one, why in asked if not why], [(one, why) for one, why in asked if why])


def _named(outcome: Outcome) -> str:
    return outcome.check + ("" if outcome.attribute is None else f" of {outcome.attribute!r}")
