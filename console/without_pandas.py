"""pandas stays out of processes that do not use it.

pyarrow imports pandas when it first makes an array of a list, only to see whether the list is a Series; it has no option against that.
The import takes as long as all else that `why` does. Only Spark and Great Expectations need pandas here.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Refusal(MetaPathFinder):
    """Python asks it first for each module: pandas is as if it were not installed, a case that pyarrow knows."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """None for all but pandas; raises ModuleNotFoundError for it."""
        if fullname == "pandas":
            raise ModuleNotFoundError("this process leaves pandas out (console/without_pandas.py)", name=fullname)
        return None


def leave_pandas_out() -> None:
    """Before pyarrow makes its first array."""
    sys.meta_path.insert(0, _Refusal())
