"""`what-if` over one hour of a busy broker: a change of one topic, of the limiter that all share, a sweep; one core, no Spark.

The log is simulated (busy_hour.toml, a part of its topics on one broker), loaded, and multiplied: each copy has topics of its own.
"""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from bench.hour import SCENARIO
from bench.measure import Pair, alternate
from driver.loading import load_log
from pipeline.query.room import ReadingRoom
from pipeline.settings import load_settings
from pipeline.warehouse.append import append_files, append_rows
from pipeline.warehouse.data_files import NewFile
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables
from pipeline.what_if.answer import case_of, checked, played, what_if
from pipeline.what_if.changes import Changes, changes_of
from schemas.tables import TABLES_BY_NAME
from sim.run import EVENTS, simulate
from sim.scenario import read_scenario

#: Of the scenario's topics one in so many is simulated.
ONE_IN = 15
TOPIC = "persistent://shop/eu/limited-0"
#: As `--set`: of one topic, whose question touches only it; of the broker, which all topics share.
OF_TOPIC, OF_BROKER = "subscription.dispatch_rate.messages=90", "broker.dispatch_rate.messages=6000"
SWEPT = 100
#: Of the hour, at most.
BUSY_EVENTS = 16_000_000
_BOUNDED = TABLES_BY_NAME["dispatch_events"].properties["delta.dataSkippingStatsColumns"].split(",")


@dataclass(frozen=True)
class Busy:
    """A warehouse of one broker's hour, and how many events it has."""

    warehouse: Warehouse
    events: int


def bench_what_if(folder: Path, rounds: int, events: int) -> dict[str, Any]:
    """Seconds of one core for each question. `ratio`: those of a bare count of all rows' types and topics, by those of a topic's change."""
    busy = busy_warehouse(folder, events)
    print(f"{busy.events:,} events", flush=True)
    found: dict[str, Any] = {"events": busy.events}
    questions: dict[str, Callable[[int], None]] = {
        "topic": lambda _: _asked(busy, OF_TOPIC),
        "sweep": lambda _: _swept(busy),
        "broker": lambda _: _asked(busy, OF_BROKER),
    }
    for name, question in questions.items():
        pair = alternate(lambda _: _counted(busy), question, rounds, time.process_time)
        found |= {f"{name}_s": round(sorted(pair.ours_s)[len(pair.ours_s) // 2], 2)}
        if name == "topic":
            found |= _of_topic(pair)
    return found | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def _of_topic(pair: Pair) -> dict[str, Any]:
    return {"reference_s": round(sorted(pair.reference_s)[len(pair.reference_s) // 2], 2), **pair.spread}


def _counted(busy: Busy) -> None:
    """The reference: one pass of DuckDB over three columns of all rows."""
    rows = _look(busy).rows("SELECT topic_id, type_code, count(*) AS events, max(ns) AS newest FROM dispatch_events GROUP BY ALL")
    assert sum(row["events"] for row in rows) == busy.events


def _asked(busy: Busy, text: str) -> None:
    document = what_if(_look(busy), TOPIC, None, changes_of([text]), None, (None, None))
    assert document["self_check"]["ok"], document["self_check"]


def _swept(busy: Busy) -> None:
    """The self-check, and the life under each of many limits."""
    case = case_of(_look(busy), TOPIC, None, Changes(), None, (None, None))
    assert checked(case).ok
    values = [changes_of([f"subscription.dispatch_rate.messages={60 + number}"]) for number in range(SWEPT)]
    peaks = [int(played(case, changes, case.behaviours).backlog.max()) for changes in values]
    assert peaks[0] > peaks[-1]


def _look(busy: Busy) -> ReadingRoom:
    return ReadingRoom(busy.warehouse)


# ---- the warehouse ----------------------------------------------------------------------------------------------------------------------


def busy_warehouse(folder: Path, events: int) -> Busy:
    """Of `events` or a little more."""
    scenario = read_scenario(SCENARIO)
    topics = tuple(replace(topic, count=max(1, topic.count // ONE_IN)) for topic in scenario.topics)
    simulate(replace(scenario, brokers=replace(scenario.brokers, count=1), topics=topics), 1, folder / "log")
    load_log(str(folder / "log" / EVENTS), f"file:{folder / 'one'}", load_settings(None, [], {}), 1, lambda _: None)
    bronze = DeltaTable(str(folder / "one" / "dispatch_events"))
    copies = max(1, round(events / bronze.to_pyarrow_table(columns=["seq"]).num_rows))
    warehouse = Warehouse(f"file:{folder / 'busy'}")
    create_missing_tables(warehouse)
    files = _multiplied(bronze, folder / "busy" / "dispatch_events", copies)
    append_files(str(folder / "busy" / "dispatch_events"), TABLES_BY_NAME["dispatch_events"], files, ("bench", 1))
    throttle = DeltaTable(str(folder / "one" / "subscription_throttle")).to_pyarrow_table()
    append_rows(warehouse, TABLES_BY_NAME["subscription_throttle"], pa.concat_tables([_of_copy(throttle, k) for k in range(copies)]))
    return Busy(warehouse, sum(file.rows for file in files))


def _multiplied(bronze: DeltaTable, folder: Path, copies: int) -> list[NewFile]:
    """Files of the copies together, each of a stretch of time, as a stream of the broker leaves them."""
    sources = ", ".join(f"'{path}'" for path in bronze.file_uris())
    numbers = duckdb.sql(f"SELECT min(seq), max(seq), min(event_date) FROM read_parquet([{sources}], hive_partitioning = true)").fetchall()
    ((first, last, day),) = numbers
    (folder / f"event_date={day}").mkdir(parents=True, exist_ok=True)
    step, found = -(-(last - first + 1) // copies), []
    for number in range(copies):
        path = Path(f"event_date={day}") / f"{number:03}.parquet"
        # What is of no topic is of the broker, which there is once.
        query = f"""
            SELECT * EXCLUDE (event_date, copy) REPLACE (
              seq * {copies} + copy AS seq, IF(copy = 0, topic, topic || '-copy-' || copy) AS topic,
              IF(topic IS NULL, topic_id, topic_id + copy) AS topic_id, IF(sub IS NULL, sub_id, sub_id + copy) AS sub_id)
            FROM read_parquet([{sources}], hive_partitioning = true), (SELECT unnest(range({copies})) AS copy)
            WHERE seq BETWEEN {first + number * step} AND {first + (number + 1) * step - 1} AND (copy = 0 OR topic IS NOT NULL)
            ORDER BY seq"""
        duckdb.sql(f"COPY ({query}) TO '{folder / path}' (FORMAT parquet, COMPRESSION zstd)")
        found.append(_new_file(folder, path, str(day)))
    return found


def _new_file(folder: Path, path: Path, day: str) -> NewFile:
    rows = pq.read_table(folder / path, columns=_BOUNDED)
    stats = {
        "numRecords": rows.num_rows,
        "minValues": {name: pc.min(rows[name]).as_py() for name in _BOUNDED},
        "maxValues": {name: pc.max(rows[name]).as_py() for name in _BOUNDED},
        "nullCount": {},
    }
    return NewFile(str(path), (folder / path).stat().st_size, 0, {"event_date": day}, stats)


def _of_copy(rows: pa.Table, number: int) -> pa.Table:
    if number == 0:
        return rows
    named = pc.binary_join_element_wise(rows["topic"], f"-copy-{number}", "")
    return rows.set_column(rows.schema.get_field_index("topic"), rows.schema.field("topic"), named)
