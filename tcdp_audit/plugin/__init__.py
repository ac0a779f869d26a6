"""The surface for plugins, by role. Every name of the seven public modules stays; docs/plugins.md shows each.

check       checks: kinds, parameters, evidence, figures
aggregate   checks on released tables of figures: their kind, cells, figures
sentences   outcomes, and sentences about them
engine      tables, their cells as codes, and the errors that a plugin raises
detector    detectors of identifiers, and the words of a policy: roles, scales, documents
remedy      remedies: their views and treatments
report      reports, their sections and blocks
_internal   names for the built-in plugins only, without a promise
"""

# pyright: reportUnsupportedDunderAll=false
__all__ = [
    "aggregate",
    "check",
    "detector",
    "engine",
    "remedy",
    "report",
    "sentences",
]  # modules, imported when they are named
