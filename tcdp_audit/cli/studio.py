"""`tcdp-audit studio`: see the risk of each decision in a browser, on this machine alone."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import ExitStack
from importlib.util import find_spec

import click

from tcdp_audit.cli.options import load_plugins, plugin_options, quiet_option
from tcdp_audit.cli.printing import complain, write
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.report import Run
from tcdp_audit.plugin.sentences import visible

LIBRARIES = ("starlette", "uvicorn")
PRIVATE = 0o077  # what is written is this user's alone


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("table", metavar="[TABLE]", required=False)
@click.option("--policy", metavar="FILE", help="The policy. Default: the table's name and .tcdp.yaml, or a draft.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port. Default: a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option("--key", metavar="KEY.pem", help="The private key that the last step signs with.")
@click.option("--password-file", metavar="FILE", help="The file that holds the password of the key.")
@click.option("--run-by", metavar="NAME", envvar="TCDP_AUDIT_RUN_BY", help="Who decides, for decisions and reports.")
@click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory.")
@quiet_option
@plugin_options
def command(
    table: str | None,
    policy: str | None,
    port: int,
    key: str | None,
    password_file: str | None,
    run_by: str | None,
    memory: str | None,
    blocked: tuple[str, ...],
    *,
    no_browser: bool,
    quiet: bool,
    no_external_plugins: bool,
) -> int:
    """Work on TABLE in a browser: roles, risk, demands, remedies, release and report, one screen each.

    The pages come from this machine and are served to this machine alone; nothing is sent anywhere. Without a policy
    one is drafted. Every decision is saved next to TABLE at once, in a file that ends in .studio.json, and a second
    call goes on from it. A policy that names its tables needs no TABLE.

    The printed address opens the workbench once. It ends on Ctrl-C, on the button of its pages, and after half an hour
    without a request.

    Exit code: 0 closed; 2 the call is wrong; 130 ended by Ctrl-C, 143 by SIGTERM.
    """
    if not all(map(find_spec, LIBRARIES)):
        raise UsageError('the workbench needs Starlette and uvicorn; pip install "tcdp-audit[studio]"')
    from tcdp_audit.api import command_line, parse_memory  # noqa: PLC0415 - imports the engine
    from tcdp_audit.cli.attest import password_of  # noqa: PLC0415 - only with a key
    from tcdp_audit.studio.choices import Place  # noqa: PLC0415 - imports the engine
    from tcdp_audit.studio.release import Signer  # noqa: PLC0415 - imports the engine
    from tcdp_audit.studio.server import Studio, showing  # noqa: PLC0415 - of an extra
    from tcdp_audit.studio.workbench import Workbench  # noqa: PLC0415 - imports the engine

    gc.enable()  # this is longer work than a check
    signer = None if key is None else Signer.of(key, lambda: password_of(key, password_file))
    plugins = load_plugins(blocked, no_external_plugins=no_external_plugins)
    bench = Workbench(
        Place.of(table, policy),
        plugins,
        None if memory is None else parse_memory(memory),
        run_by or None,
        signer,
        Run(run_by or None, command_line(sys.argv[1:])),
    )
    before = os.umask(PRIVATE)
    try:
        studio = Studio(bench, port)
        with studio.serving(), ExitStack() as stack:
            if not no_browser:
                stack.enter_context(showing(studio))
            write(f"the workbench is at {studio.address}\nthe address works once; Ctrl-C ends it\n")
            said = studio.wait()
    finally:
        os.umask(before)
    if not quiet:
        complain(f"tcdp-audit: {said}; decisions are in {visible(str(bench.place.decisions))}\n")
    return 0
