"""Added noise under attack: an intruder who knows how much noise was added, and along which axes."""

from __future__ import annotations

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Comparison, DisclosureType, Guide, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.checks.masking_attacks.gaussian import Gaussian, in_units_of_noise, scored
from tcdp_audit_plugins.checks.masking_attacks.likelihood_figure import (
    CHOOSING,
    LIMITS,
    READING,
    Attack,
    attack_person,
    attack_sentence,
    both_ways,
)
from tcdp_audit_plugins.checks.masking_attacks.noise import NoiseParameters, faults, noise_of, numeric_attributes
from tcdp_audit_plugins.checks.masking_attacks.posteriors import posteriors, require_few
from tcdp_audit_plugins.checks.record_linkage.credit import credit
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space
from tcdp_audit_plugins.formulas import formula


def noise_attack(view: TableView, parameters: NoiseParameters) -> TableFigure:
    """The expected share of records that maximum likelihood under the noise links to the right person.

    A record is linked to the person with the smallest (y - x)^T S^-1 (y - x), S the covariance matrix of the noise or
    its pseudo-inverse; a true match among t ties earns 1/t. Where nothing is declared, S is estimated from the pairs.

    Returns:
        An exact fraction from 0 to 1 over the matched records.

    Raises:
        CheckError: release and original cannot be paired, the covariance matrix is none or contradicts the tables, or
            there are too many distinct records.

    Cost: two searches for nearest neighbours, and O(distinct released x distinct original records x attributes) for the
    posteriors, in blocks.

    Source: Torra, Guide to Data Privacy, 2022.
    """
    attack, axes = _attacked(view, parameters)
    names = numeric_attributes(parameters, view.policy.document)
    return attack.figure(parameters, {"attributes": names, "axes": axes})


def candidates_of_released(view: TableView, parameters: NoiseParameters) -> Counts:
    """How many people each matched released record may be: those with a posterior above `probability`.

    Where no one has one, all who are possible.

    Returns:
        int64, shape (matched records,).

    Raises:
        CheckError: as `noise_attack`.
    """
    return _attacked(view, parameters)[0].candidates


def _attacked(view: TableView, parameters: NoiseParameters) -> tuple[Attack, int]:
    names = numeric_attributes(parameters, view.policy.document)
    pairs = scored(view.pairs(names), parameters.scores)
    both, axes = in_units_of_noise(pairs, noise_of(view, pairs, names, parameters))
    likelihood, ways = Gaussian(both), both_ways(both, pairs)
    require_few(likelihood, parameters.limit)
    _, released, known = ways["masked_to_original"]
    attack = Attack(
        pairs,
        {name: credit(*one) for name, one in ways.items()},
        _own_standards(pairs, names),
        posteriors(likelihood, parameters.probability),
        likelihood,
        (released, known),
        names if parameters.is_estimated else [],
    )
    return attack, axes


def _own_standards(pairs: Pairs, names: list[str]) -> Space | None:
    """Each table standardised by itself, as without knowledge of the noise; None where nothing varies."""
    sides = (pairs.released, pairs.original)
    if not any(all((side.domains[name].counts > 0).sum() > 1 for side in sides) for name in names):
        return None
    return space(*sides, dict.fromkeys(names, Scale.NUMERIC), {})


def _sentence(outcome: Outcome) -> str:
    return attack_sentence(outcome, _known(outcome), outcome.details["attributes"])


def _person(outcome: Outcome) -> str:
    return attack_person(outcome, f"weighs {_known(outcome)}")


def _known(outcome: Outcome) -> str:
    """What somebody knows of the masking."""
    moved = outcome.parameters["scores"] != "values"
    return "how far values tend to be moved among the ranks" if moved else "how much noise was added"


CHECKS = [
    TableCheck(
        name="noise_attack",
        title="Attack on added noise",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=NoiseParameters,
        measure=noise_attack,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        requires=frozenset({"original"}),
        validate=faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="How many people are recognised by somebody who knows how much noise was added to their numbers?",
            risk="Numbers with noise added may still say who somebody is to whoever knows how much was added.",
            definition=(
                "Noise of mean 0 was added to numbers. An intruder who knows its covariance matrix, and the true "
                "numbers of everybody, links each released record to the person to whom the noise in between is most "
                "probable under a normal distribution. The figure is the expected share of correct links, where a true "
                "match among t records that tie counts 1/t. The matrix comes from `sd` (percent of each original "
                "attribute's standard deviation) or from `covariance`; where neither is given it is estimated from the "
                "true pairs. Values that were moved about among the records have noise on their ranks: `scores` "
                "compares ranks, or their normal scores, each table's by itself."
            ),
            **formula(
                r"d^2(i, r) = (y_r - x_i)^T\, \Sigma^{-1}\, (y_r - x_i)",
                r"\Pr(i \mid r) = \frac{e^{-d^2(i, r) / 2}}{\sum_k e^{-d^2(k, r) / 2}}",
                r"\frac{1}{n} \sum_r \frac{[\text{true match nearest}]}{t_r} \le \text{at\_most}",
                r"\Sigma \text{ covariance of the noise}",
            ),
            reading=(
                "0.9 means that nine records in ten are linked to their person. " + READING + " `attributes` are those "
                "that were compared, `axes` along how many of their combinations there is noise, or none at all in "
                "one attribute. Two people at 0.5 and 2.0 standard deviations of the noise have posteriors of 0.867 "
                "and 0.133; at 0.5 and 1.0, of 0.593 and 0.407."
            ),
            choosing=CHOOSING,
            limits=(
                "Noise is taken to be normal and the same for everybody; other noise is linked as if it were. The "
                "pseudo-inverse leaves out combinations of attributes that have no noise; an attribute without any "
                "must agree exactly, and a declared 0 where values changed is refused. A missing cell counts as a "
                "difference of two random records, which needs noise that is independent between attributes. Without "
                "knowledge each table is standardised by itself, as distance_record_linkage does. " + LIMITS
            ),
            source=(
                "Torra, Guide to Data Privacy, 2022 (noise addition, transparency); Kim, A method for limiting "
                "disclosure in microdata based on random noise and transformation, ASA Proceedings of the Section on "
                "Survey Research Methods, 1986, 303-308; by ranks: Muralidhar, Domingo-Ferrer, Rank-based record "
                "linkage for re-identification risk assessment, Privacy in Statistical Databases, 2016, 225-236"
            ),
            example="- noise_attack: {sd: 20, at_most: 0.1, attributes: [age, salary]}",
        ),
    ),
]
