"""A warehouse that appears whole or not at all: it is made in a folder beside its place, and renamed when all is written."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.faults import BadConfig

#: In the folder that is being made; its maker holds a lock on it, which ends with the process.
_HELD = "_loading"


def refuse_what_is_there(place: Path) -> None:
    """Raise BadConfig unless a new warehouse may appear at `place`: there is nothing, or an empty folder that gives way to a rename."""
    if place.is_mount():
        raise BadConfig(f"--warehouse {place}: a file system is mounted there; name a folder in it")
    if place.is_dir() and not any(place.iterdir()):
        return
    if os.path.lexists(place):
        raise BadConfig(f"--warehouse {place}: there is something already; `load` makes a new warehouse, name a folder that does not exist")


@contextmanager
def appearing(place: Path) -> Iterator[Path]:
    """The folder in which to make what is to be at `place`: there when the block ends well, gone when it does not.

    Removes what a load of the same place left that was killed. Raises BadConfig as `refuse_what_is_there` does, or where no folder can be.
    """
    refuse_what_is_there(place)
    prefix = f".{place.name}.loading-"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_behind(place.parent, prefix)
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place.parent))
    except OSError as fault:
        raise BadConfig(f"--warehouse {place}: no folder can be made there: {fault.strerror}") from fault
    held = folder / _HELD
    try:
        with held.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
            held.unlink()
            folder.chmod(0o777 & ~_umask())
            refuse_what_is_there(place)  # an empty folder gives way to the rename
            folder.rename(place)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _remove_left_behind(parent: Path, prefix: str) -> None:
    """Folders of loads that are no more: nobody holds their lock."""
    for held in parent.glob(f"{prefix}*/{_HELD}"):
        with held.open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(held.parent, ignore_errors=True)


def _umask() -> int:
    """Of this process: `mkdtemp` makes folders that nobody else may open."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
