"""The repair of a release: sentences, tables and charts made from the log of changes, for the section on the remedy."""
