"""`tcdp-audit explain` says all that a check's guide says, as wide as the terminal."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tcdp_audit.cli.declarations import parameters_of
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
CHECKS, REMEDIES = dict(sorted(PLUGINS.checks.items())), dict(sorted(PLUGINS.remedies.items()))


def _unwrapped(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", CHECKS)
def test_it_prints_everything_that_the_guide_says(name: str, here: Any):
    check, answer = CHECKS[name], here("explain", name)
    guide, printed = check.guide, _unwrapped(answer.out)

    assert (answer.code, answer.err) == (0, "")
    for text in (check.title, guide.definition, guide.reading, guide.choosing, guide.limits, guide.source):
        assert _unwrapped(text) in printed
    for line in [*guide.formula.split(";  "), *guide.example.splitlines()]:
        assert _unwrapped(line) in printed
    for parameter in parameters_of(check, [limit.parameter for limit in check.limits]):
        assert _unwrapped(f"{parameter.name}: {parameter.kind} (") in printed
        assert _unwrapped(f"{parameter.default}) {parameter.description}") in printed
    for limit in check.limits:
        assert limit.demand in printed


@pytest.mark.parametrize("name", REMEDIES)
def test_it_prints_everything_that_a_remedys_guide_says(name: str, here: Any):
    remedy, answer = REMEDIES[name], here("explain", name)
    guide, printed = remedy.guide, _unwrapped(answer.out)

    assert (answer.code, answer.err) == (0, "")
    for text in (remedy.title, remedy.summary, guide.method, guide.choosing, guide.guarantees, guide.source):
        assert _unwrapped(text) in printed
    for line in [*guide.example.splitlines(), *(f"{note}: {text}" for note, text in guide.notes.items())]:
        assert _unwrapped(line) in printed
    for parameter in parameters_of(remedy):
        assert _unwrapped(f"{parameter.default}) {parameter.description}") in printed


@pytest.mark.parametrize("name", ["t_closeness", "generalization"])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_it_is_as_wide_as_the_terminal(width: int, name: str, here: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = here("explain", name).out.splitlines()
    prose = [line for line in lines if f"{name}:" not in line]  # lines of a policy are never broken

    assert width - 12 < max(map(len, prose)) <= width


def test_types_and_defaults_are_in_words():
    shown = {one.name: (one.kind, one.default) for one in parameters_of(CHECKS["t_closeness"], ["t"])}

    assert shown["t"] == (
        "number, at least 0, or a fraction such as 3/8",
        "none: measured only",
    )
    assert shown["distance"][0].startswith("one of equal, ordered")
    assert shown["distance"][1] == "equal"
    assert shown["attribute"] == ("text", "none")
    assert shown["severity"] == ("one of error, warning", "error")
    assert next(iter(shown)) == "t"


def test_a_parameter_without_a_default_is_required(here: Any):
    assert "l: whole number, at least 2 (required)" in here("explain", "recursive_cl_diversity").out
    weights = {one.name: one.kind for one in parameters_of(CHECKS["distance_record_linkage"])}["weights"]
    assert weights == "mapping of names, each with number, or a fraction such as 3/8"


def test_without_a_name_it_lists_all_with_their_titles(process: Any):
    answer = process("explain", "--no-external-plugins")
    listed = dict(line.split(None, 1) for line in answer.out.splitlines() if line.startswith("  "))

    assert answer.code == 0
    assert listed == {name: one.title for name, one in (CHECKS | REMEDIES).items()}


def test_an_unknown_check_is_named_with_the_nearest(process: Any):
    answer = process("explain", "k_anonimity")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "tcdp-audit: unknown check, remedy or topic 'k_anonimity'; `tcdp-audit explain` lists them; "
        "did you mean 'k_anonymity'?\n"
    )


def test_a_terminal_without_mathematics_gets_escapes(process: Any):
    answer = process("explain", "k_anonymity", PYTHONIOENCODING="ascii")

    assert (answer.code, answer.err) == (0, "")
    assert "min_E n_E \\u2265 k" in answer.out
