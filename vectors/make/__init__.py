"""Writes the vectors: tables, mistakes that they catch, and answers by the reference."""
