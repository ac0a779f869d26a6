"""What lint says without data is what an audit says with any."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tcdp_audit.core.check.threshold import as_measured
from tcdp_audit.core.check.vacuous import vacuous
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.class_checks import ClassCheckSuite
from tcdp_audit.testing.specification import with_threshold

CHECKS = Plugins.load(external=False).checks


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("k_anonymity", {"k": 1}, ("k",)),
        ("k_anonymity", {"k": 2}, ()),
        ("k_anonymity", {}, ()),
        ("distinct_l_diversity", {"l": 1}, ("l",)),
        ("distinct_l_diversity", {"l": 2}, ()),
        ("entropy_l_diversity", {"l": 1}, ("l",)),
        ("t_closeness", {"t": 1}, ("t",)),
        ("t_closeness", {"t": "0.999"}, ()),
        ("t_closeness", {"t": 1, "distance": "multiplicative"}, ()),
        ("basic_beta_likeness", {"beta": 1000000}, ()),
        ("sample_uniqueness", {"at_most": 1}, ("at_most",)),
        ("sample_uniqueness", {"at_most": "0.99"}, ()),
    ],
)
def test_demands_that_no_release_fails(name: str, parameters: dict[str, Any], expected: tuple[str, ...]):
    check = CHECKS[name]

    assert vacuous(check, check.parameters.model_validate(parameters)) == expected


def test_a_check_that_raises_is_not_blamed():
    def raises(*_: object) -> Any:
        raise KeyError("k")

    check = CHECKS["k_anonymity"]
    broken = replace(check, thresholds=(replace(check.thresholds[0], measure=raises),))

    assert vacuous(broken, check.parameters.model_validate({"k": 1})) == ()


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, check in CHECKS.items() if check.on_classes])
def test_every_release_keeps_what_is_said_to_be_retained_by_all(name: str):
    check: Any = CHECKS[name]
    tried = 0
    for trial in ClassCheckSuite(check, {})._groupings:
        for figure in check.measures:
            measured = [as_measured(figure.measure(one, trial.setting.parameters)) for one in trial._groupings]
            for limit in [*trial._limits(figure, measured), Fraction(0), Fraction(1), Fraction(2)]:
                demanding = with_threshold(trial.setting.parameters, figure.parameter, limit)
                tried += demanding is not None
                if demanding is not None and figure.parameter in vacuous(check, demanding):
                    groupings = zip(measured, trial._groupings, strict=True)
                    assert not any(trial._fails(figure, one, of, limit) for one, of in groupings), (demanding, trial)
    assert tried
