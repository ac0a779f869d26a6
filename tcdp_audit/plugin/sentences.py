"""Write sentences: outcomes, words for numbers, parts of sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.outcome import (
        Comparison as Comparison,
        Outcome as Outcome,
        Severity as Severity,
        Status as Status,
    )
    from tcdp_audit.core.base.phrases import (
        allowance as allowance,
        column_of as column_of,
        known_columns as known_columns,
        part_of as part_of,
        record_noun as record_noun,
        unit_noun as unit_noun,
    )
    from tcdp_audit.core.base.words import (
        agree as agree,
        count as count,
        decimal as decimal,
        figure as figure,
        listing as listing,
        noun_form as noun_form,
        percent as percent,
        percent_of as percent_of,
        plural as plural,
        prose as prose,
        sentence_case as sentence_case,
        share as share,
        visible as visible,
    )
    from tcdp_audit.core.check.sentences import Sentences as Sentences
    from tcdp_audit.core.check.translation import say as say
else:
    __getattr__, __dir__ = on_first_use(__name__)
