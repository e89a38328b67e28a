"""This machine's clock and processes, as locks and reports name them."""

import os
import socket
from datetime import UTC, datetime
from pathlib import Path

from pipeline.warehouse.lock_file import Driver


def utc_now() -> datetime:
    """The clock of every job."""
    return datetime.now(UTC)


def this_driver(run_id: str) -> Driver:
    """This process, as its locks name it."""
    return Driver(run_id, socket.gethostname(), os.getpid(), process_start(os.getpid()))


def is_alive(driver: Driver) -> bool:
    """Whether a driver of this host still runs: its process exists and is the same one (a pid is used again)."""
    try:
        os.kill(driver.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it exists and is somebody else's
    return process_start(driver.pid) == driver.process


def process_start(pid: int) -> str:
    """When the process was started: the boot's id and the kernel's ticks since; empty where there is no /proc, or no such process."""
    try:
        # The second field is the command in parentheses, which may contain anything; start time is the 22nd.
        ticks = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text(encoding='utf-8').strip()}:{ticks}"
    except OSError:
        return ""
