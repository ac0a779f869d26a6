"""The built-in checks: one file, or one folder, a family. What several families share is in `_shared`.

A family is imported when one of its checks is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.plugin.check import DisclosureType, LazyCheck, Need, hookimpl
from tcdp_audit.plugin.report import ReportSection

if TYPE_CHECKING:
    from tcdp_audit.plugin.check import Check
    from tcdp_audit.plugin.detector import Detector

FAMILIES = (  # in the order of lists of checks
    "k_anonymity",
    "concealment",
    "lkc_privacy",
    "km_anonymity",
    "histories",
    "l_diversity",
    "recursive_diversity",
    "t_closeness",
    "delta_disclosure",
    "beta_likeness",
    "homogeneity",
    "similarity",
    "differential_privacy",
    "interval_disclosure",
    "record_linkage",
    "masking_attacks",
    "control",
    "k_confusion",
    "uniqueness",
    "population",
    "individual_risk",
    "reidentification",
    "suda",
    "direct_identifiers",
    "quasi_identifier_strength",
    "releases",
    "uniqueness_profile",
    "joinability",
    "record_order",
    "population_frequency",
    "guidance_limits",
    "published_cells",
    "concentration",
    "derivable_cells",
    "noise_epsilon",
    "released_models",
)
CATALOGUE = Path(__file__).parents[1] / "generated" / "catalogue.json"  # written by `python -m tools.generate`


@hookimpl
def tcdp_audit_checks() -> Iterator[LazyCheck]:
    """Every built-in check, as the catalogue announces it."""
    for one in json.loads(CATALOGUE.read_text(encoding="utf-8"))["checks"]:
        load = partial(_of_family, one["family"], one["name"])
        quarter, on_records = DisclosureType(one["disclosure_type"]), one.get("on_records", True)
        further = frozenset(map(Need, one.get("needs", ()))), one.get("concerns", "")
        yield LazyCheck(one["name"], one["title"], quarter, load, one["risk"], on_records, *further)


@hookimpl
def tcdp_audit_detectors() -> Iterator[Detector]:
    """The detectors that `direct_identifiers` uses."""
    from tcdp_audit_plugins.detectors import DETECTORS  # noqa: PLC0415 - only where a table is looked at

    yield from DETECTORS


@hookimpl
def tcdp_audit_report_sections() -> Iterator[ReportSection]:
    """The sections of reports about several of these checks together."""
    from tcdp_audit_plugins.sections import SECTIONS  # noqa: PLC0415 - only for reports

    yield from SECTIONS


def _of_family(family: str, name: str) -> Check:
    checks: list[Check] = import_module(f"{__name__}.{family}").CHECKS
    return next(check for check in checks if check.name == name)
