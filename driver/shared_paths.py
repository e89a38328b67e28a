"""On a cluster every host must see the same warehouse: a local folder of that name would take files that nobody finds again."""

import socket
import time
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.faults import BadWarehouse
from pipeline.store.address import local_path
from pipeline.warehouse.layout import Warehouse

#: A file that is being rewritten may be empty for a moment.
_LOOKS, _PAUSE_S = 5, 0.2


def runs_on_a_cluster(master: str) -> bool:
    """Whether tasks run in other processes, maybe on other hosts."""
    return master != "local" and not master.startswith("local[")


def refuse_unshared(spark: Any, warehouse: Warehouse, file: str, text: str) -> None:
    """Raise BadWarehouse if an executor of a cluster does not find `text` in `file`, which this driver wrote into a local warehouse.

    Executors that join later are not asked. Other file systems than the local one are shared by nature.
    """
    if not file.startswith("file:") or not runs_on_a_cluster(spark.sparkContext.master):
        return
    blind = hosts_without(spark, str(local_path(file)), text)
    if blind:
        raise BadWarehouse(
            f"{warehouse.root} is not the same folder on {', '.join(blind)}: on a cluster, choose a folder that all hosts share, "
            "such as one of NFS, or another file system (hdfs:, s3a:)"
        )


def hosts_without(spark: Any, path: str, text: str) -> list[str]:
    """Hosts of executors that do not find `text` in the file at `path`, in order. As many tasks as cores look."""
    cores = spark.sparkContext.defaultParallelism
    rows = spark.range(0, cores, 1, cores).mapInArrow(partial(_hosts_without, path, text), "host string").collect()
    return sorted({row.host for row in rows})


def _hosts_without(path: str, text: str, batches: Any) -> Any:
    for _ in batches:
        hosts = [] if _finds(Path(path), text) else [socket.gethostname()]
        yield pa.RecordBatch.from_arrays([pa.array(hosts, pa.string())], ["host"])


def _finds(path: Path, text: str) -> bool:
    for look in range(_LOOKS):
        if look:
            time.sleep(_PAUSE_S)
        try:
            if text in path.read_text(encoding="utf-8"):
                return True
        except OSError:
            continue  # not there, or not to be read
    return False
