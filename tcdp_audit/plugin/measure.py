"""Measure exactly: what is kept of figures, counts within classes, estimates from samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.words import (
        gibibytes as gibibytes,
    )
    from tcdp_audit.core.check.estimate import (
        estimate_of_largest as estimate_of_largest,
        estimate_of_mean as estimate_of_mean,
        interval_of_mean as interval_of_mean,
    )
    from tcdp_audit.core.check.evidence import (
        cached_on_reference as cached_on_reference,
    )
    from tcdp_audit.core.check.exact import (
        BORDERLINE as BORDERLINE,
        LIMIT as LIMIT,
        ApproximateFigure as ApproximateFigure,
        Signs as Signs,
    )
    from tcdp_audit.core.check.summary import (
        ClassSummary as ClassSummary,
        summarise as summarise,
    )
    from tcdp_audit.core.check.unfailable import (
        SingletonClasses as SingletonClasses,
    )
    from tcdp_audit.core.classes.column_risk import (
        MeasuredSubsets as MeasuredSubsets,
    )
    from tcdp_audit.core.classes.histogram import (
        add_up as add_up,
        cached_on_histogram as cached_on_histogram,
        count_in_classes as count_in_classes,
    )
    from tcdp_audit.core.classes.strength import (
        SetStrength as SetStrength,
        Strengths as Strengths,
        strengths as strengths,
    )
    from tcdp_audit.core.encoding.keys import (
        occurrences as occurrences,
        run_lengths as run_lengths,
    )
    from tcdp_audit.core.release.generalized_matches import (
        GeneralizedMatch as GeneralizedMatch,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
