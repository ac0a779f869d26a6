"""A signed statement, checked offline: its signer, its subject, and whether it approves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import ResultError
from tcdp_audit.core.results.written import WrittenAudit, sound, verdict_in
from tcdp_audit.core.results.written_verdict import contradictions, is_approval, title_in
from tcdp_audit.plugin.engine import redact_errors
from tcdp_audit.plugin.sentences import visible
from tcdp_audit.verification.digests import (
    Point,
    State,
    Verification,
    differences,
    digest_of_file,
    digests_of_tables,
    shown,
)
from tcdp_audit.verification.signature import PAYLOAD, PREDICATE, STATEMENT, Envelope, opened, read_statement, subjects

if TYPE_CHECKING:
    from securesystemslib.signer import SSlibKey

SHOWN = 3  # contradictions
SIGNATURE, VERDICT = "signature", "verdict"  # subjects of points
UNSIGNED = "error"  # an unsigned claim: nothing may be concluded from it


@dataclass(frozen=True, kw_only=True)
class Demand:
    """The demands on an attestation."""

    key: SSlibKey  # the public key of the expected signer
    digest: str | None  # SHA-256 of the release
    tables: Mapping[str, str | None] = field(default_factory=dict)  # of each table, where each is given by its name
    result: WrittenAudit | None = None  # the result that it must hold; None for any
    policy: Path | None = None  # the file of the policy that the release must have been audited under; None for any
    allow_failed: bool = False  # whether the release may be unfit


@redact_errors()
def verify_attestation(value: Mapping[str, Any], name: str, demand: Demand) -> Verification:
    """Check an attestation. Nothing of it is used before its signature is verified.

    Args:
        value: the envelope, as JSON has it.
        name: its name in messages.
        demand: its required content.

    Raises:
        ResultError: it is no envelope, or holds no readable statement although its signature is valid.
    """
    envelope = opened(value, name)
    signature = _signature(envelope, demand.key)
    if signature.state is not State.CONFIRMED:
        return Verification((signature,), UNSIGNED)
    statement = read_statement(envelope.payload, name)
    types = list(_types(envelope, statement))
    if any(one.state is not State.CONFIRMED for one in types):
        return Verification((signature, *types), UNSIGNED)
    predicate = sound(statement.get("predicate"), f"{name}, its predicate")
    points = (
        *_release(statement, predicate, demand),
        *_policy(predicate, demand),
        *_result(predicate, demand),
        *_contradictions(predicate),
    )
    points = (signature, *types, *points, _verdict(predicate, demand))
    return Verification(points, verdict_in(predicate), title_in(predicate))


def _signature(envelope: Envelope, key: SSlibKey) -> Point:
    kind = f"{key.scheme}, key {shown(key.keyid)}"
    if envelope.is_signed_by(key):
        return Point(SIGNATURE, State.CONFIRMED, f"by this key ({kind})")
    if not envelope.names(key):
        return Point(SIGNATURE, State.DIFFERS, f"none is by this key ({kind})")
    problem = f"the one that should be by this key ({kind}) is not: it, or what it signs, was changed"
    return Point(SIGNATURE, State.DIFFERS, problem)


def _types(envelope: Envelope, statement: Mapping[str, Any]) -> Iterator[Point]:
    """Whether it is a statement of in-toto, with a result of ours."""
    for subject, actual, expected in (
        ("payload type", envelope.payload_type, PAYLOAD),
        ("statement", statement.get("_type"), STATEMENT),
        ("predicate", statement.get("predicateType"), PREDICATE),
    ):
        if actual == expected:
            yield Point(subject, State.CONFIRMED, expected)
        else:
            yield Point(subject, State.DIFFERS, f"must be {expected}: this is an attestation of something else")


def _release(statement: Mapping[str, Any], predicate: Mapping[str, Any], demand: Demand) -> Iterator[Point]:
    """Whether the statement is about the release, and its result about the same."""
    attested = subjects(statement)
    if WrittenAudit(Path(), predicate).figures:
        yield _tables(attested, predicate, demand)
    elif demand.digest is None:
        yield Point("release", State.UNVERIFIED, "it has no digest, so no attestation can be about it")
    elif attested != [demand.digest]:
        names = listed if (listed := ", ".join(map(shown, attested))) else "nothing"
        tables = predicate["release"].get("tables", {})
        hint = f"; it has several tables ({visible(', '.join(tables))}): name each with --table" if tables else ""
        sentence = f"another one: attested is {names}, this is {shown(demand.digest)}{hint}"
        yield Point("release", State.DIFFERS, sentence)
    elif predicate["release"]["sha256"] != demand.digest:
        was = shown(predicate["release"]["sha256"])
        yield Point("release", State.DIFFERS, f"the attested result is about another one: SHA-256 {was}")
    else:
        yield Point("release", State.CONFIRMED, f"the attested one, SHA-256 {shown(demand.digest)}")


def _tables(attested: Sequence[str | None], predicate: Mapping[str, Any], demand: Demand) -> Point:
    """Whether the statement is about exactly the given tables, of records and of figures, and its result as well."""
    written = WrittenAudit(Path(), predicate)
    listed = digests_of_tables(written)
    named = sorted(str(digest) for _, digest in listed)
    if None in attested or sorted(map(str, attested)) != named:
        return Point("release", State.DIFFERS, "the attested result is about other tables than the statement")
    if sorted(map(str, demand.tables.values())) != named:
        tables = visible(", ".join(name for name, _ in listed))
        return Point("release", State.DIFFERS, f"other tables; attested are {tables}: name each with --table")
    return Point("release", State.CONFIRMED, f"the {len(named)} attested tables")


def _policy(predicate: Mapping[str, Any], demand: Demand) -> Iterator[Point]:
    was = predicate["policy"]["sha256"]
    if demand.policy is None:
        yield Point("policy", State.NOTE, f"any; the attested one has SHA-256 {shown(was)}. Demand one with --policy")
        return
    digest = digest_of_file(demand.policy)
    if digest is None:
        raise ResultError(f"{demand.policy}: no such policy file")
    if digest == was:
        yield Point("policy", State.CONFIRMED, f"the attested one, SHA-256 {shown(was)}")
    else:
        yield Point("policy", State.DIFFERS, f"another one: attested is {shown(was)}, this is {shown(digest)}")


def _result(predicate: Mapping[str, Any], demand: Demand) -> Iterator[Point]:
    if demand.result is None:
        return
    differing = [".".join(one.path[:2]) for one in differences(demand.result.result, predicate)]
    if not differing:
        yield Point("result", State.CONFIRMED, "the attested one")
    else:
        yield Point("result", State.DIFFERS, f"another one: {', '.join(dict.fromkeys(differing))}")


def _contradictions(predicate: Mapping[str, Any]) -> Iterator[Point]:
    """The contradictions within the attested result, which no signature removes."""
    for sentence in islice(contradictions(predicate), SHOWN):
        yield Point("contradiction", State.DIFFERS, sentence)


def _verdict(predicate: Mapping[str, Any], demand: Demand) -> Point:
    verdict = verdict_in(predicate)
    if is_approval(predicate):
        return Point(VERDICT, State.CONFIRMED, title_in(predicate))
    if demand.allow_failed:
        return Point(VERDICT, State.NOTE, f"{title_in(predicate)}; accepted by --allow-failed")
    state = State.DIFFERS if verdict in ("failed", "passed") else State.UNVERIFIED
    said = "it does not approve of this file" if verdict == "passed" else "it approves of nothing"
    return Point(VERDICT, state, f"{title_in(predicate)}: whatever its signature, {said}")
