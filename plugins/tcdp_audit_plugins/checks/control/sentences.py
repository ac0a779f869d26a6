"""Templates that the attacks with a control set share, and how their figures are read."""

from __future__ import annotations

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
