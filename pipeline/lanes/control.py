"""Rows that lanes read beside bronze (schemas/tables/bookkeeping.py, LANE_CONTROL): they wake lanes and give them orders."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import SparkSession

from pipeline.lanes.orders import parts_of
from pipeline.run_context import RunContext
from pipeline.sinks.append import append_rows
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.small_tables import arrow_rows
from schemas.tables.bookkeeping import LANE_CONTROL


@dataclass(frozen=True)
class Order:
    """A control row, without what every row of a commit has. `place`: seq, ts, ns; what they mean depends on `kind`."""

    broker_id: int
    kind: str
    epoch: int = 0
    place: tuple[int, int, int] = (0, 0, 0)
    state: bytes | None = None


def issue_drain(spark: SparkSession, warehouse: Warehouse, run: RunContext) -> int:
    """Write one drain row per known lane into `lane_control`; returns how many. The next micro-batches of lanes act on them."""
    lanes = list(broker_ids(spark, warehouse).values())
    issue(spark, warehouse, [Order(lane, "drain") for lane in lanes], run.now())
    return len(lanes)


def seed_orders(broker_id: int, epoch: int, request: int, next_seq: int, state: bytes) -> Iterable[Order]:
    """The rows that let an epoch go on from `state` at `next_seq`."""
    for number, part in enumerate(parts_of(state)):
        yield Order(broker_id, "seed", epoch, (request, next_seq, number), part)


def issue(spark: SparkSession, warehouse: Warehouse, orders: Iterable[Order], at: datetime) -> None:
    """Append the rows in one file: a lane gets all of its own in one micro-batch."""
    rows = [(order.broker_id, order.kind, order.epoch, *order.place, -1, order.state, at) for order in orders]
    append_rows(spark, warehouse, LANE_CONTROL, [dict(zip(LANE_CONTROL.names, row, strict=True)) for row in rows])


def broker_ids(spark: SparkSession, warehouse: Warehouse) -> dict[str, int]:
    """The lane of every broker, by its name."""
    brokers = arrow_rows(spark, warehouse.table("names"), ("broker", "id"), {"level": ["broker"]})
    return dict(zip(brokers["broker"].to_pylist(), brokers["id"].to_pylist(), strict=True))
