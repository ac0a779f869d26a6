"""Every family of detectors, in the order of lists."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector
from tcdp_audit_plugins.detectors import (
    accounts,
    codes,
    contact,
    dates,
    files,
    names,
    national,
    network,
    places,
    records,
    telephone,
    united_states,
    vehicles,
)

DETECTORS: tuple[Detector, ...] = (
    *contact.DETECTORS,
    *telephone.DETECTORS,
    *network.DETECTORS,
    *accounts.DETECTORS,
    *united_states.DETECTORS,
    *national.DETECTORS,
    *vehicles.DETECTORS,
    *codes.DETECTORS,
    *names.DETECTORS,
    *places.DETECTORS,
    *dates.DETECTORS,
    *files.DETECTORS,
    *records.DETECTORS,
)
