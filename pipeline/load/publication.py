"""A warehouse that appears whole or not at all: on this machine by a rename, elsewhere by what is uploaded last."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from pipeline.faults import BadConfig
from pipeline.store.address import local_path
from pipeline.store.copies import send
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock import DriverLock

#: In the folder that is being made; its maker holds a lock on it, which ends with the process.
_HELD = "_loading"
#: Without its log nobody takes a folder for a warehouse (console/named_warehouse.py).
_LAST = "batch_manifest"
#: Files that are uploaded at the same time.
_AT_ONCE = 16
#: Makes the lock of a warehouse that is not on this machine.
LockOf = Callable[[Warehouse], DriverLock]


def refuse_what_is_there(root: str) -> None:
    """Raise BadConfig unless a new warehouse may appear at `root`: there is nothing, or an empty folder that gives way to a rename.

    Elsewhere what a load left that was killed gives way, too.
    """
    place = local_path(root)
    if place is None:
        found = {*files_at(root).names(root)} - {Path(Warehouse(root).lock_file).name}
        if found and _HELD not in found:
            raise _is_there(root)
        return
    if place.is_mount():
        raise BadConfig(f"--warehouse {place}: a file system is mounted there; name a folder in it")
    if place.is_dir() and not any(place.iterdir()):
        return
    if os.path.lexists(place):
        raise _is_there(str(place))


def _is_there(place: str) -> BadConfig:
    return BadConfig(f"--warehouse {place}: there is something already; `load` makes a new warehouse, name a folder that does not exist")


@contextmanager
def appearing(root: str, lock_of: LockOf) -> Iterator[Path]:
    """The folder in which to make what is to be at `root`: there when the block ends well, gone when it does not.

    Removes what a load of the same place left that was killed. Raises BadConfig as `refuse_what_is_there` does, or where no folder can be.
    """
    place = local_path(root)
    if place is not None:
        with _made_beside(place) as folder:
            yield folder
        return
    refuse_what_is_there(root)
    with tempfile.TemporaryDirectory(prefix="loading-") as made:
        yield Path(made)
        lock = lock_of(Warehouse(root))
        lock.acquire()
        try:
            _upload(Path(made), root)
        finally:
            lock.release()


@contextmanager
def _made_beside(place: Path) -> Iterator[Path]:
    refuse_what_is_there(str(place))
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
            refuse_what_is_there(str(place))  # an empty folder gives way to the rename
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


def _upload(folder: Path, root: str) -> None:
    """All files of the folder, logs of tables after their data, and one log at the very end. The lock of the place is held."""
    refuse_what_is_there(root)
    files, held = files_at(root), f"{root}/{_HELD}"
    if files.exists(held):
        for name in files.names(root):
            if name not in (_HELD, Path(Warehouse(root).lock_file).name):
                files.delete(f"{root}/{name}")
    files.write(held, "")

    def put(path: Path) -> None:
        send(path, f"{root}/{path.relative_to(folder)}")

    of_folder = [path for path in folder.rglob("*") if path.is_file()]
    logs = [path for path in of_folder if "_delta_log" in path.parts]
    last = [path for path in logs if path.relative_to(folder).parts[0] == _LAST]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for share in ({*of_folder} - {*logs}, {*logs} - {*last}, last):
            list(threads.map(put, sorted(share)))
    files.delete(held)
