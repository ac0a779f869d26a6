"""The surface for plugins, by role. Every name of the six public modules stays; docs/plugins.md shows each.

check       checks: kinds, parameters, evidence, figures
sentences   outcomes, and sentences about them
engine      tables, their cells as codes, and the errors that a plugin raises
detector    detectors of identifiers, and the words of a policy: roles, scales, documents
remedy      remedies: what they see and give back
report      reports, their sections and blocks
_internal   what only the built-in plugins use, promised to no one
"""

__all__ = ["check", "detector", "engine", "remedy", "report", "sentences"]  # modules, imported when they are named
