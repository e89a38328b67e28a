"""The log as Flink can read it: its Parquet reader knows no DELTA_BINARY_PACKED, in which bronze has its numbers."""

import os
from pathlib import Path

import pyarrow.parquet as pq

from schemas.tables.bronze import LANE_LAYOUT, LANE_PACKET

ROW_GROUP_ROWS = 131_072


def plain_copy_of(source: Path) -> Path:
    """Where the copy of a warehouse's bronze is: a folder beside it."""
    return source.with_name(f"{source.name}-plain")


def make_plain_copy(source: Path) -> None:
    """Copy bronze file by file, in Parquet's plain encodings and without our packets; times of files, by which Flink sorts, stay."""
    bronze = source / "dispatch_events"
    for file in sorted(bronze.rglob("*.parquet")):
        copy = plain_copy_of(source) / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        rows = pq.read_table(file, partitioning=None)
        kept = rows.drop_columns([name for name in (LANE_LAYOUT, LANE_PACKET) if name in rows.column_names])
        pq.write_table(kept, copy, compression="zstd", row_group_size=ROW_GROUP_ROWS)
        os.utime(copy, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
