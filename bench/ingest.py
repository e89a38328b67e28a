"""Ingest, and ingest with lanes, against plain copies of the same files."""

from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.formats import files_of_each_format, told_copy, told_rows
from bench.log import json_files
from bench.measure import PeakMemory, alternate, apart_from_fixed_costs, summary
from bench.runs import TO_END, context
from pipeline.ingest.query import start_ingest
from pipeline.lanes.query import start_lanes
from pipeline.settings import Settings
from pipeline.warehouse.layout import Warehouse
from pipeline.warehouse.tables import create_missing_tables


def bench_ingest(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """Ingest against a plain `spark.read.json` → Delta copy, then against one that knows the columns beforehand, as ingest does.

    The second comparison runs once more over one file. The difference shows the fixed costs.
    """
    capture = _largest(captures)
    rows = json_files(capture, folder / "json-all", copies)
    rows_of_one = json_files(capture, folder / "json-one", 1)
    print(f"{rows:,} lines", flush=True)

    def plain_copy(number: int) -> None:
        spark.read.json(str(folder / "json-all")).write.format("delta").save(str(folder / f"copy-plain-{number}"))

    def typed_copy(files: str, number: int) -> None:
        told_rows(spark, folder / f"json-{files}").write.format("delta").save(str(folder / f"copy-{files}-{number}"))

    def ingest(files: str, beside: str, number: int) -> None:
        _ingest(spark, targets[beside][number], folder / f"json-{files}", settings)

    targets = {
        beside: [Warehouse(str(folder / f"ingest-{beside}-{number}")) for number in range(rounds + 1)]
        for beside in ("plain", "typed", "one")
    }
    for target in chain.from_iterable(targets.values()):
        create_missing_tables(target)

    with PeakMemory() as memory:
        plain = alternate(plain_copy, partial(ingest, "all", "plain"), rounds)
        print("the copy knows the columns", flush=True)
        typed = alternate(partial(typed_copy, "all"), partial(ingest, "all", "typed"), rounds)
        print(f"{rows_of_one:,} lines", flush=True)
        one = alternate(partial(typed_copy, "one"), partial(ingest, "one", "one"), rounds)
    return (
        summary(plain, rows)
        | {f"typed_{name}": value for name, value in summary(typed, rows).items() if name != "rows"}
        | apart_from_fixed_costs(typed, rows, one, rows_of_one)
        | {"java_peak_mb": memory.java_mb, "python_worker_peak_mb": memory.python_worker_mb}
    )


def bench_formats(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """Ingest of each format against a plain copy of the same files that is told the columns."""
    rows = json_files(_largest(captures), folder / "jsonl", copies)
    print(f"{rows:,} events", flush=True)
    files = files_of_each_format(spark, folder / "jsonl", folder)
    found = {suffix: _of_format(spark, files, suffix, folder, rows, rounds, settings) for suffix in files}
    return found | {"ratio": min(one["ratio"] for one in found.values())}


def _of_format(
    spark: SparkSession, files: dict[str, Path], suffix: str, folder: Path, rows: int, rounds: int, settings: Settings
) -> dict[str, Any]:
    print(suffix, flush=True)
    targets = [Warehouse(str(folder / f"ingest-{suffix}-{number}")) for number in range(rounds + 1)]
    for target in targets:
        create_missing_tables(target)

    def copy(number: int) -> None:
        told_copy(spark, files, suffix, folder / f"copy-{suffix}-{number}")

    def ingest(number: int) -> None:
        _ingest(spark, targets[number], files[suffix], settings)

    return summary(alternate(copy, ingest, rounds), rows)


def bench_whole(spark: SparkSession, captures: str, folder: Path, copies: int, rounds: int, settings: Settings) -> dict[str, Any]:
    """JSON lines to every table, ingest and then lanes, against a plain copy of the lines that is told the columns."""
    rows = json_files(_largest(captures), folder / "jsonl", copies)
    print(f"{rows:,} lines", flush=True)
    targets = [Warehouse(str(folder / f"whole-{number}")) for number in range(rounds + 1)]
    for target in targets:
        create_missing_tables(target)

    def copy(number: int) -> None:
        told_copy(spark, {"jsonl": folder / "jsonl"}, "jsonl", folder / f"copy-{number}")

    def whole(number: int) -> None:
        _ingest(spark, targets[number], folder / "jsonl", settings)
        start_lanes(spark, targets[number], settings, context(), TO_END).awaitTermination()

    with PeakMemory() as memory:
        pair = alternate(copy, whole, rounds)
    return summary(pair, rows) | {"java_peak_mb": memory.java_mb, "python_worker_peak_mb": memory.python_worker_mb}


def _ingest(spark: SparkSession, target: Warehouse, files: Path, settings: Settings) -> None:
    start_ingest(spark, target, str(files), settings, context(), TO_END).awaitTermination()


def _largest(captures: str) -> Path:
    """The largest file that the glob matches."""
    anchor = Path(captures).anchor
    return max(Path(anchor).glob(captures.removeprefix(anchor)), key=lambda path: path.stat().st_size)
