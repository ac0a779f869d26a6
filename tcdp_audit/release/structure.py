"""The core's own checks of every release: the columns are the declared ones, and hold what they are said to hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.text_bytes import differ_in_case_only, edged_with_blanks
from tcdp_audit.outcome import LINKABLE_KEY, STAYS_INSIDE, STRUCTURE, Outcome, Severity, Status
from tcdp_audit.policy import Policy, Role
from tcdp_audit.policy.faults import nearest
from tcdp_audit.policy.model import PolicyDocument
from tcdp_audit.release.release import Release
from tcdp_audit.words import count, noun_form

SHOWN = 10
_CORRECT = "; correct the policy or the release"


def examine(release: Release, *, show_values: bool = False) -> Iterator[Outcome]:
    """The structural outcomes of a release, always all of them. Cost: O(columns + distinct values).

    Args:
        release: a table under a policy.
        show_values: name values that a hierarchy does not know; otherwise they are counted.
    """
    yield _missing_columns(release)
    yield _undeclared_columns(release)
    yield _present_identifiers(release.policy, release.columns)
    yield _linkable_key(release.policy, release.columns)
    yield _wrong_scale(release)
    yield _outside_hierarchy(release, show_values=show_values)
    yield _text_variants(release)


def without_columns(outcomes: Sequence[Outcome], policy: Policy, left: Collection[str]) -> tuple[Outcome, ...]:
    """The outcomes of a release after its identifiers, its key or both are dropped; no other finding asks for them.

    Args:
        outcomes: of the release that has them.
        policy: what it must satisfy.
        left: the columns that it has without them.
    """
    anew = {one.check: one for one in (_present_identifiers(policy, left), _linkable_key(policy, left))}
    return tuple(anew.get(one.check, one) if one.is_structural else one for one in outcomes)


def _missing_columns(release: Release) -> Outcome:
    declared, key = release.policy.attributes, release.policy.document.key
    dropped = {name for name, one in declared.items() if name == key and one.role is Role.INSENSITIVE}
    expected = {name for name, one in declared.items() if one.role is not Role.IDENTIFIER} - dropped
    unit = release.policy.document.unit
    missing = sorted((expected | ({unit} if unit is not None else set())) - release.columns)
    undeclared = sorted(release.columns - set(declared))
    meant = _literal(nearest(missing[0], undeclared)) if len(missing) == 1 else ""
    return _outcome(
        "missing_columns",
        ("Declared columns are there", "Declared columns are missing"),
        missing,
        f"the policy declares {{columns}}, which the release does not have{meant or _CORRECT}",
    )


def _undeclared_columns(release: Release) -> Outcome:
    document = release.policy.document
    known = {*document.attributes, *(name for name in (document.unit, document.key) if name is not None)}
    return _outcome(
        "undeclared_columns",
        ("No undeclared column", "Undeclared columns"),
        sorted(release.columns - known),
        "the release has {columns}, which the policy does not declare; declare a role or drop it before release",
    )


def _present_identifiers(policy: Policy, columns: Collection[str]) -> Outcome:
    """Those that are there; a key that the policy keeps is judged as the key."""
    kept = policy.document.key if policy.document.keep_key else None
    return _outcome(
        "present_identifiers",
        ("No declared identifier in the release", "Identifier in the release"),
        [name for name in policy.with_role(Role.IDENTIFIER) if name in columns and name != kept],
        "the release still has the identifying {columns}; drop it before release",
    )


def _linkable_key(policy: Policy, columns: Collection[str]) -> Outcome:
    """The key that pairs records with the original identifies each of them to whoever holds the original."""
    document = policy.document
    outcome = _outcome(
        LINKABLE_KEY,
        ("The key is not in the release", "The key is still in the release"),
        [document.key] if document.key is not None and document.key in columns else [],
        f"{{columns}} is the key: whoever holds another table with it links every record; {_advice(document)}",
        severity=Severity.ERROR if document.keep_key and not document.stays_inside else Severity.WARNING,
    )
    inside = document.stays_inside and outcome.status is Status.FAILED
    return replace(outcome, details={**outcome.details, STAYS_INSIDE: True}) if inside else outcome


def _advice(document: PolicyDocument) -> str:
    """What to do about a key in a release."""
    if document.stays_inside:
        return "the policy says that the file stays inside"
    if document.keep_key:
        return "leave `keep_key: true` out, or say `stays_inside: true` of a file that is handed to nobody"
    return "the audit needs it, so drop it from the copy that is released"


def _wrong_scale(release: Release) -> Outcome:
    sentences = []
    for name, misfit in sorted(release.misfits.items()):
        raw = release.engine.domain(name)
        records = int(raw.counts[misfit.raw].sum())
        where = _where(records, release.engine.locate(name, raw.values[misfit.raw]))
        forms = f" (a range is written {misfit.forms})" if misfit.forms else ""
        sentences.append(f"column {name!r} holds {misfit.reason}{where}{forms}")
    sentences += [text for _, text in sorted(release.unreadable.items())]
    faulty = sorted({*release.misfits, *release.unreadable})
    titles = "Values keep their declared scale", "Values outside their declared scale"
    return _outcome("wrong_scale", titles, faulty, _literal("; ".join(sentences)))


def _outside_hierarchy(release: Release, *, show_values: bool) -> Outcome:
    sentences = []
    outside = _outside(release)
    for name, codes in sorted(outside.items()):
        domain, raw = release.domains[name], release.engine.domain(name)
        records = int(domain.counts[codes].sum())
        outsiders = raw.values[np.isin(domain.code_of_raw, codes)]
        where = _where(records, release.engine.locate(name, outsiders)) if records else " in its reference distribution"
        labels = f" ({_first([domain.label(code) for code in codes])})" if show_values else ""
        unknown = count(len(codes), "value")
        sentences.append(f"column {name!r} has {unknown} that its hierarchy does not know{labels}{where}")
    message = "; ".join(sentences)
    titles = "Hierarchies know every value", "Values that a hierarchy does not know"
    return _outcome("outside_hierarchy", titles, sorted(outside), _literal(message))


def _where(records: int, first: int | None) -> str:
    """How many records, and the first of them where records have an order."""
    return f" in {count(records, 'record')}{'' if first is None else f', first in record {first:,}'}"


def _outside(release: Release) -> dict[str, list[int]]:
    """The values that a hierarchy does not know, by attribute; suppressed ones and ranges of a scale need no node."""
    outside = {
        name: [code for code in codes if not _is_generalised(release.domains[name], code)]
        for name, codes in release.unknown_labels.items()
    }
    return {name: codes for name, codes in outside.items() if codes}


def _is_generalised(domain: Domain, code: int) -> bool:
    cover = None if domain.covers is None else domain.covers[code]
    return code in domain.suppressed or (cover is not None and cover.low != cover.high)


def _literal(text: str) -> str:
    """Text that `str.format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _text_variants(release: Release) -> Outcome:
    """Blanks around values, and values that differ in case only, split classes: reported, never changed."""
    padded = [d.attribute for d in release.domains.values() if _has_padded(d)]
    cased = [d.attribute for d in release.domains.values() if _has_case_variants(d)]
    variants = [
        ("blanks before or after values", padded),
        ("values that differ in upper and lower case only", cased),
    ]
    message = "; ".join(f"{what} in {_listed(sorted(columns))}" for what, columns in variants if columns)
    return _outcome(
        "text_variants",
        ("No value is written in two ways", "Values written in two ways" if cased else "Blanks around values"),
        sorted({*padded, *cased}),
        _literal(f"{message}: values that differ in this only count as different"),
        severity=Severity.WARNING,
    )


def _has_padded(domain: Domain) -> bool:
    texts = _texts(domain)
    return any(texts[position] != texts[position].strip() for position in edged_with_blanks(texts))


def _has_case_variants(domain: Domain) -> bool:
    texts = _texts(domain)
    if _has_padded(domain):
        texts = list({text.strip() for text in texts})
    return differ_in_case_only(texts)


def _texts(domain: Domain) -> list[str]:
    return domain.values.tolist() if domain.values.dtype == object else []


def _outcome(
    name: str, titles: tuple[str, str], columns: Sequence[str], sentence: str, severity: Severity = Severity.ERROR
) -> Outcome:
    """What came of one demand on the columns, titled by what holds or else by what is wrong."""
    kept, broken = titles
    details: dict[str, Any] = {"columns": list(columns)}
    return Outcome(
        check=name,
        title=broken if columns else kept,
        status=Status.FAILED if columns else Status.PASSED,
        severity=severity,
        observed=float(len(columns)),
        details=details,
        message=sentence.format(columns=_listed(columns)) if columns else "",
        source=STRUCTURE,
    )


def _listed(columns: Sequence[str]) -> str:
    """Column names in a sentence, at most ten of them."""
    return f"{noun_form('column', len(columns))} {_first(columns)}"


def _first(names: Sequence[str]) -> str:
    """At most ten names, quoted, and how many more there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more
