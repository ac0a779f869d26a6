"""Everything that is registered conforms, whoever brings it."""

from __future__ import annotations

import pytest

from tcdp_audit.registry import Plugins
from tcdp_audit.testing import check_conforms

PLUGINS = Plugins.load()


def test_the_four_first_checks_are_among_the_registered_ones():
    assert {"k_anonymity", "distinct_l_diversity", "entropy_l_diversity", "t_closeness"} <= set(PLUGINS.checks)
    assert PLUGINS.broken == []


@pytest.mark.parametrize("name", sorted(PLUGINS.checks))
def test_check_conforms(name: str):
    check_conforms(PLUGINS.checks[name])


@pytest.mark.parametrize("name", sorted(PLUGINS.reporters))
def test_reporter_conforms(name: str):
    check_conforms(PLUGINS.reporters[name])


@pytest.mark.parametrize("name", sorted(PLUGINS.remedies))
def test_remedy_conforms(name: str):
    check_conforms(PLUGINS.remedies[name])
