"""A log file as a stream of bytes to parsed blocks: every line is an event or a reject, and the count adds up."""

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from pipeline.sources.parse.block import parse_text
from pipeline.sources.parse.line import ParseLimits, Reject, read_envelope
from pipeline.sources.parse.lines import EndlessLine, TextBlock, Truncation, compression_of, read_blocks
from pipeline.sources.parse.outcome import EVENT_SCHEMA, ParsedBlock, RejectedLine, cut_text, reject_batch

__all__ = ["FileBlock", "ParseLimits", "ParsedBlock", "blocks_of", "parse_block", "parse_stream"]

FileBlock = TextBlock | EndlessLine | Truncation


def parse_stream(stream: BinaryIO, name: str, limits: ParseLimits) -> Iterator[ParsedBlock]:
    """All blocks of the file `name`, parsed, in order, in bounded memory; an empty file gives none. It becomes source_file."""
    return (parse_block(block, name, limits) for block in blocks_of(stream, name, limits))


def blocks_of(stream: BinaryIO, name: str, limits: ParseLimits, lines_before: int = 0) -> Iterator[FileBlock]:
    """Blocks of the file `name` (its suffix names its compression), in order, not parsed yet. The stream begins after `lines_before`."""
    # A character may begin within the limit and end after it.
    return read_blocks(stream, compression_of(name), limits.raw_bytes + 4, lines_before)


def parse_block(block: FileBlock, name: str, limits: ParseLimits) -> ParsedBlock:
    """A block of the file `name`, which becomes source_file.

    A file that ends inside its compressed stream ends in a block with `truncated`, which holds one reject `truncated_file`: what is left
    of the last line, maybe nothing, and counts as one line.
    """
    if isinstance(block, TextBlock):
        return parse_text(block, name, limits)
    if isinstance(block, EndlessLine):
        reject = Reject("text_too_long", f"line of {block.length} bytes, limit {limits.max_line_bytes}")
        return _only_reject(_endless(block, reject, name, limits))
    return _only_reject(_truncated(block, name, limits), truncated=True)


def _truncated(end: Truncation, name: str, limits: ParseLimits) -> RejectedLine:
    if isinstance(end.partial, EndlessLine):
        return _endless(end.partial, Reject("truncated_file", end.detail), name, limits)
    raw = end.partial.text if end.partial.text.strip() else b""
    # If only the line's end is lost the envelope is whole: then its lane learns that the place is taken.
    reject = Reject("truncated_file", end.detail, read_envelope(raw, limits))
    return RejectedLine(reject, cut_text(raw, limits.raw_bytes), len(raw), hashlib.sha256(raw).hexdigest(), name, end.partial.first_line)


def _endless(line: EndlessLine, reject: Reject, name: str, limits: ParseLimits) -> RejectedLine:
    return RejectedLine(reject, cut_text(line.head, limits.raw_bytes), line.length, line.sha256, name, line.line)


def _only_reject(line: RejectedLine, truncated: bool = False) -> ParsedBlock:
    return ParsedBlock(pa.RecordBatch.from_pylist([], schema=EVENT_SCHEMA), reject_batch([line]), 1, truncated)
