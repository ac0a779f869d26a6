"""Errors, words, files, arrays and outcomes, which every other package builds on.

addresses, audit_figures, embedded_result, errors, files, frozen, guide_file, lazy, notebook, outcome, phrases,
plugin_faults, provenance, public_names, resources, scratch, visible, words
"""
