"""Attacks by likelihood: an intruder who knows how values were changed (PRAM), or how much noise was added."""

from __future__ import annotations

from collections.abc import Mapping

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.masking_attacks.gaussian import Gaussian, in_units_of_noise, scored
from tcdp_audit_plugins.checks.masking_attacks.masked_values import (
    MaskedAttribute,
    PramParameters,
    faults as pram_faults,
    masked_attribute,
    transitions,
)
from tcdp_audit_plugins.checks.masking_attacks.noise import (
    NoiseParameters,
    faults as noise_faults,
    noise_of,
    numeric_attributes,
)
from tcdp_audit_plugins.checks.masking_attacks.posteriors import (
    Attack,
    attack_sentences,
    both_ways,
    posteriors,
    require_few,
)
from tcdp_audit_plugins.checks.record_linkage.credit import credit
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space
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
    attributes, attack = _attacked_pram(view, parameters)
    return attack.figure(parameters, {"cells": [one.figures() for one in attributes.values()]})


def candidates_under_pram(view: TableView, parameters: PramParameters) -> Counts:
    """The number of people that each matched released record may be: those with a posterior above `probability`.

    Where no one has one, all who are possible.

    Returns:
        int64, shape (matched records,).

    Raises:
        CheckError: as `pram_attack`.
    """
    return _attacked_pram(view, parameters)[1].candidates


def _attacked_pram(view: TableView, parameters: PramParameters) -> tuple[Mapping[str, MaskedAttribute], Attack]:
    names = known_attributes(parameters.attributes, view.quasi_identifiers)
    pairs = view.pairs(names)
    attributes = {name: masked_attribute(view, pairs, name, parameters) for name in names}
    for one in attributes.values():
        one.require_possible()
    return attributes, _attack_on_pram(pairs, attributes, parameters)


def _attack_on_pram(pairs: Pairs, attributes: Mapping[str, MaskedAttribute], parameters: PramParameters) -> Attack:
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
    attack, axes = _attacked_noise(view, parameters)
    names = numeric_attributes(parameters, view.policy.document)
    return attack.figure(parameters, {"attributes": names, "axes": axes})


def candidates_under_noise(view: TableView, parameters: NoiseParameters) -> Counts:
    """The number of people that each matched released record may be: those with a posterior above `probability`.

    Where no one has one, all who are possible.

    Returns:
        int64, shape (matched records,).

    Raises:
        CheckError: as `noise_attack`.
    """
    return _attacked_noise(view, parameters)[0].candidates


def _attacked_noise(view: TableView, parameters: NoiseParameters) -> tuple[Attack, int]:
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


CHECKS: list[Check] = [
    TableCheck(
        name="pram_attack",
        concerns="masked",
        title="Attack on post-randomisation",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=PramParameters,
        measure=pram_attack,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        needs={Need.ORIGINAL},
        validate=pram_faults,
        sentences=attack_sentences("{known}", "how probably each value was changed"),
        guide=built_in_guide(__file__, "pram_attack.md"),
    ),
    TableCheck(
        name="noise_attack",
        concerns="masked",
        title="Attack on added noise",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=NoiseParameters,
        measure=noise_attack,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        needs={Need.ORIGINAL},
        validate=noise_faults,
        sentences=attack_sentences(
            "{details.attributes}",
            "[{scores=values?}how much noise was added|how far values tend to be moved among the ranks]",
        ),
        guide=built_in_guide(__file__, "noise_attack.md"),
    ),
]
