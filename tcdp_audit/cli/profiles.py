"""`tcdp-audit profiles`: list the profiles that a policy may name, or show what one demands and asks."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tcdp_audit.cli.options import complete_profile, json_option
from tcdp_audit.cli.page import wrapped
from tcdp_audit.cli.printing import write
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tcdp_audit.api import Profile


@click.command(context_settings={"help_option_names": ["--help", "-h"]})
@click.argument("name", required=False, shell_complete=complete_profile)
@json_option("profiles")
def command(name: str | None, *, as_json: bool) -> int:
    """List the profiles that a policy may name, or show the profile NAME: its source, demands and questions.

    A policy names one by `profile: NAME@VERSION`; `tcdp-audit init TABLE --profile NAME` drafts a policy with it.
    """
    from tcdp_audit.api import profiles  # noqa: PLC0415 - imports pydantic

    chosen = list(profiles().values()) if name is None else _named(name, profiles())
    if as_json:
        write(json.dumps({"profiles": [_as_json(one) for one in chosen]}, ensure_ascii=False, indent=2) + "\n")
    elif name is None:
        write("".join(f"{line}\n" for line in _listing(chosen)))
    else:
        write("\n".join("".join(f"{line}\n" for line in _page(one)) for one in chosen))
    return 0


def _named(name: str, known: Mapping[str, Profile]) -> list[Profile]:
    """The profiles of a name in every version, or the one of a name with its version.

    Raises:
        UsageError: there is none.
    """
    chosen = [one for key, one in known.items() if name in (key, one.name)]
    if not chosen:
        from tcdp_audit.api import nearest  # noqa: PLC0415 - imports pydantic

        guess = nearest(name, [*known, *(one.name for one in known.values())])
        raise UsageError(f"unknown profile {name!r}{guess}; `tcdp-audit profiles` lists them")
    return chosen


def _as_json(profile: Profile) -> dict[str, Any]:
    demands = [{"check": one.check, "parameters": dict(one.parameters), "says": one.says} for one in profile.demands]
    questions = [{"key": one.key, "question": one.question, "fit": one.fit} for one in profile.questions]
    return {
        "name": profile.name,
        "version": profile.version,
        "key": profile.key,
        "title": profile.title,
        "sources": [asdict(one) for one in profile.sources],
        "demands": demands,
        "questions": questions,
    }


def _listing(profiles: Sequence[Profile]) -> Iterator[str]:
    """A line for each profile, and what to do with one."""
    for profile in profiles:
        yield profile.key
        demands, questions = count(len(profile.demands), "demand"), count(len(profile.questions), "question")
        yield from wrapped(f"{profile.title}: {demands}, {questions}", "  ")
    yield ""
    yield from wrapped("More: tcdp-audit profiles NAME. No profile determines legality.", "")


def _page(profile: Profile) -> Iterator[str]:
    """The whole of a profile."""
    yield from wrapped(profile.title, "")
    yield f"  profile: {profile.key}"
    for source in profile.sources:
        yield ""
        yield from wrapped(f"Source: {source.title}. Date: {source.date}. Read: {source.read}", "")
    yield ""
    yield "It demands:" if profile.demands else "It demands nothing that a figure decides."
    for demand in profile.demands:
        values = {name: json.dumps(one) for name, one in demand.parameters.items() if not isinstance(one, str)}
        parameters = ", ".join(f"{name}: {one}" for name, one in {**demand.parameters, **values}.items())
        yield from wrapped(f"- {demand.check}: {{{parameters}}}. {demand.says}", "", "  ")
    if profile.questions:
        yield ""
        yield "It leaves to a person:"
    for question in profile.questions:
        yield from wrapped(f"- {question.key}: {question.question} Fit: {question.fit}.", "", "  ")
