"""Plugins, and a release with its policy and its companions, opened together.

audits, hookspecs, inputs, named_files, registry, typed
"""
