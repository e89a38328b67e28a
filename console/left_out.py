"""pandas and SciPy stay out of processes that do not use them.

pyarrow imports pandas when it first makes an array of a list, only to see whether the list is a Series. Numba imports SciPy with its first
compiled function, only to see whether matrices can be multiplied. Neither has an option against that. The imports take as long as all else
that `why` does. Only Spark and Great Expectations need them here.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_LEFT_OUT = ("pandas", "scipy")


class _Refusal(MetaPathFinder):
    """Python asks it first for each module: those are as if they were not installed, a case that pyarrow and Numba know."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """None for others; raises ModuleNotFoundError for those."""
        if fullname in _LEFT_OUT:
            raise ModuleNotFoundError(f"this process leaves {fullname} out (console/left_out.py)", name=fullname)
        return None


def leave_out() -> None:
    """Before pyarrow makes its first array, and Numba loads its first function."""
    sys.meta_path.insert(0, _Refusal())
