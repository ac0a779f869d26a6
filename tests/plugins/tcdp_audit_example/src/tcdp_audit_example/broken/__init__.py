"""Plugins that are broken, each in one way."""
