"""Other people's libraries beside the auditor. Each is imported only where it is used; none decides."""
