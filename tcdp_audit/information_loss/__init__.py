"""What a remedied release has lost beside the release that it was made from: measures of information loss."""

from tcdp_audit.information_loss.loss import InformationLoss, information_loss

__all__ = ["InformationLoss", "information_loss"]
