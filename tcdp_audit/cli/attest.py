"""`tcdp-audit attest`: sign a result for a release."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from tcdp_audit.cli.options import load_plugins, named_tables, output_option, plugin_options, quiet_option, table_option
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import visible

PASSWORD = "TCDP_AUDIT_KEY_PASSWORD"  # noqa: S105 - the name of a variable


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("result", metavar="RESULT")
@click.argument("release", metavar="[RELEASE]", required=False)
@click.option("--key", metavar="KEY.pem", required=True, help="The private key to sign with.")
@table_option
@output_option("standard output", written="the attestation")
@quiet_option
@click.option("--password-file", metavar="FILE", help="The file that holds the password of the key.")
@plugin_options
def command(
    result: str,
    release: str | None,
    blocked: tuple[str, ...],
    tables: tuple[str, ...],
    *,
    key: str,
    output: str | None,
    password_file: str | None,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Sign RESULT, of an audit of RELEASE: an in-toto statement in a DSSE envelope.

    For several tables RELEASE is the folder that holds them; without it, the files are those that RESULT names.
    RESULT is a JSON result or an HTML report. Nothing is computed again: run `tcdp-audit verify` first. The password of
    an encrypted key is that in --password-file, in the variable TCDP_AUDIT_KEY_PASSWORD, or asked for.

    Exit code: 0 signed; 1 RESULT is about another release; 2 the call is wrong; 3 RESULT cannot be attested.
    """
    from tcdp_audit.api import write_atomically  # noqa: PLC0415 - only for a file
    from tcdp_audit.core.results.protected_files import require_own_files  # noqa: PLC0415 - imports pydantic
    from tcdp_audit.core.results.written import read_audit  # noqa: PLC0415 - likewise
    from tcdp_audit.core.results.written_verdict import is_approval, title_in  # noqa: PLC0415 - likewise
    from tcdp_audit.verification.digests import files_of_release  # noqa: PLC0415 - imports the engine
    from tcdp_audit.verification.keys import private_key  # noqa: PLC0415 - imports cryptography
    from tcdp_audit.verification.signature import attest  # noqa: PLC0415 - imports the engine

    written, given = read_audit(Path(result)), named_tables(tables, release)
    if output is not None:
        read = {"the result": Path(result), "the key": Path(key)}
        files = files_of_release(given, written)
        named = files.items() if isinstance(files, Mapping) else [("release", files)]
        read |= {f"the table {name!r}" if written.release.tables else "the release": Path(one) for name, one in named}
        require_own_files([("--output", Path(output))], read)
    signer = private_key(Path(key), lambda: password_of(key, password_file))
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    envelope = attest(written, given, signer, plugins)
    if output is None:
        write(envelope)
        return 0
    write_atomically(Path(output), envelope)
    if quiet:
        return 0
    write(f"written: {visible(output)}\n")
    approval = "" if is_approval(written.result) else "; this is no approval"
    write(f"signed: {visible(written.release.name)}, {title_in(written.result)}{approval}\n")
    return 0


def password_of(key: str, file: str | None) -> bytes:
    """The password of an encrypted key."""
    if file is not None:
        try:
            return Path(file).read_bytes().rstrip(b"\r\n")
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    given = os.environ.get(PASSWORD)
    if given is not None:
        return given.encode()
    if not sys.stdin.isatty():
        raise UsageError(f"{key}: is encrypted; give its password by --password-file, or in the variable {PASSWORD}")
    return str(click.prompt("Password of the key", hide_input=True, err=True)).encode()
