"""Python workers for Spark's tasks, started while the driver does something else."""

import threading
from typing import Any

from driver.shared_paths import runs_on_a_cluster


def start_python_workers(spark: Any) -> None:
    """Begin to start Spark's daemons and first workers, which import what tasks need (driver/python_daemon.py).

    Nobody waits for it. What keeps them from starting keeps them from the first micro-batch, too. A session that ends meanwhile is no
    fault.
    """
    threading.Thread(target=_run_tasks, args=(spark,), daemon=True).start()


def _run_tasks(spark: Any) -> None:
    # A daemon serves all workers of its executor.
    tasks = spark.sparkContext.defaultParallelism if runs_on_a_cluster(spark.sparkContext.master) else 1
    try:
        spark.range(0, tasks, 1, tasks).mapInArrow(_as_it_is, "id long").collect()
    except Exception:
        if not _has_ended(spark.sparkContext):
            raise


def _has_ended(context: Any) -> bool:
    return context._jsc is None or bool(context._jsc.sc().isStopped())


def _as_it_is(batches: Any) -> Any:
    return batches
