"""Audits generated releases by every built-in check, where no library of an extra can be imported.

Called with a folder for the tables and the names of the libraries; prints the outcome of each expectation. The
parameters of a check are those of its guide's example, which are for the columns of these tables.
"""

from __future__ import annotations

import json
import sys
from typing import Any

folder, *missing = sys.argv[1:]


class Absent:
    """Finds nothing where a library is to be missing."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent)  # type: ignore[arg-type]

import yaml  # noqa: E402
from pyarrow.csv import write_csv  # noqa: E402

from tcdp_audit import audit  # noqa: E402
from tcdp_audit.core.check.needs import Need  # noqa: E402
from tcdp_audit.core.session.registry import Plugins  # noqa: E402
from tcdp_audit.testing.releases import table_cases  # noqa: E402

expect: dict[bool, list[dict[str, Any]]] = {False: [], True: []}  # by whether a check asks for rows of a unit
for check in Plugins.load(external=False).checks.values():
    if {Need.UNLINKED_TABLES, Need.WHOLE_RECORDS} & {*check.needs} or not check.on_records:  # other tables than these
        continue
    ((_, example),) = yaml.safe_load(check.guide.example)[0].items()
    demanded = {limit.parameter for limit in check.limits}
    parameters = {key: value for key, value in (example or {}).items() if key not in demanded}
    expect[Need.UNIT in check.needs].append({check.name: parameters})
outcomes = []
for position, case in enumerate(table_cases()):
    for unit, demands in expect.items():
        document = case.document(check.name, unit=unit)
        policy = document.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        for name, table in case.tables().items():
            policy[name] = f"{folder}/{position}-{name}.csv"
            write_csv(table, policy[name])
        outcomes += audit(None, {**policy, "version": 1, "expect": demands}).expectations

sys.stdout.write(json.dumps([[one.check, one.attribute, one.status, one.observed, one.message] for one in outcomes]))
