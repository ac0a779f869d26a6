"""Plugins, and a release with its policy and its companions, opened together.

hookspecs, inputs, registry
"""
