"""What the conventions of a policy do to a release, so that its demands hold of less than they seem to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tcdp_audit.api import (
    MOSTLY,
    Policy,
    PolicySource,
    PolicySourceError,
    Release,
    mostly_wildcards,
    parse,
    suppressed_in_all,
)
from tcdp_audit.core.results.findings import POLICY, Level, ToolFinding
from tcdp_audit.core.results.place import Place, name_in_repository
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import Engine
from tcdp_audit.plugin.sentences import share


def release_findings(policy: Policy, engine: Engine) -> Iterator[ToolFinding]:
    """Wildcards over columns that are mostly missing, and exemptions of most records. Cost: two passes at most."""
    release = Release(engine, policy)
    for domain in mostly_wildcards(release):
        part = share(domain.missing, engine.records)
        said = (
            f"`missing_quasi_identifier: wildcard`: {domain.attribute!r} is missing in {part} of the records, "
            "and each of them matches every value of it, so classes look larger than an intruder finds them; "
            "take the column out, or let a missing value be its own_category"
        )
        yield _finding(policy, ["conventions", "missing_quasi_identifier"], "Wildcard", said)
    if policy.conventions.suppressed == "exempt":
        exempt = _exempt(policy, release, engine)
        if exempt > MOSTLY * engine.records:
            said = (
                f"`suppressed: exempt` leaves {share(exempt, engine.records)} of the records out of every demand; drop "
                "them from the release, or count them"
            )
            yield _finding(policy, ["conventions", "suppressed"], "Exempt records", said)


def _exempt(policy: Policy, release: Release, engine: Engine) -> int:
    """How many records are suppressed in every quasi-identifier and every sensitive attribute."""
    attributes = [*release.quasi_identifiers, *release.sensitive]
    if not attributes or not all(domain.suppressed for domain in attributes):
        return 0
    (table,) = TableView(policy, engine, {}).counted([domain.attribute for domain in attributes])
    domains = [table.domains[domain.attribute] for domain in attributes]
    return int(np.sum(table.rows.each[suppressed_in_all(table.rows, domains)]))


def _finding(policy: Policy, location: list[str | int], title: str, message: str) -> ToolFinding:
    try:
        source = parse(policy.text) if policy.path else PolicySource(None, None)
    except PolicySourceError:
        source = PolicySource(None, None)
    line, column = source.position(location)
    place = Place(name_in_repository(policy.path or Path(policy.name)), line or 1, column or None)
    return ToolFinding(POLICY, Level.WARNING, title, message, place, "")
