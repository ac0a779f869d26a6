"""Great Expectations: an expectation class for each registered check, and suites for policies.

names              what a check's expectation is called
demands            one expectation as the auditor knows it, and one audit for all of them
run                what the expectations of one run ask, collected
tables             what Great Expectations' engines have, as ours open it
metric             the one metric of all expectations
parameters         what an expectation can be told
expectation        the base of all classes
classes            the classes
results            outcomes as results
sentences, conditions, rendering   what Data Docs says
suites             policies as suites, and suites as policies
guarded            runs that evaluate everything, or are refused
stub               this package as type checkers see it

Whatever is asked of this module imports Great Expectations, once; importing it registers the classes.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from tcdp_audit.api import NEEDS_GREAT_EXPECTATIONS, installed

FUNCTIONS = {
    "guarded_run": "guarded",
    "load_suite": "guarded",
    "IncompleteRunError": "guarded",
    "policy_of": "suites",
    "suite_of": "suites",
    "expectation_of": "classes",
}


def _classes() -> dict[str, Any]:
    return dict(import_module(f"{__name__}.classes").CLASSES)


def __getattr__(name: str) -> Any:
    if name not in {"__all__", *FUNCTIONS} and not name.startswith("Expect"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not installed("great_expectations"):
        raise ModuleNotFoundError(f"{__name__}.{name} {NEEDS_GREAT_EXPECTATIONS}", name="great_expectations")
    if name == "__all__":
        return sorted({*FUNCTIONS, *_classes()})
    if name in FUNCTIONS:
        return getattr(import_module(f"{__name__}.{FUNCTIONS[name]}"), name)
    if name in _classes():
        return _classes()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; is the plugin of its check installed?")


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS, *(_classes() if installed("great_expectations") else ())})


if installed("great_expectations"):
    with warnings.catch_warnings(action="ignore"):  # it warns of itself while it is imported
        import_module("great_expectations")
        _classes()
