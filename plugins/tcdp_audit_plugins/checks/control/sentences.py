"""Templates that the attacks with a control set share, and how their figures are read."""

from __future__ import annotations

READING = (
    "With a hold-out the observed value is `high`, the upper end of the risk's interval at `confidence`; `low` is the "
    "lower end, and `excess` is (a - c) / (1 - c) of the shares as they are, below 0 where the hold-out did worse. "
    "`success` is a, `successes` of `attempts` on the original; `control_success`, `control_successes` and "
    "`control_attempts` are those of c on the hold-out. Without a hold-out the observed value is `success`, which says "
    "little by itself: much of it is chance, and no demand can be judged."
)
CHOOSING = (
    "0.1 is our proposal; no norm names a figure. It is compared with the upper end, so that a small hold-out never "
    "passes for want of records: a few hundred are needed for 0.1, even where nothing leaks."
)
ABOUT_CONTROL = (
    "It is what this intruder gains, not a bound: a low value is no proof that no other attack works. A `holdout` must "
    "be drawn from the same population as the original and have had no part in making the release."
)
CUT = (
    "Gower's differences are in parts of the range that original and hold-out have, 1 at the most: a released value "
    "beyond that range is as far away as its ends are from each other."
)
GIOMI = (
    "Giomi, Boenisch, Wehmeyer, Tasnadi, A unified framework for quantifying privacy risk in synthetic data, PoPETs "
    "2023(2), arXiv 2211.10459"
)
OPINION = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), section 2.2"


CONTROL_PARTS = {
    "on_both": (
        "{success:%} of the {record:plural} in the original"
        "[{control_success?}, and for {control_success:%} of those in the hold-out]"
    ),
    "added": (
        "[{control_success?}the release adds at most {observed:%} to chance (with {details.confidence:%} confidence)"
        "[, where {allowed}]|without a hold-out it is unknown how much of that is chance]"
    ),
    "chances": (
        "is right with {success:chance}"
        "[{control_success?}; about a person who had no part in the release, with {control_success:chance}]"
    ),
}
