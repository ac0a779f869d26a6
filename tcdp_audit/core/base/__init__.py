"""Errors, words, files, arrays and outcomes: what every other room stands on.

addresses, arrays, embedded_result, errors, exposed, files, frozen, lazy, notebook, outcome, phrases,
plugin_faults, provenance, public_names, resources, scratch, signal_mask, visible, words
"""
