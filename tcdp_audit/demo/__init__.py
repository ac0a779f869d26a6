"""The demonstration: invented hospital discharges and everything that an audit of them needs.

    discharges   the tables, drawn by a seeded source from what the hospitals treat

Example:
    >>> make_discharges()["discharges.csv"].splitlines()[0]
    'discharge,age,sex,postcode,admission_month,diagnosis,cost,length_of_stay'
"""

from __future__ import annotations

from importlib.resources import files

from tcdp_audit.demo.discharges import REGISTERED, RELEASED, SEED, hierarchy, tables

POLICY = "discharges.tcdp.yaml"
FILES = {
    "discharges.csv": f"the release: {RELEASED:,} discharges, generalised",
    "discharges.tcdp.yaml": "its policy: what each column is, and what must hold",
    "diagnosis.csv": "the hierarchy of diagnoses",
    "original.csv": "the exact values, with the patients' numbers",
    "register.csv": f"the population: all {REGISTERED:,} discharges of the region",
}


def make_discharges(seed: int = SEED) -> dict[str, str]:
    """The demonstration's files as texts by file name. The same seed gives the same bytes on every platform.

    Cost: about a third of a second.
    """
    policy = files("tcdp_audit.demo").joinpath(POLICY).read_text(encoding="utf-8")
    made = {**tables(seed), "diagnosis.csv": hierarchy(), POLICY: policy}
    return {name: made[name] for name in FILES}
