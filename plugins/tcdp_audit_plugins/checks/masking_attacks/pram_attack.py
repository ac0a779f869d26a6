"""Post-randomisation under attack: an intruder who knows with which probabilities values were changed."""

from __future__ import annotations

from collections.abc import Mapping

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import DisclosureType, Need, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.masking_attacks.masked_values import (
    MaskedAttribute,
    PramParameters,
    faults,
    masked_attribute,
    transitions,
)
from tcdp_audit_plugins.checks.masking_attacks.posteriors import Attack, attack_sentences, posteriors, require_few
from tcdp_audit_plugins.checks.record_linkage.standardised import space
from tcdp_audit_plugins.guides import built_in_guide


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
    """The number of people that each matched released record may be: those with a posterior above `probability`.

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


CHECKS = [
    TableCheck(
        name="pram_attack",
        title="Attack on post-randomisation",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=PramParameters,
        measure=pram_attack,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        needs={Need.ORIGINAL},
        validate=faults,
        sentences=attack_sentences("{known}", "how probably each value was changed"),
        guide=built_in_guide(__file__, "pram_attack.md"),
    )
]
