"""scikit-mobility: the risk of a person whose events in any order are known, 1 over the people who share them."""

from __future__ import annotations

import warnings

from vectors.adapters import LacksError, Reply
from vectors.adapters.frames import quasi
from vectors.reading import Vector, rows

PACKAGE = "scikit-mobility"


def answer(vector: Vector) -> Reply:
    """1 over the highest risk. Each different event is a place of its own, since the attack compares places."""
    import pandas as pd  # noqa: PLC0415 - only its own environment has it

    warnings.simplefilter("ignore")
    from skmob import TrajDataFrame  # noqa: PLC0415
    from skmob.privacy.attacks import LocationAttack  # noqa: PLC0415

    if vector.measure != "known_events":
        raise LacksError("no such measure")
    events = [(row[vector.declared["unit"]], tuple(row[name] for name in quasi(vector))) for row in rows(vector.path)]
    places = {event: number for number, event in enumerate(dict.fromkeys(event for _, event in events))}
    people = {who: number for number, who in enumerate(dict.fromkeys(who for who, _ in events))}
    table = pd.DataFrame(
        [[people[who], float(places[event]), 0.0, pd.Timestamp(2026, 1, 1)] for who, event in events],
        columns=["uid", "lat", "lng", "datetime"],
    )
    risks = LocationAttack(int(vector.parameters["m"])).assess_risk(TrajDataFrame(table))
    return Reply(str(round(1 / risks["risk"].max())))
