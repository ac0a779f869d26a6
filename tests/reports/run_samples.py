"""A run of three policies for the formats that hold a whole run: a plain one, one of hostile names, a wrong one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from report_samples import HOSTILE, SALARY_POLICY, named_policy, named_table, salaries

from tcdp_audit import PolicyError, audit
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.reporter import Unaudited
from tcdp_audit.core.session.registry import Plugins


def written_policy(policy: dict[str, Any], name: str) -> Path:
    """A policy as a file of the current folder, an expectation a line."""
    rest = {key: value for key, value in policy.items() if key != "expect"}
    lines = [f"{key}: {json.dumps(value)}" for key, value in rest.items()]
    expectations = [f"  - {json.dumps(one)}" for one in policy["expect"]]
    path = Path(name)
    path.write_text("\n".join([*lines, "expect:", *expectations, ""]), encoding="utf-8")
    return path


FITS_BOTH = [{"k_anonymity": {"k": 5}}, {"entropy_l_diversity": {"l": 4}}, {"t_closeness": {"t": "0.1"}}]


def run_of_several(plugins: Plugins, expect: Sequence[dict[str, Any]]) -> list[Audit | Unaudited]:
    """What came of the three policies, each written to the current folder."""
    plain = written_policy({**SALARY_POLICY, "expect": expect}, "plain.tcdp.yaml")
    hostile = written_policy({**named_policy(HOSTILE), "expect": expect}, "hostile [x](y), 50%.tcdp.yaml")
    table = named_table(HOSTILE, lambda _, group: f"v{group}")
    return [
        audit(salaries(), plain, plugins=plugins),
        audit(table, hostile, plugins=plugins),
        refused(written_policy({**SALARY_POLICY, "expect": [{"class_sise": {"k": 3}}]}, "wrong.tcdp.yaml"), plugins),
    ]


def refused(path: Path, plugins: Plugins) -> Unaudited:
    """A policy that cannot be read."""
    try:
        read_policy(path, plugins)
    except PolicyError as error:
        return Unaudited(path, error)
    raise AssertionError(f"{path} was read")


@cache
def salary_result() -> Audit:
    """An audit that fails, warns, passes and measures, of a policy without a file; made once."""
    return audit(salaries(), SALARY_POLICY)


def with_outcomes(*outcomes: Outcome) -> Audit:
    """The same with outcomes of one's own in place of the expectations'."""
    return replace(salary_result(), outcomes=(*salary_result().structure, *outcomes), exposed=None)
