"""Remedies that load, and then do not give what they promised."""

from dataclasses import replace

import numpy as np

from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.plugin.remedy import NewColumn, Treatment
from tcdp_audit_example.rare_classes import RARE_CLASSES


def raising(view, _):
    """Raises, with text that looks like a cell."""
    raise ValueError(f"marker-of-a-cell among {view.records}")


def too_few(view, _):
    """No code for the last record."""
    return Treatment({"zip": NewColumn(np.array(["*"], dtype=object), np.zeros(view.records - 1, dtype=np.int64))})


def another_column(view, _):
    """A column that the release does not have."""
    return Treatment({"income": NewColumn(np.array([1.0]), np.zeros(view.records, dtype=np.int64))})


@hookimpl
def tcdp_audit_remedies():
    """Three of them."""
    for apply in (raising, too_few, another_column):
        name = f"faulty_{apply.__name__}"
        guide = replace(RARE_CLASSES.guide, example=f"- {name}: {{k: 2}}")
        yield replace(RARE_CLASSES, name=name, apply=apply, guide=guide)
