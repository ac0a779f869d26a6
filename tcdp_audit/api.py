"""What programs call, and what the applications of this project use of its core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.evaluation import (
        Options as Options,
        evaluate as evaluate,
    )
    from tcdp_audit.core.auditor.tasks import (
        plain_figures as plain_figures,
    )
    from tcdp_audit.core.base.addresses import (
        has_secret as has_secret,
        resolve_location as resolve_location,
        scheme_of as scheme_of,
    )
    from tcdp_audit.core.base.audit_figures import (
        ConventionVariant as ConventionVariant,
        flips as flips,
    )
    from tcdp_audit.core.base.embedded_result import (
        with_plain_result as with_plain_result,
    )
    from tcdp_audit.core.base.errors import (
        PolicyError as PolicyError,
        ResultError as ResultError,
    )
    from tcdp_audit.core.base.files import (
        os_error_reason as os_error_reason,
        require_writable as require_writable,
        write_atomically as write_atomically,
        written_paths as written_paths,
    )
    from tcdp_audit.core.base.guide_file import (
        CHECK_SECTIONS as CHECK_SECTIONS,
        FORMULA_SEPARATOR as FORMULA_SEPARATOR,
        REMEDY_SECTIONS as REMEDY_SECTIONS,
        formula_lines as formula_lines,
        guide_parts as guide_parts,
    )
    from tcdp_audit.core.base.outcome import (
        COLUMN_DEMANDS as COLUMN_DEMANDS,
        RESTORED_COLUMNS as RESTORED_COLUMNS,
        SCHEMA as SCHEMA,
        SHUFFLED as SHUFFLED,
        STRUCTURE as STRUCTURE,
        SUITE as SUITE,
    )
    from tcdp_audit.core.base.phrases import (
        demanded as demanded,
        observed as observed,
        state_of as state_of,
    )
    from tcdp_audit.core.base.plugin_faults import (
        blaming as blaming,
        is_attempt_to_write as is_attempt_to_write,
        sentence_about as sentence_about,
    )
    from tcdp_audit.core.base.provenance import (
        BUILT_IN as BUILT_IN,
        NamedFile as NamedFile,
        PluginInfo as PluginInfo,
        command_line as command_line,
        recorded_tool as recorded_tool,
    )
    from tcdp_audit.core.base.resources import (
        budget as budget,
        parse_memory as parse_memory,
        processors as processors,
    )
    from tcdp_audit.core.base.scratch import (
        ENDING as ENDING,
        Scratch as Scratch,
        hold_signals as hold_signals,
        leaving_nothing as leaving_nothing,
    )
    from tcdp_audit.core.base.visible import (
        visible_json as visible_json,
        visible_lines as visible_lines,
    )
    from tcdp_audit.core.base.words import (
        prose as prose,
    )
    from tcdp_audit.core.check.announced import (
        Announced as Announced,
        LazyCheck as LazyCheck,
        load_announced as load_announced,
    )
    from tcdp_audit.core.check.exact import (
        as_measured as as_measured,
    )
    from tcdp_audit.core.check.kinds import (
        Check as Check,
    )
    from tcdp_audit.core.check.on_classes import (
        CheckOnClasses as CheckOnClasses,
    )
    from tcdp_audit.core.check.specification import (
        Specification as Specification,
    )
    from tcdp_audit.core.check.undemanded import (
        undemanded as undemanded,
    )
    from tcdp_audit.core.check.unfailable import (
        SingletonClasses as SingletonClasses,
        vacuous_sentence as vacuous_sentence,
    )
    from tcdp_audit.core.check.vacuous import (
        vacuous as vacuous,
    )
    from tcdp_audit.core.classes.shards import (
        suppressed_in_all as suppressed_in_all,
    )
    from tcdp_audit.core.classes.strength import (
        Strengths as Strengths,
        strengths_of as strengths_of,
    )
    from tcdp_audit.core.encoding.domain import (
        texts_of as texts_of,
    )
    from tcdp_audit.core.encoding.generalised import (
        number_or_interval as number_or_interval,
    )
    from tcdp_audit.core.encoding.hierarchy import (
        load_hierarchy as load_hierarchy,
    )
    from tcdp_audit.core.encoding.reading import (
        domain_of as domain_of,
    )
    from tcdp_audit.core.engines.base import (
        BorrowedEngine as BorrowedEngine,
    )
    from tcdp_audit.core.engines.opening import (
        open_engine as open_engine,
        opener_of as opener_of,
        require_no_url as require_no_url,
    )
    from tcdp_audit.core.engines.source import (
        file_extension as file_extension,
    )
    from tcdp_audit.core.engines.writing import (
        require_table_file as require_table_file,
    )
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
        policy_without_checks as policy_without_checks,
        read_policy as read_policy,
    )
    from tcdp_audit.core.policy.policy import (
        Expectation as Expectation,
        Policy as Policy,
    )
    from tcdp_audit.core.policy.profile import (
        CAVEAT as CAVEAT,
        Profile as Profile,
        profiles as profiles,
    )
    from tcdp_audit.core.policy.scalars import (
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
    from tcdp_audit.core.quality import (
        missing_extra as missing_extra,
        read_json as read_json,
    )
    from tcdp_audit.core.quality.pandera import (
        SchemaValidation as SchemaValidation,
    )
    from tcdp_audit.core.release.hidden import (
        MOSTLY as MOSTLY,
        mostly_wildcards as mostly_wildcards,
    )
    from tcdp_audit.core.release.release import (
        Release as Release,
    )
    from tcdp_audit.core.remedy.treatment import (
        apply_treatment as apply_treatment,
    )
    from tcdp_audit.core.repair.audits import (
        audit as audit,
        failing_records as failing_records,
        load_policy as load_policy,
        policy_of_one as policy_of_one,
    )
    from tcdp_audit.core.repair.fixing import (
        Remediation as Remediation,
        fix as fix,
        fix_tables as fix_tables,
    )
    from tcdp_audit.core.session.inputs import (
        AuditInputs as AuditInputs,
        describe_table as describe_table,
        named_files as named_files,
        open_inputs as open_inputs,
        open_table as open_table,
    )
    from tcdp_audit.core.session.registry import (
        NAME as NAME,
        Plugins as Plugins,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
