"""Texts that the guides of both interval checks have in common."""

from __future__ import annotations

READING = (
    "The figure is the average of the attributes' shares, as in the literature; `aggregate` chooses another. With "
    "several p it is that of the largest, whose intervals hold all others. `details` has `average`, `worst` (the "
    "largest share of an attribute) and `joint` (the share of records inside in all attributes at once, the dRisk of "
    "sdcMicro), and under `at` the same for every p with the shares `per_attribute`. The shares are of the `matched` "
    "records; `originals_not_released` and `released_without_original` have no partner and are only counted. A missing "
    "value, masked or original, is never inside: `missing` counts those pairs for each attribute. Attributes whose "
    "original values are all equal (`constant`), or that have no pair of values (`without_values`), are named and "
    "left out of all figures. Where the tables outgrow the memory, the shares are those of a sample of up to 1,000,000 "
    "pairs among intervals of the whole tables, and so are the counts of pairs: `estimate` has the interval of the "
    "headline figure, and a demand is decided by its ends."
)
CHOOSING = (
    "Look at what an original value inside the interval would mean to a person, and measure several p first. The "
    "average and the joint share can be far apart; with many attributes the joint share is close to 0 even for weak "
    "masking, so bound the worst attribute as well."
)
LIMITS = (
    "A share of values is no probability that an intruder is right: wide intervals hold the value of nearly everyone "
    "whatever the masking does. The checks on record linkage say who is recognised."
)
