"""Files that a collector is still writing: rows of whole gzip members, of which the last one may not be whole yet.

A collector appends whole lines as one member, once a second (`flush_ms`), and gives the file its final name when it is finished.
"""

import os
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

UNFINISHED = "_unfinished-"
#: Read at a time. A member of the collector has one second of events.
MOST_BYTES = 16 << 20
_PIECE_BYTES = 1 << 16
_GZIP = 31


class Part(NamedTuple):
    """The beginning of a file: whole members with so many bytes and lines."""

    bytes: int = 0
    lines: int = 0


def growing_files(folder: Path) -> list[str]:
    """Names below the folder, oldest first by name. Only names are looked at: a folder may have many files. Raises OSError."""
    found = []
    for parent, folders, names in os.walk(folder, onerror=_fail):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        found += [str(Path(parent, name).relative_to(folder)) for name in names if name.startswith(UNFINISHED)]
    return sorted(found)


def finished_name(name: str) -> str:
    """The name that a growing file will have: `host/_unfinished-b-1-1` → `host/b-1-1.jsonl.gz`."""
    path = Path(name)
    return str(path.with_name(path.name.removeprefix(UNFINISHED) + ".jsonl.gz"))


def whole_part(stream: BinaryIO, part: Part) -> Part:
    """`part` and the whole members behind it, MOST_BYTES more at most. Damage ends them, and shows in the finished file."""
    stream.seek(part.bytes)
    (done, lines), position, more = part, part.bytes, 0
    member = zlib.decompressobj(_GZIP)
    while position - part.bytes < MOST_BYTES and (piece := stream.read(_PIECE_BYTES)):
        position += len(piece)
        while piece:
            try:
                more += member.decompress(piece).count(b"\n")
            except zlib.error:
                return Part(done, lines)
            if not member.eof:
                break
            piece = member.unused_data
            done, lines, more, member = position - len(piece), lines + more, 0, zlib.decompressobj(_GZIP)
    return Part(done, lines)


def whole_members(stream: BinaryIO, begin: int) -> bytes:
    """Bytes of the members from `begin` on that are whole; MOST_BYTES at most."""
    end = whole_part(stream, Part(begin)).bytes
    stream.seek(begin)
    return stream.read(end - begin)


def _fail(fault: OSError) -> None:
    raise fault
