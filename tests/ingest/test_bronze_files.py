"""Bronze as tasks write it: every event, its ids as Spark computes them, bounds that are true, no null where none may be."""

import json
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from bronze_events import parsed_only, random_events
from ids_of_spark import with_ids
from pyspark.sql import SparkSession

from pipeline.faults import BrokenInvariant
from pipeline.ingest.bronze_files import BronzeFiles
from pipeline.ingest.event_ids import EventIds
from pipeline.warehouse import data_files as table_file
from schemas.events import FIELDS
from schemas.tables.bronze import DISPATCH_EVENTS

IDS = ("broker_id", "topic_id", "sub_id")


def batches(events: pa.Table, rows: int) -> list[pa.RecordBatch]:
    return parsed_only(events).combine_chunks().to_batches(max_chunksize=rows)


@pytest.mark.parametrize("row_group", [50, 100_000])
def test_files_hold_the_events_by_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row_group: int) -> None:
    monkeypatch.setattr(table_file, "ROW_GROUP_ROWS", row_group)
    events = random_events(3, 700, days=3)
    files = BronzeFiles(str(tmp_path), 9, "run-9-0.parquet")
    for batch in batches(events, 60):
        files.add(batch)
    written = list(files.close())
    assert [file.partition["event_date"] for file in written] == sorted({file.partition["event_date"] for file in written})
    assert len(written) == 3
    found = []
    for file in written:
        rows = pq.read_table(tmp_path / file.path, partitioning=None)
        assert rows.num_rows == file.rows
        assert (tmp_path / file.path).stat().st_size == file.size_bytes
        assert {*rows.column_names} == {*DISPATCH_EVENTS.names} - {"event_date"}
        assert {date.fromtimestamp(ts // 1_000_000).isoformat() for ts in rows["ts"].to_pylist()} == {file.partition["event_date"]}
        for name, least in file.stats["minValues"].items():
            assert (least, file.stats["maxValues"][name]) == tuple(pc.min_max(rows[name]).as_py().values())
        assert json.loads(json.dumps(file.stats)) == file.stats
        found.append(rows)
    together = pa.concat_tables(found).sort_by("seq")
    assert together["ingest_batch"].unique().to_pylist() == [9]
    for name in FIELDS:
        assert together[name].to_pylist() == events[name].to_pylist(), name


def test_ids_are_those_that_spark_computes(spark: SparkSession, tmp_path: Path) -> None:
    events = random_events(4, 500)
    pq.write_table(parsed_only(events), tmp_path / "events.parquet")
    wanted = with_ids(spark.read.parquet(str(tmp_path)), 1).select("seq", *IDS).orderBy("seq").toArrow()
    ids = EventIds()
    together = pa.Table.from_batches([pa.RecordBatch.from_pydict(ids.beside(batch)) for batch in batches(events, 60)])
    for name in IDS:
        assert together[name].to_pylist() == wanted[name].to_pylist(), name
        assert together[name].null_count == 0
    assert 0 in together["sub_id"].to_pylist()


def test_a_null_where_none_may_be_stops_the_task(tmp_path: Path) -> None:
    batch = batches(random_events(5, 20), 20)[0]
    place = batch.schema.get_field_index("seq")
    broken = batch.set_column(place, pa.field("seq", pa.int64()), pa.nulls(20, pa.int64()))
    files = BronzeFiles(str(tmp_path), 1, "run-1-0.parquet")
    with pytest.raises(BrokenInvariant, match=r"dispatch_events\.seq would be null"):
        files.add(broken)
