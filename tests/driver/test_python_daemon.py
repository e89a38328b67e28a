"""Workers begin with what they run; one that nobody listens to any more ends in silence; every other fault is Spark's."""

import os
import socket
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from zipimport import zipimporter

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from driver import python_daemon


class Ended(Exception):
    """The process would have ended."""


def worker(monkeypatch: pytest.MonkeyPatch, outcome: Exception | int) -> int:
    """Run it, with Spark's own worker ending so."""

    def of_spark(sock: socket.socket, authenticated: bool) -> int:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(python_daemon, "_worker_of_spark", of_spark)
    monkeypatch.setattr(os, "_exit", end)
    with socket.socket() as sock:
        return python_daemon.worker(sock, True)


def test_a_worker_that_nobody_listens_to_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Ended, match="1"):
        worker(monkeypatch, BrokenPipeError(32, "Broken pipe"))


def test_another_fault_is_for_spark_to_print(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="of a rule"):
        worker(monkeypatch, ValueError("of a rule"))


@pytest.mark.parametrize("code", [0, -1])
def test_an_exit_code_is_handed_on(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    assert worker(monkeypatch, code) == code


def test_readers_of_zips_are_forgotten_and_what_is_in_zips_is_found_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "some.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for module in ("first_of_the_zip", "second_of_the_zip"):
            written.writestr(f"{module}.py", "")
    monkeypatch.syspath_prepend(archive)
    import_module("first_of_the_zip")
    assert str(archive) in sys.path_importer_cache
    python_daemon.forget_zips()
    assert [path for path, reader in sys.path_importer_cache.items() if isinstance(reader, zipimporter)] == []
    assert import_module("second_of_the_zip").__file__ == str(archive / "second_of_the_zip.py")


def test_a_worker_begins_with_what_it_runs(spark: SparkSession) -> None:
    wanted = [*python_daemon.RUN_BY_WORKERS, "numba", "pandas"]

    def missing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"module": [name for name in wanted if name not in sys.modules]})

    assert [row.module for row in spark.range(1).mapInArrow(missing, "module string").collect()] == []


def test_a_worker_collects_no_garbage_among_the_imports(spark: SparkSession) -> None:
    """Spark has it collect after each task."""

    def counts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import gc

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"frozen": [gc.get_freeze_count()], "looked_at": [len(gc.get_objects())]})

    (row,) = spark.range(1).mapInArrow(counts, "frozen long, looked_at long").collect()
    assert row.frozen > 100_000
    assert row.looked_at < row.frozen / 4
