"""Plugins registered in this process: what the manager accepts, refuses, and keeps."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import PluginError, Status, audit
from tcdp_audit.core.session.registry import PluginInfo, Plugins
from tcdp_audit.plugin.check import hookimpl
from tcdp_audit.testing.reports import SAMPLE

POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
    "expect": [{"sample_check": {"n": 2}}],
}
TABLE = pa.table({"zip": ["a", "a", "b"], "disease": ["x", "y", "x"]})


class Provider:
    def __init__(self, *checks: Any) -> None:
        self.provided = checks

    @hookimpl
    def tcdp_audit_checks(self):
        yield from self.provided


def loaded(**plugins: Any) -> Plugins:
    built_in = Plugins.load(external=False)
    for name, plugin in plugins.items():
        built_in.register(plugin, name)
    return built_in


def test_a_registered_check_is_used_also_where_the_checks_were_asked_for_before():
    plugins = loaded()
    assert "sample_check" not in plugins.checks
    plugins.register(Provider(SAMPLE), "sample")
    outcome = audit(TABLE, POLICY, plugins=plugins).expectations[0]
    assert (outcome.status, outcome.observed) == (Status.FAILED, 1)


def test_what_built_in_plugins_yield_has_the_declared_types(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PluginInfo, "is_external", True)  # a run takes the types of built-in ones for granted
    plugins = Plugins.load()
    assert plugins.broken == []
    assert min(map(len, plugins._ask_everything())) > 1  # every hook was asked, and all they yield is validated


def test_an_allow_list_keeps_what_was_registered_in_this_process():
    other = Provider(replace(SAMPLE, name="other_check"))
    result = audit(TABLE, {**POLICY, "plugins": ["sample"]}, plugins=loaded(sample=Provider(SAMPLE), other=other))
    assert [info.name for info in result.plugins.infos] == ["checks", "engines", "remedies", "reports", "sample"]
    assert "other_check" not in result.plugins.checks
    assert result.expectations[0].observed == 1


def test_a_name_is_used_once_and_the_first_plugin_stays():
    plugins = loaded(sample=Provider(SAMPLE))
    with pytest.raises(PluginError, match="another plugin is called 'sample'"):
        plugins.register(plugins._manager.get_plugin("sample"), "sample")
    assert "sample_check" in plugins.checks


def test_the_built_in_plugins_answer_first_so_that_a_clash_blames_the_other():
    clash = Provider(replace(SAMPLE, name="k_anonymity"))
    with pytest.raises(PluginError, match=r"by the plugin 'checks' and by 'mine'; .*`-p no:mine`"):
        _ = loaded(mine=clash).checks


def test_a_clash_between_two_plugins_ends_when_a_policy_allows_one_of_them():
    plugins = loaded(one=Provider(SAMPLE), two=Provider(SAMPLE))
    with pytest.raises(PluginError, match="'sample_check' is provided by the plugin 'one' and by 'two'"):
        audit(TABLE, POLICY, plugins=plugins)
    assert audit(TABLE, {**POLICY, "plugins": ["two"]}, plugins=plugins).expectations[0].observed == 1


def test_a_plugin_without_hooks_is_refused():
    with pytest.raises(PluginError, match="it implements no hook; decorate"):
        loaded(empty=SimpleNamespace())


@pytest.mark.parametrize("kind", [{"wrapper": True}, {"hookwrapper": True}])
def test_a_plugin_that_wraps_a_hook_is_refused(kind: dict[str, bool]):
    class Wrapping:
        @hookimpl(**kind)
        def tcdp_audit_checks(self):
            return (yield)

    with pytest.raises(PluginError, match="'wrapping' cannot be registered: tcdp_audit_checks wraps a hook; a plugin"):
        loaded(wrapping=Wrapping())
    assert "k_anonymity" in loaded().checks


def test_a_hook_that_raises_takes_no_other_down():
    def twice():
        yield SAMPLE
        raise KeyError("later")

    class Raising:
        tcdp_audit_checks = staticmethod(hookimpl(twice))

    twice.__name__ = "tcdp_audit_checks"
    plugins = loaded(raising=Raising(), sample=Provider(replace(SAMPLE, name="other_check")))
    assert "sample_check" not in plugins.checks
    assert {"other_check", "k_anonymity"} <= set(plugins.checks)
    assert [(info.name, info.error) for info in plugins.broken] == [("raising", "tcdp_audit_checks: KeyError: 'later'")]
    with pytest.raises(PluginError, match="no check 'sample_check' is known, and a plugin that may define it"):
        audit(TABLE, POLICY, plugins=plugins)
