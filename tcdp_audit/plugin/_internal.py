"""Names for the built-in plugins only, without a promise: they may change in any version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.cancellation import ThreadPool as ThreadPool, checkpoint as checkpoint
    from tcdp_audit.core.base.files import scheme_of as scheme_of
    from tcdp_audit.core.base.language import active_translations as active_translations
    from tcdp_audit.core.base.outcome import number as number
    from tcdp_audit.core.base.phrases import (
        bound as bound,
        demanded as demanded,
        doublings as doublings,
        failing as failing,
        observed as observed,
        state_of as state_of,
        strictness_sentences as strictness_sentences,
    )
    from tcdp_audit.core.base.provenance import TableVersion as TableVersion
    from tcdp_audit.core.base.scratch import Scratch as Scratch, writing_temporarily as writing_temporarily
    from tcdp_audit.core.base.words import (
        gibibytes as gibibytes,
        in_words as in_words,
        visible_json as visible_json,
    )
    from tcdp_audit.core.check.by_size import Distribution as Distribution
    from tcdp_audit.core.check.evidence import cached_on_reference as cached_on_reference
    from tcdp_audit.core.check.table_check import (
        estimate_of_largest as estimate_of_largest,
        estimate_of_mean as estimate_of_mean,
        interval_of_mean as interval_of_mean,
    )
    from tcdp_audit.core.check.threshold import BORDERLINE as BORDERLINE, LIMIT as LIMIT
    from tcdp_audit.core.classes.histogram import (
        Counts as Counts,
        add_up as add_up,
        cached_on_histogram as cached_on_histogram,
        count_in_classes as count_in_classes,
        count_pairs as count_pairs,
    )
    from tcdp_audit.core.classes.strength import strengths as strengths
    from tcdp_audit.core.encoding.counted import UnitClasses as UnitClasses
    from tcdp_audit.core.encoding.domain import texts_of as texts_of
    from tcdp_audit.core.encoding.hierarchy import ancestors_of as ancestors_of
    from tcdp_audit.core.encoding.keys import (
        Codes as Codes,
        Floats as Floats,
        Integers as Integers,
        boundaries as boundaries,
        fold as fold,
        numbered as numbered,
        occurrences as occurrences,
        order_of as order_of,
        positions_of as positions_of,
        run_lengths as run_lengths,
    )
    from tcdp_audit.core.engines.copies import open_converted as open_converted, open_copy as open_copy
    from tcdp_audit.core.engines.parts import (
        chosen_parts as chosen_parts,
        require_one_version as require_one_version,
        split_pattern as split_pattern,
    )
    from tcdp_audit.core.engines.source import require_known_kind as require_known_kind, require_names as require_names
    from tcdp_audit.core.engines.streams import scanned_engine as scanned_engine
    from tcdp_audit.core.policy.tables import linking_columns as linking_columns
    from tcdp_audit.core.results.demand_groups import DemandGroup as DemandGroup
    from tcdp_audit.core.results.document import Block as Block, summary_blocks as summary_blocks
    from tcdp_audit.core.results.findings import (
        Level as Level,
        Place as Place,
        findings_of as findings_of,
        name_in_repository as name_in_repository,
        place_of as place_of,
    )
    from tcdp_audit.core.results.frontier import (
        points_table as points_table,
        remedies_table as remedies_table,
        settings_table as settings_table,
    )
    from tcdp_audit.core.results.linked_tables import LinkedTable as LinkedTable, TablesOverview as TablesOverview
    from tcdp_audit.core.results.setting_trial import SettingTrial as SettingTrial, VariedDemand as VariedDemand
    from tcdp_audit.core.results.strict_json import embed_result as embed_result
    from tcdp_audit.core.results.verdict import (
        VERDICTS as VERDICTS,
        conflicting_demands as conflicting_demands,
        verdict_sentence as verdict_sentence,
        verdict_title as verdict_title,
    )
    from tcdp_audit.core.results.verifier import verifier_digest as verifier_digest
    from tcdp_audit.core.units.coding import LinkedRows as LinkedRows, code_histories as code_histories
    from tcdp_audit.core.units.rows import UnitRows as UnitRows
else:
    __getattr__, __dir__ = on_first_use(__name__)
