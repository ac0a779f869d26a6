"""An example of a tcdp-audit plugin, written as an outsider writes one."""
