"""The guides to the checks on uniqueness."""

from __future__ import annotations

from tcdp_audit.plugin.check import Guide
from tcdp_audit_plugins.formulas import formula

SAMPLE_UNIQUENESS = Guide(
    question="How many people are the only ones in the release with what may be known about them?",
    risk="Whoever knows that somebody is in the release may find their record, and nobody else's.",
    definition=(
        "A sample unique is a record that nobody else in the release shares its quasi-identifiers "
        "with. The figure is their share of all records."
    ),
    **formula(
        r"\frac{1}{n}\, \#\{E : n_E = 1\} \le \text{at\_most}",
        r"\text{with a unit: } \frac{1}{U}\, \#\{u : n_E = 1 , u \in E\} \le \text{at\_most}",
        r"n_E = \text{units of } E",
    ),
    reading=(
        "0.25 means that every fourth record is alone in its class. The details `victims` and "
        "`victim_classes` count the records and the classes. Where the policy names a unit, such as a person, "
        "a class with a single unit is such a class, however many rows the unit has there. The figure is then the "
        "share of units with a row in such a class, each counted once; the details `victim_units` and `units` count "
        "them and all units."
    ),
    choosing="0 is 2-anonymity. What a share above 0 means, population_uniqueness tells.",
    limits=(
        "Alone in the release is not alone in the population. Whoever knows that the person is in "
        "the release needs no more; for others, population_uniqueness and individual_risk say how "
        "much it tells."
    ),
    source=(
        "Bethlehem, Keller, Pannekoek, Disclosure control of microdata, JASA 85(409), 1990, "
        "doi:10.1080/01621459.1990.10475304"
    ),
    example="- sample_uniqueness: {at_most: 0.05}",
)

POPULATION_UNIQUENESS = Guide(
    question="How many of those who are alone in the release are alone among everybody?",
    risk="Somebody who does not even know who is in the release may be sure of whom a record is.",
    definition=(
        "Of the records that are alone in their class in the release, the share that is alone in the "
        "population too. With a population file it is counted. Otherwise it is estimated from the "
        "class sizes and the sampling fraction: by Zayatz, who takes the sample's class sizes for "
        "the population's; by Pitman's model (Hoshino), fitted by maximum likelihood; and by a "
        "Poisson log-linear model with independent quasi-identifiers (Skinner and Shlomo)."
    ),
    **formula(
        r"\text{exact: } \frac{\#\{E : F_E = 1, f_E = 1\}}{\#\{E : f_E = 1\}} \le \text{at\_most}",
        r"\text{zayatz: } \frac{(u_1/u)\, P(1 \mid 1)}{\sum_i (u_i/u)\, P(1 \mid i)}",
        r"P(1 \mid i) = \frac{i\, C(N - i, n - 1)}{C(N, n)}",
        r"\text{pitman: } \frac{N\, \Gamma(\theta + 1)}{\#\{E : f_E = 1\}}\, A\, \pi",
        r"A = \frac{\Gamma(\theta + \alpha + N - 1)}{\Gamma(\theta + \alpha)\, \Gamma(\theta + N)}",
        r"\text{log\_linear: mean over } f_E = 1 \text{ of } e^{-(1 - \pi)\, \mu_E / \pi}",
        r"\mu_E = n \prod_j \text{share of its value of attribute } j",
    ),
    reading=(
        "The observed value is a share of the sample uniques, by the estimator that the policy "
        "names; without a sample unique it is undefined (the detail `undefined` says so) and the "
        "risk is 0. Details, all over denominators that their names tell. `exact`, `zayatz`, "
        "`pitman`, `log_linear`: the same share by each, and `disagreement`, their largest "
        "difference. `sample_uniques_over_records`, `population_uniques_over_population`, "
        "`released_population_uniques_over_records`, "
        "`released_population_uniques_over_population_uniques`: other figures that are called "
        "uniqueness. `match_probability` (θ): sample uniques over all population records that look "
        "like one, the chance that a match to a sample unique is right; `match_probability_dis` and "
        "`match_probability_log_linear` estimate it. `pitman_theta`, `pitman_alpha`: the fitted "
        "model; `pitman_population_uniques`, its `_asymptotic` approximation and "
        "`zayatz_population_uniques`: population uniques in numbers. `sampling_fraction` and "
        "`estimated_population_records` are what the estimates rest on. Pitman's share is cut at 1; "
        "it is missing where the likelihood has no maximum."
    ),
    choosing=(
        "Demand a bound on the exact figure where you have the population. Of the estimates, take "
        "none alone: at small sampling fractions Zayatz is far too high, and the log-linear model is "
        "right only as far as the quasi-identifiers are independent."
    ),
    limits=(
        "The sample is taken to be a simple random one. With weights the fraction is n over their "
        "sum, which ignores that it differs between records. It is a share of the sample uniques: "
        "none of one record and none of a thousand are both 0. The population must be generalised as "
        "the release is; a class that it lacks is an error. Under `missing_quasi_identifier: wildcard` "
        "a record is unique if no other is compatible with it, and only the exact figure is told: the "
        "estimators' models need every person to be in one class. How far each estimate is off: the "
        "page on uniqueness in the documentation."
    ),
    source=(
        "Bethlehem, Keller, Pannekoek, JASA 85(409), 1990, doi:10.1080/01621459.1990.10475304; Zayatz, US"
        " Bureau of the Census, SRD RR-91/08, 1991; Hoshino, J. Official Statistics 17(4), 2001; Skinner,"
        " Shlomo, JASA 103(483), 2008, doi:10.1198/016214507000001328; Skinner, Elliot, JRSS B 64(4), "
        "2002, doi:10.1111/1467-9868.00365"
    ),
    example="- population_uniqueness: {estimator: pitman, at_most: 0.1}",
)
