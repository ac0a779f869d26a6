"""Originals, hold-outs and synthetic releases of them, and what the checks say of one beside the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome

PEOPLE = pd.DataFrame(np.random.default_rng(0).normal(size=(900, 7)), columns=list("abcdefg")).round(2)
TAUGHT, STRANGERS = PEOPLE[:400], PEOPLE[400:800]
REMEMBERED = pd.concat([TAUGHT[:40], PEOPLE[800:]])


def asked(
    check: str,
    released: pd.DataFrame,
    original: pd.DataFrame | None,
    holdout: Path | None = None,
    **parameters: Any,
) -> Outcome:
    attributes = {
        name: {
            "role": "quasi_identifier",
            "scale": "numeric" if released[name].dtype.kind in "if" else "nominal",
        }
        for name in released
    }
    policy = {"version": 1, "attributes": attributes, "expect": [{check: parameters}]}
    if holdout is not None:
        policy["holdout"] = str(holdout)
    (outcome,) = tcdp_audit.audit(released, policy, original).expectations
    return outcome


ORIGINAL = pd.DataFrame({"v": [0, 1, 2, 3, 10], "c": ["a", "a", "b", "b", "b"]})
