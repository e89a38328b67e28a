"""The streaming job with log and warehouse in each kind of store: a second run goes on from the checkpoint of the first."""

from pathlib import Path

from capture_events import write_events
from in_store import stream_in_store, uploaded
from loaded import load_into, tables_unlike
from upkeep_log import capture

from pipeline.warehouse.layout import Warehouse


def test_every_event_is_read_once(each_place: str, tmp_path: Path, spark_in_a_child: None) -> None:
    """S3 has two schemes; either names the same warehouse and the same log."""
    events = capture("p1_batches")
    write_events(events[: len(events) // 2], tmp_path / "events" / "a b.jsonl.gz")
    uploaded(tmp_path / "events", f"{each_place}/events")
    first = stream_in_store(each_place)
    assert first.code == 0, first.said
    write_events(events[len(events) // 2 :], tmp_path / "events" / "c.jsonl.gz")
    uploaded(tmp_path / "events", f"{each_place}/events")
    second = stream_in_store(each_place.replace("s3a:", "s3:"), "--drain")
    assert second.code == 0, second.said
    assert "0 lost" in second.said
    here = load_into(tmp_path / "events", tmp_path / "here")
    # Their rows say by which micro-batch, and from which address, they came.
    assert {*tables_unlike(here, Warehouse(f"{each_place}/warehouse"))} <= {"dispatch_events", "ingest_files"}
