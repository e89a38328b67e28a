"""One way to compile a rule: numba, cached on disk, without fast-math; the same function runs as plain Python under NUMBA_DISABLE_JIT=1."""

from collections.abc import Callable
from typing import TypeVar

import numba

Rule = TypeVar("Rule", bound=Callable[..., object])


def compiled(rule: Rule) -> Rule:
    """Compile `rule` lazily, once per signature. Integers stay int64; overflow would wrap, so rules use `integers.py`."""
    return numba.njit(cache=True, nogil=True)(rule)  # type: ignore[no-any-return]
