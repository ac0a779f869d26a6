"""The certainty penalty: how much a value leaves open, by the values that an attribute has or by its hierarchy."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from tcdp_audit.core.base.frozen import Floats
from tcdp_audit.core.encoding.domain import Domain


class Penalty(ABC):
    """The normalised certainty penalty of the values of an attribute, from 0 for a single one to 1 for all.

    It needs no records, so that a remedy can ask what a label would cost before it releases it.

    Source: Xu et al., Utility-based anonymization using local recoding, KDD 2006; Ghinita et al., VLDB 2007.
    """

    @abstractmethod
    def of_values(self, domain: Domain) -> Floats:
        """The penalty of each value of a domain, read under the attribute's scale. Shape (domain,). O(domain)."""

    def of(self, domain: Domain) -> Floats:
        """The same of each code, the missing one last; a suppressed or missing cell costs 1. Shape (domain + 1,)."""
        return np.where(domain.is_uninformative, 1.0, np.append(self.of_values(domain), 1.0))
