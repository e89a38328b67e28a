"""One way to compile a rule: numba, cached on disk, without fast-math; the same function runs as plain Python under NUMBA_DISABLE_JIT=1.

numba knows a cached function by its own file alone and would go on using a caller that was compiled with an older callee. So the cache lies in a
folder named after all the sources that rules are made of.
"""

import hashlib
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

import numba

Rule = TypeVar("Rule", bound=Callable[..., object])
_SOURCES = ("pipeline.machines", "schemas")


def _python_files(folder: Traversable) -> list[Traversable]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _python_files(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found


def sources_fingerprint() -> str:
    """A short hash of every source file that a compiled rule may depend on, wherever the code was imported from (folder or zip)."""
    digest = hashlib.sha256()
    for package in _SOURCES:
        for file in _python_files(files(package)):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


numba.config.CACHE_DIR = str(Path(numba.config.CACHE_DIR or Path.home() / ".cache" / "dispatch-analytics") / sources_fingerprint())


def compiled(rule: Rule) -> Rule:
    """Compile `rule` lazily, once per signature. Integers stay int64; overflow would wrap, so rules use `integers.py`."""
    try:
        return numba.njit(cache=True, nogil=True)(rule)  # type: ignore[no-any-return]
    except RuntimeError:  # numba finds no folder that it may write to: compile in every process
        return numba.njit(nogil=True)(rule)  # type: ignore[no-any-return]
