"""The lines of a file as records of Kafka: the line itself, and the broker that wrote it as the key."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from pipeline.parse.lines import EndlessLine, TextBlock, compression_of, read_blocks

Record = tuple[bytes | None, bytes]
#: The envelope's field. A key only chooses a partition: a line without one is shipped without a key.
_BROKER = re.compile(rb'"broker"\s*:\s*"([^"\\]*)"')


class Faults(list[str]):
    """What of a file cannot be shipped, in words."""


def records_of(stream: BinaryIO, name: str, faults: Faults) -> Iterator[Record]:
    """Each line that is not blank, as it stands in the file. Adds to `faults` what no record can hold, and where a file is damaged."""
    for block in read_blocks(stream, compression_of(name), 0):
        if isinstance(block, TextBlock):
            yield from _records(block.text)
        elif isinstance(block, EndlessLine):
            faults.append(f"{name}, line {block.line}: {block.length} bytes are too long for a record")
        else:
            faults.append(f"{name}: {block.detail}; what could be read of it is shipped")
            if isinstance(block.partial, TextBlock):
                # The job puts what is left of the last line into quarantine, as it does when it reads the file itself.
                yield from _records(block.partial.text)


def _records(text: bytes) -> Iterator[Record]:
    for line in text.split(b"\n"):
        if line.strip():
            broker = _BROKER.search(line)
            yield (broker[1] if broker else None), line
