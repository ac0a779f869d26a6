"""Errors, words, files and outcomes: the ground that every other room is built on.

audit_figures, cache, cancellation, declared_types, errors, files, frozen, guide_file, language, lazy,
notebook, outcome, phrases, provenance, resources, scratch, words
"""
