"""Answers of an object store that break off.

Clients ask again for the rest of an object. For a list, and for the words on an object that is not there, they do not.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from obstore.exceptions import GenericError

#: How often a store is asked.
_TIMES = 3
#: In the words of delta-rs and of obstore, whose exceptions are of no kind of their own.
_BROKEN_OFF = re.compile(r"request or response body error|error decoding response body")
_Answer = TypeVar("_Answer")


def whole_answer(ask: Callable[[], _Answer]) -> _Answer:
    """The answer to a question that may be asked twice. Raises what `ask` raises: an answer that breaks off only if it always does."""
    for _ in range(_TIMES - 1):
        try:
            return ask()
        except (OSError, GenericError) as fault:
            if _BROKEN_OFF.search(str(fault)) is None:
                raise
    return ask()
