"""Post-randomisation under attack: an intruder who knows with which probabilities values were changed."""

from __future__ import annotations

from collections.abc import Mapping

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Comparison, DisclosureType, Guide, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.masking_attacks.likelihood_figure import (
    CHOOSING,
    LIMITS,
    READING,
    Attack,
    attack_person,
    attack_sentence,
)
from tcdp_audit_plugins.checks.masking_attacks.masked_values import (
    MaskedAttribute,
    PramParameters,
    faults,
    masked_attribute,
    transitions,
)
from tcdp_audit_plugins.checks.masking_attacks.posteriors import posteriors, require_few
from tcdp_audit_plugins.checks.record_linkage.standardised import space
from tcdp_audit_plugins.formulas import formula


def pram_attack(view: TableView, parameters: PramParameters) -> TableFigure:
    """The expected share of records that the likelihood of the changes links to the right person.

    L(i, r) = prod_j P_j[x_ij, y_rj] for person i and released record r. A record is linked to the largest; a true match
    among t ties earns 1/t. Where nothing is declared of an attribute its matrix is estimated from the pairs.

    Returns:
        An exact fraction from 0 to 1 over the matched records.

    Raises:
        CheckError: release and original cannot be paired; a matrix cannot be read, or gives probability 0 to what
            happened; there are too many values or distinct records.

    Cost: O(distinct released x distinct original records x attributes) in blocks, and a search for nearest neighbours.

    Source: Gouweleeuw, Kooiman, Willenborg, de Wolf (1998); Torra, Guide to Data Privacy, 2022.
    """
    attributes, attack = _attacked(view, parameters)
    return attack.figure(parameters, {"cells": [one.figures() for one in attributes.values()]})


def candidates_of_released(view: TableView, parameters: PramParameters) -> Counts:
    """How many people each matched released record may be: those with a posterior above `probability`.

    Where no one has one, all who are possible.

    Returns:
        int64, shape (matched records,).

    Raises:
        CheckError: as `pram_attack`.
    """
    return _attacked(view, parameters)[1].candidates


def _attacked(view: TableView, parameters: PramParameters) -> tuple[Mapping[str, MaskedAttribute], Attack]:
    names = known_attributes(parameters.attributes, view.quasi_identifiers)
    pairs = view.pairs(names)
    attributes = {name: masked_attribute(view, pairs, name, parameters) for name in names}
    for one in attributes.values():
        one.require_possible()
    return attributes, _attack(pairs, attributes, parameters)


def _attack(pairs: Pairs, attributes: Mapping[str, MaskedAttribute], parameters: PramParameters) -> Attack:
    likelihood = transitions(attributes)
    require_few(likelihood, parameters.limit)
    released, known = likelihood.ends(pairs)
    own = posteriors(likelihood, parameters.probability)
    earned = {
        "masked_to_original": likelihood.credit(own.top, own.ties, released, known),
        "original_to_masked": likelihood.turned().linked(known, released),
    }
    nominal = dict.fromkeys(attributes, Scale.NOMINAL)
    return Attack(
        pairs,
        earned,
        space(pairs.released, pairs.original, nominal, {}),
        own,
        likelihood,
        (released, known),
        [one.name for one in attributes.values() if one.is_estimated],
    )


def _sentence(outcome: Outcome) -> str:
    return attack_sentence(outcome, "with which probabilities values were changed", outcome.known)


def _person(outcome: Outcome) -> str:
    return attack_person(outcome, "weighs how probably each value was changed")


CHECKS = [
    TableCheck(
        name="pram_attack",
        title="Attack on post-randomisation",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=PramParameters,
        measure=pram_attack,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        requires=frozenset({"original"}),
        validate=faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="How many people are recognised by somebody who knows how values were changed at random?",
            risk="Values that were changed at random may still say who somebody is to whoever knows the probabilities.",
            definition=(
                "Post-randomisation (PRAM) releases each value as another with a known probability. An intruder who "
                "knows these probabilities, and some attributes of everybody, computes for each released record and "
                "each person how probably the one became the other, and links each record to the most probable person. "
                "The figure is the expected share of correct links, where a true match among t records that tie counts "
                "1/t. Probabilities come from `matrix`, or from `retention` (the rest spread evenly over the other "
                "values of both tables); of an attribute for which nothing is declared they are counted in the true "
                "pairs."
            ),
            **formula(
                r"L(i, r) = \prod_j P_j[x_{ij}, y_{rj}]",
                r"P_j[x, y] = \Pr(y \text{ released} \mid x)",
                r"\Pr(i \mid r) = \frac{L(i, r)}{\sum_k L(k, r)}",
                r"\frac{1}{n} \sum_r \frac{[\text{true match most likely}]}{t_r} \le \text{at\_most}",
            ),
            reading=(
                "0.1 means that one record in ten is linked to its person. " + READING + " `cells` tells of each "
                "attribute the pairs of cells `compared` and `unchanged`, and how probably a released cell is the "
                "original one: `mean_cell_posterior` over the cells, `least_cell_posterior` over the values. With 110 "
                "men, 90 women and retention 0.9, 108 men are released in the mean, and a released man is a man with "
                "11/12, a released woman a woman with 81/92."
            ),
            choosing=CHOOSING,
            limits=(
                "Attributes are taken to be changed independently of each other, and all values as categories. A "
                "released cell that is missing or suppressed says nothing; an original one is taken to be released as "
                "values are in the whole release. A matrix that gives probability 0 to what happened is "
                "refused: it is not the one that was used. Without knowledge, that is by how many values agree, is "
                "how somebody looks who knows nothing of the probabilities. " + LIMITS
            ),
            source=(
                "Gouweleeuw, Kooiman, Willenborg, de Wolf, Post randomisation for statistical disclosure control: "
                "theory and implementation, Journal of Official Statistics 14(4), 1998, 463-478; Torra, Guide to Data "
                "Privacy, 2022"
            ),
            example="- pram_attack: {retention: 0.95, at_most: 0.1, attributes: [age, salary]}",
        ),
    ),
]
