"""Structural checks of every release: its columns are the declared ones, and their values fit the declarations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.outcome import (
    DROPPED,
    KNOWN_ROWS,
    LINKABLE_KEY,
    LINKABLE_ORDER,
    LINKED_ROWS,
    STAYS_INSIDE,
    STRUCTURE,
    WITHOUT_UNIT,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.words import agree, count, noun_form, noun_of_column, plural
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.text_bytes import differ_in_case_only, indices_with_surrounding_whitespace
from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.model import PolicyDocument, Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import Release

SHOWN = 10
_CORRECT = "; correct the policy or the release"


def examine(release: Release, *, show_values: bool = False) -> Iterator[Outcome]:
    """All structural outcomes of a release. Cost: O(columns + distinct values).

    Args:
        release: a table under a policy.
        show_values: name values that a hierarchy does not have; otherwise they are counted.
    """
    yield _missing_columns(release)
    yield _undeclared_columns(release)
    yield _present_identifiers(release.policy, release.columns)
    yield _linkable_key(release.policy, release.columns)
    yield _linkable_order(release.policy.document)
    yield _linked_rows(release)
    yield _without_unit(release)
    yield _wrong_scale(release)
    yield _outside_hierarchy(release, show_values=show_values)
    yield _text_variants(release)


def without_columns(outcomes: Sequence[Outcome], policy: Policy, left: Collection[str]) -> tuple[Outcome, ...]:
    """The outcomes of a release after its identifiers, its key or its unit are dropped; other findings do not change.

    Args:
        outcomes: the outcomes of the release with them.
        policy: the policy.
        left: the columns that remain.
    """
    anew = {one.check: one for one in (_present_identifiers(policy, left), _linkable_key(policy, left))}
    linked = next((one for one in outcomes if one.check == LINKED_ROWS), None)
    if linked is not None and not set(linked.details["columns"]) & set(left):
        anew[LINKED_ROWS] = _outcome(LINKED_ROWS, LINKED_TITLES, [], "")
    return tuple(anew.get(one.check, one) if one.is_structural else one for one in outcomes)


def _missing_columns(release: Release) -> Outcome:
    declared, document = release.policy.attributes, release.policy.document
    dropped = {name for name, one in declared.items() if name == document.key and one.role is Role.INSENSITIVE}
    expected = {name for name, one in declared.items() if one.role is not Role.IDENTIFIER} - dropped
    unit = set() if document.unit is None else {document.unit}
    expected = expected | unit if document.unit_released else expected - unit
    expected |= set() if document.household is None else {document.household}
    expected |= set(_linking_columns(document))
    missing = sorted(expected - release.columns)
    undeclared = sorted(release.columns - set(declared))
    suggestion = _literal(nearest(missing[0], undeclared)) if len(missing) == 1 else ""
    return _outcome(
        "missing_columns",
        ("Declared columns are there", "Declared columns are missing"),
        missing,
        f"the policy declares {{columns}}, which the release does not have{suggestion or _CORRECT}",
    )


def _linking_columns(document: PolicyDocument) -> Sequence[str]:
    """The columns that link tables, each with its table; none of a single table."""
    if document.tables is None:
        return ()
    from tcdp_audit.core.policy.tables import linking_columns  # noqa: PLC0415 - only for several tables

    return linking_columns(document)


def _undeclared_columns(release: Release) -> Outcome:
    document = release.policy.document
    linking = (document.unit, document.household, document.key)
    known = {*document.attributes, *(name for name in linking if name is not None), *_linking_columns(document)}
    return _outcome(
        "undeclared_columns",
        ("No undeclared column", "Undeclared columns"),
        sorted(release.columns - known),
        "the release has {columns}, which the policy does not declare; declare a role, or remove it before publication",
    )


def _present_identifiers(policy: Policy, columns: Collection[str]) -> Outcome:
    """Report present identifiers, except a key that the policy keeps and a unit that it drops, judged separately."""
    document = policy.document
    judged_apart = {document.key if document.keep_key else None, None if document.unit_released else document.unit}
    return _outcome(
        "present_identifiers",
        ("No declared identifier in the release", "Identifier in the release"),
        [name for name in policy.with_role(Role.IDENTIFIER) if name in columns and name not in judged_apart],
        "the release still has {columns}, which identifies people; remove it before publication",
    )


def _linkable_key(policy: Policy, columns: Collection[str]) -> Outcome:
    """Report the key: with it, anyone who holds the original can link each record."""
    document = policy.document
    outcome = _outcome(
        LINKABLE_KEY,
        ("The key is not in the release", "The key is still in the release"),
        [document.key] if document.key is not None and document.key in columns else [],
        f"{{columns}} is the key: anyone with another table that has it can link every record; {_advice(document)}",
        severity=Severity.ERROR if document.keep_key and not document.internal_only else Severity.WARNING,
    )
    inside = document.internal_only and outcome.status is Status.FAILED
    return replace(outcome, details={**outcome.details, STAYS_INSIDE: True}) if inside else outcome


def _linkable_order(document: PolicyDocument) -> Outcome:
    """Report records in the original's order: anyone who holds the original can link them by position."""
    titles = "No order is declared that links records", "The records are in the original's order"
    outcome = _outcome(LINKABLE_ORDER, titles, [], "")
    if not document.rows_aligned:
        return outcome
    advice = (
        "the policy says that the file stays inside"
        if document.internal_only
        else "the audit needs the order, so shuffle the copy that is released, as `fix` does"
    )
    return replace(
        outcome,
        title=titles[1],
        status=Status.FAILED,
        severity=Severity.WARNING,
        observed=1.0,
        details={**outcome.details, **({STAYS_INSIDE: True} if document.internal_only else {})},
        message=f"`rows_aligned: true`: anyone who holds the original can link every record by its place; {advice}",
    )


LINKED_TITLES = "No column joins the rows of a person or household", "A column joins the rows of a person or household"


def _linked_rows(release: Release) -> Outcome:
    """Report what joins rows: the household, or the unit. Whole histories are judged later; see `with_histories`.

    Records without a unit count as one unit together, as for every demand.
    """
    document, name = release.policy.document, _linking_column(release)
    if document.tables is not None and not document.is_unlinked:  # links are judged apart, and what they join whole
        return _outcome(LINKED_ROWS, ("Linked tables are judged together", LINKED_TITLES[1]), [], "")
    if name is None:
        return _outcome(LINKED_ROWS, LINKED_TITLES, [], "")
    domain, is_unit = release.domains.get(name), name == document.unit
    sizes = np.zeros(0, dtype=np.int64) if domain is None else np.append(domain.counts, domain.missing)
    several = int((sizes > 1).sum())
    linked = several > 0 or domain is None or (is_unit and not document.unit_released)
    outcome = _outcome(
        LINKED_ROWS,
        LINKED_TITLES if several or domain is None else (LINKED_TITLES[0], "The unit is still in the release"),
        [name] if linked else [],
        _literal(f"column {name!r} {_joined(document, name, sizes)}; {_advice_on_unit(document)}"),
        severity=Severity.WARNING if _is_warned_of_unit(document) else Severity.ERROR,
    )
    if not linked:
        return outcome
    return replace(outcome, details={**outcome.details, **_details_of_unit(document, sizes, is_unit=is_unit)})


def _linking_column(release: Release) -> str | None:
    """The column that joins rows: a unit that is to be dropped, otherwise the household, otherwise the unit.

    A household that joins none is passed over, since the unit may.
    """
    document, domains = release.policy.document, release.domains
    there = [name for name in (document.household, document.unit) if name in release.columns]
    if not document.unit_released:
        there.reverse()
    elif len(there) > 1 and there[0] in domains and not domains[there[0]].repeats:
        there = there[1:]
    return there[0] if there else None


def _without_unit(release: Release) -> Outcome:
    """Warn of records that name no unit, or no household: together they count as one."""
    document = release.policy.document
    joining = [name for name in (document.unit, document.household) if name is not None and name in release.domains]
    lacking = {name: release.domains[name].missing for name in joining if release.domains[name].missing}
    nouns = {name: noun_of_unit(document) if name == document.unit else "household" for name in lacking}
    said = [
        f"{count(records, 'record')} without a {nouns[name]} {agree(records, 'counts', 'count')} as one {nouns[name]}"
        for name, records in lacking.items()
    ]
    outcome = _outcome(
        WITHOUT_UNIT,
        ("Every record names its unit", "Records that name no unit"),
        sorted(lacking),
        _literal(f"{'; '.join(said)}: give each its number, or leave these records out"),
        severity=Severity.WARNING,
    )
    return replace(outcome, details={**outcome.details, "records": lacking}) if lacking else outcome


def noun_of_unit(document: PolicyDocument) -> str:
    """The noun of a unit in the singular: the policy's noun, or that of the column's name."""
    return document.unit_name or noun_of_column(document.unit or "")


def _joined(document: PolicyDocument, name: str, sizes: NDArray[np.int64]) -> str:
    """The clause on the column that joins rows: how many units, or households, have several records."""
    several, units = int((sizes > 1).sum()), int((sizes > 0).sum())
    if not len(sizes):
        return "cannot be read, so that nothing is known of the records that it joins"
    noun = noun_of_unit(document) if name == document.unit else "household"
    if not several:
        return f"is the unit: it is declared as not released, and each {noun} has one record"
    have = agree(several, "has", "have")
    return (
        f"joins the records of each {noun}: {several:,} of {count(units, noun)} {have} more than one, "
        f"at most {sizes.max():,}, and demands count {plural(noun)} in classes of single records"
    )


def _advice_on_unit(document: PolicyDocument) -> str:
    """Advice about the unit in a release."""
    if document.drops_unit:
        return "the audit needs it, but the published copy must not have it; `fix` drops it, and shuffles the records"
    if document.conventions.known_rows == "one":
        return "the policy claims no more: `known_rows: one`"
    return (
        "say `unit_released: false` to have it dropped, or `conventions: {known_rows: one}` to claim no more than "
        "holds where one row of a person is known"
    )


def _is_warned_of_unit(document: PolicyDocument) -> bool:
    """Whether the policy drops the unit, or claims no more than is judged.

    A key for internal use only does not count: people who get the file can join records.
    """
    stays = document.internal_only and document.unit == document.key and document.unit_released
    return document.conventions.known_rows == "one" or (document.drops_unit and not stays)


def _details_of_unit(document: PolicyDocument, sizes: NDArray[np.int64], *, is_unit: bool) -> dict[str, Any]:
    """The numbers of units and of units with several records, and the policy's statements on the unit."""
    figures: dict[str, Any] = {
        "units": int((sizes > 0).sum()),
        "units_with_several_records": int((sizes > 1).sum()),
        "most_records": int(sizes.max(initial=0)),
    }
    if is_unit and not document.unit_released:
        return {**figures, DROPPED: True}
    return {**figures, KNOWN_ROWS: "one"} if document.conventions.known_rows == "one" else figures


def _advice(document: PolicyDocument) -> str:
    """Advice about a key in a release."""
    if document.internal_only:
        return "the policy says that the file stays inside"
    if document.keep_key:
        return "leave `keep_key: true` out, or say `internal_only: true` of a file that no one else gets"
    return "the audit needs it, but the published copy must not have it"


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
    """The clause with the number of records, and the first of them if records have an order."""
    return f" in {count(records, 'record')}{'' if first is None else f', first in record {first:,}'}"


def _outside(release: Release) -> dict[str, list[int]]:
    """The values that are not in the hierarchy, by attribute; suppressed ones and ranges of a scale need no node."""
    outside = {
        name: [code for code in codes if not _is_generalised(release.domains[name], code)]
        for name, codes in release.unknown_labels.items()
    }
    return {name: codes for name, codes in outside.items() if codes}


def _is_generalised(domain: Domain, code: int) -> bool:
    cover = None if domain.covers is None else domain.covers[code]
    return code in domain.suppressed or (cover is not None and cover.low != cover.high)


def _literal(text: str) -> str:
    """Escape a text for `str.format`."""
    return text.replace("{", "{{").replace("}", "}}")


def _text_variants(release: Release) -> Outcome:
    """Report blanks around values and values that differ only in case: both split classes, and are never changed."""
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
    return any(texts[position] != texts[position].strip() for position in indices_with_surrounding_whitespace(texts))


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
    """The outcome of a check of the columns, with the first title if it passes and the second if not."""
    passed, broken = titles
    details: dict[str, Any] = {"columns": list(columns)}
    return Outcome(
        check=name,
        title=broken if columns else passed,
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
    """At most ten names, quoted, and the number of further ones."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more
