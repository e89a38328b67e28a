"""The quick path: a block of whole lines to columns, whole columns at a time. Whatever is not provably clean goes to parse_line.

Why it agrees with parse_line row for row:

* A *plain* line is valid UTF-8, without control bytes, backslashes and brackets, with one `{` at its start, one `}` at its end, and
  quotes in pairs. So no string or object reaches beyond its line, there is nothing nested, no list, no escape.
* In a plain line every closing quote is followed by `:`, `,` or `}`; so the quotes before a `:` count exactly the keys of the object.
* pyarrow's JSON reader then gets plain lines of one type with that type's columns: it refuses numbers as text, fractions for longs,
  integers beyond 64 bits, repeated keys, and everything that is not JSON. What it refuses is cut smaller, down to parse_line.
* A row with as many columns that are not null as the line has keys has no unknown field and no null; ranges and enumerations are
  checked on the columns (shape.py).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json

from pipeline.faults import invariant
from pipeline.sources.parse.line import ParseLimits
from pipeline.sources.parse.lines import TextBlock
from pipeline.sources.parse.outcome import ParsedBlock, assemble, parse_singly
from pipeline.sources.parse.shape import SHAPES, TypeShape, faulty_rows

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.bool_]
QuickPiece = tuple[pa.Table, Ints]

#: Refused pieces are halved down to this many lines.
_FEW_LINES = 8
_QUOTE, _COLON, _COMMA, _CLOSING_BRACE = b'":,}'


def parse_text(block: TextBlock, source_file: str, limits: ParseLimits) -> ParsedBlock:
    """Events and rejects of the lines of `block`, in their order, exactly as parse_line gives them; blank lines are not counted."""
    text = block.text if not block.text or block.text.endswith(b"\n") else block.text + b"\n"
    first = block.first_line
    return parse_numbered(text, np.arange(first, first + text.count(b"\n"), dtype=np.int64), source_file, limits)


def parse_numbered(text: bytes, numbers: Ints, source_file: str, limits: ParseLimits) -> ParsedBlock:
    """The same of lines with any `numbers`, one per line of `text`, which ends with a line end unless it is empty."""
    if not text:
        return assemble([], parse_singly([], [], [], source_file, limits), np.empty(0, np.int64), source_file, 0)
    found = _look_at(text, limits)
    invariant(len(found.starts) == len(numbers), f"{len(found.starts)} lines have {len(numbers)} numbers")
    quick, singly = _read_plain(text, found)
    raws = {int(row): raw for row in singly if (raw := text[found.starts[row] : found.ends[row]]).strip()}
    slow = parse_singly(list(raws.values()), list(raws), [int(numbers[row]) for row in raws], source_file, limits)
    lines = sum(len(at) for _, at in quick) + len(raws)
    return assemble(quick, slow, numbers, source_file, lines)


@dataclass(frozen=True)
class _Look:
    """Per line: where it starts and ends (in bytes, without its line end), its keys, and its likely shape (−1: not for the quick path)."""

    starts: Ints
    ends: Ints
    keys: Ints
    shape: Ints


def _look_at(text: bytes, limits: ParseLimits) -> _Look:
    codes = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(codes == 10)
    starts = np.concatenate([[0], ends[:-1] + 1])
    plain = _without_surprises(text, codes, starts, ends)
    plain &= ends - starts <= min(limits.max_line_bytes, limits.max_text_bytes)
    quotes = np.flatnonzero(codes == _QUOTE)
    per_line = np.diff(np.searchsorted(quotes, ends), prepend=0)
    plain &= (per_line % 2 == 0) & (per_line > 0)
    line_of = np.repeat(np.arange(len(ends)), per_line)
    if not plain.all():
        kept = plain[line_of]
        quotes, line_of = quotes[kept], line_of[kept]
    opening, closing, line_of = quotes[0::2], quotes[1::2], line_of[0::2]
    follower = codes[closing + 1]
    is_key = follower == _COLON
    astray = ~(is_key | (follower == _COMMA) | (follower == _CLOSING_BRACE))
    if astray.any():
        plain[line_of[astray]] = False
    keys = np.bincount(line_of[is_key], minlength=len(ends))
    shape = _shape_of_lines(text, opening, closing, is_key, line_of, len(ends))
    shape[~plain] = -1
    return _Look(starts, ends, keys, shape)


def _without_surprises(text: bytes, codes: npt.NDArray[np.uint8], starts: Ints, ends: Ints) -> Rows:
    """Lines that are UTF-8, begin with the only `{`, end with the only `}`, and have no bracket, backslash or control byte."""
    # `[ \ ]` and `{ | }` are neighbours, 32 apart. A `|` in a name costs the quick path, nothing else.
    special = ((codes & 0xDF) - np.uint8(0x5B) < 3) | (codes < 32)
    places = np.flatnonzero(special)
    # Of the line itself, without its line end.
    per_line = np.searchsorted(places, ends) - np.searchsorted(places, starts)
    plain: Rows = (codes[starts] == ord("{")) & (codes[ends - 1] == ord("}")) & (per_line == 2)
    if not text.isascii():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            high = np.flatnonzero(codes >= 128)
            plain &= np.searchsorted(high, ends) == np.searchsorted(high, starts)
    return plain


_SHAPE_LIST = tuple(SHAPES.values())


def _name_hash(text: bytes, opening: Ints, closing: Ints) -> npt.NDArray[np.uint64]:
    """A number for each string between `opening` and `closing` quotes, of its length and its first and last eight bytes.

    At least eight bytes lie before each closing quote, and eight after each opening one.
    """
    words = np.ndarray(shape=(len(text) - 7,), dtype="<u8", buffer=text, strides=(1,))
    length = (closing - opening - 1).astype(np.uint64)
    unused = np.uint64(64) - np.uint64(8) * np.minimum(length, np.uint64(8))
    unused = np.minimum(unused, np.uint64(63))
    first = words[opening + 1] << unused
    last = words[closing - 8] >> unused
    mixed: npt.NDArray[np.uint64] = first * np.uint64(0x9E3779B97F4A7C15) ^ last * np.uint64(0xC2B2AE3D27D4EB4F) ^ length
    return mixed


def _known_hashes() -> tuple[npt.NDArray[np.uint64], Ints]:
    hashes = []
    for shape in _SHAPE_LIST:
        text = b'"type":"' + shape.name.encode() + b'"        '
        closing = text.index(b'" ')
        hashes.append(_name_hash(text, np.array([7]), np.array([closing]))[0])
    invariant(len(set(hashes)) == len(hashes), "two event types have one hash")
    order = np.argsort(np.array(hashes, dtype=np.uint64))
    return np.array(hashes, dtype=np.uint64)[order], order.astype(np.int64)


_HASHES, _SHAPE_OF_HASH = _known_hashes()


def _shape_of_lines(text: bytes, opening: Ints, closing: Ints, is_key: Rows, line_of: Ints, lines: int) -> Ints:
    """Index into _SHAPE_LIST of each line by the value of its `type`, −1 without one. A guess: it is checked when the line was read."""
    shape = np.full(lines, -1, dtype=np.int64)
    candidates = np.flatnonzero(is_key[:-1] & (closing[:-1] - opening[:-1] == 5))
    if not len(candidates) or len(text) < 16:
        return shape
    quads = np.ndarray(shape=(len(text) - 3,), dtype="<u4", buffer=text, strides=(1,))
    candidates = candidates[quads[opening[candidates] + 1] == int.from_bytes(b"type", "little")]
    values = candidates + 1
    # The value is the next string, right after the colon (one space at most), and the text has eight bytes after its beginning.
    near = (opening[values] - closing[candidates] <= 3) & (line_of[values] == line_of[candidates]) & (opening[values] + 9 <= len(text))
    values = values[near]
    hashes = _name_hash(text, opening[values], closing[values])
    place = np.minimum(np.searchsorted(_HASHES, hashes), len(_HASHES) - 1)
    known = _HASHES[place] == hashes
    shape[line_of[values[known]]] = _SHAPE_OF_HASH[place[known]]
    return shape


def _read_plain(text: bytes, look: _Look) -> tuple[list[QuickPiece], Ints]:
    """Tables of the plain lines, type by type, and the lines that are left for parse_line, ascending."""
    rows = np.argsort(look.shape, kind="stable")
    rows = rows[np.searchsorted(look.shape[rows], 0) :]
    if not len(rows):
        return [], np.arange(len(look.starts))
    offsets = np.append(look.starts, len(text)).astype(np.int32)
    lines = pa.Array.from_buffers(pa.binary(), len(look.starts), [None, pa.py_buffer(offsets), pa.py_buffer(text)]).take(pa.array(rows))
    borders = np.flatnonzero(np.diff(look.shape[rows], prepend=-1, append=-1))
    quick: list[QuickPiece] = []
    done = np.zeros(len(look.starts), dtype=np.bool_)
    for start, end in pairwise(borders):
        shape = _SHAPE_LIST[look.shape[rows[start]]]
        for piece in _read_lines(shape, lines.slice(start, end - start), rows[start:end], look.keys):
            quick.append(piece)
            done[piece[1]] = True
    return quick, np.flatnonzero(~done)


def _read_lines(shape: TypeShape, lines: pa.BinaryArray, at: Ints, keys: Ints, screened: bool = False) -> list[QuickPiece]:
    """Tables of the good ones among `lines` (of one shape, at rows `at` of the block); what is left out is for parse_line."""
    if not len(at):
        return []
    try:
        table = _read_json(shape, lines)
    except pa.ArrowInvalid:
        if not screened:
            likely = np.array([shape.is_likely(line) for line in lines.to_pylist()])
            return _read_lines(shape, lines.filter(pa.array(likely)), at[likely], keys, screened=True)
        if len(at) <= _FEW_LINES:
            return []
        half = len(at) // 2
        return [
            *_read_lines(shape, lines.slice(0, half), at[:half], keys, screened=True),
            *_read_lines(shape, lines.slice(half), at[half:], keys, screened=True),
        ]
    invariant(table.num_rows == len(at), f"{len(at)} plain lines were read as {table.num_rows} rows")
    faulty = faulty_rows(shape, table, keys[at])
    if faulty.any():
        table, at = table.filter(pa.array(~faulty)), at[~faulty]
    code = pa.repeat(pa.scalar(shape.code, pa.int32()), len(at))
    return [(table.append_column("type_code", code), at)]


def _read_json(shape: TypeShape, lines: pa.BinaryArray) -> pa.Table:
    """pyarrow's reader over `lines`, as one chunk. It crashes on a null outside of objects: only plain lines may come here."""
    _, offsets, data = lines.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
    text = data.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    return pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=text.size + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=shape.schema, unexpected_field_behavior="ignore"),
    )
