"""Write a remedy: its specification, what it sees and what it gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.check.evidence import SingletonClasses as SingletonClasses
    from tcdp_audit.core.classes.column_risk import MeasuredSubsets as MeasuredSubsets
    from tcdp_audit.core.classes.shards import Progress as Progress, silent as silent
    from tcdp_audit.core.encoding.generalised import (
        interval_label as interval_label,
        members as members,
        number_text as number_text,
        set_label as set_label,
    )
    from tcdp_audit.core.encoding.reading import domain_of as domain_of
    from tcdp_audit.core.information_loss.coverage import Penalty as Penalty
    from tcdp_audit.core.information_loss.scales import LeafPenalty as LeafPenalty, penalty_of as penalty_of
    from tcdp_audit.core.release.generalized_matches import GeneralizedMatch as GeneralizedMatch
    from tcdp_audit.core.remedy.demands import Demands as Demands
    from tcdp_audit.core.remedy.merged import MergedDemands as MergedDemands
    from tcdp_audit.core.remedy.remedy import (
        DominatedError as DominatedError,
        NewColumn as NewColumn,
        Remedy as Remedy,
        RemedyError as RemedyError,
        RemedyGuide as RemedyGuide,
        RemedyParameters as RemedyParameters,
        Treatment as Treatment,
    )
    from tcdp_audit.core.remedy.view import Attribute as Attribute, RemedyView as RemedyView
    from tcdp_audit.core.results.change_log import failing_demands as failing_demands
else:
    __getattr__, __dir__ = on_first_use(__name__)
