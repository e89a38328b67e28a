"""A log in Kafka gives the tables that its files give; what Kafka lost stops the job with one line."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
from deltalake import DeltaTable
from kafka_broker import KafkaBroker
from lane_tables import OUTCOME_TABLES
from live_job import LiveJob

from pipeline.warehouse.layout import Warehouse

ROOT = Path(__file__).parents[2]
#: Columns that say where a line came from, when it was written, or in which micro-batch: no part of what the log says.
OF_THE_WAY = {
    "source_file",
    "source_line",
    "ingest_batch",
    "lane_layout",
    "lane_packet",
    "lanes_batch",
    "batch_id",
    "quarantined_at",
    "written_at",
}


def demo_lines() -> list[bytes]:
    """A real broker's log."""
    with gzip.open(ROOT / "demo/y_incident/events.jsonl.gz") as lines:
        return lines.read().splitlines()


def rows_of(warehouse: Warehouse, table: str) -> list[str]:
    """Its rows without OF_THE_WAY, sorted."""
    found = DeltaTable(warehouse.table(table).removeprefix("file:")).to_pyarrow_table()
    found = found.drop_columns([name for name in OF_THE_WAY if name in found.schema.names])
    return sorted(str(sorted(row.items())) for row in found.to_pylist())


def column(warehouse: Warehouse, table: str, name: str) -> list:
    """A column, sorted."""
    found = DeltaTable(warehouse.table(table).removeprefix("file:")).to_pyarrow_table(columns=[name])
    return found.take(pc.sort_indices(found, [(name, "ascending")])).column(name).to_pylist()


def assert_same_tables(left: Warehouse, right: Warehouse, repeats: bool = False) -> None:
    """Row for row; with `repeats` bronze of `right` may hold events more than once."""
    for table in ("dispatch_events", "names", *OUTCOME_TABLES):
        found = rows_of(right, table)
        assert rows_of(left, table) == (sorted(set(found)) if repeats and table == "dispatch_events" else found), table


def seqs(warehouse: Warehouse) -> list[int]:
    return column(warehouse, "dispatch_events", "seq")


def beat(seq: int) -> bytes:
    """A line of a small log."""
    kind = '"type":"broker_start","cluster":"c","version":"4","settings":{}' if seq == 1 else '"type":"heartbeat","dropped":0'
    return b'{"v":1,"broker":"b:1","epoch":1700000000000,"seq":%d,"ts":%d,%s}' % (seq, 1_700_000_000_000_000 + seq * 1000, kind.encode())


def beats(first: int, last: int) -> list[bytes]:
    return [beat(seq) for seq in range(first, last + 1)]


def test_a_capture_gives_the_tables_of_its_file_also_when_the_driver_was_killed(
    kafka: KafkaBroker, stream_once: Callable, tmp_path: Path
) -> None:
    lines = demo_lines()
    address = kafka.make("capture", 3)
    for partition in range(3):
        kafka.send("capture", lines[partition::3], partition)
    of_file, of_topic = Warehouse(str(tmp_path / "file")), Warehouse(str(tmp_path / "topic"))
    assert stream_once(ROOT / "demo/y_incident/events.jsonl.gz", of_file, "--drain").code == 0
    with LiveJob(address, of_topic, tmp_path / "said", kafka__max_records_per_batch="9000") as job:
        job.wait_until(lambda: job.commits("dispatch_events") >= 4, "some micro-batches are written")
    # LiveJob kills what still runs: with -9, amid a micro-batch.
    done = stream_once(address, of_topic, "--drain")
    assert done.code == 0, done.said
    assert len(seqs(of_topic)) == len(lines)
    assert_same_tables(of_file, of_topic)
    assert set(column(of_topic, "dispatch_events", "source_file")) == {f"kafka:capture/{partition}" for partition in range(3)}


def test_a_new_partition_is_read_from_its_beginning(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    address, warehouse = kafka.make("grows"), Warehouse(str(tmp_path / "w"))
    kafka.send("grows", beats(1, 50))
    assert stream_once(address, warehouse).code == 0
    kafka.grow("grows", 2)
    kafka.send("grows", beats(51, 80), 1)
    kafka.send("grows", beats(81, 100), 0)
    done = stream_once(address, warehouse)
    assert done.code == 0, done.said
    assert seqs(warehouse) == list(range(1, 101))


def test_a_topic_made_anew_stops_the_job_or_is_read_from_its_beginning(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    address, warehouse = kafka.make("anew"), Warehouse(str(tmp_path / "w"))
    kafka.send("anew", beats(1, 50))
    assert stream_once(address, warehouse).code == 0
    kafka.delete("anew")
    kafka.make("anew")
    # More records than were read before: their numbers alone would hide that they are others.
    kafka.send("anew", beats(71, 150))
    refused = stream_once(address, warehouse)
    assert refused.code == 2
    assert "topic anew was deleted and made anew" in refused.error
    assert "--set kafka.on_loss=go_on" in refused.error
    done = stream_once(address, warehouse, "--drain", "--set", "kafka.on_loss=go_on")
    assert done.code == 0, done.said
    assert seqs(warehouse) == [*range(1, 51), *range(71, 151)]
    assert (column(warehouse, "log_gaps", "from_seq"), column(warehouse, "log_gaps", "to_seq")) == ([51], [70])


def test_expired_records_stop_the_job_or_leave_a_gap(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    address, warehouse = kafka.make("old"), Warehouse(str(tmp_path / "w"))
    kafka.send("old", beats(1, 50))
    assert stream_once(address, warehouse).code == 0
    kafka.send("old", beats(51, 100))
    kafka.expire("old", 0, 70)
    refused = stream_once(address, warehouse)
    assert refused.code == 2
    assert "topic old: partition 0 lost the records 50 to 69: they expired" in refused.error
    done = stream_once(address, warehouse, "--drain", "--set", "kafka.on_loss=go_on")
    assert done.code == 0, done.said
    assert seqs(warehouse) == [*range(1, 51), *range(71, 101)]
    assert (column(warehouse, "log_gaps", "from_seq"), column(warehouse, "log_gaps", "to_seq")) == ([51], [70])
    lost = [text for text in column(warehouse, "run_ledger", "lost") if text is not None]
    assert lost == ["topic old: partition 0 lost the records 50 to 69: they expired"] * 2, "of the run that went on: its two rows"


def test_poison_goes_to_quarantine_with_partition_and_offset(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    address, warehouse = kafka.make("poison", 2), Warehouse(str(tmp_path / "w"))
    kafka.send("poison", [*beats(1, 10), b"rubbish", None, b"", b" ", *beats(11, 20)], 1)
    done = stream_once(address, warehouse)
    assert done.code == 0, done.said
    (row,) = DeltaTable(warehouse.table("quarantine").removeprefix("file:")).to_pyarrow_table().to_pylist()
    assert (row["source_file"], row["source_line"], row["raw"], row["reason"]) == ("kafka:poison/1", 10, "rubbish", "not_json")
    assert seqs(warehouse) == list(range(1, 21))
    assert column(warehouse, "ingest_files", "source_file") == ["kafka:poison/1?offsets=0-23"]


def test_a_repaired_record_leaves_quarantine(kafka: KafkaBroker, stream_once: Callable, job: Callable, tmp_path: Path) -> None:
    address, warehouse = kafka.make("repaired"), Warehouse(str(tmp_path / "w"))
    kafka.send("repaired", [*beats(1, 10), b"rubbish", *beats(12, 20)])
    assert stream_once(address, warehouse).code == 0
    (row,) = DeltaTable(warehouse.table("quarantine").removeprefix("file:")).to_pyarrow_table().to_pylist()
    assert (row["source_file"], row["source_line"]) == ("kafka:repaired/0", 10)
    repaired = {key: row[key] for key in ("source_file", "source_line", "raw_sha256")} | {"raw": beat(11).decode()}
    (tmp_path / "repaired.jsonl").write_text(json.dumps(repaired) + "\n")
    done = job("quarantine", "replay", "--warehouse", warehouse.root, "--from", str(tmp_path / "repaired.jsonl"))
    assert done.code == 0, done.said
    assert "1 lines put back into dispatch_events" in done.said
    done = stream_once(address, warehouse, "--drain")
    assert done.code == 0, done.said
    assert seqs(warehouse) == list(range(1, 21))
    assert (column(warehouse, "quarantine", "seq"), column(warehouse, "log_gaps", "from_seq")) == ([], [])


def test_a_warehouse_of_a_topic_is_not_read_from_files(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    address, warehouse = kafka.make("one"), Warehouse(str(tmp_path / "w"))
    kafka.send("one", beats(1, 5))
    assert stream_once(address, warehouse).code == 0
    refused = stream_once(ROOT / "demo/y_incident/events.jsonl.gz", warehouse)
    assert refused.code == 2
    assert "was read from another kind of source" in refused.error


def test_an_absent_topic_is_one_line(kafka: KafkaBroker, stream_once: Callable, tmp_path: Path) -> None:
    refused = stream_once(kafka.address("absent"), Warehouse(str(tmp_path / "w")))
    assert refused.code == 2
    assert "UnknownTopicOrPartition" in refused.error
