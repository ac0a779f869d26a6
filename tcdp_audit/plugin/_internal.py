"""What only the built-in plugins use. Promised to nobody: it may change in any version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.conventions import (
        flips as flips,
    )
    from tcdp_audit.core.base.addresses import (
        scheme_of as scheme_of,
    )
    from tcdp_audit.core.base.arrays import (
        Floats as Floats,
        Integers as Integers,
    )
    from tcdp_audit.core.base.embedded_result import (
        packed as packed,
    )
    from tcdp_audit.core.base.outcome import (
        number as number,
    )
    from tcdp_audit.core.base.phrases import (
        SIGNS as SIGNS,
        bound as bound,
        demanded as demanded,
        failing as failing,
        observed as observed,
        state_of as state_of,
    )
    from tcdp_audit.core.base.resources import (
        processors as processors,
    )
    from tcdp_audit.core.base.scratch import (
        Scratch as Scratch,
        writing_temporarily as writing_temporarily,
    )
    from tcdp_audit.core.base.visible import (
        visible_json as visible_json,
        visible_lines as visible_lines,
    )
    from tcdp_audit.core.base.words import (
        in_words as in_words,
    )
    from tcdp_audit.core.classes.histogram import (
        Counts as Counts,
        count_pairs as count_pairs,
    )
    from tcdp_audit.core.classes.segments import (
        first_of_each as first_of_each,
        inverse as inverse,
        positions_of as positions_of,
        rank_within as rank_within,
        starts_of as starts_of,
    )
    from tcdp_audit.core.encoding.counting import (
        boundaries as boundaries,
        numbered as numbered,
        order_of as order_of,
    )
    from tcdp_audit.core.encoding.domain import (
        texts_of as texts_of,
    )
    from tcdp_audit.core.encoding.keys import (
        Codes as Codes,
        KeyArray as KeyArray,
        Keys as Keys,
        fold as fold,
    )
    from tcdp_audit.core.encoding.reading import (
        domain_of as domain_of,
    )
    from tcdp_audit.core.engines.copies import (
        open_converted as open_converted,
    )
    from tcdp_audit.core.engines.parts import (
        chosen_parts as chosen_parts,
        split_pattern as split_pattern,
    )
    from tcdp_audit.core.engines.source import (
        require_known_kind as require_known_kind,
        require_names as require_names,
    )
    from tcdp_audit.core.engines.table_formats import (
        require_one_version as require_one_version,
    )
    from tcdp_audit.core.information_loss.hierarchical import (
        ancestors_of as ancestors_of,
    )
    from tcdp_audit.core.results.beside import (
        beside as beside,
    )
    from tcdp_audit.core.results.change_log import (
        failing_demands as failing_demands,
    )
    from tcdp_audit.core.results.findings import (
        Level as Level,
        findings_of as findings_of,
    )
    from tcdp_audit.core.results.frontier_tables import (
        points_table as points_table,
        remedies_table as remedies_table,
        settings_table as settings_table,
    )
    from tcdp_audit.core.results.place import (
        Place as Place,
        name_in_repository as name_in_repository,
        place_of as place_of,
    )
    from tcdp_audit.core.results.varied_demand import (
        phrase_of as phrase_of,
    )
    from tcdp_audit.core.results.verdict import (
        VERDICTS as VERDICTS,
        exposed_sentence as exposed_sentence,
        verdict_sentence as verdict_sentence,
        verdict_title as verdict_title,
    )
    from tcdp_audit.core.results.written_title import (
        title_in as title_in,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
