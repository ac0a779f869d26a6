"""The built-in detectors of identifiers, one module a family. What several families share is in `_shared`."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Detector
from tcdp_audit_plugins.detectors import (
    codes,
    contact,
    free_text,
    gazetteer,
    name_lists,
    names,
    national_telephones,
    network,
    united_states,
)

DETECTORS: tuple[Detector, ...] = (
    *contact.DETECTORS,
    *contact.TELEPHONES,
    *network.DETECTORS,
    *network.ACCOUNTS,
    *united_states.DETECTORS,
    *united_states.NATIONAL,
    *codes.VEHICLES,
    *codes.DETECTORS,
    *names.DETECTORS,
    *names.PLACES,
    *names.DATES,
    *name_lists.NAMES,
    *gazetteer.TOWNS,
    *national_telephones.NATIONALS,
    *free_text.TEXTS,
    *network.FILES,
    *network.RECORDS,
)
