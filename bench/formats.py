"""Files of every format that ingest reads, with the same events, and plain copies of them that know the columns beforehand."""

import gzip
from collections.abc import Callable
from pathlib import Path

import zstandard
from pyspark.sql import DataFrame, SparkSession

from schemas.render.spark import struct
from schemas.tables.bronze import PARSED_FIELDS

#: Ingest adds these by itself.
_NOT_IN_FILES = ("type_code", "extra", "source_file", "source_line")
#: What the columns of a log are, for a copy that need not look.
COLUMNS = struct([field for field in PARSED_FIELDS if field.name not in _NOT_IN_FILES])
_PACKED: dict[str, Callable[[bytes], bytes]] = {"jsonl.gz": gzip.compress, "jsonl.zst": zstandard.ZstdCompressor().compress}


def told_rows(spark: SparkSession, files: Path) -> DataFrame:
    """The rows of plain or gzipped JSON lines, read by a plain reader that is told the columns."""
    return spark.read.schema(COLUMNS).json(str(files))


def files_of_each_format(spark: SparkSession, jsonl: Path, folder: Path) -> dict[str, Path]:
    """Format → folder with the events of the files in `jsonl`, one file for each."""
    found = {"jsonl": jsonl}
    for suffix, pack in _PACKED.items():
        found[suffix] = folder / suffix.replace(".", "-")
        found[suffix].mkdir()
        for file in sorted(jsonl.iterdir()):
            (found[suffix] / f"{file.stem}.{suffix}").write_bytes(pack(file.read_bytes()))
    found["parquet"] = folder / "parquet"
    for file in sorted(jsonl.iterdir()):
        told_rows(spark, file).coalesce(1).write.mode("append").parquet(str(found["parquet"]))
    return found


def told_copy(spark: SparkSession, files: dict[str, Path], suffix: str, target: Path) -> None:
    """Copy the events of one format to a Delta table. Spark reads no zstd without Hadoop's native library: here it reads plain lines."""
    rows = (
        spark.read.parquet(str(files["parquet"])) if suffix == "parquet" else told_rows(spark, files[suffix.replace("jsonl.zst", "jsonl")])
    )
    rows.write.format("delta").save(str(target))
