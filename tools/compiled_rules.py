"""Compiled rules on disk: every state of the sources leaves a folder (pipeline/rules_cache.py), and nobody else would ever remove it."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from pipeline.rules_cache import COMPLETE, rules_cache

#: Another version that runs, or ran lately, must not find its rules gone: it would have to compile for half a minute.
UNUSED_AFTER_DAYS = 7
_DAY_S = 86_400
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
#: numba's index and data files, and their forms while they are written.
_NUMBAS = re.compile(r"\.nb[ic](\.tmp\.\w+)?$")


def tidy_compiled_rules(now_s: float, notice: Callable[[str], None]) -> None:
    """Remove rules that this machine compiled from other sources and has not used for UNUSED_AFTER_DAYS; note that ours are in use.

    `now_s` is seconds since the Unix epoch. What cannot be removed stays. `notice` receives a line for it,
    and the job goes on.
    """
    ours = Path(rules_cache(os.environ.get("NUMBA_CACHE_DIR", "")))
    if os.access(ours.parent, os.W_OK):
        remove_unused(ours, now_s, notice)


def remove_unused(ours: Path, now_s: float, notice: Callable[[str], None]) -> None:
    """The same for the folder `ours` and its siblings. Other processes may do it at once, or be using what goes.

    numba takes a file that is gone for one that was never compiled, and makes the folder again when it writes.
    """
    try:
        os.utime(ours, (now_s, now_s))
    except FileNotFoundError:
        pass  # nothing is compiled yet
    except OSError as fault:
        notice(f"WARNING: compiled rules in {ours} may be removed though they are used: {fault}")
    for folder in sorted(ours.parent.iterdir()):
        try:
            # Its own time first: a start of a job sets it, and to look at all files takes a fifth of a second.
            if folder != ours and _is_long_ago(folder, now_s) and _is_of_rules(folder) and _is_unused(folder, now_s):
                shutil.rmtree(folder)
        except FileNotFoundError:
            continue  # another process removes it, too
        except OSError as fault:
            notice(f"WARNING: old compiled rules in {folder} cannot be removed: {fault}")


def _is_of_rules(folder: Path) -> bool:
    """Whether it is named as ours are and holds nothing but numba's files and our mark: NUMBA_CACHE_DIR may be shared with anything."""
    if not _FINGERPRINT.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    return all(_NUMBAS.search(path.name) or path == folder / COMPLETE for path in folder.rglob("*") if not path.is_dir())


def _is_unused(folder: Path, now_s: float) -> bool:
    """Whether its newest compiled rule is old, too: jobs that cannot set the folder's time may compile."""
    return all(_is_long_ago(path, now_s) for path in folder.rglob("*"))


def _is_long_ago(path: Path, now_s: float) -> bool:
    return now_s - path.stat().st_mtime > UNUSED_AFTER_DAYS * _DAY_S
