"""Python workers for Spark's tasks, started while the driver does something else."""

import threading
from typing import Any


def start_python_workers(spark: Any) -> None:
    """Begin to start Spark's daemon and a first worker, which import what tasks need (jobs/python_daemon.py).

    Nobody waits for it. What keeps them from starting keeps them from the first micro-batch, too, which reports it.
    """
    threading.Thread(target=_run_a_task, args=(spark,), daemon=True).start()


def _run_a_task(spark: Any) -> None:
    spark.range(1).mapInArrow(_as_it_is, "id long").collect()


def _as_it_is(batches: Any) -> Any:
    return batches
