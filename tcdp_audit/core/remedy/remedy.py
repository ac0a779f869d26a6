"""Remedies: registered code that changes a release so that it satisfies its policy.

A remedy gets a `RemedyView` and returns a `Treatment`: new columns, and the records to retain. It never writes a file,
never judges itself and never changes a column that it does not name; the core audits every treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.declared_types import items_of, require_type, type_of
from tcdp_audit.core.base.errors import CheckError, PluginError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.guide_file import REMEDY_SECTIONS, GuideFile
from tcdp_audit.core.base.words import listing, percent, visible
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.scalars import Model

if TYPE_CHECKING:
    from tcdp_audit.core.base.outcome import Outcome
    from tcdp_audit.core.remedy.view import RemedyView

TABLE = "table"  # the parameter that names one of several linked tables
ROUNDING = 1e-9  # relative error of a loss computed in two ways


class RemedyError(CheckError):
    """A remedy cannot be applied; the message states the failing condition and what would be attainable."""


class DominatedError(RemedyError):
    """A treated release would lose more than another one that passes, so it is discarded.

    Args:
        message: the sentence on both losses.
        at_least: a lower bound of its total information loss.
    """

    def __init__(self, message: str, at_least: float | None = None) -> None:
        super().__init__(message)
        self.at_least = at_least


def require_least(loss: float, least: float, because: str = "stopped: it loses at least {} of the detail") -> None:
    """Stop a treatment that loses more than a release that passes.

    Args:
        loss: a lower bound of its total information loss.
        least: the loss of a release that passes.
        because: the beginning of the message, with {} for the loss.

    Raises:
        DominatedError: the loss is greater by more than a rounding error.
    """
    if loss > least * (1 + ROUNDING):
        raise DominatedError(
            f"{because.format(percent(loss))}, and another remedy, after which the release passes, loses "
            f"{percent(least)}",
            loss,
        )


class RemedyParameters(Model):
    """Base of every remedy's parameters."""


R = TypeVar("R", bound=RemedyParameters)


@dataclass(frozen=True)
class NewColumn:
    """A column after a remedy: its distinct cells, and the cell of each record.

    Args:
        cells: numbers (int64, float64) or text (object). A cell that is equal to the record's former one is unchanged.
        codes: for each record of the view a position in `cells`; len(cells) for no value. Shape (records,).

    Raises:
        PluginError: they are no such arrays; the sentence names no cell.
    """

    cells: NDArray[Any]
    codes: NDArray[Any]

    def __post_init__(self) -> None:
        """Refuse what is no column."""
        require_type(self, NewColumn, "the remedy gave", PluginError)
        cells, codes = self.cells, self.codes
        if cells.ndim != 1 or cells.dtype.kind not in "ifO":
            raise PluginError(
                f"the remedy gave cells of type {cells.dtype} and shape {cells.shape}; they must be one row of int64, "
                "float64 or, for text, object, as `NewColumn.of_texts` makes it of a list"
            )
        if cells.dtype == object and not all(isinstance(one, str) for one in cells):
            raise PluginError("the remedy gave a cell that is no text; no value is the code len(cells)")
        if cells.dtype == object and not all(map(_can_be_written, cells)):
            raise PluginError("the remedy gave a text that UTF-8 cannot write: one half of a surrogate pair")
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise PluginError(
                f"the remedy gave codes of type {codes.dtype} and shape {codes.shape}; they must be one row of whole "
                "numbers: use `.astype(np.int64)`"
            )

    @classmethod
    def of_texts(cls, cells: Sequence[str], codes: NDArray[Any]) -> NewColumn:
        """A column of text.

        Args:
            cells: distinct texts, such as a list of them.
            codes: for each record a position in `cells`; len(cells) for no value.

        Example:
            >>> NewColumn.of_texts(["[0, 40)", "[40, 99]"], np.array([0, 1, 1])).cells.tolist()
            ['[0, 40)', '[40, 99]']
        """
        given: Any = cells  # by a plugin, of whatever type
        if isinstance(given, str) or not isinstance(given, Iterable):
            described = "one text" if isinstance(given, str) else type_of(given)
            raise PluginError(f"`NewColumn.of_texts` was given {described}; it takes a list of texts")
        return cls(np.array([*given], dtype=object), codes)


def _can_be_written(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= one <= "\udfff" for one in text)


@dataclass(frozen=True)
class Treatment:
    """The result of a remedy on a release.

    Args:
        columns: the changed columns, by name; each exists in the release.
        retained: the records to retain, bool, shape (records,); None for all.
        notes: figures of the application, under documented names, without cells.
        lines: policy lines that an audit of the treated release needs, such as the added noise.
        attacks: checks that attack the treated release with full knowledge of the treatment, each `{check: parameters}`
            as in a policy's `expect:`, without a demand. `fix` runs them on the written release and the input.
    """

    columns: Mapping[str, NewColumn] = field(default_factory=dict)
    retained: NDArray[np.bool_] | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    attacks: tuple[Mapping[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True)
class RemedyGuide(GuideFile):
    """The documentation of a remedy, shown by `explain` and on its documentation page.

    Pass the parts here, or write them in a Markdown file and use `RemedyGuide.from_file`.

    Args:
        method: the method, in a few sentences.
        choosing: when to use it, and how to choose its parameters.
        guarantees: what holds by construction, and what only the re-audit shows.
        source: papers and definition numbers.
        example: lines of a policy's `remedy:` section.
        notes: the meaning of each figure in a treatment's notes, by name.
        attack: the attack of an intruder who knows the method and its parameters, and the check that measures it; or
            that no attack is known. Empty for a remedy that changes no value into another one.
        row: what happens to a row, in plain words, and an invented one before and after: two items of a list,
            `- before: age: 34, postcode: 1010` and `- after: age: 30-39, postcode: 1010`, or `- after: ` and a phrase
            where the row does not stay. Values have no comma.
        plainly: its name in plain words for people who do not know its title, such as `rounded numbers`.
    """

    SECTIONS: ClassVar[Mapping[str, str]] = REMEDY_SECTIONS

    method: str
    choosing: str
    guarantees: str
    source: str
    example: str
    notes: Mapping[str, str] = field(default_factory=dict)
    attack: str = field(default_factory=str)
    row: str = field(default_factory=str)
    plainly: str = field(default_factory=str)

    @property
    def effect(self) -> str:
        """What happens to a row, in sentences without the example."""
        return self.row.partition("\n\n- ")[0]

    @property
    def example_row(self) -> tuple[Mapping[str, str], Mapping[str, str] | str] | None:
        r"""The invented row before and after, each value by its column; a phrase where it does not stay; None without.

        Example:
            >>> RemedyGuide("", "", "", "", "", row="Rounds.\n\n- before: age: 34\n- after: age: 35").example_row
            ({'age': '34'}, {'age': '35'})
        """
        items = dict(line[2:].split(": ", 1) for line in self.row.splitlines() if line.startswith("- "))
        if not {"before", "after"} <= items.keys():
            return None
        before, after = items["before"], items["after"]
        return _cells(before), _cells(after) if ": " in after else after


def _cells(row: str) -> dict[str, str]:
    return dict(cell.split(": ", 1) for cell in row.split(", "))


@dataclass(frozen=True, kw_only=True)
class Remedy(Generic[R]):
    """A way to repair a release.

    Args:
        name: snake_case name, unique among all plugins, never changed once released.
        title: its title.
        summary: one sentence on what it changes.
        guide: method, choice of parameters, guarantees and source.
        parameters: a model of its parameters, derived from `RemedyParameters`.
        apply: changes a release under its parameters. Raises `RemedyError` if that is impossible.
        validate: returns faults of the parameters under a policy: (parameter or "", sentence).
        suggest_parameters: returns parameter sets to try on a release whose policy names no remedy, most promising
            first; called only if `why_not_applicable` leaves a failing demand.
        why_not_applicable: returns why it cannot help one failing demand, as a short phrase, or an empty text; called
            before it starts. The parameters are None if the policy names no remedy, so that the remedy proposes them.
        random: whether it draws from a source that no seed repeats, as noise for differential privacy must; it then
            runs only once.
        once: whether it runs only once, because it would change its own changes, such as permuted values.
        acts_on_histories: whether it acts on demands on what a released unit joins: whole histories, or several rows
            that are known of a unit. A remedy that forms classes of single rows does not.
        tables: under a policy of several linked tables, returns the names of those that it may act on with its
            parameters, or with those that it would propose; exactly one under sound parameters, unless it acts on
            several. What belongs to a dropped row is dropped by the core. None if it works on a release of one table
            only.
        several_tables: whether it acts on all the tables that `tables` returns, one after another, before the next
            audit: so a column of several is changed alike in all of them.
        linked_tables: whether it sees all linked tables at once, and changes columns of any of them. Its view is that
            of the table of units, with the others in `tables` and their rows in `linked`; it may drop rows of units.
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
    acts_on_histories: bool = False
    tables: Callable[[R | None, PolicyDocument], Sequence[str]] | None = None
    several_tables: bool = False
    linked_tables: bool = False

    def places(self, parameters: R | None, document: PolicyDocument) -> Sequence[str] | None:
        """The linked tables that it acts on, one after another; None if it works on a release of one table only."""
        if self.linked_tables:
            from tcdp_audit.core.policy.tables import top_of  # noqa: PLC0415 - only for several tables

            return [top_of(document.tables or {})]
        return None if self.tables is None else self.tables(parameters, document)

    @property
    def source(self) -> str:
        """Paper and definition number."""
        return self.guide.source

    def faults(self, parameters: R, document: PolicyDocument) -> list[tuple[str, str]]:
        """Faults of the parameters under a policy, as `validate` yields them.

        Raises:
            PluginError: `validate` yields something else.
        """
        gave = f"`validate` of the remedy {self.name!r} gave"
        own = items_of(self.validate(parameters, document), tuple, gave, PluginError)
        return [*self._faults_of_tables(parameters, document), *own]

    def _faults_of_tables(self, parameters: R, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        if self.tables is None:
            return
        named = getattr(parameters, TABLE, None)
        if document.tables is None:
            if named is not None:
                yield TABLE, "the policy has one table, so leave it out"
        elif named is not None and named not in document.tables:
            yield TABLE, f"the policy has no table {named!r}; it has {listing([*document.tables])}"
        elif len(places := self.tables(parameters, document)) != 1 and not (places and self.several_tables):
            yield "", _not_one(places, has_parameter=TABLE in type(parameters).model_fields)

    def proposals(self, view: RemedyView, failing: tuple[Outcome, ...]) -> list[Mapping[str, Any]]:
        """The parameters to try, as `suggest_parameters` yields them.

        Raises:
            PluginError: `suggest_parameters` yields something else.
        """
        gave = f"`suggest_parameters` of the remedy {self.name!r} gave"
        return items_of(self.suggest_parameters(view, failing), Mapping, gave, PluginError)


def _not_one(places: Sequence[str], *, has_parameter: bool) -> str:
    if not places:
        return "it can act on none of the policy's tables; name a table or columns that it can change"
    advice = "say which as `table:`" if has_parameter else "name the remedy once for each"
    return f"it acts on one table at a time, and this could be each of {listing([*places])}; {advice}"


@dataclass(frozen=True)
class Applicability:
    """The failing demands that a remedy may help, and those that it cannot.

    Args:
        helped: demands that it may help.
        unhelped: demands that it cannot help, each with the reason.
    """

    helped: Sequence[Outcome]
    unhelped: Sequence[tuple[Outcome, str]]

    @property
    def reasons(self) -> str:
        """The distinct reasons why it cannot help some demands; empty if there are none."""
        return "; ".join(dict.fromkeys(reason for _, reason in self.unhelped))

    @property
    def sentence(self) -> str:
        """The clause on the demands on which it does not act, and why; empty if there are none.

        Example:
            >>> from tcdp_audit.core.base.outcome import Outcome, Status
            >>> failed = Outcome(check="k_anonymity", status=Status.FAILED)
            >>> Applicability((), [(failed, "only for demands on pairs")]).sentence
            'does not act on k_anonymity (only for demands on pairs)'
        """
        named: dict[str, dict[str, None]] = {}
        for one, reason in self.unhelped:
            attribute = "" if one.attribute is None else f" of {one.attribute!r}"
            named.setdefault(reason, {})[f"{one.check}{attribute}"] = None
        return "; ".join(f"does not act on {listing(list(names))} ({reason})" for reason, names in named.items())


def applicability(
    remedy: Remedy[Any], view: RemedyView, parameters: RemedyParameters | None, failing: Iterable[Outcome]
) -> Applicability:
    """Split failing demands into those that a remedy may help and those that it cannot.

    Args:
        remedy: the remedy.
        view: the release.
        parameters: its parameters; None if it would propose them.
        failing: the failing outcomes of the release.
    """
    asked = [(one, _why_not(remedy, view, parameters, one)) for one in failing]
    return Applicability([one for one, why in asked if not why], [(one, why) for one, why in asked if why])


def _why_not(remedy: Remedy[Any], view: RemedyView, parameters: RemedyParameters | None, outcome: Outcome) -> str:
    """Why a remedy cannot help one demand; empty if it may. One of single rows never helps whole histories."""
    if outcome.unit not in ("", view.policy.document.root):
        return f"acts on units of the policy, and this demand names {visible(outcome.unit)}"
    reason = remedy.why_not_applicable(view, parameters, outcome)
    if reason or remedy.acts_on_histories or not view.judges_histories(outcome):
        return reason
    return "acts on single rows, and this demand judges all rows of a unit together"
