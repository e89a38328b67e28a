"""Translations of our statements on this machine's disk: a command that asks thirty of them would translate for a second."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline.rules_cache import sources_fingerprint

#: Of so many states of the sources files are kept, those that were written last: two checkouts do not take each other's away.
_STATES = 4


def kept_on_disk() -> dict[str, Any]:
    """What was kept by this state of the sources: JSON by statement. Empty where there is no such file, or it is damaged."""
    try:
        found = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def keep_on_disk(translations: Mapping[str, Any], most: int) -> None:
    """Keep them, and of those that others have kept meanwhile the last: `most` in all.

    Where nobody can write, nothing is kept: the next one translates again.
    """
    file = _file()
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        kept = [*(kept_on_disk() | dict(translations)).items()][-most:]
        partial.write_text(json.dumps(dict(kept)), "utf-8")
        partial.replace(file)
        _remove_old(file.parent)


def _file() -> Path:
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "dispatch-analytics" / "translations" / f"{_fingerprint()}.json"


@cache
def _fingerprint() -> str:
    """Of all that a translation depends on beside its statement."""
    return f"{sources_fingerprint(('pipeline.query',))}-{version('sqlglot')}"


def _remove_old(folder: Path) -> None:
    states = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    for file in states[_STATES:]:
        file.unlink(missing_ok=True)
