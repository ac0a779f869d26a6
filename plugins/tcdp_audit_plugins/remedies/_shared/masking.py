"""Masking: remedies that change the values of some attributes, each value by itself or within its column.

What such a remedy acts on is said in one way: its parameters name attributes or leave them to the remedy
(`MaskingParameters`), and its kind says which attributes fit and when it is proposed (`Masking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import (
    Attribute,
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Treatment,
)
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.scope import only_beside_original, only_where_changed

MASKED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
NO_CLASSES = "changes values one by one, and makes no records alike"
NO_NUMBERS = "no quasi-identifier has plain numbers"
NO_ORDER = "no quasi-identifier has an order"
Names = Annotated[list[Text], Field(min_length=1)]
Fault = tuple[str, str]


class MaskingParameters(RemedyParameters):
    """Base of the parameters of remedies that mask attributes."""

    naming: ClassVar[str] = "attributes"  # the parameter that names the attributes where `attributes` does not
    strengths: ClassVar[Sequence[str]] = ()  # the parameters that set how strong the masking is, if it can be chosen

    @property
    def names(self) -> Sequence[str] | None:
        """The attributes to mask; None for the quasi-identifiers that can be."""
        named: Sequence[str] | None = getattr(self, "attributes", None)
        return named

    @property
    def named_by(self) -> str:
        """The parameter that names them."""
        return self.naming if getattr(self, "attributes", None) is None else "attributes"

    @property
    def chooses_strength(self) -> bool:
        """Say whether the remedy chooses its strength, for which it needs a demand that compares with the original."""
        return bool(self.strengths) and all(getattr(self, one) is None for one in self.strengths)

    def further_faults(self, document: PolicyDocument) -> Iterable[Fault]:  # noqa: ARG002 - for derived parameters
        """Faults beyond those of the attributes' names, roles and scales: (parameter, sentence)."""
        return ()


P = TypeVar("P", bound=MaskingParameters)


@dataclass(frozen=True)
class Masking(Generic[P]):
    """The attributes that a masking remedy acts on, and when it is proposed. Its methods are those of a `Remedy`."""

    parameters: type[P]  # its parameters
    unfit: str = ""  # what to say where no quasi-identifier can be masked
    ordered: bool = True  # whether values need an order
    numeric: bool = False  # whether they must be numbers; whether they can be ordered, or any, otherwise
    alike: bool = False  # whether masking makes records alike, as rounding does and swapping does not
    # the end of the sentence that refuses an attribute of a scale
    refused: Mapping[Scale, str] = field(default_factory=dict)
    # the parameters that are proposed where a demand that compares with the original fails
    suggested: Sequence[Mapping[str, Any]] = ({},)
    never_suggested: str = ""  # why it is never proposed, or nothing

    def remedy(
        self, file: str, apply: Callable[[RemedyView, P], Treatment], *, title: str, summary: str, once: bool = False
    ) -> Remedy[P]:
        """The remedy of a module file, which has its name, and its guide next to it."""
        path = Path(file)
        return Remedy(
            name=path.stem,
            title=title,
            summary=summary,
            guide=RemedyGuide.from_file(path.with_suffix(".md")),
            parameters=self.parameters,
            apply=apply,
            validate=self.faults,
            suggest_parameters=self.suggest_parameters,
            why_not_applicable=self.why_not_applicable,
            once=once,
            acts_on_histories=self.alike,  # equal rows stay equal, whosever they are
        )

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[Fault]:
        """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
        for sentence in masked_faults(parameters.names, document, ordered=self.ordered):
            yield parameters.named_by, sentence
        for name in parameters.names or ():
            declared = document.attributes.get(name)
            if declared is not None and declared.scale is not None and declared.scale in self.refused:
                yield parameters.named_by, f"{name!r} {self.refused[declared.scale]}"
        yield from parameters.further_faults(document)

    def why_not_applicable(self, view: RemedyView, parameters: P | None, outcome: Outcome) -> str:
        """Say why masking cannot help a failing demand, or nothing."""
        if parameters is None and self.never_suggested:
            return self.never_suggested
        chosen = self.parameters() if parameters is None else parameters
        if chosen.chooses_strength and (reason := only_beside_original(view, outcome)):
            return reason
        names = chosen.names
        masked = [one.name for one in view.quasi_identifiers if self._fits(one)] if names is None else names
        if not masked:
            return self.unfit
        if reason := only_where_changed(view, outcome, masked):
            return reason
        return "" if self.alike or self._reaches_beyond_classes(view, outcome, masked) else NO_CLASSES

    def suggest_parameters(self, view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
        """Yield what is proposed, where a demand that compares with the original fails."""
        if any(not self.why_not_applicable(view, None, one) for one in outcomes):
            yield from self.suggested

    def _fits(self, attribute: Attribute) -> bool:
        if self.numeric:
            return attribute.is_numeric
        return is_orderable(attribute) if self.ordered else attribute.scale not in self.refused

    @staticmethod
    def _reaches_beyond_classes(view: RemedyView, outcome: Outcome, masked: Sequence[str]) -> bool:
        """Say whether a demand is none on classes, or depends on a masked attribute that is no quasi-identifier."""
        if not view.failing_on_classes([outcome]):
            return True
        behind = view.columns_behind(outcome) or frozenset()
        return bool(behind & set(masked) - set(view.policy.with_role(Role.QUASI_IDENTIFIER)))


def masked_faults(names: Sequence[str] | None, document: PolicyDocument, *, ordered: bool) -> Iterator[str]:
    """Yield the faults of named attributes that the policy shows.

    `names` is None for the quasi-identifiers; `ordered` says whether values need an order.
    """
    if len(set(names or ())) < len(names or ()):
        yield "an attribute is named twice"
    for name in names or ():
        declared = document.attributes.get(name)
        if declared is None or declared.role not in MASKED:
            yield f"{name!r} is neither a quasi-identifier nor a sensitive attribute of the policy"
        elif ordered and not declared.is_ordered:
            yield (
                f"the values of {name!r} have no order; declare `scale: numeric`, or `scale: ordinal` with its `order`"
            )


def is_orderable(attribute: Attribute) -> bool:
    """Say whether its values are numbers or ranks, and no generalised ones but suppressed cells overlap."""
    if not attribute.declaration.is_ordered:
        return False
    informative = ~attribute.domain.is_uninformative[:-1]
    low, high = (ends[informative] for ends in attribute.bounds)
    return bool((high[:-1] <= low[1:]).all())


def masked_attributes(view: RemedyView, names: Sequence[str] | None, *, ordered: bool) -> list[Attribute]:
    """The attributes to mask, in the order of their names; values of ordered ones can be put in order.

    Raises:
        RemedyError: there is none, or generalised values of a named one overlap.
    """
    if names is None:
        chosen = [one for one in view.quasi_identifiers if is_orderable(one) or not ordered]
    else:
        chosen = view.attributes(sorted(names))
    unordered = [one.name for one in chosen if ordered and not is_orderable(one)]
    if unordered:
        raise RemedyError(
            f"generalised values of {unordered[0]!r} overlap, so that they have no order; mask before generalising"
        )
    if not chosen:
        kind = " that is numeric or ordinal with non-overlapping values" if ordered else ""
        raise RemedyError(f"the release has no quasi-identifier{kind}; name the `attributes` to mask")
    return chosen


def masked_numbers(view: RemedyView, names: Sequence[str] | None, masking: str) -> list[Attribute]:
    """The numeric attributes to mask, in the order of their names; none of their values is a range.

    `masking` says what is done to them, such as `numbers are rounded; round`; without names, all numeric
    quasi-identifiers are masked.

    Raises:
        RemedyError: there is none, or one has ranges.
    """
    if names is None:
        chosen = [one for one in view.quasi_identifiers if one.scale is Scale.NUMERIC]
    else:
        chosen = view.attributes(sorted(names))
    if not chosen:
        raise RemedyError("the release has no numeric quasi-identifier; name the `attributes` to mask")
    for one in chosen:
        if (one.ranges.low < one.ranges.high)[~one.domain.is_uninformative[:-1]].any():
            raise RemedyError(f"column {one.name!r} has ranges, and {masking} before generalising")
    return chosen


def by_content(view: RemedyView) -> NDArray[np.intp]:
    """Positions of the records in the order of their quasi-identifiers, sensitive attributes and unit. A sort."""
    unit = [] if view.release.unit is None else [view.release.unit.attribute]
    attributes = [*view.quasi_identifiers, *view.attributes([*view.policy.with_role(Role.SENSITIVE), *unit])]
    return np.argsort(view.classes(attributes)[0], kind="stable")


def recoded(attribute: Attribute, labels: Sequence[str]) -> NewColumn:
    """A column of text with one label for each value of the domain. A missing value stays one. Sorts the domain."""
    distinct, position = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    return NewColumn.of_texts(distinct.tolist(), np.append(position, len(distinct))[attribute.codes])


def changed(attribute: Attribute, labels: Sequence[str]) -> int:
    """The records whose cell becomes another one."""
    other = [before != after for before, after in zip(attribute.domain.labels, labels, strict=True)]
    return int(np.bincount(attribute.codes, minlength=len(other) + 1)[:-1][np.array(other, dtype=bool)].sum())


def correlations(columns: Floats) -> Floats:
    """Product-moment correlations of columns, 0 with a column that does not vary."""
    centred = columns - columns.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(length > 0, length, 1.0)
    result = unit.T @ unit
    np.fill_diagonal(result, 1.0)
    return np.asarray(result)


def normal_noise(covariance: Floats, records: int, random: np.random.Generator) -> Floats:
    """Normal noise with a covariance matrix, perhaps singular, shape (records, columns). O(records x columns^2)."""
    variances, axes = np.linalg.eigh(covariance)
    return np.asarray(
        (random.standard_normal((records, len(covariance))) * np.sqrt(np.maximum(variances, 0.0))) @ axes.T
    )
