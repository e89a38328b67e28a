"""Events of captures, and event files."""

import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: The quickest: these files are read once.
_GZIP_LEVEL = 1
_TS = re.compile(rb'"ts":(\d+)')
_as_json = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def capture_events(capture: Path, *, until_as_of: bool = True) -> list[dict[str, Any]]:
    """Events of a capture, by default only those that the broker's figures include."""
    until_us = json.loads((capture / "manifest.json").read_text())["as_of_us"] if until_as_of else None
    return events_of(capture_lines(capture, until_us))


def capture_lines(capture: Path, until_us: int | None = None) -> list[bytes]:
    """Lines of its log as they are, those until an instant: `ts` is found without reading the rest of a line."""
    with gzip.open(capture / "events.jsonl.gz") as log:
        lines = log.read().splitlines()
    return lines if until_us is None else [line for line in lines if _ts_us(line) <= until_us]


def _ts_us(line: bytes) -> int:
    (found,) = _TS.findall(line)
    return int(found)


def events_of(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """Events of lines; all at once, which is quicker than one by one."""
    found: list[dict[str, Any]] = json.loads(b"[" + b",".join(lines) + b"]")
    return found


def write_events(events: Iterable[dict[str, Any]], path: Path) -> Path:
    """Events as a .jsonl or .jsonl.gz file, written aside and renamed in."""
    return write_lines((_as_json(event).encode() for event in events), path)


def write_lines(lines: Iterable[bytes], path: Path) -> Path:
    """The same of lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = b"".join(line + b"\n" for line in lines)
    aside = path.with_name(f".{path.name}.writing")
    aside.write_bytes(gzip.compress(text, _GZIP_LEVEL) if path.suffix == ".gz" else text)
    return aside.rename(path)
