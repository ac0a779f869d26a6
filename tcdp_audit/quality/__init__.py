"""What judges the quality of a release for a policy, beside its expectations. Imported only where a policy names it.

pandera_schema, pandera_frame, pandera   a policy's pandera schema: loaded, given its frame, its failures as outcomes
"""
