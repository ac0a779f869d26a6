"""Small tables for mondrian: their views, what the remedy makes of them, and its classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import Treatment
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.mondrian import MONDRIAN

PLUGINS = Plugins.load(external=False)
Columns = Mapping[str, Sequence[Any]]


def policy(attributes: Mapping[str, Any], *expect: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A policy; an attribute given as None is a nominal quasi-identifier."""
    declared = {name: {"role": "quasi_identifier", **(one or {})} for name, one in attributes.items()}
    return {"version": 1, "attributes": declared, "expect": list(expect), **more}


@contextmanager
def view_of(columns: Columns | pa.Table, asked: Mapping[str, Any]) -> Iterator[RemedyView]:
    """A table as a remedy sees it."""
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    with open_engine(table, 2**28) as engine:
        yield RemedyView(Release(engine, load_policy(asked, PLUGINS)), (), 0, lambda _: ())


def treatment(columns: Columns, asked: Mapping[str, Any], **parameters: Any) -> Treatment:
    """What the remedy does."""
    with view_of(columns, asked) as view:
        return MONDRIAN.apply(view, MONDRIAN.parameters.model_validate(parameters))


def repaired(columns: Columns, asked: Mapping[str, Any], **parameters: Any) -> dict[str, list[Any]]:
    """The released columns."""
    table = pa.table(dict(columns))
    with view_of(table, asked) as view:
        done = MONDRIAN.apply(view, MONDRIAN.parameters.model_validate(parameters))
        return dict(apply_treatment(table, view, done).to_pydict())
