"""Python workers for Spark's tasks, started while the driver does something else."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def start_python_workers(spark: Any) -> Callable[[], None]:
    """Begin to start Spark's daemon and a first worker, which import what tasks need (jobs/python_daemon.py).

    Returns a function that waits until they run; it raises what kept them from it.
    """
    executor = ThreadPoolExecutor(1)
    started = executor.submit(_run_a_task, spark)
    executor.shutdown(wait=False)

    def wait() -> None:
        started.result()

    return wait


def _run_a_task(spark: Any) -> None:
    spark.range(1).mapInArrow(_as_it_is, "id long").collect()


def _as_it_is(batches: Any) -> Any:
    return batches
