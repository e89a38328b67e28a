"""Processes that share the work of a load. They are forked, so what is imported here is imported there."""

import gc
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import Any

#: A process looks so often whether the one that began it is still there.
_LOOKS_EVERY_S = 1.0
_FORK = multiprocessing.get_context("fork")
#: What processes count.
EVENTS_READ, BROKERS_DONE = range(2)
#: Of a process of the pool: how far all processes are.
_counts: Any = None


class Processes:
    """`count` processes. Use it as a context: it begins them, and whatever ends it ends them.

    Begin it before the client of a store, or delta-rs, begins threads: a process that is forked beside threads may not live long.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._counts = _FORK.Array("q", [0] * (BROKERS_DONE + 1))
        self._pool = ProcessPoolExecutor(count, _FORK, _begin, (os.getpid(), self._counts))
        self.submit = self._pool.submit

    def counted(self, what: int) -> int:
        """What `count` has counted in all of them: EVENTS_READ or BROKERS_DONE."""
        return int(self._counts[what])

    def __enter__(self) -> "Processes":
        self.submit(os.getpid).result()  # all are forked with the first one
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for process in list((self._pool._processes or {}).values()):  # what they do is of no use any more
                process.kill()
        self._pool.shutdown(cancel_futures=True)


def count(what: int, more: int) -> None:
    """In a process of the pool: so many more."""
    with _counts.get_lock():
        _counts[what] += more


def _begin(parent: int, counts: Any) -> None:
    global _counts
    _counts = counts
    # Garbage of the process that began this one may need its threads to be freed: clients of stores. Nobody frees it here.
    gc.freeze()
    # Ctrl-C reaches all processes of the terminal. The parent ends these.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, however that ended."""
    while os.getppid() == parent:
        threading.Event().wait(_LOOKS_EVERY_S)
    os._exit(1)
