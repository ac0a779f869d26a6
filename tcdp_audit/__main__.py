"""`python -m tcdp_audit` is `tcdp-audit`."""

import sys

from tcdp_audit.cli import main

sys.exit(main())
