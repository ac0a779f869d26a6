"""Names that programs call, and those that the applications of this project use of its core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.evaluation import (
        evaluate as evaluate,
        records_failing_on_classes as records_failing_on_classes,
    )
    from tcdp_audit.core.auditor.figures import outcomes_of_figures as outcomes_of_figures
    from tcdp_audit.core.auditor.tasks import plain_figures as plain_figures
    from tcdp_audit.core.auditor.view_evaluation import Options as Options
    from tcdp_audit.core.base.audit_figures import ConventionVariant as ConventionVariant, flips as flips
    from tcdp_audit.core.base.cancellation import (
        Cancellation as Cancellation,
        Cancelled as Cancelled,
        cancellable as cancellable,
        checkpoint as checkpoint,
    )
    from tcdp_audit.core.base.declared_types import require_type as require_type, type_faults as type_faults
    from tcdp_audit.core.base.errors import (
        PolicyError as PolicyError,
        ResultError as ResultError,
        blaming as blaming,
        is_attempt_to_write as is_attempt_to_write,
        sentence_about as sentence_about,
    )
    from tcdp_audit.core.base.files import (
        content_digest as content_digest,
        has_secret as has_secret,
        os_error_reason as os_error_reason,
        require_writable as require_writable,
        resolve_location as resolve_location,
        scheme_of as scheme_of,
        write_atomically as write_atomically,
        written_paths as written_paths,
    )
    from tcdp_audit.core.base.frozen import (
        frozen as frozen,
    )
    from tcdp_audit.core.base.guide_file import (
        CHECK_SECTIONS as CHECK_SECTIONS,
        FORMULA_SEPARATOR as FORMULA_SEPARATOR,
        REMEDY_SECTIONS as REMEDY_SECTIONS,
        formula_lines as formula_lines,
        guide_parts as guide_parts,
    )
    from tcdp_audit.core.base.language import (
        known_languages as known_languages,
        require_language as require_language,
        translating as translating,
    )
    from tcdp_audit.core.base.outcome import (
        CELL_DEMANDS as CELL_DEMANDS,
        COLUMN_DEMANDS as COLUMN_DEMANDS,
        FILE_DEMANDS as FILE_DEMANDS,
        LINK_DEMANDS as LINK_DEMANDS,
        RESTORED_COLUMNS as RESTORED_COLUMNS,
        SCHEMA as SCHEMA,
        SHUFFLED as SHUFFLED,
        STRUCTURE as STRUCTURE,
        SUITE as SUITE,
        part_name as part_name,
        sentence_on_cell as sentence_on_cell,
    )
    from tcdp_audit.core.base.phrases import (
        demanded as demanded,
        laxness_sentence as laxness_sentence,
        observed as observed,
        state_of as state_of,
    )
    from tcdp_audit.core.base.provenance import (
        BUILT_IN as BUILT_IN,
        NamedFile as NamedFile,
        PluginInfo as PluginInfo,
        Table as Table,
        command_line as command_line,
        digest_of_tables as digest_of_tables,
        recorded_tool as recorded_tool,
    )
    from tcdp_audit.core.base.resources import budget as budget, parse_memory as parse_memory, processors as processors
    from tcdp_audit.core.base.scratch import (
        ENDING as ENDING,
        Scratch as Scratch,
        hold_signals as hold_signals,
        leaving_nothing as leaving_nothing,
    )
    from tcdp_audit.core.base.words import prose as prose, visible_json as visible_json, visible_lines as visible_lines
    from tcdp_audit.core.check.class_check import CheckOnClasses as CheckOnClasses
    from tcdp_audit.core.check.demands import (
        around as around,
        between as between,
        required_class_size as required_class_size,
        sufficient_class_size as sufficient_class_size,
        threshold_fault as threshold_fault,
        with_threshold as with_threshold,
    )
    from tcdp_audit.core.check.evidence import (
        SingletonClasses as SingletonClasses,
        vacuous_sentence as vacuous_sentence,
    )
    from tcdp_audit.core.check.kinds import (
        Announced as Announced,
        Check as Check,
        LazyCheck as LazyCheck,
        load_announced as load_announced,
    )
    from tcdp_audit.core.check.specification import Specification as Specification
    from tcdp_audit.core.check.strictness import (
        implied as implied,
        laxer_than as laxer_than,
        scenarios_of as scenarios_of,
    )
    from tcdp_audit.core.check.threshold import as_measured as as_measured
    from tcdp_audit.core.check.vacuous import (
        undemanded as undemanded,
        undemanded_sentence as undemanded_sentence,
        undemanded_title as undemanded_title,
        vacuous as vacuous,
    )
    from tcdp_audit.core.classes.shards import suppressed_in_all as suppressed_in_all
    from tcdp_audit.core.classes.strength import Strengths as Strengths, strengths_of as strengths_of
    from tcdp_audit.core.encoding.domain import texts_of as texts_of
    from tcdp_audit.core.encoding.generalised import number_or_interval as number_or_interval
    from tcdp_audit.core.encoding.hierarchy import load_hierarchy as load_hierarchy
    from tcdp_audit.core.encoding.reading import domain_of as domain_of
    from tcdp_audit.core.engines.base import BorrowedEngine as BorrowedEngine
    from tcdp_audit.core.engines.opening import (
        open_engine as open_engine,
        open_with as open_with,
    )
    from tcdp_audit.core.engines.source import file_extension as file_extension
    from tcdp_audit.core.engines.text_form import PLAIN_FORM as PLAIN_FORM, TextForm as TextForm
    from tcdp_audit.core.engines.writing import require_table_file as require_table_file
    from tcdp_audit.core.information_loss.columns import demanded_k as demanded_k
    from tcdp_audit.core.policy.discovery import (
        SUFFIXES as SUFFIXES,
        discover as discover,
        named_policies as named_policies,
        policies_in as policies_in,
        with_parents as with_parents,
    )
    from tcdp_audit.core.policy.faults import (
        UNDECIDED as UNDECIDED,
        from_validation as from_validation,
        nearest as nearest,
    )
    from tcdp_audit.core.policy.loading import (
        data_of_policy as data_of_policy,
        policy_of_text as policy_of_text,
        policy_source as policy_source,
        policy_without_checks as policy_without_checks,
        read_policy as read_policy,
    )
    from tcdp_audit.core.policy.policy import (
        CAVEAT as CAVEAT,
        Expectation as Expectation,
        Policy as Policy,
        Profile as Profile,
        profiles as profiles,
    )
    from tcdp_audit.core.policy.scalars import (
        OddNumber as OddNumber,
        TypedFloat as TypedFloat,
        TypedInt as TypedInt,
        as_fraction as as_fraction,
    )
    from tcdp_audit.core.policy.schema import (
        parameters_schema as parameters_schema,
        policy_schema_text as policy_schema_text,
    )
    from tcdp_audit.core.policy.source import (
        PolicySource as PolicySource,
        PolicySourceError as PolicySourceError,
        parse_nodes as parse_nodes,
        parse_yaml as parse_yaml,
    )
    from tcdp_audit.core.policy.tables import (
        require_one_table as require_one_table,
        require_records as require_records,
    )
    from tcdp_audit.core.quality import missing_extra as missing_extra, read_json as read_json
    from tcdp_audit.core.quality.pandera import SchemaValidation as SchemaValidation
    from tcdp_audit.core.release.hidden import MOSTLY as MOSTLY, mostly_wildcards as mostly_wildcards
    from tcdp_audit.core.release.release import Release as Release
    from tcdp_audit.core.remedy.treatment import (
        apply_treatment as apply_treatment,
        require_treatment as require_treatment,
    )
    from tcdp_audit.core.repair.audits import (
        audit as audit,
        failing_records as failing_records,
        load_policy as load_policy,
        policy_of_one as policy_of_one,
    )
    from tcdp_audit.core.repair.fixing import Remediation as Remediation, fix as fix
    from tcdp_audit.core.repair.session import Session as Session, open_session as open_session
    from tcdp_audit.core.results.strict_json import with_plain_result as with_plain_result
    from tcdp_audit.core.session.inputs import (
        AuditInputs as AuditInputs,
        describe_table as describe_table,
        named_files as named_files,
    )
    from tcdp_audit.core.session.people import ColumnProfile as ColumnProfile, WhatIf as WhatIf
    from tcdp_audit.core.session.registry import NAME as NAME, Plugins as Plugins
    from tcdp_audit.core.session.tables import OpenTables as OpenTables, open_inputs as open_inputs
    from tcdp_audit.core.session.thresholds import (
        StricterDemand as StricterDemand,
        ThresholdCount as ThresholdCount,
        Thresholds as Thresholds,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
