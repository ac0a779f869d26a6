"""The surface for plugins, by role. Every name of the seven public modules stays; docs/plugins.md shows each.

check, measure, sentences           to write a check: at most 25 names each, as in the following
remedy, engine, detector, report    to write one of these
_internal                           what only the built-in plugins use, promised to no one
"""

__all__ = ["check", "detector", "engine", "measure", "remedy", "report", "sentences"]
