"""Test vectors for disclosure measures, a slow reference, and a runner that asks other tools.

`README.md` in this folder is all that a tool needs; nothing of this package is needed to use the vectors, and
nothing here imports tcdp-audit but the adapter that asks it.
"""
