"""Expectations inside other people's libraries. Each is imported only where it is used.

pandera   checks for pandera's schemas
"""
