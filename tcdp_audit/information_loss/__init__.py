"""Measures of information loss: a repaired release beside the release that it was made from."""

from tcdp_audit.information_loss.loss import InformationLoss, information_loss

__all__ = ["InformationLoss", "information_loss"]
