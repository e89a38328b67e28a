"""What a table's log says of its files, by delta-rs: no data file is opened."""

from datetime import datetime

from deltalake import DeltaTable

from pipeline.warehouse.look import TableFacts


def facts_of(name: str, log: DeltaTable, written_at: datetime | None, small_below: int) -> TableFacts:
    """The table at the version of its log; a file of less than `small_below` bytes is small."""
    files = log.get_add_actions(flatten=True)
    sizes = files["size_bytes"].to_pylist()
    counts = files["num_records"].to_pylist() if "num_records" in files.schema.names else [None] * len(sizes)
    rows = None if None in counts else sum(counts)
    return TableFacts(name, log.version(), written_at, len(sizes), sum(size < small_below for size in sizes), sum(sizes), rows)


def newest_event_times(log: DeltaTable, read_batch: int | None) -> tuple[int | None, int | None]:
    """Greatest `ts` (µs) in dispatch_events, and in its files of nothing beyond the micro-batch; None where there is no such file."""
    files = log.get_add_actions(flatten=True)
    names = files.schema.names
    if "max.ts" not in names or "max.ingest_batch" not in names:
        return None, None
    found = [
        (ts, batch) for ts, batch in zip(files["max.ts"].to_pylist(), files["max.ingest_batch"].to_pylist(), strict=True) if ts is not None
    ]
    read = [ts for ts, batch in found if read_batch is not None and batch is not None and batch <= read_batch]
    return max((ts for ts, _ in found), default=None), max(read, default=None)
