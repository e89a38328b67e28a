"""One JSON object per line, for log collectors: what, when, of which run, query and micro-batch."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.upkeep.run_records.outbox import Entry

LEVELS = ("INFO", "WARN", "ERROR")


def log_entry(
    at: datetime, level: str, run_id: str, event: str, query: str | None = None, micro_batch: int | None = None, **fields: Any
) -> Entry:
    """An entry with the keys that every line has first. `at` needs a zone; `level` is one of LEVELS; fields that are None are left out."""
    head = {"ts": at, "level": level, "run_id": run_id, "event": event, "query": query, "micro_batch": micro_batch}
    return {key: value for key, value in {**head, **fields}.items() if value is not None}


def line_of(entry: Entry) -> str:
    """The entry as a line of JSON, times as ISO 8601 with their zone. Raises TypeError for a value that has no JSON."""
    return json.dumps(entry, default=_json_value, ensure_ascii=False) + "\n"


def lines_writer(path: Path) -> Callable[[Sequence[Entry], int], None]:
    """A `write` for an Outbox that appends to the file. It is opened anew each time, so logrotate may rename it; raises OSError.

    A write that failed half way (a full disk) may leave a line cut short, and is repeated from its first line.
    """
    cut_short = False

    def write(entries: Sequence[Entry], _number: int) -> None:
        nonlocal cut_short
        data = (("\n" if cut_short else "") + "".join(line_of(entry) for entry in entries)).encode()
        with path.open("ab", buffering=0) as file:
            cut_short = True
            while data:
                data = data[file.write(data) or 0 :]
            cut_short = False

    return write


def _json_value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no JSON for {type(value)}")
