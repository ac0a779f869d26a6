"""Checks that are announced: loaded where they are named, the announced ones and no others, or nothing passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pkgutil import iter_modules
from typing import Any

import pytest
from test_plugins import POLICY, TABLE, Provider, loaded as plugins_with

from tcdp_audit import PluginError, PolicyError, Status, audit, load_policy
from tcdp_audit.core.base.guide_file import DisclosureType
from tcdp_audit.core.check.kinds import Check, LazyCheck, load_announced
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing import ConformanceError, check_conforms
from tcdp_audit.testing.reports import SAMPLE
from tcdp_audit.testing.suites import properties_of
from tcdp_audit_plugins import checks

ELSEWHERE = DisclosureType.ATTRIBUTE_DEGREE
OTHER = {**POLICY, "expect": [{"k_anonymity": {"k": 2}}]}


def announced(load: Callable[[], Any], name: str = "sample_check") -> LazyCheck:
    return LazyCheck(name, SAMPLE.title, SAMPLE.disclosure_type, load)


def raising(error: BaseException) -> Callable[[], Check]:
    def load() -> Check:
        raise error

    return load


def test_a_check_is_loaded_once_and_only_where_it_is_named() -> None:
    loads: list[str] = []
    plugins = plugins_with(lazy=Provider(announced(lambda: loads.append("once") or SAMPLE)))
    assert "sample_check" in plugins.checks
    assert "sample_check" in list(plugins.checks)
    assert audit(TABLE, OTHER, plugins=plugins).passed is False
    assert loads == []
    outcome = audit(TABLE, POLICY, plugins=plugins).expectations[0]
    assert (outcome.status, outcome.observed) == (Status.FAILED, 1)
    assert plugins.checks["sample_check"] is SAMPLE
    assert loads == ["once"]


@pytest.mark.parametrize(
    ("load", "sentence"),
    [
        (raising(ImportError("no module")), "the check sample_check: ImportError: no module"),
        (raising(SystemExit(0)), "the check sample_check: SystemExit: 0"),
        (lambda: None, "the check sample_check: TypeError: what is loaded is a NoneType and no check"),
        (
            lambda: replace(SAMPLE, name="another"),
            "the check sample_check: ValueError: its name was announced as 'sample_check' and is 'another'",
        ),
        (
            lambda: replace(SAMPLE, title="Another"),
            f"the check sample_check: ValueError: its title was announced as {SAMPLE.title!r} and is 'Another'",
        ),
        (
            lambda: replace(SAMPLE, disclosure_type=ELSEWHERE),
            (
                f"the check sample_check: ValueError: its disclosure_type was announced as {SAMPLE.disclosure_type!r} "
                f"and is {ELSEWHERE!r}"
            ),
        ),
    ],
)
def test_one_that_does_not_load_breaks_its_plugin_and_nothing_passes(load: Callable[[], Any], sentence: str) -> None:
    plugins = plugins_with(lazy=Provider(announced(load), replace(SAMPLE, name="sound_check")))
    with pytest.raises(PluginError, match="the plugin 'lazy' does not work") as caught:
        audit(TABLE, POLICY, plugins=plugins)
    assert str(caught.value) == f"the plugin 'lazy' does not work: {sentence}"
    assert caught.value.exit_code == 3
    assert [(one.name, one.error) for one in plugins.infos if one.error] == [("lazy", sentence)]


def test_it_is_listed_as_broken_though_no_policy_named_it() -> None:
    plugins = plugins_with(lazy=Provider(announced(raising(RuntimeError("no licence")))))
    assert audit(TABLE, OTHER, plugins=plugins).plugins.infos[-1].error == ""
    assert [(one.name, one.error) for one in plugins.broken] == [
        ("lazy", "the check sample_check: RuntimeError: no licence")
    ]


def test_a_policy_that_needs_its_plugin_is_not_audited() -> None:
    plugins = plugins_with(lazy=Provider(announced(raising(RuntimeError("no licence")))))
    with pytest.raises(PluginError, match="needs the plugin 'lazy', which does not work: the check sample_check"):
        load_policy({**OTHER, "plugins": ["lazy"]}, plugins=plugins)


def test_a_name_that_no_plugin_has_may_be_the_broken_plugins() -> None:
    plugins = plugins_with(lazy=Provider(announced(raising(RuntimeError("no licence")))))
    with pytest.raises(PluginError, match="no check 'unknown' is known, and a plugin that may define it did not load"):
        load_policy({**POLICY, "expect": [{"unknown": {}}]}, plugins=plugins)


def test_the_nearest_name_may_be_one_that_is_not_loaded() -> None:
    plugins = plugins_with(lazy=Provider(announced(lambda: SAMPLE)))
    with pytest.raises(PolicyError, match="unknown check 'sample_chek'; did you mean 'sample_check'"):
        load_policy({**POLICY, "expect": [{"sample_chek": {}}]}, plugins=plugins)


def test_a_clash_of_names_is_an_error_before_anything_is_loaded() -> None:
    clash = announced(raising(AssertionError("nobody asked for it")), "k_anonymity")
    with pytest.raises(PluginError, match="'k_anonymity' is provided by the plugin 'checks' and by 'lazy'"):
        _ = plugins_with(lazy=Provider(clash)).checks


def test_an_interruption_is_a_persons() -> None:
    plugins = plugins_with(lazy=Provider(announced(raising(KeyboardInterrupt()))))
    with pytest.raises(KeyboardInterrupt):
        audit(TABLE, POLICY, plugins=plugins)
    with pytest.raises(KeyboardInterrupt):
        _ = plugins.broken


def test_a_risk_is_announced_as_the_check_has_it_or_not_at_all() -> None:
    check = replace(SAMPLE, guide=replace(SAMPLE.guide, risk="Somebody may be found."))
    one, other = (replace(announced(lambda: check), risk=risk) for risk in ("Somebody may be found.", "Nobody may."))

    assert load_announced(one) is check
    with pytest.raises(ValueError, match=r"its risk was announced as 'Nobody may\.'"):
        load_announced(other)


def test_the_built_in_checks_announce_all_that_their_families_have() -> None:
    families = {one.name for one in iter_modules(checks.__path__) if not one.name.startswith("_")}
    assert families == set(checks.FAMILIES)
    assert not Plugins.load(external=False).broken


def test_the_conformance_suite_takes_what_is_loaded() -> None:
    assert [one.name for one in properties_of(announced(lambda: SAMPLE))] == [one.name for one in properties_of(SAMPLE)]
    with pytest.raises(ConformanceError, match="'other_check': it is announced and does not load: ValueError"):
        check_conforms(announced(lambda: SAMPLE, "other_check"))
