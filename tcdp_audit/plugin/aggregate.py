"""Write a check on released tables of figures: its kind, its figure, and what it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.outcome import FailingCell as FailingCell
    from tcdp_audit.core.cells.demands import Demand as Demand, Intervals as Intervals
    from tcdp_audit.core.cells.derived import Derivation as Derivation
    from tcdp_audit.core.cells.joint import JointFigures as JointFigures
    from tcdp_audit.core.cells.table import (
        UNBOUNDED as UNBOUNDED,
        CellState as CellState,
        Figures as Figures,
        Nodes as Nodes,
        PublishedTable as PublishedTable,
    )
    from tcdp_audit.core.cells.view import CellsView as CellsView
    from tcdp_audit.core.check.aggregate_check import AggregateCheck as AggregateCheck, CellFigure as CellFigure
    from tcdp_audit.core.policy.aggregates import (
        AggregateDeclaration as AggregateDeclaration,
        Dimension as Dimension,
        ModelDeclaration as ModelDeclaration,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
