"""Errors, words, files, arrays and outcomes: the ground that every other room is built on.

addresses, arrays, audit_figures, embedded_result, errors, files, frozen, guide_file, lazy, notebook, outcome, phrases,
plugin_faults, provenance, public_names, resources, scratch, visible, words
"""
