"""Anonymeter: its univariate attack, with as many attempts as it finds predicates, so that nothing is drawn."""

from __future__ import annotations

import logging

from vectors.adapters import LacksError, RefusesError, Reply
from vectors.adapters.frames import frame
from vectors.reading import Vector

PACKAGE = "anonymeter"
ATTEMPTS = 1000


def answer(vector: Vector) -> Reply:
    """Of its predicates on the one column, which are that a value occurs once, the share that hold for one original."""
    import pandas as pd  # noqa: PLC0415 - only its own environment has it
    from anonymeter.evaluators import SinglingOutEvaluator  # noqa: PLC0415
    from anonymeter.evaluators.singling_out_evaluator import univariate_singling_out_queries  # noqa: PLC0415

    if vector.measure != "singling_out":
        raise LacksError("no such measure")
    logging.disable(logging.CRITICAL)
    original = pd.read_csv(vector.folder / vector.declared["original"]["table"], dtype=str, keep_default_na=False)
    evaluator = SinglingOutEvaluator(ori=original, syn=frame(vector), n_attacks=ATTEMPTS, seed=1, max_attempts=ATTEMPTS)
    attempts = len(univariate_singling_out_queries(evaluator._syn, ATTEMPTS, evaluator._rng))  # noqa: SLF001
    evaluator.evaluate(mode="univariate")
    if not attempts:
        raise RefusesError("no predicate singles out a released record")
    return Reply(f"{len(evaluator.queries())}/{attempts}")
