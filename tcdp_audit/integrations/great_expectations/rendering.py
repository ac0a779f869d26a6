"""Renderers: what Data Docs says of an expectation and of its result, from what is stored of them.

Only sentences, figures and counts are shown, and they are those of the result.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from great_expectations.expectations.expectation import render_suite_parameter_string
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

from tcdp_audit.integrations.great_expectations.conditions import condition_text
from tcdp_audit.integrations.great_expectations.sentences import demand_sentence
from tcdp_audit.plugin.sentences import Status, sentence_case

NOT_JUDGED = "error: not judged"
NOTHING = "--"  # Great Expectations' own sign for no value


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
        """What is demanded, for Data Docs."""
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
        """What came of it, for Data Docs."""
        message = ((result.result or {}).get("details") or {}).get("message") if result is not None else None
        if result is None or not message:
            return []
        classes = ["text-muted"] if result.success else ["text-danger", "font-weight-bold"]
        return [_text(sentence_case(message), tag="p", classes=classes)]

    @classmethod
    @renderer(renderer_type=LegacyDiagnosticRendererType.UNEXPECTED_TABLE)  # type: ignore[untyped-decorator]
    def _diagnostic_unexpected_table_renderer(
        cls,
        configuration: Any = None,
        result: Any = None,
        runtime_configuration: Any = None,
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
    """A sentence as Data Docs takes it; given as a parameter, so that no `$` in it is taken for one."""
    template = {
        "template": "$sentence",
        "params": {"sentence": sentence},
        "tag": tag,
        "styling": {"classes": classes or []},
    }
    return RenderedStringTemplateContent(content_block_type="string_template", string_template=template)
