"""The one way to compile a rule: numba, cached on disk, no fast-math. Under NUMBA_DISABLE_JIT=1 the same function runs as plain Python."""

from collections.abc import Callable
from typing import TypeVar

import numba

from pipeline.rules_cache import rules_cache

Rule = TypeVar("Rule", bound=Callable[..., object])

numba.config.CACHE_DIR = rules_cache(numba.config.CACHE_DIR)


def compiled(rule: Rule) -> Rule:
    """Compile `rule` lazily, once per signature. Integers stay int64; overflow would wrap, so rules use `integers.py`."""
    try:
        return numba.njit(cache=True, nogil=True)(rule)
    except RuntimeError:  # numba finds no folder that it may write to: compile in every process
        return numba.njit(nogil=True)(rule)
