"""Attacks on masked releases by an intruder who knows how the masking works.

rank_swap_attack, microaggregation_attack  check the candidates that the masking leaves for each person
tables, ranks, links, candidate_figure     find candidates, close their sets, and count links
likelihood_attacks                         check how likely each person is under the masking
masked_values, channel, transitions        compute the likelihood of a change of categories
noise, gaussian                            compute the likelihood of added noise
posteriors, likelihood_figure              sum likelihoods up to posteriors, and count links
parameters                                 read what the intruder knows, from the policy and from files
"""

from __future__ import annotations

from tcdp_audit.plugin.check import Check
from tcdp_audit_plugins.checks.masking_attacks import likelihood_attacks, microaggregation_attack, rank_swap_attack

CHECKS: list[Check] = [
    *rank_swap_attack.CHECKS,
    *microaggregation_attack.CHECKS,
    *likelihood_attacks.CHECKS,
]
