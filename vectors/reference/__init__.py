"""The definitions in fractions and plain loops: slow, short, and without any of tcdp-audit."""
