"""Warehouses of several brokers: each has the log of one real broker under a name of its own, with topics of its own."""

import gzip
from collections.abc import Mapping
from pathlib import Path

from loaded import load_into

from bench.what_if_real import PAIRS
from pipeline.warehouse.layout import Warehouse

#: Of every broker in tests/fixtures/pairs.
_NAME, _TENANT = "127.0.0.1:8180", "persistent://real/"


def warehouse_of(brokers: Mapping[str, str], folder: Path) -> Warehouse:
    """A warehouse in `folder`, of brokers by name: each has the log of side a of a pair. The name is the tenant of its topics, too."""
    logs = folder / "logs"
    logs.mkdir(parents=True)
    for name, pair in brokers.items():
        log = gzip.decompress((PAIRS / pair / "a" / "events.jsonl.gz").read_bytes()).decode()
        renamed = log.replace(f'"broker":"{_NAME}"', f'"broker":"{name}:8080"').replace(_TENANT, f"persistent://{name}/")
        (logs / f"{name}.jsonl").write_text(renamed, encoding="utf-8")
    return load_into(f"{logs}/*.jsonl", folder / "warehouse")
