"""The built-in plugins. They use only what `tcdp_audit` offers to everyone."""
