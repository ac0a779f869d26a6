"""Everything that a plugin may import: a check, a remedy, a report, or what comes next.

What is listed here stays; other modules of tcdp-audit may move between two versions. The built-in checks, remedies and
reports import nothing else. The tour of it is docs/plugins.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.addresses import scheme_of as scheme_of
    from tcdp_audit.arrays import Floats as Floats, Integers as Integers
    from tcdp_audit.auditor.conventions import flips as flips
    from tcdp_audit.check import (
        AttributeParameters as AttributeParameters,
        ClassEvidence as ClassEvidence,
        Guide as Guide,
        Parameters as Parameters,
        Quarter as Quarter,
    )
    from tcdp_audit.check.announced import Announced as Announced, LazyCheck as LazyCheck
    from tcdp_audit.check.estimate import (
        Estimate as Estimate,
        estimate_of_largest as estimate_of_largest,
        estimate_of_mean as estimate_of_mean,
        interval_of_mean as interval_of_mean,
    )
    from tcdp_audit.check.evidence import Marginal as Marginal, cached_on_marginal as cached_on_marginal
    from tcdp_audit.check.exact import (
        BORDERLINE as BORDERLINE,
        LIMIT as LIMIT,
        Measured as Measured,
        Ratios as Ratios,
        Signs as Signs,
        Transcendental as Transcendental,
    )
    from tcdp_audit.check.kinds import (
        Check as Check,
        ClassCheck as ClassCheck,
        Finding as Finding,
        FinestGrouping as FinestGrouping,
        Limit as Limit,
        ShareParameters as ShareParameters,
        TableCheck as TableCheck,
        TableFigure as TableFigure,
        Threshold as Threshold,
        Verdict as Verdict,
        VictimCheck as VictimCheck,
    )
    from tcdp_audit.check.summary import ClassSummary as ClassSummary, summarise as summarise
    from tcdp_audit.check.table_view import PopulationClasses as PopulationClasses, TableView as TableView
    from tcdp_audit.classes.column_risk import (
        ColumnRisk as ColumnRisk,
        MeasuredSubsets as MeasuredSubsets,
    )
    from tcdp_audit.classes.histogram import (
        Counts as Counts,
        Histogram as Histogram,
        add_up as add_up,
        cached_on_histogram as cached_on_histogram,
        count_in_classes as count_in_classes,
        count_pairs as count_pairs,
    )
    from tcdp_audit.classes.segments import (
        first_of_each as first_of_each,
        inverse as inverse,
        positions_of as positions_of,
        rank_within as rank_within,
        starts_of as starts_of,
    )
    from tcdp_audit.classes.shards import Progress as Progress, silent as silent
    from tcdp_audit.classes.strength import (
        Contribution as Contribution,
        SetStrength as SetStrength,
        Strengths as Strengths,
        StrengthSample as StrengthSample,
        strengths as strengths,
        strengths_of as strengths_of,
    )
    from tcdp_audit.comparison import AuditComparison as AuditComparison, Change as Change, Fact as Fact
    from tcdp_audit.detection.column import DetectorColumn as DetectorColumn
    from tcdp_audit.detection.column_words import is_named as is_named, words_of as words_of
    from tcdp_audit.detection.detecting import (
        Detection as Detection,
        Detections as Detections,
        Undecided as Undecided,
        detect as detect,
        detect_in_column as detect_in_column,
    )
    from tcdp_audit.detection.detector import (
        ColumnDetector as ColumnDetector,
        Detector as Detector,
        ValueDetector as ValueDetector,
    )
    from tcdp_audit.detection.evidence import Evidence as Evidence, binomial_evidence as binomial_evidence
    from tcdp_audit.embedded_result import packed as packed
    from tcdp_audit.encoding.counted import CountedCodes as CountedCodes
    from tcdp_audit.encoding.counting import (
        boundaries as boundaries,
        numbered as numbered,
        occurrences as occurrences,
        order_of as order_of,
        run_lengths as run_lengths,
    )
    from tcdp_audit.encoding.domain import Domain as Domain, RawDomain as RawDomain, texts_of as texts_of
    from tcdp_audit.encoding.generalised import (
        interval_label as interval_label,
        members as members,
        number_text as number_text,
        set_label as set_label,
    )
    from tcdp_audit.encoding.hierarchy import Hierarchy as Hierarchy, Tree as Tree
    from tcdp_audit.encoding.keys import (
        Codes as Codes,
        KeyArray as KeyArray,
        Keys as Keys,
        fold as fold,
    )
    from tcdp_audit.encoding.reading import domain_of as domain_of
    from tcdp_audit.engines import open_file as open_file
    from tcdp_audit.engines.base import (
        Batch as Batch,
        Column as Column,
        Engine as Engine,
        recode as recode,
    )
    from tcdp_audit.engines.connected import DatabaseTable as DatabaseTable
    from tcdp_audit.engines.copies import open_converted as open_converted, open_copy as open_copy
    from tcdp_audit.engines.opener import EngineOpener as EngineOpener
    from tcdp_audit.engines.parts import chosen_parts as chosen_parts, split_pattern as split_pattern
    from tcdp_audit.engines.sampling import Sampling as Sampling
    from tcdp_audit.engines.shards import MappedShards as MappedShards, Measure as Measure, Part as Part
    from tcdp_audit.engines.source import require_known_kind as require_known_kind, require_names as require_names
    from tcdp_audit.engines.streams import grouped_engine as grouped_engine, streamed_engine as streamed_engine
    from tcdp_audit.engines.table_formats import require_one_version as require_one_version
    from tcdp_audit.errors import (
        CheckError as CheckError,
        DataError as DataError,
        Discreet as Discreet,
        PluginError as PluginError,
        TcdpAuditError as TcdpAuditError,
        UsageError as UsageError,
    )
    from tcdp_audit.exposed import Exposed as Exposed
    from tcdp_audit.hookspecs import hookimpl as hookimpl
    from tcdp_audit.information_loss.hierarchical import LeafPenalty as LeafPenalty, ancestors_of as ancestors_of
    from tcdp_audit.information_loss.penalty import Penalty as Penalty
    from tcdp_audit.information_loss.scales import penalty_of as penalty_of
    from tcdp_audit.outcome import (
        Comparison as Comparison,
        Naming as Naming,
        Outcome as Outcome,
        Severity as Severity,
        Status as Status,
        Tally as Tally,
        WorstClass as WorstClass,
        number as number,
    )
    from tcdp_audit.phrases import (
        SIGNS as SIGNS,
        allowance as allowance,
        average_group as average_group,
        bound as bound,
        chance_of as chance_of,
        column_of as column_of,
        columns_of as columns_of,
        demanded as demanded,
        every_record as every_record,
        failing as failing,
        groups as groups,
        in_worst_group as in_worst_group,
        known_columns as known_columns,
        observed as observed,
        part_of as part_of,
        record_noun as record_noun,
        records_of as records_of,
        somebody as somebody,
        state_of as state_of,
        unit_noun as unit_noun,
        values_left as values_left,
        victims as victims,
        whoever_knows as whoever_knows,
        worst_group as worst_group,
        worst_group_of as worst_group_of,
    )
    from tcdp_audit.policy.model import (
        AttributeDeclaration as AttributeDeclaration,
        Conventions as Conventions,
        PolicyDocument as PolicyDocument,
        Role as Role,
        Scale as Scale,
        Text as Text,
    )
    from tcdp_audit.policy.scalars import Exact as Exact
    from tcdp_audit.provenance import Run as Run, Table as Table, tool as tool
    from tcdp_audit.release.coded import CodedTable as CodedTable, StreamedTable as StreamedTable
    from tcdp_audit.release.columns import AuditedColumn as AuditedColumn
    from tcdp_audit.release.covers import Cover as Cover
    from tcdp_audit.release.pairs import Pairs as Pairs
    from tcdp_audit.remedy.demands import Demands as Demands
    from tcdp_audit.remedy.merged import MergedDemands as MergedDemands
    from tcdp_audit.remedy.remedy import (
        NewColumn as NewColumn,
        OutdoneError as OutdoneError,
        Remedy as Remedy,
        RemedyError as RemedyError,
        RemedyGuide as RemedyGuide,
        RemedyParameters as RemedyParameters,
        Treatment as Treatment,
    )
    from tcdp_audit.remedy.view import Attribute as Attribute, RemedyView as RemedyView
    from tcdp_audit.resources import processors as processors
    from tcdp_audit.results.audit import Audit as Audit
    from tcdp_audit.results.beside import beside as beside
    from tcdp_audit.results.change_log import ChangeLog as ChangeLog, Step as Step, blocking as blocking
    from tcdp_audit.results.findings import Level as Level, ToolFinding as ToolFinding, findings_of as findings_of
    from tcdp_audit.results.frontier import Frontier as Frontier
    from tcdp_audit.results.frontier_tables import (
        points_table as points_table,
        remedies_table as remedies_table,
        settings_table as settings_table,
    )
    from tcdp_audit.results.place import Place as Place, name_in_repository as name_in_repository, place_of as place_of
    from tcdp_audit.results.remedy_trial import RemedyTrial as RemedyTrial
    from tcdp_audit.results.reporter import (
        FilledSection as FilledSection,
        Reporter as Reporter,
        ReportSection as ReportSection,
        Rows as Rows,
    )
    from tcdp_audit.results.setting_trial import SettingTrial as SettingTrial
    from tcdp_audit.results.tally import DemandCount as DemandCount, DemandTally as DemandTally, tally_of as tally_of
    from tcdp_audit.results.unaudited import Unaudited as Unaudited
    from tcdp_audit.results.varied_demand import VariedDemand as VariedDemand, phrase_of as phrase_of
    from tcdp_audit.results.verdict import (
        VERDICTS as VERDICTS,
        exposed_sentence as exposed_sentence,
        people_noun as people_noun,
        title_of as title_of,
        verdict_sentence as verdict_sentence,
        verdict_title as verdict_title,
    )
    from tcdp_audit.results.written_title import title_in as title_in
    from tcdp_audit.scratch import Scratch as Scratch, writing_temporarily as writing_temporarily
    from tcdp_audit.visible import (
        visible as visible,
        visible_json as visible_json,
        visible_lines as visible_lines,
    )
    from tcdp_audit.words import (
        agree as agree,
        count as count,
        decimal as decimal,
        figure as figure,
        gibibytes as gibibytes,
        in_words as in_words,
        listing as listing,
        noun_form as noun_form,
        one_in as one_in,
        percent as percent,
        percent_of as percent_of,
        plural as plural,
        prose as prose,
        sentence_case as sentence_case,
        share as share,
        with_article as with_article,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
