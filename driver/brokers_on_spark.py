"""`right-size` of several brokers on Spark: one broker a task. Tasks read the tables without Spark, at the driver's versions of them."""

import socket
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pipeline.faults import BadWarehouse
from pipeline.query.room import ReadingRoom
from pipeline.store.address import local_path
from pipeline.store.files import files_at
from pipeline.warehouse.answerable import OF_CAUSES, refuse_missing
from pipeline.warehouse.cut import Cut
from pipeline.warehouse.layout import Warehouse
from pipeline.what_if.limited import Asked, Limited
from pipeline.what_if.right_size import of_broker

Document = dict[str, Any]
#: What DuckDB may hold in a task: it has neighbours. A broker's sorts beyond go on in temporary files.
MOST_MEMORY = "2GB"


class _Look(NamedTuple):
    """What all tasks look at: the warehouse at these versions of its tables."""

    root: str
    cut: Cut


def of_each_broker(spark: Any, look: ReadingRoom, asked: Asked, brokers: Sequence[Limited]) -> list[Document]:
    """`of_broker` of each, in their order. `look` has a cut; tasks read at that cut, so the answers are those of this process.

    The largest broker begins first. Raises BadWarehouse where an executor does not find the tables.
    """
    assert look.cut is not None, "a live job writes on: without a cut each task would see other rows"
    task = partial(_answered, _Look(look.warehouse.root, look.cut), asked)
    largest = largest_first(brokers, _events_of(look))
    found = spark.sparkContext.parallelize(largest, len(largest)).map(task).collect()
    for one in found:
        if isinstance(one, BadWarehouse):
            raise one
    answers = dict(zip((one.broker for one in largest), found, strict=True))
    return [answers[one.broker] for one in brokers]


def largest_first(brokers: Sequence[Limited], events: Mapping[str, int]) -> list[Limited]:
    """By the work of each, the most first: Spark starts tasks in this order, and all would wait for a long one that begins last.

    The topics of a broker are replayed one after the other, and then all of them. So its work grows with topics and with events.
    Longest processing time first is at most 4/3 of the shortest time (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).
    """
    return sorted(brokers, key=lambda one: events.get(one.broker, 0) * (len(one.topics) + 1), reverse=True)


def _events_of(look: ReadingRoom) -> dict[str, int]:
    """Events in the log of each broker, by its windows: a small table."""
    rows = look.rows("SELECT broker, sum(events) AS events FROM broker_windows GROUP BY broker")
    return {row["broker"]: int(row["events"]) for row in rows}


def _answered(look: _Look, asked: Asked, one: Limited) -> Document | BadWarehouse:
    """A task. A fault of the warehouse is an answer, too: Spark would repeat the task, and bury the reason in a trace."""
    warehouse = Warehouse(look.root)
    try:
        _refuse_unshared(warehouse)
        return of_broker(ReadingRoom(warehouse, cut=look.cut, most_memory=MOST_MEMORY), asked, *one)
    except BadWarehouse as fault:
        return fault


def _refuse_unshared(warehouse: Warehouse) -> None:
    """Raise BadWarehouse where this host does not have the warehouse: to the room tables that are not there have no rows."""
    try:
        refuse_missing(warehouse, files_at(warehouse.root), (*OF_CAUSES, "dispatch_events"))
    except BadWarehouse as fault:
        if not local_path(warehouse.root):
            raise
        raise BadWarehouse(
            f"{warehouse.root} is not the same folder on {socket.gethostname()}: on a cluster, choose a folder that all hosts share, "
            "such as one of NFS, or another file system (hdfs:, s3a:)"
        ) from fault
