"""Modules that stood beside each other before they moved into packages: importing one says where it is now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

NOW = {
    "change_log": "results.change_log",
    "coded": "release.coded",
    "convention_matrix": "auditor.conventions",
    "demands": "remedy.demands",
    "evidence": "check.evidence",
    "exact": "check.exact",
    "expectations": "auditor.expectations",
    "fixing": "repair.fixing",
    "frozen_arrays": "arrays",
    "generalised": "encoding.generalised",
    "guide": "check.guide",
    "hierarchy": "encoding.hierarchy",
    "histogram": "classes.histogram",
    "joint": "classes.joint",
    "integrations.pandera_frame": "quality.pandera_frame",
    "integrations.pandera_schema": "quality.pandera_schema",
    "keys": "encoding.keys",
    "matched": "auditor.matched",
    "merged": "remedy.merged",
    "numbers": "encoding.numbers",
    "opened": "inputs",
    "own_types": "repair.own_types",
    "pairs": "release.pairs",
    "parameters": "check.parameters",
    "plugin_manager": "registry",
    "reference": "auditor.reference",
    "remediation": "repair.loop",
    "reporter": "results.reporter",
    "remedy_view": "remedy.view",
    "segments": "classes.segments",
    "shards": "classes.shards",
    "specification": "check.specification",
    "structure": "release.structure",
    "summary": "check.summary",
    "table_view": "check.table_view",
    "tasks": "auditor.tasks",
    "treatment": "remedy.treatment",
    "unfailable": "check.unfailable",
    "wildcard": "classes.wildcard",
    "wildcard_rows": "classes.wildcard_rows",
}


class _Moved:
    """The last of the finders: asked for what no other finds."""

    @staticmethod
    def find_spec(name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> None:
        """Find nothing.

        Raises:
            ImportError: the module has moved.
        """
        package, _, module = name.partition(".")
        if package == "tcdp_audit" and module in NOW:
            raise ImportError(
                f"{name} is now tcdp_audit.{NOW[module]}; plugins import its names from tcdp_audit.plugin", name=name
            )


def say_where_modules_are() -> None:
    """Have Python ask, once."""
    if _Moved not in sys.meta_path:
        sys.meta_path.append(_Moved)
