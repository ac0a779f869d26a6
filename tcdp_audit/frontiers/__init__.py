"""`frontier`: a policy under other thresholds, each repaired by `fix`, and the Pareto front of risk and loss.

varied     which demands are varied, the thresholds in between, and the settings in the order they are tried
trial      one setting: repaired, written, audited, read; and its results saved for a later run
workers    runs settings one after another, or in several processes
exploring  `frontier`: a release in, the frontier out
"""

from __future__ import annotations
