"""Spark's daemon of Python workers, for a driver on this machine: a worker that nobody listens to any more ends without a trace.

Java closes a worker's socket once it has enough rows (LIMIT), or when a task is given up. A worker that still writes then fails with a
broken pipe. Spark lets it print that trace and exit with 1. Here it exits with 1. Every other fault is Spark's to print, as ever: of our
code it reaches Java by the same socket, while Java listens.
"""

import os
import socket

from pyspark import daemon

_worker_of_spark = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """Spark's worker, in a process of its own."""
    try:
        return _worker_of_spark(sock, authenticated)
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
