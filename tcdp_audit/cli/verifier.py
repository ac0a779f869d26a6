"""`tcdp-audit verifier`: print the page that confirms a result without this program."""

from __future__ import annotations

import click

from tcdp_audit.cli.printing import write


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
def command() -> int:
    """Print the page that confirms a report of a CSV release without this program, as HTML.

    Open it in a browser and choose the release and its report. It computes every demand on equivalence classes again,
    in plain JavaScript, and sends nothing.

    Exit code: 0.
    """
    from tcdp_audit.core.results.verifier import verifier_page  # noqa: PLC0415 - reads the page

    write(verifier_page())
    return 0
