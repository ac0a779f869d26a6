"""Labels of an outcome's details: a statistician's words in the place of keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tcdp_audit.plugin.check import Check
from tcdp_audit.plugin.sentences import Outcome, visible

SHARED = {  # of details that every check may have, or that several have; a check's guide says what its own mean
    "victims": "records exposed",
    "victim_classes": "groups exposed",
    "units": "units",
    "victim_units": "units exposed",
    "per_row": "if an intruder knew single rows but not which belong together",
    "whole_histories": "if whole histories were judged",
    "k": "smallest group",
    "classes": "groups",
    "records": "records",
    "people": "people",
    "people_in_households_alone": "people in a household that no other is like",
    "people_alike": "people in the smallest group of equal households",
    "people_without_their_like": "people whom no one in another household is like",
    "people_in_a_household_with_one_alone": "people in a household of which someone is unique",
    "lacking": "columns that the other table lacks",
    "compared_by": "columns that were compared",
    "unnamed": "values without a name, by table and column",
    "absent": "values that do not occur, by table and column",
    "judged_with_columns": "columns that it was judged with, and that are not released",
    "audited_aligned": "SHA-256 of the copy in the order of the original",
    "microdata": "the records behind the tables were read",
    "first": "first failure",
    "hidden": "hidden cells",
    "not_joined": "tables that are not judged together",
    "estimate": "estimate from a sample of pairs",
    "of_records": "records of the release",
    "pairs": "pairs compared",
    "seed": "seed",
    "number": "number",
    "share": "share",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "confidence": "confidence of the interval",
    "attempt": "chance that the attack is tried",
    "known_fraction": "share of the people whom the intruder knows",
    "success": "if the attack is tried",
    "matched": "records paired with their original",
    "released_without_original": "released records without an original",
    "originals_not_released": "original records that are not released",
    "without_variance": "columns with one value in the original",
    "missing_cells": "missing cells, which weigh as a random pair would",
    "holdout": "compared with the hold-out",
    "holdout_records": "records of the hold-out",
    "original_records": "records of the original",
    "population_records": "people of the population",
    "expected": "expected share of right links",
    "expected_correct": "expected number of right links",
    "optimistic": "share if every tie is broken rightly",
    "pessimistic": "share if every tie is broken wrongly",
    "random_baseline": "share of right links by guessing",
    "attempts": "attempts",
    "tied": "attempts with a tie",
    "mean_candidates": "mean number of candidates of a person",
    "masked_to_original": "from the release to the original",
    "original_to_masked": "from the original to the release",
    "percentile_5": "5th percentile",
    "median": "median",
    "sensitive": "sensitive columns",
    "columns": "columns",
    "attributes": "columns",
    "shared_value": "value that most share",
    "shift": "shift of the values",
    "have": "with the same value",
    "of": "of",
    "in_group": "share in the group",
    "in_reference": "share in the whole",
    "way": "direction",
    "by": "shifted by",
    "quarter": "quarter",
    "classes_without_value": "groups without a value",
    "records_without_value": "records in groups without a value",
    "worst_with_value": "worst group with a value",
    "figure": "figure of the worst group with a value",
    "members": "members of the worst group with a value",
    "missing_as_value": "missing values that count as a value",
}


@dataclass(frozen=True)
class Labels:
    """The labels of a check's details."""

    labels: Mapping[str, str]  # by key

    @classmethod
    def of(cls, check: Check | None) -> Labels:
        """The labels of a check: those of its guide, of its further limits, and those that several checks share."""
        if check is None:
            return cls(SHARED)
        further = {one.parameter: one.figure for one in check.limits[1:] if one.figure}
        return cls({**SHARED, **further, **check.guide.details})

    def of_key(self, key: str) -> str:
        """The label of a key, or its words where it has none."""
        return visible(self.labels.get(str(key), "")) or plain(key)

    def of_text(self, outcome: Outcome, text: str) -> str:
        """The label of a text among the details: of a column, or of a key; any other text as it is."""
        return visible(outcome.naming.labels.get(text) or self.labels.get(text) or text)

    def of_name(self, outcome: Outcome, name: str) -> str:
        """The same for what names a figure, in words where it has no label."""
        text = self.of_text(outcome, str(name))
        return plain(text) if text == name else text


def plain(name: str) -> str:
    """A snake_case name in words."""
    return visible(str(name)).replace("_", " ").replace("quasi identifier", "quasi-identifier")
