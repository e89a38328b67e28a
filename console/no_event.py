"""The end of a run that found no event."""

import sys
from typing import TYPE_CHECKING

from pipeline.visible import visible

if TYPE_CHECKING:
    from pipeline.warehouse.look import Queries


def said_of_no_event(look: "Queries") -> int:
    """1 if lines were read and none of them is an event, which a line on stderr says, with the likely mistake; else 0."""
    from pipeline.diagnosis.no_event import no_event_words

    words = no_event_words(look)
    if words is not None:
        print(f"error: {visible(words)}", file=sys.stderr)
    return 0 if words is None else 1
