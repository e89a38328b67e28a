"""The demo over the bundled log: 85 s of a busy shop in trouble, through the streaming job."""

import gzip
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from console.named_warehouse import named_warehouse
from console.shown import say
from demo.folder import make_room
from demo.page import Page
from demo.report import report
from driver.session import LITTLE_DATA, build_session
from driver.streaming import run_stream
from pipeline.settings import load_settings

CAPTURE = Path(__file__).parent / "y_incident"


def stage_log(capture: Path, folder: Path) -> int:
    """Write the capture's events that are in the broker's figures (`as_of_us`) into `folder`; returns how many."""
    as_of_us = json.loads((capture / "manifest.json").read_text(encoding="utf-8"))["as_of_us"]
    kept = 0
    with gzip.open(capture / "events.jsonl.gz", "rb") as source, gzip.open(folder / "events.jsonl.gz", "wb", compresslevel=1) as target:
        for line in source:
            if json.loads(line)["ts"] <= as_of_us:
                target.write(line)
                kept += 1
    return kept


def run_bundled(shown_warehouse: str, page: Page | None, *, tables: bool) -> int:
    """Run the job over the bundled log into the warehouse that the user named, print the answer and the proof. 0: everything equal.

    `page`: it is served afterwards, until Ctrl-C. `tables`: as for `report`. Raises BadConfig where the folder of the warehouse is
    somebody else's.
    """
    say("a real Pulsar broker's log of 85 s of a busy shop in trouble (demo/y_incident), through the streaming job")
    settings = load_settings(None, [], os.environ)
    say("starting Spark …")
    with tempfile.TemporaryDirectory(prefix="dispatch-demo-") as folder, ThreadPoolExecutor(1) as meanwhile:
        staged = meanwhile.submit(stage_log, CAPTURE, Path(folder))
        spark = build_session("dispatch-analytics demo", LITTLE_DATA)
        warehouse = named_warehouse(shown_warehouse)
        make_room(warehouse)
        events = staged.result()
        say(f"{events:,} events up to the moment at which the broker was asked for its counters")
        code = run_stream(spark, Path(folder).as_uri(), warehouse.root, settings, once=True, drain=True)
    # Nothing after the job needs it, and a page may stay for long.
    spark.stop()
    code = code or report(warehouse, shown_warehouse, CAPTURE, tables=tables)
    if page is not None:
        with page.served(warehouse):
            page.wait(say)
    return code
