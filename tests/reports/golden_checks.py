"""Two checks whose texts stand here, so that golden files change with the reporters and with nothing else."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tcdp_audit.core.base.guide_file import Guide
from tcdp_audit.core.check.threshold import AttributeParameters
from tcdp_audit.core.policy.scalars import Exact
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import ClassCheck, DisclosureType, Parameters, Threshold, hookimpl
from tcdp_audit.plugin.sentences import Comparison, Sentences

STATUSES = ("passed", "failed", "measured")


class SizeParameters(Parameters):
    least: Annotated[int | None, Field(ge=1)] = None


class CommonestParameters(AttributeParameters):
    most: Annotated[Exact | None, Field(ge=0, le=1)] = None


GUIDE = Guide(
    definition="What is measured.",
    formula="f(E) < g",
    reading="How it is read.",
    choosing="How it is chosen.",
    source="A paper, definition 1",
    example="- class_size: {least: 2}",
)


def commonest(evidence, _):
    histogram, _ = evidence.sensitive
    return histogram.max(histogram.counts) / evidence.size


class GoldenPlugin:
    @hookimpl
    def tcdp_audit_checks(self):
        yield ClassCheck(
            name="class_size",
            title="Size of classes",
            guide=GUIDE,
            disclosure_type=DisclosureType.IDENTITY_MODEL,
            parameters=SizeParameters,
            thresholds=(Threshold("least", Comparison.AT_LEAST, lambda evidence, _: evidence.size, "records in it"),),
            sentences=Sentences(
                passed="A sentence about a {status} size.", values=lambda outcome: {"status": outcome.status.value}
            ),
        )
        yield ClassCheck(
            name="commonest_value",
            title="Commonest value",
            guide=GUIDE,
            disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
            parameters=CommonestParameters,
            thresholds=(Threshold("most", Comparison.AT_MOST, commonest, "share of the commonest value"),),
            on_attribute=True,
            sentences=Sentences(
                passed="A sentence about a {status} share.", values=lambda outcome: {"status": outcome.status.value}
            ),
        )


def golden_plugins() -> Plugins:
    """The built-in reporters, and these checks in place of all other built-in plugins."""
    plugins = Plugins.load(external=False, blocked=["checks", "remedies"])
    plugins.register(GoldenPlugin(), "golden")
    return plugins
