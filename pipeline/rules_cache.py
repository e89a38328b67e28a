"""Where compiled rules are kept on disk: a folder of their own for every state of the sources they are made of.

numba knows a cached function by its own file alone and would go on using a caller that was compiled with an older callee.
Folders that went out of use are removed when a job starts (tools/compiled_rules.py).
"""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

#: Packages whose sources or constants end up in compiled rules.
_SOURCES = ("pipeline.rules", "schemas")
#: A file in that folder: all rules are there, compiled for this.
COMPLETE = "complete"


def rules_cache(parent: str) -> str:
    """The folder for rules compiled from the present sources, in `parent` or, if that is empty, in the user's cache."""
    folder = Path(parent) if parent else Path.home() / ".cache" / "dispatch-analytics"
    return str(folder / sources_fingerprint())


def parts_cache(parent: str) -> str:
    """The folder, in that of the rules, for rules that only rules call.

    A compiled rule holds a copy of all that it calls. So once all are compiled nobody reads this folder any more, and it may be removed.
    """
    return str(Path(rules_cache(parent)) / "parts")


def sources_fingerprint(packages: Sequence[str] = _SOURCES) -> str:
    """A short hash of every Python file of the packages, wherever the code was imported from (folder or zip).

    By default of the packages that a compiled rule may depend on.
    """
    digest = hashlib.sha256()
    for package in packages:
        for file in _python_files(files(package)):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _python_files(folder: Traversable) -> list[Traversable]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _python_files(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found
