"""Checks that load, and then do not give what they promised."""

from dataclasses import replace

import numpy as np

from tcdp_audit.plugin.check import Threshold, hookimpl
from tcdp_audit_example.dominance import DOMINANCE


def raising(evidence, _):
    """Raises, with text that looks like a cell."""
    raise ValueError(f"marker-of-a-cell among {evidence.size.sum()}")


def not_a_number(evidence, _):
    """NaN for every class."""
    return np.full(len(evidence.size), np.nan)


def too_few(evidence, _):
    """No figure for the last class."""
    return evidence.size[:-1]


@hookimpl
def tcdp_audit_checks():
    """Three of them."""
    for measure in (raising, not_a_number, too_few):
        figure = DOMINANCE.thresholds[0]
        thresholds = (Threshold(figure.parameter, figure.comparison, measure),)
        name = f"faulty_{measure.__name__}"
        guide = replace(DOMINANCE.guide, example=f"- {name}: {{at_most: 0.5}}")
        yield replace(DOMINANCE, name=name, thresholds=thresholds, guide=guide)
