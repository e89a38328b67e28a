"""Answers of an object store that break off.

Clients ask again for the rest of an object. They do not for a list, nor for the words on an object that is not there.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from deltalake.exceptions import DeltaError
from obstore.exceptions import GenericError

#: How often a store is asked. Where one answer in six breaks off, all of three about one list have.
_TIMES = 5
#: In the words of delta-rs and of obstore, whose exceptions are of no kind of their own.
_BROKEN_OFF = re.compile(r"request or response body error|error decoding response body")
#: Their exceptions.
FAULTS = (OSError, DeltaError, GenericError)
_Answer = TypeVar("_Answer")


def whole_answer(ask: Callable[[], _Answer]) -> _Answer:
    """The answer to a question that may be asked twice. Raises what `ask` raises: an answer that breaks off only if it always does."""
    for _ in range(_TIMES - 1):
        try:
            return ask()
        except FAULTS as fault:
            if not is_broken_off(fault):
                raise
    return ask()


def is_broken_off(fault: Exception) -> bool:
    """Whether one of FAULTS is an answer that broke off: the store may have done its work."""
    return _BROKEN_OFF.search(str(fault)) is not None
