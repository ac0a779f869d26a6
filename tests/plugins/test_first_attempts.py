"""What a plugin's author meets first: an answer or a field of the wrong type is a sentence that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pytest
from pydantic import Field

from tcdp_audit import PluginError, Status, audit, fix
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import (
    DisclosureType,
    Guide,
    Parameters,
    Ratios,
    TableCheck,
    TableFigure,
    Threshold,
    hookimpl,
)
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import Engine, EngineOpener, grouped_engine, streamed_engine
from tcdp_audit.plugin.remedy import NewColumn, Remedy, RemedyGuide, RemedyParameters, Treatment
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit.testing import check_conforms
from tcdp_audit.testing.conformance import ConformanceError
from tcdp_audit.testing.reports import SAMPLE

TABLE = pa.table({"zip": ["a", "a", "b"], "disease": ["x", "y", "x"]})
ATTRIBUTES = {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}}
CODES = np.zeros(3, dtype=np.int64)
STAR = np.array(["*"], dtype=object)


class AtMost(Parameters):
    at_most: Annotated[Exact | None, Field(ge=0, description="The largest figure.")] = None


TABLE_CHECK = TableCheck(
    name="mine",
    title="Mine",
    disclosure_type=DisclosureType.IDENTITY_DEGREE,
    parameters=AtMost,
    measure=lambda view, _: TableFigure(1, view.records),
    guide=Guide("A.", "n", "A.", "A.", "A, 1", "- mine: {at_most: 1}"),
)
REMEDY = Remedy(
    name="mine",
    title="Mine",
    summary="Changes nothing.",
    guide=RemedyGuide("It waits.", "Never.", "Nothing.", "None, 2026.", "- mine: {}"),
    parameters=RemedyParameters,
    apply=lambda _, __: Treatment(),
)
OPENER = EngineOpener(
    name="mine", title="Mine", summary="Mine.", accepts=lambda one: one == "mine://", open=lambda *_: None
)


def loaded(hook: str, *specifications: Any) -> Plugins:
    plugins = Plugins.load(external=False)

    def answer() -> Any:
        return specifications

    answer.__name__ = hook
    plugins.register(SimpleNamespace(**{hook: hookimpl(answer)}), "mine")
    return plugins


def audited(check: Any, parameters: dict[str, Any]) -> Any:
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{check.name: parameters}]}
    return audit(TABLE, policy, plugins=loaded("tcdp_audit_checks", check)).expectations[0]


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        (
            lambda _, __: None,
            "the check gave None and no figures; it must give Ratios, an ApproximateFigure or an array",
        ),
        (lambda _, __: 3, "the check gave an int and no figures"),
        (lambda _, __: {"a": 1}, "the check gave a dict and no figures"),
        (lambda _, __: (one for one in [1]), "the check gave a generator and no figures"),
        (lambda _, __: TableFigure(1, 2), "the check gave a TableFigure and no figures"),
        (lambda _, __: Ratios([1], [2]), "gave a Ratios whose `numerator` must be a numpy array, and is a list of int"),
        (lambda _, __: Ratios(np.ones(2), np.ones(2)), "gave Ratios whose arrays are not integers of the same shape"),
        (
            lambda _: 1,
            "called with other arguments than it takes: <lambda>() takes 1 positional argument but 2 were given",
        ),
    ],
)
def test_a_measure_of_classes_that_gives_no_figures(measure: Callable[..., Any], sentence: str):
    outcome = audited(replace(SAMPLE, thresholds=(Threshold("n", Comparison.AT_LEAST, measure),)), {"n": 2})

    assert outcome.status is Status.ERROR
    assert sentence in outcome.message
    assert outcome.message.endswith("(plugin 'mine')")


@pytest.mark.parametrize(
    ("figure", "sentence"),
    [
        (None, "the check gave None and not a TableFigure"),
        (0.5, "the check gave a float and not a TableFigure"),
        (TableFigure("many", 3), "whose `value` must be a Fraction or a number, and is a str"),
        (TableFigure(1, None), "whose `records` must be a whole number, and is None"),
        (TableFigure(1, 3, classes=3), "whose `classes` must be a tuple of"),
        (
            TableFigure(1, 3, distribution=3),
            "whose `distribution` must be a sequence of sequence of number, and is an int",
        ),
        (TableFigure(1, 3, details=[1]), "whose `details` must be a mapping, and is a list of int"),
    ],
)
def test_a_measure_of_tables_that_gives_no_figure(figure: Any, sentence: str):
    outcome = audited(replace(TABLE_CHECK, measure=lambda _, __: figure), {"at_most": 1})

    assert outcome.status is Status.ERROR
    assert sentence in outcome.message


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (replace(SAMPLE, guide=None), "ClassCheck 'sample_check': `guide` must be a Guide, and is None"),
        (
            replace(SAMPLE, thresholds=SAMPLE.thresholds[0]),
            "`thresholds` must be a tuple of Threshold, and is a Threshold",
        ),
        (
            replace(SAMPLE, thresholds=list(SAMPLE.thresholds)),
            "must be a tuple of Threshold, and is a list of Threshold",
        ),
        (
            replace(SAMPLE, thresholds=(Threshold("n", "at least", lambda *_: 1),)),
            "`comparison` must be a Comparison, and is a str (in `thresholds`)",
        ),
        (
            replace(SAMPLE, parameters=dict),
            "`parameters` must be a class derived from Parameters, and is the class dict",
        ),
        (replace(SAMPLE, monotone=True), "`monotone` must be a function, and is a bool"),
        (replace(TABLE_CHECK, needs="original"), "`needs` must be a set of Need, and is a str"),
        (replace(TABLE_CHECK, name=None), "`name` must be text, and is None"),
        (replace(REMEDY, apply=None), "Remedy 'mine': `apply` must be a function, and is None"),
        (replace(OPENER, accepts="mine://"), "EngineOpener 'mine': `accepts` must be a function, and is a str"),
    ],
)
def test_a_field_of_another_type_breaks_the_plugin_and_is_said_by_the_suite(broken: Any, sentence: str):
    hook = {Remedy: "tcdp_audit_remedies", EngineOpener: "tcdp_audit_engines"}.get(type(broken), "tcdp_audit_checks")
    (info,) = loaded(hook, broken).broken
    assert sentence in info.error

    with pytest.raises(ConformanceError) as caught:
        check_conforms(broken)
    assert sentence.rsplit(": ", maxsplit=1)[-1] in str(caught.value)
    assert "was raised" not in str(caught.value)


def texts(*cells: Any) -> Callable[..., Any]:
    return lambda *_: Treatment({"zip": NewColumn.of_texts(list(cells), CODES)})


@pytest.mark.parametrize(
    ("apply", "sentence"),
    [
        (lambda _, __: None, "the remedy gave None and not a Treatment"),
        (lambda _, __: TABLE, "the remedy gave a Table and not a Treatment"),
        (lambda: None, "the remedy is called with other arguments than it takes: <lambda>() takes 0 positional"),
        (lambda _, __: Treatment({"zip": CODES}), "`columns` must be a mapping of NewColumn, and is a dict of ndarray"),
        (lambda _, __: Treatment([1]), "`columns` must be a mapping of NewColumn, and is a list of int"),
        (
            lambda _, __: Treatment(retained=[True] * 3),
            "`retained` must be a numpy array or None, and is a list of bool",
        ),
        (lambda _, __: Treatment(retained=CODES), "gave `retained` of type int64 and shape (3,)"),
        (lambda _, __: Treatment(notes=None), "`notes` must be a mapping, and is None"),
        (lambda _, __: Treatment(lines="a"), "`lines` must be a tuple of text, and is a str"),
        (texts(1, 2), "the remedy gave a cell that is no text"),
        (texts("a", "\ud800"), "the remedy gave a text that UTF-8 cannot write: one half of a surrogate pair"),
    ],
)
def test_a_remedy_that_gives_no_treatment(apply: Callable[..., Any], sentence: str):
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 2}}], "remedy": [{"mine": {}}]}
    done = fix(TABLE, policy, plugins=loaded("tcdp_audit_remedies", replace(REMEDY, apply=apply)))

    assert sentence in done.log.tried[0].error


@pytest.mark.parametrize(
    ("cells", "codes", "sentence"),
    [
        (["*"], CODES, "the remedy gave a NewColumn whose `cells` must be a numpy array, and is a list of str"),
        (STAR, [0, 0, 0], "the remedy gave a NewColumn whose `codes` must be a numpy array, and is a list of int"),
        (np.array(["*"]), CODES, "gave cells of type <U1 and shape (1,); they must be one row of int64, float64 or"),
        (np.zeros((2, 2)), CODES, "gave cells of type float64 and shape (2, 2)"),
        (STAR, CODES.astype(float), "gave codes of type float64 and shape (3,)"),
        (STAR, np.zeros((3, 1), int), "gave codes of type int64 and shape (3, 1)"),
    ],
)
def test_a_new_column_refuses_what_is_no_column(cells: Any, codes: Any, sentence: str):
    with pytest.raises(PluginError) as caught:
        NewColumn(cells, codes)

    assert sentence in str(caught.value)


@pytest.mark.parametrize(("given", "named"), [("*", "one text"), (None, "None"), (5, "an int")])
def test_texts_of_a_new_column_are_a_list(given: Any, named: str):
    with pytest.raises(PluginError, match=f"was given {named}; it takes a list of texts"):
        NewColumn.of_texts(given, CODES)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"validate": lambda *_: None}, "`validate` of the remedy 'mine' gave None; it must yield a tuple for each"),
        ({"validate": lambda *_: ["wrong"]}, "`validate` of the remedy 'mine' gave a str; it must yield a tuple"),
        ({"suggest_parameters": lambda *_: None}, "gave None; it must yield a mapping for each, or return () for none"),
        ({"suggest_parameters": lambda *_: {"k": 1}}, "gave a dict"),
    ],
)
def test_a_function_of_a_remedy_that_yields_something_else(changed: dict[str, Any], sentence: str):
    remedy = replace(REMEDY, **changed)
    with pytest.raises(PluginError) as caught:
        _ = [remedy.faults(RemedyParameters(), None), remedy.proposals(None, ())]  # type: ignore[arg-type]

    assert sentence in str(caught.value)


class Partial(Engine):
    columns = records = property(lambda _: ())


@pytest.mark.parametrize(
    ("open_", "sentence"),
    [
        (lambda *_: None, "`open` of the engine 'mine' gave None and not an Engine"),
        (lambda *_: TABLE, "gave a Table and not an Engine"),
        (lambda *_: Partial(), "the engine Partial lacks batches, domain, locate, sha256 and table"),
        (lambda: None, "`open` of the engine 'mine' is called with other arguments than it takes"),
        (lambda _, name, memory: streamed_engine(TABLE, name, "", memory), "`table.to_reader()` makes one of a table"),
        (lambda _, name, memory: grouped_engine([], name, "", memory), "`grouped_engine` was given a list and not"),
        (
            lambda _, name, memory: grouped_engine(TABLE.to_reader(), name, "", memory),
            "the last column that `grouped_engine` is given must be int64",
        ),
    ],
)
def test_an_engine_that_is_none(open_: Callable[..., Any], sentence: str):
    policy = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 2}}]}
    with pytest.raises(PluginError) as caught:
        audit("mine://", policy, plugins=loaded("tcdp_audit_engines", replace(OPENER, open=open_)))

    assert sentence in str(caught.value)
