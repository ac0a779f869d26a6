"""`frontier`: a policy under other thresholds, each repaired by `fix`, and the front of risk against loss.

steps      round numbers between two thresholds, and around one
varied     which demands are varied, and the policy at one setting of them
grid       the settings in the order in which they are tried
trial      one setting: repaired, written, audited, read
workers    settings one after another, or in several processes
saved      what an interrupted run left, for the next one
exploring  the call: a release in, the frontier out
"""

from __future__ import annotations
