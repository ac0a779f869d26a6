"""What judges the quality of a release for a policy, beside its expectations. Imported only where a policy names it.

trusted_code                                   whether code that a policy names may run
pandera_schema, pandera_frame, pandera         a pandera schema: loaded, given its frame, its failures as outcomes
great_expectations_suite, great_expectations   an expectation suite: likewise
"""

from importlib.util import find_spec

NEEDS_PANDERA = 'needs pandera; pip install "tcdp-audit[pandera]"'
NEEDS_GREAT_EXPECTATIONS = 'needs Great Expectations; pip install "tcdp-audit[great-expectations]"'


def installed(library: str) -> bool:
    """Whether a library can be imported. A folder of its name, such as `great_expectations`, is something else."""
    found = find_spec(library)
    return found is not None and found.origin is not None
