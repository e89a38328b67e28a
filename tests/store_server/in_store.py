"""The job with its log and its warehouse in a store, or in HDFS."""

import subprocess
from pathlib import Path

from ended_job import Ended
from job_run import run_job
from quick_start import environment

from driver.session import ROOT
from pipeline.store.copies import send
from pipeline.store.files import files_at
from pipeline.warehouse.layout import Warehouse


def uploaded(folder: Path, place: str) -> str:
    """The files of a folder, also in subfolders, below `place`; those that lie there already stay, as files of a log do."""
    files = files_at(place)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        uri = f"{place}/{file.relative_to(folder)}"
        if not files.exists(uri):
            send(file, uri)
    return place


def run_in_store(folder: Path, warehouse: Warehouse, *, drain: bool = True, **settings: str) -> None:
    """`run_job` of a folder's files, from beside the warehouse."""
    run_job(uploaded(folder, f"{warehouse.root.rpartition('/')[0]}/events"), warehouse, drain=drain, **settings)


def stream_in_store(place: str, *more: str) -> Ended:
    """`stream --once` of the log at `place`, a file in each micro-batch, in a process of its own."""
    line = [
        str(ROOT / "spark-submit.sh"), "stream", "--once", *more, "--events", f"{place}/events", "--warehouse", f"{place}/warehouse",
        "--master", "local[2]", "--conf", "spark.sql.shuffle.partitions=2", "--set", "ingest.max_files_per_batch=1",
    ]  # fmt: skip
    kept = {name: value for name, value in environment().items() if name not in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT")}
    done = subprocess.run(line, env=kept, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return Ended(done.returncode, done.stdout.decode(errors="replace"))
