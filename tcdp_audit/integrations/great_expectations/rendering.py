"""Renderers: the texts of Data Docs on an expectation and its result, from their stored form.

They show sentences, figures and counts of the result, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from great_expectations.expectations.expectation import render_suite_parameter_string
from great_expectations.expectations.row_conditions import deserialize_row_condition
from great_expectations.render.components import (
    AtomicDiagnosticRendererType,
    LegacyDiagnosticRendererType,
    LegacyRendererType,
    RenderedAtomicContent,
    RenderedStringTemplateContent,
    renderedAtomicValueSchema,
)
from great_expectations.render.renderer.renderer import renderer
from great_expectations.render.renderer_configuration import RendererValueType

from tcdp_audit.integrations.great_expectations.parameters import check_fields
from tcdp_audit.plugin.sentences import Status, listing, sentence_case

NOT_JUDGED = "error: not judged"
NOTHING = "--"  # Great Expectations' own sign for no value
COLUMNS = "The table has the declared columns and no other, no identifier, and values of the declared scales."


class Rendered:
    """The renderers of an expectation class with a `checked`."""

    checked: ClassVar[Any]

    @classmethod
    def _sentence(cls, kwargs: Any, *, with_column: bool = True) -> str:
        condition = condition_text(kwargs.get("row_condition"))
        where = "" if not condition else f"Of the records with {condition}: "
        return where + demand_sentence(cls.checked, kwargs, with_column=with_column)

    @classmethod
    def _prescriptive_template(cls, renderer_configuration: Any) -> Any:
        """The sentence for Great Expectations' newer renderers."""
        sentence = cls._sentence(renderer_configuration.kwargs or {})
        renderer_configuration.add_param(name="sentence", param_type=RendererValueType.STRING, value=sentence)
        renderer_configuration.template_str = "$sentence"
        return renderer_configuration

    @classmethod
    @renderer(renderer_type=LegacyRendererType.PRESCRIPTIVE)  # type: ignore[untyped-decorator]
    @render_suite_parameter_string  # type: ignore[untyped-decorator]
    def _prescriptive_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
    ) -> list[Any]:
        """Show the demand in Data Docs."""
        stored = configuration or getattr(result, "expectation_config", None)
        if stored is None:
            return []
        with_column = (runtime_configuration or {}).get("include_column_name") is not False
        return [_text(cls._sentence(stored.kwargs, with_column=with_column))]

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.UNEXPECTED_STATEMENT)  # type: ignore[untyped-decorator]
    def _diagnostic_unexpected_statement_renderer(
        cls,
        configuration: Any = None,  # noqa: ARG003 - the signature is Great Expectations'
        result: Any = None,
        runtime_configuration: Any = None,  # noqa: ARG003
    ) -> list[Any]:
        """Show the result in Data Docs."""
        message = ((result.result or {}).get("details") or {}).get("message") if result is not None else None
        if result is None or not message:
            return []
        classes = ["text-muted"] if result.success else ["text-danger", "font-weight-bold"]
        return [_text(sentence_case(message), tag="p", classes=classes)]

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.UNEXPECTED_TABLE)  # type: ignore[untyped-decorator]
    def _diagnostic_unexpected_table_renderer(
        cls, configuration: Any = None, result: Any = None, runtime_configuration: Any = None
    ) -> None:
        """No table: there are no values to show."""

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.OBSERVED_VALUE)  # type: ignore[untyped-decorator]
    def _diagnostic_observed_value_renderer(
        cls,
        configuration: Any = None,  # noqa: ARG003
        result: Any = None,
        runtime_configuration: Any = None,  # noqa: ARG003
    ) -> str:
        """The figure as the result has it, to the last digit."""
        return _observed(result)

    @classmethod
    @renderer(renderer_type=AtomicDiagnosticRendererType.OBSERVED_VALUE)  # type: ignore[untyped-decorator]
    def _atomic_diagnostic_observed_value(
        cls,
        configuration: Any = None,  # noqa: ARG003
        result: Any = None,
        runtime_configuration: Any = None,  # noqa: ARG003
    ) -> Any:
        """The same for the newer renderers."""
        params = {"observed_value": {"schema": {"type": "string"}, "value": _observed(result)}}
        schema = {"type": "com.superconductive.rendered.string"}
        value: Any = renderedAtomicValueSchema.load({"template": "$observed_value", "params": params, "schema": schema})
        kind = AtomicDiagnosticRendererType.OBSERVED_VALUE
        return RenderedAtomicContent(name=kind, value=value, value_type="StringValueType")


def _observed(result: Any) -> str:
    stored = {} if result is None else result.result or {}
    value = stored.get("observed_value")
    if value is None:
        return NOT_JUDGED if (stored.get("details") or {}).get("status") == Status.ERROR.value else NOTHING
    return value if isinstance(value, str) else json.dumps(value)


def _text(sentence: str, tag: str = "span", classes: list[str] | None = None) -> Any:
    """A sentence as Data Docs takes it, as a parameter, so that a `$` in it is not replaced."""
    styling = {"classes": classes or []}
    template = {"template": "$sentence", "params": {"sentence": sentence}, "tag": tag, "styling": styling}
    return RenderedStringTemplateContent(content_block_type="string_template", string_template=template)


def demand_sentence(check: Any, kwargs: Mapping[str, Any], *, with_column: bool = True) -> str:
    """The demand of an expectation, such as `k-anonymity, records grouped by age and zip: …`.

    Args:
        check: the registered check; None for the demands on the columns.
        kwargs: the expectation's parameters in their stored form.
        with_column: whether the sentence names the column; below a heading with its name, it does not.
    """
    if check is None:
        return COLUMNS
    column = kwargs.get("column")
    of = f" of {_shown(column)}" if column is not None and with_column else ""
    by = listing([_shown(one) for one in _names(kwargs.get("quasi_identifiers"))])
    return f"{_title(check, kwargs)}{of}, records grouped by {by}: {_bounds(check, kwargs)}."


def _names(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _title(check: Any, kwargs: Mapping[str, Any]) -> str:
    """The check's title, with the additions of its parameters where they are known already."""
    try:
        own = {one.parameter: kwargs[one.name] for one in check_fields(check) if one.name in kwargs}
        return str(check.titled(check.parameters.model_validate(own)))
    except Exception:  # noqa: BLE001 - a suite parameter in its place has no value yet
        return str(check.title)


def _bounds(check: Any, kwargs: Mapping[str, Any]) -> str:
    shown = {one.parameter: one.name for one in check_fields(check)}
    demanded = [one for one in check.limits if kwargs.get(shown[one.parameter]) is not None]
    if not demanded:
        return "measured, nothing is demanded"
    clauses = [one.demand.replace(f"`{one.parameter}`", _shown(kwargs[shown[one.parameter]])) for one in demanded]
    whom = "in every group, " if check.judges_each_class else ""
    return whom + listing(clauses)


def _shown(value: Any) -> str:
    """A name or a number; a parameter of the suite by its own name."""
    if isinstance(value, Mapping):
        return str(value.get("$PARAMETER", "…"))
    return value if isinstance(value, str) else json.dumps(value)


def condition_text(condition: Any) -> str:
    """The condition as Great Expectations writes it; empty where there is none."""
    if condition is None:
        return ""
    return condition if isinstance(condition, str) else repr(deserialize_row_condition(condition))
