"""Records of a topic, each of which holds one line of the log."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pipeline.sources.parse.block import parse_numbered
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.outcome import ParsedBlock, assemble, parse_singly

_NEWLINE = b"\n"


def parse_records(
    values: list[bytes | None], numbers: npt.NDArray[np.int64], source_file: str, limits: ParseLimits
) -> Iterator[ParsedBlock]:
    """Events and rejects of `values`, exactly as the same lines of a file give them; `numbers` become source_line.

    Empty and null values are blank lines: not counted. A value with a line end inside is one line, which is no event unless it is one
    JSON object.
    """
    text, places, odd = [], [], []
    for place, value in enumerate(values):
        if not value:
            continue
        # A long one would only be copied together with the others.
        if _NEWLINE in value or len(value) > limits.max_line_bytes:
            odd.append(place)
        else:
            text.append(value)
            places.append(place)
    if text:
        yield parse_numbered(_NEWLINE.join([*text, b""]), numbers[np.array(places)], source_file, limits)
    raws = {place: value for place in odd if (value := values[place]) and value.strip()}
    if raws:
        singly = parse_singly(list(raws.values()), list(raws), [int(numbers[place]) for place in raws], source_file, limits)
        yield assemble([], singly, numbers, source_file, len(raws))
