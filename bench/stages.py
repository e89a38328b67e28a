"""Where the time goes between a line of JSON and a row of a table: core-µs an event, stage by stage, in one process and without Spark."""

import gzip
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.fold import DEMO, SETTINGS, events_of
from bench.fold_logs import repeated
from pipeline.ingest.bronze_files import BronzeFiles
from pipeline.lanes.lane import Lane
from pipeline.lanes.outcome_packets import outcome_packets
from pipeline.lanes.packets.bronze_columns import columns_read
from pipeline.lanes.packets.of_events import PACKET_ROWS, ROWS_AT_ONCE, packet_columns
from pipeline.lanes.packets.packet import unpacked_rows
from pipeline.rules.array import Array
from pipeline.rules.outcome import Rows
from pipeline.sources.names_met import TaskNames
from pipeline.sources.parse.file import parse_stream
from pipeline.sources.parse.line import ParseLimits
from schemas.tables.bronze import LANE_PACKET
from tests.support.lane_rows import lane_rows

#: The log of the demo so many times: about 630,000 events.
COPIES = 8
LIMITS = ParseLimits(max_line_bytes=1 << 20, max_text_bytes=1 << 16, raw_bytes=8_192)


def bench_stages(rounds: int) -> dict[str, Any]:
    """Core-µs an event of every stage (the best round), bytes of bronze and of packets an event."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):  # the first one warms up, and is never the best
            for name, value in _round(Path(folder)).items():
                found[name] = round(min(found.get(name, value), value), 3)
    return {"events": _text().count(b"\n"), **found}


def _text() -> bytes:
    return gzip.decompress(DEMO.read_bytes()) * COPIES


def _round(folder: Path) -> dict[str, float]:
    text = _text()
    events = text.count(b"\n")
    found: dict[str, float] = {}

    def timed(stage: str, run: Callable[[], Any]) -> Any:
        began_s = time.process_time()
        result = run()
        found[f"{stage}_us"] = (time.process_time() - began_s) / events * 1e6
        return result

    blocks = timed("parse", lambda: [block.events for block in parse_stream(BytesIO(text), "log.jsonl", LIMITS)])
    timed("names", lambda: [met.new_in(block) for met in [TaskNames()] for block in blocks])
    written = timed("write_bronze", lambda: _written(folder, blocks))
    found["bronze_bytes"] = written.size_bytes / events
    batches = _read(folder / written.path)
    timed("packets_of_it", lambda: [packet_columns(batch) for batch in batches])
    packets = timed("read_packets", lambda: _packets_in(folder / written.path))
    found["packet_bytes"] = sum(map(len, packets)) / events
    timed("unpack", lambda: [unpacked_rows(packet) for packet in packets])
    rows, lane = repeated(lane_rows(events_of(DEMO)), COPIES), Lane(SETTINGS)
    outcomes = timed("rules", lambda: _folded(lane, rows))
    timed("outcomes", lambda: outcome_packets(1, outcomes))
    return found


def _written(folder: Path, blocks: list[pa.RecordBatch]) -> Any:
    files = BronzeFiles(str(folder), 0, "bench.parquet")
    for block in blocks:
        files.add(block)
    (only,) = files.close()
    return only


def _read(path: Path) -> list[pa.RecordBatch]:
    return list(pq.ParquetFile(path).iter_batches(ROWS_AT_ONCE, columns=list(columns_read()), use_threads=False))


def _packets_in(path: Path) -> list[bytes]:
    return [
        packet for packet in pq.read_table(path, columns=[LANE_PACKET], partitioning=None)[LANE_PACKET].to_pylist() if packet is not None
    ]


def _folded(lane: Lane, rows: Array) -> list[Rows]:
    for start in range(0, len(rows), PACKET_ROWS):
        lane.offer(rows[start : start + PACKET_ROWS])
    return lane.finish()
