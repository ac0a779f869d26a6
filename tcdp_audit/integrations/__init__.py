"""Other people's libraries beside the auditor. Each is imported only where it is used; none decides.

pandera_schema, pandera_frame, pandera   a policy's pandera schema: loaded, given its frame, its failures as outcomes
"""
