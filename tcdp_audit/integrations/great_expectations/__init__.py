"""Great Expectations: an expectation class for each registered check, and suites for policies.

parameters    names and parameters of expectations
demands       the demand of one expectation
metric        the metric that all expectations share, its batches, and the demands of a run
expectation   the classes of expectations, and outcomes as their results
rendering     the texts of Data Docs
suites        policies as suites, and suites as policies
guarded       runs that evaluate everything, or are refused
stub          this package as type checkers see it

The first use of a name imports Great Expectations; importing it registers the classes.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from tcdp_audit.api import missing_extra

LIBRARY = "great_expectations"
FUNCTIONS = {
    "guarded_run": "guarded",
    "load_suite": "guarded",
    "IncompleteRunError": "guarded",
    "policy_of": "suites",
    "suite_of": "suites",
    "expectation_of": "expectation",
}


def _classes() -> dict[str, Any]:
    return dict(import_module(f"{__name__}.expectation").CLASSES)


def __getattr__(name: str) -> Any:
    if name not in {"__all__", *FUNCTIONS} and not name.startswith("Expect"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    missing = missing_extra(LIBRARY)
    if missing:
        raise ModuleNotFoundError(f"{__name__}.{name} {missing}", name=LIBRARY)
    if name == "__all__":
        return sorted({*FUNCTIONS, *_classes()})
    if name in FUNCTIONS:
        return getattr(import_module(f"{__name__}.{FUNCTIONS[name]}"), name)
    if name in _classes():
        return _classes()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; is the plugin of its check installed?")


def __dir__() -> list[str]:
    return sorted({*globals(), *FUNCTIONS, *(() if missing_extra(LIBRARY) else _classes())})


if not missing_extra(LIBRARY):
    with warnings.catch_warnings(action="ignore"):  # its import raises warnings about itself
        import_module(LIBRARY)
        _classes()
