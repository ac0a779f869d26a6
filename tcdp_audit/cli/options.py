"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import click

from tcdp_audit.api import Plugins, blaming
from tcdp_audit.plugin.engine import UsageError

if TYPE_CHECKING:
    from tcdp_audit.api import Policy
    from tcdp_audit.cli.request import Request
    from tcdp_audit.core.results.reporter import Reporter

F = TypeVar("F", bound=Callable[..., Any])


def plugin_options(function: F) -> F:
    """`--no-external-plugins` and `-p no:NAME`."""
    blocked = click.option("-p", "blocked", multiple=True, metavar="no:NAME", help="Leave one plugin out.")
    external = click.option("--no-external-plugins", is_flag=True, help="Use the built-in plugins only.")
    return external(blocked(function))


def trust_option(function: F) -> F:
    """`--trust-policy-code`."""
    help_text = "Run the code next to the policy that the policy names as its schema."
    return click.option("--trust-policy-code", is_flag=True, help=help_text)(function)


def language_option(function: F) -> F:
    """`--language`."""
    help_text = "Language of reports for people: de, en, es or fr. Default: en."
    return click.option("--language", metavar="CODE", envvar="TCDP_AUDIT_LANGUAGE", default="en", help=help_text)(
        function
    )


def quiet_option(function: F) -> F:
    """`-q, --quiet`."""
    return click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")(function)


def json_option(printed: str) -> Callable[[F], F]:
    """`--json`, for a command that prints `printed`."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print the {printed} as JSON, and nothing else.")


def output_option(default: str | None, *, written: str) -> Callable[[F], F]:
    """`-o, --output`: where to write `written`, by default to the file that `default` describes; None requires one."""
    help_text = f"Where to write {written}." + (f" Default: {default}." if default else "")
    return click.option("-o", "--output", metavar="FILE", required=default is None, help=help_text)


def format_option(*services: str) -> Callable[[F], F]:
    """`--format`, with the CI services for which the command prints, too."""
    choice = click.Choice(["text", *services])
    return click.option(
        "--format", type=choice, default="text", help="The form of the output: text, or for a CI service."
    )


def require_one_form(*, as_json: bool, name: str) -> None:
    """Require that one option alone decides the content of standard output."""
    if as_json and name != "text":
        raise UsageError(f"--json and --format {name} both print to standard output; choose one")


def complete_profile(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """The names of profiles that complete the input, with their versions."""
    from tcdp_audit.api import profiles  # noqa: PLC0415 - imports pydantic

    return [key for key in profiles() if key.startswith(incomplete)]


def load_plugins(blocked: tuple[str, ...], *, no_external_plugins: bool) -> Plugins:
    """The plugins that the options leave.

    Raises:
        click.BadParameter: a `-p` that does not begin with `no:`.
    """
    for one in blocked:
        if not one.startswith("no:"):
            raise click.BadParameter(f"-p {one}: write -p no:NAME to leave the plugin NAME out")
    names = [one.removeprefix("no:") for one in blocked]
    return Plugins.load(external=not no_external_plugins, blocked=names)


FORM = "the table's name, =, and its file, such as visits=visits.csv"
ONCE = "name one file of each table"
OF_TABLE = re.compile(r"[^=/\\:?.]+=.")  # a table's name and its file, and no path or address with such a sign
FROM = "The table that the release was made from."


def table_option(function: F) -> F:
    """`--table`."""
    help_text = "A table of a policy with `tables`. Repeatable."
    return click.option("--table", "tables", multiple=True, metavar="NAME=FILE", help=help_text)(function)


def companion_options(function: F) -> F:
    """`--original` and `--population`."""
    of_several = " Of a policy with `tables` their folder, or NAME=FILE, repeatable."
    for name, what in (("population", "The population that the release was drawn from."), ("original", FROM)):
        function = click.option(f"--{name}", multiple=True, metavar="FILE", help=what + of_several)(function)
    return function


def named_companion(option: str, given: Sequence[str]) -> Any:
    """A table next to the release: a place, or the files of linked tables that `NAME=FILE` gives, by name; or None.

    Raises:
        UsageError: several are given, and one is not of this form; or one table is given twice.
    """
    if len(given) == 1 and (OF_TABLE.match(given[0]) is None or Path(given[0]).exists()):
        return given[0]
    return by_name(option, (one.partition("=") for one in given), FORM, ONCE) or None


def named_tables(given: Sequence[str], release: str | None) -> Any:
    """The release of a call, or the files of linked tables that `--table NAME=FILE` gives, by name.

    Raises:
        UsageError: one is not of this form or is given twice, or the call names a release as well.
    """
    if given and release is not None:
        raise UsageError(f"--table names the tables, and RELEASE is {release}; give one of them")
    return by_name("--table", (one.partition("=") for one in given), FORM, ONCE) or release


def by_name(option: str, given: Iterable[tuple[str, str, str]], form: str, once: str) -> dict[str, str]:
    """The values of a repeatable option `NAME=VALUE`, by name.

    Args:
        option: the option.
        given: each argument in three parts: the name, the equals sign and the value.
        form: what to write, for an argument without a name or a value.
        once: what to write, for a name that is given twice.

    Raises:
        UsageError: an argument is not of this form, or a name is given twice.
    """
    values: dict[str, str] = {}
    for name, equals, value in given:
        if not (name and equals and value):
            raise UsageError(f"{option} {name}{equals}{value}: write {form}")
        if name in values:
            raise UsageError(f"{option} {name}: is given twice; {once}")
        values[name] = value
    return values


def with_query(release: Any, query: str | None) -> Any:
    """The release; with the file of a query its result in the database of that address.

    Raises:
        UsageError: a query without a database.
    """
    if query is None:
        return release
    if not isinstance(release, str) or "://" not in release:
        raise UsageError("--query asks for the address of a database as RELEASE, such as postgresql://HOST/DATABASE")
    return f"{release}{'&' if '?' in release else '?'}query_file={quote(query, safe='')}"


def on_engine(release: Any, engine: str | None, policy: Policy, plugins: Plugins) -> Any:
    """The release, of the call or of the policy, with the name of its engine and a colon before it.

    Raises:
        UsageError: no such engine, it opens URLs or objects only, or the policy has several tables.
    """
    if engine is None:
        return release
    if policy.document.tables is not None:
        raise UsageError(f"--engine {engine}: reads one table, and the policy has several; leave it out")
    named = policy.document.release
    location = release if release is not None or named is None else policy.resolve(named)
    known = sorted(name for name, opener in plugins.engines.items() if opener.accepts(f"{name}:release"))
    if engine not in known:
        raise UsageError(f"--engine {engine}: no engine of this name reads paths; known: {', '.join(known)}")
    return None if location is None else f"{engine}:{location}"


def single_policy(request: Request, done: str) -> Path:
    """The one policy of a call; `done` is what is done to a release under it, as a participle.

    Raises:
        UsageError: it has several.
    """
    policy, *others = request.policies
    if others:
        raise UsageError(f"{len(request.policies)} policies: one release is {done} under one; name it with --policy")
    return policy


def require_own_outputs(written: Sequence[tuple[str, Path]], policy: Policy, **given: Any) -> None:
    """Require that no written file replaces another or one that is read: of the policy, or a table of the call.

    Each written file has the name that a person knows it by.

    Raises:
        UsageError: two of these are the same file.
    """
    from tcdp_audit.core.results.protected_files import files_of, require_own_files  # noqa: PLC0415 - imports pydantic

    require_own_files(written, files_of(policy, **given))


def plugins_of(policy: Policy, plugins: Plugins) -> Plugins:
    """The plugins that a policy allows: where it lists them, no other external one is imported."""
    return plugins if policy.document.plugins is None else plugins.only(policy.document.plugins)


def prepare(reporters: Sequence[Reporter]) -> None:
    """Let reporters do their work that needs no audit."""
    for reporter in reporters:
        with blaming(f"the report format {reporter.name!r}"):
            reporter.prepare()


def require_libraries(reporters: Sequence[Reporter]) -> None:
    """Require the libraries that reporters need.

    Raises:
        UsageError: one of them is not installed.
    """
    for reporter in reporters:
        with blaming(f"the report format {reporter.name!r}"):
            reporter.require()


def verbose_option(function: F) -> F:
    """`--verbose`."""
    help_text = "Print every demand, however many there are."
    return click.option("--verbose", is_flag=True, help=help_text)(function)


def judging_options(function: F) -> F:
    """`--fail-on` and `--allow-vacuous`."""
    vacuous = click.option("--allow-vacuous", is_flag=True, help="Accept a policy whose demands cannot fail: exit 0.")
    severity = click.option(
        "--fail-on",
        type=click.Choice(["error", "warning"]),
        default="error",
        help="The least severity that fails the audit.",
    )
    return severity(vacuous(function))


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
FORMATS = ".html, .docx, .pdf, .md, .json, .junit.xml, .sarif"  # of an audit's reports


def audit_options(formats: str = FORMATS) -> list[Decorator]:
    """The options of every command that audits; `formats` are the extensions of its reports, for its help."""
    return [
        click.option(
            "--report", "reports", multiple=True, metavar="FILE", help=f"Write a report: {formats}. Repeatable."
        ),
        language_option,
        json_option("result"),
        click.option("--brief", is_flag=True, help="Print failures and the verdict only."),
        quiet_option,
        click.option("--run-by", metavar="NAME", envvar="TCDP_AUDIT_RUN_BY", help="Who runs this, for the reports."),
        click.option("--memory", metavar="SIZE", help="Memory budget such as 1GiB. Default: 3/4 of free memory."),
        trust_option,
        plugin_options,
    ]


def release_command(
    *own_options: Decorator, policy: Decorator, formats: str = FORMATS
) -> Callable[[Callable[..., int]], click.Command]:
    """A command on a release. Its function is given a `Request`, and its own options by name.

    The option `policy` names one policy or several; `formats` are the extensions of its reports, for its help.
    """
    argument = click.argument("release", required=False)
    options: list[Decorator] = [argument, policy, *own_options, companion_options, *audit_options(formats)]

    def as_command(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def called(**options: Any) -> int:
            from tcdp_audit.cli.request import request_of  # noqa: PLC0415 - imports pydantic

            request, own = request_of(click.get_current_context(), options)
            return function(request, **own)

        decorated: Callable[..., Any] = called
        for option in reversed(options):
            decorated = option(decorated)
        return click.command(context_settings={"help_option_names": ["--help", "-h"]})(decorated)

    return as_command
