"""In which order events arrived that came in one micro-batch of ingest: file by file, and line by line in a file.

Of two events with one `seq` the one that arrived first counts. So of two logs that claim one broker and epoch one counts as a whole, in
whatever tasks, files of Parquet and packets their lines travel. Which file comes first follows from a hash of its name: whoever has a line
knows it, wherever he is.
"""

from functools import lru_cache

from schemas.ids import id_of

#: 23 bits of the file's hash, 40 of the line: a positive long. No file has so many lines; offsets of Kafka beyond that begin anew.
FILE_BITS, LINE_BITS = 23, 40
FILE_MASK, LINE_MASK = 2**FILE_BITS - 1, 2**LINE_BITS - 1
_LEVEL = "f"


@lru_cache(maxsize=65_536)
def file_place(source_file: str | None) -> int:
    """Where the lines of a file begin in that order; null, as tables have it, is a file of its own."""
    return (id_of(_LEVEL, source_file or "") & FILE_MASK) << LINE_BITS
