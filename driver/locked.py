"""A lock of a warehouse, held by this process while it writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from console.shown import say
from driver.this_machine import is_alive, this_driver, utc_now
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.lock import DriverLock


@contextmanager
def locked(warehouse: Warehouse, run_id: str, kind: type[DriverLock] = DriverLock, spark: Any = None) -> Iterator[DriverLock]:
    """Hold a lock of the warehouse; BadWarehouse if another process has it, or if executors of `spark` do not see the same warehouse."""
    lock = kind(files_at(warehouse.root), warehouse, this_driver(run_id), utc_now, is_alive, say)
    lock.acquire()
    try:
        if spark is not None:
            from driver.shared_paths import refuse_unshared

            refuse_unshared(spark, warehouse, kind.file_of(warehouse), run_id)
        yield lock
    finally:
        lock.release()
