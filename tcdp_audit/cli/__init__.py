"""The command line. `tcdp-audit --help` imports nothing but this file; a command imports what it needs.

run, printing, progress                       one command or a completion: errors and signals, streams, bars
run, printing                                 one command or a completion: errors, signals, streams, progress
options                                       options that commands share
request, configuration, reports               the request of a call, the settings of pyproject.toml, the files written
check, dbt, fix, frontier, init, hierarchy, lint, demo, explain,
plugins, profiles, schema, studio, verifier, verify, diff, attest  the commands
page, declarations, built_in_pages            pages of checks and remedies
asking                                        questions of `init --ask` in a terminal
linting                                       findings in a valid policy
audits                                        one run of `check` under one policy or several, and its forms
github, terminal, displays, document          their output, and the blocks that it consists of
demand_lines                                  the lines of demands, a few for each group of very many
"""

from __future__ import annotations

import gc
import os
import sys

COMMANDS = {
    "attest": "sign a result so that others can verify it",
    "check": "audit a release against a policy; the exit code is the verdict",
    "dbt": "audit the models of a dbt project that have a policy",
    "demo": "write a demonstration release, audit it and render the report",
    "diff": "compare two audits: show improvements and regressions",
    "explain": "what a check or a remedy does, and how to choose its parameters",
    "fix": "repair a failing release with remedies, prove it, say what it cost",
    "frontier": "explore the risk-utility trade-off of other thresholds",
    "hierarchy": "write a hierarchy of a column: bands, prefixes, dates, known codes",
    "init": "draft a policy for a table: roles, scales, hierarchies, and why",
    "lint": "read policies without data, and report problems",
    "plugins": "list plugins with their versions and what they provide",
    "profiles": "list profiles: named thresholds of regulators and agencies",
    "schema": "print the JSON Schema of policies, or of results",
    "studio": "see the risk of each decision in a browser, on this machine alone",
    "verifier": "print a page that confirms a report without this program",
    "verify": "confirm a report, a result or an attestation of a release",
}

COMPLETE = "_TCDP_AUDIT_COMPLETE"  # the variable by which a shell asks for completion

HELP = """Usage: tcdp-audit COMMAND [OPTIONS]...

Checks a dataset about people for disclosure risk before you publish it.

Commands:
{commands}

Options:
  --help     show this page, or with a command that command's page
  --version  show the version

Exit codes:
  0  the release meets its policy
  1  an expectation failed
  2  the call or the policy is wrong
  3  the audit is incomplete: something could not be checked

Start with: tcdp-audit demo
"""


def entry() -> None:
    """Run a command and exit at once, without the slow teardown of numpy, pyarrow and DuckDB: all files are closed."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look for some in every distribution
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # others would start with numpy, and spin while they wait
    os._exit(main())


def main() -> int:
    """Run a command; the return value is the exit code."""
    _occupy_closed_streams()
    arguments = sys.argv[1:]
    if instruction := os.environ.get(COMPLETE):
        from tcdp_audit.cli.run import complete  # noqa: PLC0415 - imports click

        return complete(instruction)
    if not arguments or arguments[0] in ("--help", "-h"):
        width = max(map(len, COMMANDS))
        listed = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
        return _print(HELP.format(commands=listed))
    if arguments[0] == "--version":
        from tcdp_audit import __version__  # noqa: PLC0415 - a command imports what it needs

        return _print(f"tcdp-audit {__version__}\n")
    if len(arguments) == 2 and arguments[0] == "explain":
        from tcdp_audit.cli.built_in_pages import built_in_page  # noqa: PLC0415 - a few lines of our own

        if (page := built_in_page(arguments[1])) is not None:
            return _print(page)
    gc.disable()  # a command is short: looking for cycles takes longer than what it would free
    from tcdp_audit.cli.run import run  # noqa: PLC0415 - imports click

    return run(arguments[0], arguments[1:])


def _print(text: str) -> int:
    from tcdp_audit.cli.printing import streams  # noqa: PLC0415 - a few lines of our own

    with streams() as printed:
        printed.out.write(text)
        return printed.exit_code(0)


def _occupy_closed_streams() -> None:
    """Occupy the numbers of closed standard streams, so that no report receives what a library prints there."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
