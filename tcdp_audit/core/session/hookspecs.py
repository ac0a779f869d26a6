"""The hooks that a plugin may implement. Each takes no argument and yields frozen specifications and nothing else.

A plugin is a module (or an object) behind an entry point of group `tcdp_audit`. It implements any of the hooks; one
that implements none is refused. Each hook's docstring has a complete plugin that runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from tcdp_audit.core.check.kinds import Announced
    from tcdp_audit.core.detection.detector import Detector
    from tcdp_audit.core.engines.opening import EngineOpener
    from tcdp_audit.core.remedy.remedy import Remedy
    from tcdp_audit.core.results.reporter import Reporter, ReportSection

PROJECT = "tcdp_audit"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as one of the hooks."""


@hookspec
def tcdp_audit_checks() -> Iterable[Announced]:  # type: ignore[empty-body]
    """Yield checks: `ClassCheck`, `AttackCheck` or `TableCheck`; or `LazyCheck`, which is loaded when it is named.

    Example::

        from typing import Annotated

        from pydantic import Field

        from tcdp_audit.plugin.check import ClassCheck, DisclosureType, Guide, Parameters, Threshold
        from tcdp_audit.plugin.sentences import Comparison
        from tcdp_audit.plugin.check import hookimpl


        class LargestClassParameters(Parameters):
            at_most: Annotated[int | None, Field(ge=1, description="The most records in a class.")] = None


        def records(evidence, parameters):
            return evidence.size


        LARGEST_CLASS = ClassCheck(
            name="largest_class",
            title="Largest class",
            disclosure_type=DisclosureType.IDENTITY_DEGREE,
            parameters=LargestClassParameters,
            thresholds=(Threshold("at_most", Comparison.AT_MOST, records, "records in a class"),),
            guide=Guide(
                definition="No equivalence class has more records than a given number.",
                formula="max_E |E| <= n",
                reading="How many records share all quasi-identifiers at most.",
                choosing="A number above which the release would say too little.",
                source="an example",
                example="- largest_class: {at_most: 5000}",
            ),
        )


        @hookimpl
        def tcdp_audit_checks():
            yield LARGEST_CLASS
    """


@hookspec
def tcdp_audit_remedies() -> Iterable[Remedy[Any]]:  # type: ignore[empty-body]
    """Yield remedies.

    Example::

        from typing import Annotated

        import numpy as np
        from pydantic import Field

        from tcdp_audit.plugin.check import hookimpl
        from tcdp_audit.plugin.remedy import Remedy, RemedyError, RemedyGuide, RemedyParameters, Treatment


        class SmallClassesParameters(RemedyParameters):
            k: Annotated[int, Field(ge=1, description="The least number of records in a class that stays.")]


        def without_small_classes(view, parameters):
            class_of, _ = view.classes()
            kept = np.bincount(class_of)[class_of] >= parameters.k
            if not kept.any():
                raise RemedyError(f"no equivalence class has {parameters.k} records")
            return Treatment(retained=kept)


        SMALL_CLASSES = Remedy(
            name="small_classes",
            title="Without small classes",
            summary="Drops the records of equivalence classes that are too small.",
            guide=RemedyGuide(
                method="Drops the records of equivalence classes with fewer than k records.",
                choosing="Where few records are rare; each of them is lost.",
                guarantees="Every class that stays has at least k records.",
                source="an example",
                example="- small_classes: {k: 5}",
            ),
            parameters=SmallClassesParameters,
            apply=without_small_classes,
        )


        @hookimpl
        def tcdp_audit_remedies():
            yield SMALL_CLASSES
    """


@hookspec
def tcdp_audit_reporters() -> Iterable[Reporter]:  # type: ignore[empty-body]
    r"""Yield report formats; `--report FILE` picks one by its extension.

    Example::

        from tcdp_audit.plugin.check import hookimpl
        from tcdp_audit.plugin.report import Reporter


        def lines(audit):
            return "".join(f"{outcome.check}: {outcome.status.value}\n" for outcome in audit.outcomes)


        @hookimpl
        def tcdp_audit_reporters():
            yield Reporter(name="lines", title="A line an outcome", suffix=".lines", render=lines)
    """


@hookspec
def tcdp_audit_report_sections() -> Iterable[ReportSection]:  # type: ignore[empty-body]
    """Yield sections that every report for people gets, between the findings and the appendix.

    Example::

        from tcdp_audit.plugin.check import hookimpl
        from tcdp_audit.plugin.report import ReportSection, Rows


        def statuses(audit):
            yield "How many outcomes have which status."
            yield Rows(("status", "outcomes"), tuple((name, str(number)) for name, number in audit.summary.items()))


        @hookimpl
        def tcdp_audit_report_sections():
            yield ReportSection(name="statuses", title="Statuses", blocks=statuses)
    """


@hookspec
def tcdp_audit_engines() -> Iterable[EngineOpener]:  # type: ignore[empty-body]
    """Yield engines for tables other than files and tables in memory.

    Example::

        import pyarrow as pa

        from tcdp_audit.plugin.check import hookimpl
        from tcdp_audit.plugin.engine import EngineOpener, grouped_engine


        def is_of_a_register(table):
            return isinstance(table, str) and table.startswith("register://")


        def counted_by_the_register(url, name, memory):
            '''A register that answers with counted groups only; here they are written down.'''
            groups = pa.table({"zip": ["0213", "0214"], "answer": ["yes", "no"], "times": [7, 5]})
            return grouped_engine(groups.to_reader(), name, url, memory)


        @hookimpl
        def tcdp_audit_engines():
            yield EngineOpener(
                name="register",
                title="Register",
                summary="Groups that a register counts: register://NAME.",
                accepts=is_of_a_register,
                open=counted_by_the_register,
            )
    """


@hookspec
def tcdp_audit_detectors() -> Iterable[Detector]:  # type: ignore[empty-body]
    """Yield detectors of identifiers for the check `direct_identifiers`.

    Example::

        from tcdp_audit.plugin.check import hookimpl
        from tcdp_audit.plugin.detector import ValueDetector


        def random_badge(generator):
            '''A random text of the same letters and digits.'''
            return "".join(generator.choice([*"B0123456789"], 6))


        def is_badge(text):
            return sum(map(int, text[1:])) % 10 == 0


        BADGES = ValueDetector(
            name="badge",
            noun="badge of our house",
            words=("badge", "badge number"),
            layout=r"B[0-9]{5}",
            accepts=is_badge,
            base_rate=0.01,
            random_value=random_badge,
            safe_harbor="R",
            source="an example",
            examples=("B12340",),
            counterexamples=("B12341", "12340"),
        )


        @hookimpl
        def tcdp_audit_detectors():
            yield BADGES
    """
