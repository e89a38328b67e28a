"""Events of captures, and event files."""

import gzip
import json
from pathlib import Path
from typing import Any


def capture_events(capture: Path, *, until_as_of: bool = True) -> list[dict[str, Any]]:
    """Events of a capture, by default only those that the broker's figures include."""
    with gzip.open(capture / "events.jsonl.gz", "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    if not until_as_of:
        return events
    as_of_us = json.loads((capture / "manifest.json").read_text())["as_of_us"]
    return [event for event in events if event["ts"] <= as_of_us]


def write_events(events: list[dict[str, Any]], path: Path) -> Path:
    """Events as a .jsonl or .jsonl.gz file, written aside and renamed in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n" for event in events).encode()
    aside = path.with_name(f".{path.name}.writing")
    aside.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return aside.rename(path)
