"""Spark's daemon of Python workers, of this machine and of a cluster's executors: a worker that nobody listens to ends without a trace.

Java closes a worker's socket once it has enough rows (LIMIT), or when a task is given up. A worker that still writes then fails with a
broken pipe. Spark lets it print that trace and exit with 1. Here it exits with 1. Every other fault is Spark's to print, as ever: of our
code it reaches Java by the same socket, while Java listens.

A worker is a copy (fork) of the daemon. So the daemon imports first what workers run, and loads the compiled rules: otherwise each worker
would spend two seconds on that, and a job starts with four.

Spark's worker collects garbage after each task. It would look at the 200,000 objects of these imports each time (0.1 s of a core, a third
of all that a live job took), and so copy their memory. The daemon freezes them: a collection then looks only at objects of the tasks.

An executor has the code and the compiled rules in a folder of its own, where Spark unpacked them (tools/code_zip.py).
"""

import gc
import os
import socket
import sys
from importlib import import_module
from zipimport import zipimporter

from pyspark import daemon

from tools.shipped_rules import use_shipped_rules

#: Modules that tasks of a stream run. Only imports: what starts threads must not be called before a fork.
RUN_BY_WORKERS = ("pipeline.ingest.bronze_files", "pipeline.lanes.operator", "pipeline.sources.kind")

_worker_of_spark = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """Spark's worker, in a process of its own."""
    try:
        return _worker_of_spark(sock, authenticated)
    except BrokenPipeError:
        os._exit(1)


def preload() -> None:
    """What every worker would do first."""
    use_shipped_rules()
    for module in RUN_BY_WORKERS:
        import_module(module)
    import_module("pipeline.rules.warm_up").warm_up()
    forget_zips()
    gc.collect()
    gc.freeze()


def forget_zips() -> None:
    """Let Python forget its readers of zips. A new worker would have each of them read its zip's list of files anew: 0.1 s together.

    Whoever imports from a zip gets a new reader, which knows the list.
    """
    for path in [path for path, reader in sys.path_importer_cache.items() if isinstance(reader, zipimporter)]:
        del sys.path_importer_cache[path]


if __name__ == "__main__":
    preload()
    daemon.worker = worker
    daemon.manager()
