"""Every family of detectors, in the order of lists."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector
from tcdp_audit_plugins.detectors import (
    accounts,
    codes,
    contact,
    dates,
    names,
    national,
    network,
    places,
    records,
    united_states,
)

DETECTORS: tuple[Detector, ...] = (
    *contact.DETECTORS,
    *contact.TELEPHONES,
    *network.DETECTORS,
    *accounts.DETECTORS,
    *united_states.DETECTORS,
    *national.DETECTORS,
    *codes.VEHICLES,
    *codes.DETECTORS,
    *names.DETECTORS,
    *places.DETECTORS,
    *dates.DETECTORS,
    *network.FILES,
    *records.DETECTORS,
)
