"""The lines of a file as records of Kafka: the line itself, and the broker that wrote it as the key."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pipeline.sources.parse.lines import EndlessLine, TextBlock, compression_of, read_blocks


class Record(NamedTuple):
    """A line of a file, its number from 1, and the key that it gets."""

    key: bytes | None
    line: bytes
    number: int


#: The envelope's field. A key only chooses a partition: a line without one is shipped without a key.
_BROKER = re.compile(rb'"broker"\s*:\s*"([^"\\]*)"')


def records_of(stream: BinaryIO, name: str, faults: list[str]) -> Iterator[Record]:
    """Each line that is not blank, as it stands in the file. Adds to `faults` what no record can hold, and where a file is damaged."""
    for block in read_blocks(stream, compression_of(name), 0):
        if isinstance(block, TextBlock):
            yield from _records(block)
        elif isinstance(block, EndlessLine):
            faults.append(too_long(name, block.line))
        else:
            faults.append(f"{name}: {block.detail}; what could be read of it is shipped")
            if isinstance(block.partial, TextBlock):
                # The job puts what is left of the last line into quarantine, as it does when it reads the file itself.
                yield from _records(block.partial)


def too_long(name: str, number: int) -> str:
    """The fault of a line that Kafka does not take."""
    return f"{name}, line {number}: longer than a record may be (message.max.bytes, max.message.bytes): not shipped"


def _records(block: TextBlock) -> Iterator[Record]:
    for number, line in enumerate(block.text.split(b"\n"), block.first_line):
        if line.strip():
            broker = _BROKER.search(line)
            yield Record(broker[1] if broker else None, line, number)
