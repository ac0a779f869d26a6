"""`tcdp-audit verify`: confirm a result, a report or an attestation of a release, or name what differs."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.api import visible_json
from tcdp_audit.cli.options import (
    companion_options,
    json_option,
    load_plugins,
    named_companion,
    named_tables,
    plugin_options,
    quiet_option,
    table_option,
    trust_option,
)
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import count, listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tcdp_audit.verification import Point, Verification

SCHEMA_VERSION = 1  # of what --json prints
VERDICT = "verdict"
REPORTS = (".html", ".json")
OF_RESULTS = ("original", "population", "before", "memory", "trust_policy_code")  # options of what is computed again
OF_ATTESTATIONS = ("key", "result", "allow_failed")
NAMES = {"before": "--source-release", "allow_failed": "--allow-failed", "trust_policy_code": "--trust-policy-code"}


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("file", metavar="FILE")
@click.argument("release", metavar="[RELEASE]", required=False)
@click.option("--policy", metavar="PATH", help="The policy. Default: the one that FILE names, or the one next to FILE.")
@table_option
@companion_options
@click.option("--source-release", "before", metavar="FILE", help="The release before `fix`, to repeat the repair.")
@click.option("--key", metavar="PUBLIC.pem", help="The public key of the expected signer.")
@click.option("--result", metavar="RESULT", help="A result that the attestation must hold.")
@click.option("--allow-failed", is_flag=True, help="Accept also an attestation of a release that is not fit.")
@click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory.")
@json_option("comparison")
@quiet_option
@trust_option
@plugin_options
def command(
    file: str, release: str | None, *, tables: tuple[str, ...], as_json: bool, quiet: bool, **options: Any
) -> int:
    """Audit RELEASE again and confirm that FILE says the same, or name what differs.

    For several tables RELEASE is the folder that holds them; without it, the files are those that FILE names.
    FILE is an HTML report, a JSON result or an attestation. Of an attestation the signature, the digests and the
    verdict are checked, and nothing is computed again; each of several tables is named with --table.

    Exit code: 0 confirmed; 1 something differs, or an attested release is not fit; 2 the call is wrong; 3 something
    could not be verified.
    """
    from tcdp_audit.cli.displays import print_points  # noqa: PLC0415 - imports rich
    from tcdp_audit.core.results.strict_json import text_of  # noqa: PLC0415 - likewise
    from tcdp_audit.verification.digests import State  # noqa: PLC0415 - imports the engine

    _refuse_reversed(file, release)
    text = text_of(Path(file))
    envelope = _envelope(text, file)
    given = named_tables(tables, release)
    if envelope is None:
        verification = _computed(text, file, given, options, quiet=quiet)
    else:
        verification = _attested(envelope, file, given, options)
    conclusion = _conclusion(verification, attested=envelope is not None)
    if as_json:
        write(_as_json(verification, conclusion, attested=envelope is not None))
    elif not quiet:
        state = {0: State.CONFIRMED, 1: State.DIFFERS}.get(verification.exit_code, State.UNVERIFIED)
        print_points(verification.points, conclusion, state)
    return verification.exit_code


def _as_json(verification: Verification, conclusion: str, *, attested: bool) -> str:
    """The comparison as JSON: the same words as the lines for people, without a cell."""
    points = [{"subject": one.subject, "state": one.state.value, "says": one.sentence} for one in verification.points]
    value = {
        "schema_version": SCHEMA_VERSION,
        "confirmed": verification.exit_code == 0,
        "conclusion": conclusion,
        "kind": "attestation" if attested else "result",
        "verdict": {"state": verification.verdict, "title": _title(verification)},
        "points": points,
    }
    return visible_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def _refuse_reversed(file: str, release: str | None) -> None:
    """Refuse a release that is given in the place of its report."""
    if release is not None and Path(release).suffix in REPORTS and Path(file).suffix not in REPORTS:
        call = join(["tcdp-audit", "verify", release, file])
        raise UsageError(f"{file}: is no report; the report comes first: {call}")


def _envelope(text: str, file: str) -> Mapping[str, Any] | None:
    """The envelope that the file is; None for a result or a report."""
    from tcdp_audit.core.results.strict_json import parsed  # noqa: PLC0415 - likewise
    from tcdp_audit.verification.signature import is_envelope  # noqa: PLC0415 - imports the engine

    value = None if text.lstrip().startswith("<") else parsed(text, file)
    return value if is_envelope(value) else None


def _attested(envelope: Mapping[str, Any], file: str, release: Any, options: Mapping[str, Any]) -> Verification:
    from tcdp_audit.core.results.written import read_audit  # noqa: PLC0415 - likewise
    from tcdp_audit.verification.demand import Demand, verify_attestation  # noqa: PLC0415 - imports the engine
    from tcdp_audit.verification.digests import digest_of  # noqa: PLC0415 - imports the engine
    from tcdp_audit.verification.keys import public_key  # noqa: PLC0415 - imports cryptography

    _refuse(options, OF_RESULTS, "a result or a report; FILE is an attestation")
    if options["key"] is None:
        raise UsageError(f"{file}: is an attestation; name the public key of who must have signed it with --key")
    if release is None:
        raise UsageError(f"{file}: is an attestation; name what it is about as RELEASE, or each table with --table")
    plugins = load_plugins(options["blocked"], no_external_plugins=options["no_external_plugins"])
    demand = Demand(
        key=public_key(Path(options["key"])),
        digest=digest_of(release, plugins),
        tables={name: digest_of(one, plugins) for name, one in release.items()} if isinstance(release, dict) else {},
        result=None if options["result"] is None else read_audit(Path(options["result"])),
        policy=None if options["policy"] is None else Path(options["policy"]),
        allow_failed=options["allow_failed"],
    )
    return verify_attestation(envelope, file, demand)


def _computed(text: str, file: str, release: Any, options: Mapping[str, Any], *, quiet: bool) -> Verification:
    from tcdp_audit.api import parse_memory  # noqa: PLC0415 - only where it is asked for
    from tcdp_audit.cli.printing import progress_of_work  # noqa: PLC0415 - only for long work
    from tcdp_audit.core.results.written import audit_in  # noqa: PLC0415 - likewise
    from tcdp_audit.verification import verify  # noqa: PLC0415 - imports the engine

    _refuse(options, OF_ATTESTATIONS, "an attestation; FILE is none")
    plugins = load_plugins(options["blocked"], no_external_plugins=options["no_external_plugins"])
    tables = {name: options[name] for name in ("policy", "before", "trust_policy_code")}
    tables |= {name: named_companion(f"--{name}", options[name]) for name in ("original", "population")}
    memory = None if options["memory"] is None else parse_memory(options["memory"])
    with progress_of_work(quiet=quiet) as progress:
        return verify(audit_in(text, Path(file)), release, **tables, plugins=plugins, memory=memory, progress=progress)


def _refuse(options: Mapping[str, Any], names: tuple[str, ...], of: str) -> None:
    """Raise a UsageError for options that would have no effect."""
    for name in names:
        if options[name]:
            raise UsageError(f"{NAMES.get(name, f'--{name}')} is for {of}")


def _conclusion(verification: Verification, *, attested: bool) -> str:
    """The conclusion, in a sentence or a few."""
    verdict = _title(verification)
    against = [*verification.differences, *verification.unverified]
    if against and {one.subject for one in against} == {VERDICT}:
        return f"No approval: the attestation is genuine, and says of this release: {verdict}."
    if verification.differences:
        number = count(len(verification.differences), "difference")
        return f"Not confirmed: {number}, in {_subjects(verification.differences)}."
    if verification.unverified:
        return f"Not confirmed: {_subjects(verification.unverified)} could not be verified."
    said = "an audit of this release says the same"
    if attested:
        said = "the attestation is genuine, and about this release"
    return f"Confirmed: {said}. Its verdict is: {verdict}."


def _title(verification: Verification) -> str:
    """The verdict of the verified audit, in words."""
    from tcdp_audit.core.results.verdict import title_of  # noqa: PLC0415 - imports pydantic

    return verification.title or title_of(verification.verdict)


def _subjects(points: Sequence[Point]) -> str:
    return listing(list(dict.fromkeys(one.subject for one in points)))
