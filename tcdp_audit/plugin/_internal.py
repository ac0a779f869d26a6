"""What only the built-in plugins use. Promised to nobody: it may change in any version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.addresses import (
        scheme_of as scheme_of,
    )
    from tcdp_audit.core.base.audit_figures import (
        ExposureCount as ExposureCount,
        flips as flips,
    )
    from tcdp_audit.core.base.embedded_result import (
        embed_result as embed_result,
    )
    from tcdp_audit.core.base.frozen import (
        Floats as Floats,
        Integers as Integers,
    )
    from tcdp_audit.core.base.outcome import (
        DisplayNames as DisplayNames,
        number as number,
    )
    from tcdp_audit.core.base.phrases import (
        SIGNS as SIGNS,
        allowance as allowance,
        average_group as average_group,
        bound as bound,
        demanded as demanded,
        failing as failing,
        groups as groups,
        observed as observed,
        state_of as state_of,
        unit_noun as unit_noun,
        values_left as values_left,
        worst_group as worst_group,
        worst_group_of as worst_group_of,
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
        gibibytes as gibibytes,
        in_words as in_words,
        noun_form as noun_form,
        one_in as one_in,
        percent_of as percent_of,
        prose as prose,
        with_article as with_article,
    )
    from tcdp_audit.core.check.announced import (
        Announced as Announced,
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
    )
    from tcdp_audit.core.check.kinds import (
        Check as Check,
        Finding as Finding,
    )
    from tcdp_audit.core.check.summary import (
        ClassSummary as ClassSummary,
        summarise as summarise,
    )
    from tcdp_audit.core.check.unfailable import (
        SingletonClasses as SingletonClasses,
    )
    from tcdp_audit.core.check.verdict import (
        Verdict as Verdict,
    )
    from tcdp_audit.core.classes.column_risk import (
        MeasuredSubsets as MeasuredSubsets,
    )
    from tcdp_audit.core.classes.histogram import (
        Counts as Counts,
        add_up as add_up,
        cached_on_histogram as cached_on_histogram,
        count_in_classes as count_in_classes,
        count_pairs as count_pairs,
    )
    from tcdp_audit.core.classes.segments import (
        first_of_each as first_of_each,
        inverse as inverse,
        positions_of as positions_of,
        rank_within as rank_within,
        starts_of as starts_of,
    )
    from tcdp_audit.core.classes.strength import (
        Contribution as Contribution,
        SetStrength as SetStrength,
        Strengths as Strengths,
        StrengthSample as StrengthSample,
        strengths as strengths,
        strengths_of as strengths_of,
    )
    from tcdp_audit.core.encoding.domain import (
        texts_of as texts_of,
    )
    from tcdp_audit.core.encoding.keys import (
        Codes as Codes,
        KeyArray as KeyArray,
        Keys as Keys,
        boundaries as boundaries,
        fold as fold,
        numbered as numbered,
        occurrences as occurrences,
        order_of as order_of,
        run_lengths as run_lengths,
    )
    from tcdp_audit.core.encoding.reading import (
        domain_of as domain_of,
    )
    from tcdp_audit.core.engines.base import (
        recode as recode,
    )
    from tcdp_audit.core.engines.copies import (
        open_converted as open_converted,
    )
    from tcdp_audit.core.engines.parts import (
        chosen_parts as chosen_parts,
        require_one_version as require_one_version,
        split_pattern as split_pattern,
    )
    from tcdp_audit.core.engines.source import (
        require_known_kind as require_known_kind,
        require_names as require_names,
    )
    from tcdp_audit.core.information_loss.scales import (
        ancestors_of as ancestors_of,
    )
    from tcdp_audit.core.release.generalized_matches import (
        GeneralizedMatch as GeneralizedMatch,
    )
    from tcdp_audit.core.results.change_log import (
        failing_demands as failing_demands,
    )
    from tcdp_audit.core.results.document import (
        Block as Block,
        summary_blocks as summary_blocks,
    )
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
    from tcdp_audit.core.results.setting_trial import (
        SettingTrial as SettingTrial,
        VariedDemand as VariedDemand,
        phrase_of as phrase_of,
    )
    from tcdp_audit.core.results.tally import (
        DemandCount as DemandCount,
        DemandTally as DemandTally,
        tally_of as tally_of,
    )
    from tcdp_audit.core.results.verdict import (
        VERDICTS as VERDICTS,
        beside as beside,
        exposed_sentence as exposed_sentence,
        people_noun as people_noun,
        verdict_sentence as verdict_sentence,
        verdict_title as verdict_title,
    )
    from tcdp_audit.core.results.written_verdict import (
        title_in as title_in,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
