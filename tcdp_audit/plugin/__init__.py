"""The surface for plugins, by role. Every name of the six public modules stays; docs/plugins.md shows each.

check, remedy, engine, detector, report, sentences   at most 25 names each
_internal                                           what only the built-in plugins use, promised to nobody
"""

__all__ = ["check", "detector", "engine", "remedy", "report", "sentences"]
