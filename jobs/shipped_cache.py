"""Where numba looks for the rules that were shipped with the code (jobs/shipped_rules.py). numba imports this by name."""

import os

from numba.core.caching import UserProvidedCacheLocator

from jobs.shipped_rules import ROOT


class ByPackage(UserProvidedCacheLocator):
    """A folder of the cache is named after its package."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """`pipeline/machines/broker` of a file in it."""
        return os.path.relpath(os.path.dirname(os.path.abspath(py_file)), ROOT)
