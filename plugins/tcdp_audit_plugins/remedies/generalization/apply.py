"""The remedy itself: from a view to the release's columns at the best combination of levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.merged import MergedDemands
from tcdp_audit.remedy import NewColumn, RemedyError, Treatment
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.remedies.generalization.base import Base
from tcdp_audit_plugins.remedies.generalization.judge import Judge, Judged
from tcdp_audit_plugins.remedies.generalization.lattice import Lattice
from tcdp_audit_plugins.remedies.generalization.levels import Ladder, ladder
from tcdp_audit_plugins.remedies.generalization.losses import Measure, mean_penalties
from tcdp_audit_plugins.remedies.generalization.parameters import GeneralizationParameters
from tcdp_audit_plugins.remedies.generalization.report import notes, refusal
from tcdp_audit_plugins.remedies.generalization.search import Search


def generalized(view: RemedyView, parameters: GeneralizationParameters) -> Treatment:
    """Generalise each quasi-identifier to one level, so that every class keeps the policy at the least loss.

    Raises:
        RemedyError: no combination of levels keeps the policy, a fixed level does not exist, or a hierarchy does not
            fit the column.

    Cost: a sort of the records; for each node looked at a sort of the base classes and their sensitive values.
    """
    ladders = _ladders(view, parameters)
    search = _search(view, parameters, ladders)
    best = search.run()
    if best is None:
        raise RemedyError(refusal(search, aligned=view.policy.document.rows_aligned))
    return Treatment(_columns(ladders, best), _kept(search.judge, best), notes(search, best))


def _ladders(view: RemedyView, parameters: GeneralizationParameters) -> list[Ladder]:
    widths = parameters.bins or {}
    return [ladder(view, one, widths.get(one.name)) for one in view.quasi_identifiers]


def _search(view: RemedyView, parameters: GeneralizationParameters, ladders: Sequence[Ladder]) -> Search:
    choices = [_choices(one, (parameters.levels or {}).get(one.name)) for one in ladders]
    costs = mean_penalties(ladders) if parameters.loss is Measure.NCP else None
    lattice = Lattice.of(choices, costs)
    base = Base(ladders, [levels[0] for levels in choices])
    demands = MergedDemands(view.demands, base.classes, len(base.sizes))
    judge = Judge(base, demands, parameters.loss, int(parameters.suppression * view.records))
    return Search(lattice, judge, view.progress)


def _choices(ladder: Ladder, fixed: int | None) -> list[int]:
    """The levels that an attribute may have."""
    if fixed is None:
        return ladder.distinct
    if fixed > ladder.height:
        raise RemedyError(f"{ladder.name!r} has no level {fixed}: its levels go from 0 to {ladder.height}")
    return [fixed]


def _columns(ladders: Sequence[Ladder], best: Judged) -> dict[str, NewColumn]:
    """The columns above level 0; the others stay as they are."""
    return {
        one.name: NewColumn(
            np.array([*one.levels[level].labels, None], dtype=object)[:-1],
            one.levels[level].codes[one.attribute.codes],
        )
        for one, level in zip(ladders, best.levels, strict=True)
        if level
    }


def _kept(judge: Judge, best: Judged) -> NDArray[np.bool_] | None:
    return ~judge.removed(best.levels)[judge.base.classes] if best.suppressed else None
