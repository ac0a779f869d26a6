"""Errors that a person can act on. A message says what is wrong, where, and what to do; never a cell value."""

from __future__ import annotations


class TcdpAuditError(Exception):
    """Anything the auditor says on purpose. `exit_code` is what the command line answers with."""

    exit_code = 3


class UsageError(TcdpAuditError):
    """The call itself is wrong: a missing file, an unwritable report path, an unknown format."""

    exit_code = 2


class PolicyError(TcdpAuditError):
    """The policy is wrong. The message lists every fault, each with file, line and column."""

    exit_code = 2


class DataError(TcdpAuditError):
    """The release cannot be read as a table."""


class PluginError(TcdpAuditError):
    """A plugin is broken, clashes with another, or is missing although the policy needs it."""


class CheckError(TcdpAuditError):
    """A check could not give an answer for this release."""
