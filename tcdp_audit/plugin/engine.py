"""Write an engine: where a table lives, and how its cells become codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.errors import (
        CheckError as CheckError,
        DataError as DataError,
        PluginError as PluginError,
        TcdpAuditError as TcdpAuditError,
        UsageError as UsageError,
        redact_errors as redact_errors,
    )
    from tcdp_audit.core.check.table_view import PopulationClasses as PopulationClasses
    from tcdp_audit.core.encoding.counted import (
        CountedCodes as CountedCodes,
        MappedShards as MappedShards,
        Measure as Measure,
    )
    from tcdp_audit.core.encoding.domain import Domain as Domain, RawDomain as RawDomain
    from tcdp_audit.core.encoding.hierarchy import Hierarchy as Hierarchy, Tree as Tree
    from tcdp_audit.core.engines.base import Batch as Batch, Column as Column, Engine as Engine, Sampling as Sampling
    from tcdp_audit.core.engines.opening import (
        DatabaseTable as DatabaseTable,
        EngineOpener as EngineOpener,
        open_file as open_file,
    )
    from tcdp_audit.core.engines.streams import grouped_engine as grouped_engine, streamed_engine as streamed_engine
    from tcdp_audit.core.release.coded import CodedTable as CodedTable, StreamedTable as StreamedTable
else:
    __getattr__, __dir__ = on_first_use(__name__)
