"""Makes `sources` importable from the folders below."""
