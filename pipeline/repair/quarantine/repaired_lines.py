"""Texts that somebody repaired: JSON lines as `sql --format json` prints rows of quarantine, each with another `raw`."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pipeline.faults import BadConfig

#: What identifies a line, and its new text.
_TEXTS = ("source_file", "raw_sha256", "raw")
_KEYS = ("source_file", "source_line", "raw_sha256", "raw")


@dataclass(frozen=True)
class RepairedLine:
    """A line by its file ('' for tables), its number there, and the SHA-256 of what was rejected; `text` is what it should have been."""

    source_file: str
    source_line: int
    raw_sha256: str
    text: str


def read_repaired(lines: Iterable[str], name: str) -> list[RepairedLine]:
    """The repaired lines of the file `name`; other keys than the four that are needed do not matter, blank lines neither.

    Raises BadConfig that names the file's line: not JSON, a key missing or of another type, a text of several lines, the same line twice.
    """
    repaired: dict[tuple[str, int, str], RepairedLine] = {}
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        line = _read(text, f"--from {name}, line {number}")
        key = (line.source_file, line.source_line, line.raw_sha256)
        if key in repaired:
            raise BadConfig(f"--from {name}, line {number}: line {line.source_line} of {line.source_file or 'a table'} is there twice")
        repaired[key] = line
    return list(repaired.values())


def _read(text: str, where: str) -> RepairedLine:
    try:
        row: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadConfig(f"{where}: not JSON: {error.msg} at character {error.pos}") from None
    if not isinstance(row, dict):
        raise BadConfig(f"{where}: not an object")
    for key in _KEYS:
        if key not in row:
            raise BadConfig(f"{where}: {key} is missing; needed are {', '.join(_KEYS)}, as in quarantine")
    for key in _TEXTS:
        if not isinstance(row[key], str):
            raise BadConfig(f"{where}: {key} is not a text")
    if type(row["source_line"]) is not int:
        raise BadConfig(f"{where}: source_line is not a number")
    if "\n" in row["raw"] or "\r" in row["raw"]:
        raise BadConfig(f"{where}: raw has more than one line")
    return RepairedLine(row["source_file"], row["source_line"], row["raw_sha256"], row["raw"])
