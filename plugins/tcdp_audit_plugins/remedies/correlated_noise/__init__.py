"""Correlated noise: normal noise with a given covariance is added to numbers.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `covariance`: of the numbers, and of the noise that follows from it or is declared;
- `apply`: the remedy from a view to columns with noise.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.correlated_noise.apply import add_noise
from tcdp_audit_plugins.remedies.correlated_noise.parameters import (
    CorrelatedNoiseParameters,
    faults,
    plans,
    why_not_applicable,
)

__all__ = ["CORRELATED_NOISE", "CorrelatedNoiseParameters", "add_noise"]
GUIDE = RemedyGuide(
    method=(
        "To the numbers of each record x noise e is added that is normal with mean 0: y = x + e. Under `shape: "
        "correlated` its covariance matrix is c^2 times that of the numbers, c = percent / 100, so that correlations "
        "stay as they are on average, and variances become 1 + c^2 times as large; `rescaled: true` draws y back to "
        "the mean by the root of that, so that variances stay as well. Under `shape: independent` every attribute has "
        "noise of its own, and correlations weaken by 1 + c^2. `covariance` declares the matrix instead. What has a "
        "certain number of decimals keeps as many. A missing value stays missing, and counts as the mean where "
        "covariances are computed. Without `percent` or `covariance` the release is audited at 5 % to 300 %, and the "
        "least is taken after which every demand that compares the release with its original holds."
    ),
    choosing=(
        "For numbers whose means, variances and regressions are wanted, and not single values. The noise that outliers "
        "get is no larger than that of others, so they stay recognisable: code them first (`top_bottom_coding`). It is "
        "no differential privacy: for that take `noise`, which draws from a source that nobody can repeat. Ask "
        "`noise_attack` what somebody gets who knows how much noise was added."
    ),
    guarantees=(
        "Means stay on average, with the covariances that the method says. No record is dropped; only named "
        "attributes, or the numeric quasi-identifiers, change. The same records in any order give the same release, "
        "where records that agree in quasi-identifiers and sensitive attributes are the same. It runs once, whatever "
        "the other remedies need. The draws follow from the policy's `seed`: keep that to yourselves, and set one. "
        "Nothing keeps numbers within bounds: an age may become negative. Whether any demand holds is known only by "
        "the re-audit."
    ),
    attack=(
        "Somebody who knows the covariance of the noise, and whether numbers were drawn back, links each record to the "
        "person from whose numbers such noise most probably made it: `noise_attack` with `sd`, `shape` and `rescaled`, "
        "or `covariance`. Where cells are missing it takes the noise of different attributes to be independent."
    ),
    source=(
        "Kim, A method for limiting disclosure in microdata based on random noise and transformation, Proceedings of "
        "the Section on Survey Research Methods, American Statistical Association, 1986, 303-308; Tendick, Optimal "
        "noise addition for preserving confidentiality in multivariate data, Journal of Statistical Planning and "
        "Inference 27(3), 1991"
    ),
    example="- correlated_noise: {percent: 20}",
    notes={
        "percent": "See the parameter; 0 where `covariance` declares the noise.",
        "changed": "Cells that have another number.",
        "correlation_change": "The largest change of a correlation of two of these attributes.",
        "largest": "The largest noise in a cell, in standard deviations of its attribute.",
    },
)
CORRELATED_NOISE = Remedy(
    name="correlated_noise",
    title="Correlated noise",
    summary="Adds normal noise with a given covariance to numbers, so that correlations stay on average.",
    guide=GUIDE,
    parameters=CorrelatedNoiseParameters,
    apply=add_noise,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
    once=True,
)
