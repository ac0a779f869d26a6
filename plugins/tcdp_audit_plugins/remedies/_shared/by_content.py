"""An order of the records by what they contain, so that the order they came in decides nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.remedy import RemedyView


def by_content(view: RemedyView) -> NDArray[np.intp]:
    """Positions of the records in the order of their quasi-identifiers, sensitive attributes and unit. A sort."""
    unit = [] if view.release.unit is None else [view.release.unit.attribute]
    attributes = [*view.quasi_identifiers, *view.attributes([*view.policy.with_role(Role.SENSITIVE), *unit])]
    return np.argsort(view.classes(attributes)[0], kind="stable")
