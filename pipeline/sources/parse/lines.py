"""Bytes of a file to blocks of whole lines: decompressed in pieces, in bounded memory, and whatever can be read before a damage is read."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

import zstandard
from zlib_ng import zlib_ng

Compression = Literal["none", "gzip", "zstd"]

BLOCK_BYTES = 4 << 20
#: A longer line is not even read for its envelope.
LONGEST_WHOLE_LINE = 64 << 20
_BOM = b"\xef\xbb\xbf"
_READ_BYTES = 1 << 18
#: zstd drops what a call had decompressed when it meets damage in that call, and its state cannot be copied: small calls lose little.
_ZSTD_PIECE = 1 << 10
#: Bounds what one call of zlib-ng may return, whatever the ratio of the compression.
_GZIP_OUTPUT = 1 << 20
_GZIP_FORMAT = 31
_GzipDamage: type[Exception] = zlib_ng.error  # type: ignore[assignment]  # its stubs take it for an instance


@dataclass(frozen=True)
class TextBlock:
    """Whole lines with "\\n" between them and perhaps after them (no "\\r" before it); `first_line` counts from 1."""

    text: bytes
    first_line: int


@dataclass(frozen=True)
class EndlessLine:
    """A line longer than LONGEST_WHOLE_LINE: its beginning, its length in bytes, and the SHA-256 of the whole, hex."""

    head: bytes
    length: int
    sha256: str
    line: int


@dataclass(frozen=True)
class Truncation:
    """The stream ended inside its compression: `partial` is what was left of the last line (maybe nothing), `detail` is the reason."""

    partial: TextBlock | EndlessLine
    detail: str


class DamagedStream(Exception):
    """A compressed stream that ends early or is damaged. What came before it has been yielded."""


def compression_of(name: str) -> Compression:
    """Compression by the suffix of a file's name: `.gz`, `.zst`, anything else is plain."""
    lowered = name.lower()
    if lowered.endswith(".gz"):
        return "gzip"
    return "zstd" if lowered.endswith(".zst") else "none"


def decompressed(stream: BinaryIO, compression: Compression) -> Iterator[bytes]:
    """Pieces of the plain bytes; raises DamagedStream after the last piece that could be had. An empty file is empty, not damaged."""
    if compression == "gzip":
        return _gunzipped(stream)
    return _unzstd(stream) if compression == "zstd" else _pieces(stream)


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_READ_BYTES):
        yield piece


def _gunzipped(stream: BinaryIO) -> Iterator[bytes]:
    member = zlib_ng.decompressobj(_GZIP_FORMAT)
    started = False
    between = False
    for piece in _pieces(stream):
        while piece:
            if between:
                # Zeros after a member are padding (tapes, tar), as gzip itself has it.
                piece = piece.lstrip(b"\0")
                if not piece:
                    break
                member, between = zlib_ng.decompressobj(_GZIP_FORMAT), False
            started = True
            yield from _inflated(member, piece)
            piece = member.unused_data
            between = member.eof
    if started and not between:
        raise DamagedStream("the gzip stream ends early")


def _inflated(member: "zlib_ng._Decompress", piece: bytes) -> Iterator[bytes]:
    """What `piece` adds; on damage first what came before it, byte by byte, then DamagedStream."""
    while piece and not member.eof:
        before = member.copy()  # type: ignore[attr-defined]  # the stubs of zlib-ng lack it
        try:
            text = member.decompress(piece, _GZIP_OUTPUT)
        except _GzipDamage as error:
            yield from _inflated_before_damage(before, piece)
            raise DamagedStream(f"the gzip stream is damaged: {error}") from None
        yield text
        piece = member.unconsumed_tail


def _inflated_before_damage(member: "zlib_ng._Decompress", piece: bytes) -> Iterator[bytes]:
    for position in range(len(piece)):
        try:
            yield member.decompress(piece[position : position + 1])
        except _GzipDamage:
            return


def _unzstd(stream: BinaryIO) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor()
    frame = decompressor.decompressobj()
    started = False
    for large in _pieces(stream):
        for start in range(0, len(large), _ZSTD_PIECE):
            piece = large[start : start + _ZSTD_PIECE]
            while piece:
                if frame.eof:
                    frame = decompressor.decompressobj()
                started = True
                try:
                    yield frame.decompress(piece)
                except zstandard.ZstdError as error:
                    raise DamagedStream(f"the zstd stream is damaged: {error}") from None
                piece = frame.unused_data if frame.eof else b""
    if started and not frame.eof:
        raise DamagedStream("the zstd stream ends early")


class _Tail:
    """The line that has not ended yet. Beyond LONGEST_WHOLE_LINE only its beginning, length and hash are kept."""

    def __init__(self, head_bytes: int) -> None:
        self._head_bytes = head_bytes
        self._chunks: list[bytes] = []
        self._hash: hashlib._Hash | None = None
        self.length = 0

    @property
    def endless(self) -> bool:
        return self._hash is not None

    def add(self, chunk: bytes) -> None:
        self.length += len(chunk)
        if self._hash is not None:
            self._hash.update(chunk)
            return
        self._chunks.append(chunk)
        if self.length > LONGEST_WHOLE_LINE:
            text = b"".join(self._chunks)
            self._hash = hashlib.sha256(text)
            self._chunks = [text[: self._head_bytes]]

    def take(self) -> list[bytes]:
        """Its bytes so far (of an endless line the beginning); starts anew."""
        chunks = self._chunks
        self._chunks, self._hash, self.length = [], None, 0
        return chunks

    def take_endless(self, line: int) -> EndlessLine:
        length, digest = self.length, self._hash.hexdigest() if self._hash else ""
        return EndlessLine(b"".join(self.take()), length, digest, line)


class _BlockReader:
    """Cuts pieces of text into blocks of whole lines and counts the lines."""

    def __init__(self, head_bytes: int, lines_before: int) -> None:
        self._whole: list[bytes] = []
        self._whole_bytes = 0
        self._tail = _Tail(head_bytes)
        self._line = lines_before + 1

    def feed(self, piece: bytes) -> Iterator[TextBlock | EndlessLine]:
        """The blocks that `piece` completes."""
        if self._tail.endless:
            first, newline, rest = piece.partition(b"\n")
            self._tail.add(first)
            if not newline:
                return
            yield from self._flush()
            yield self._tail.take_endless(self._line)
            self._line += 1
            piece = rest
        end = piece.rfind(b"\n") + 1
        if end:
            self._whole_bytes += self._tail.length + end
            self._whole += [*self._tail.take(), piece[:end]]
        if len(piece) > end:
            self._tail.add(piece[end:])
        if self._whole_bytes >= BLOCK_BYTES:
            yield from self._flush()

    def _flush(self) -> Iterator[TextBlock]:
        if self._whole:
            block = TextBlock(_unix_lines(b"".join(self._whole)), self._line)
            self._whole, self._whole_bytes = [], 0
            self._line += block.text.count(b"\n")
            yield block

    def finish(self) -> Iterator[TextBlock | EndlessLine]:
        """The end of a whole stream: the last line may lack its end."""
        if self._tail.length and not self._tail.endless:
            self._whole += self._tail.take()
        yield from self._flush()
        if self._tail.endless:
            yield self._tail.take_endless(self._line)

    def finish_damaged(self, detail: str) -> Iterator[TextBlock | EndlessLine | Truncation]:
        """The end of a damaged stream: whole lines, then what is left of the line that the damage cut."""
        yield from self._flush()
        if self._tail.endless:
            yield Truncation(self._tail.take_endless(self._line), detail)
        else:
            yield Truncation(TextBlock(b"".join(self._tail.take()), self._line), detail)


def read_blocks(
    stream: BinaryIO, compression: Compression, head_bytes: int, lines_before: int = 0
) -> Iterator[TextBlock | EndlessLine | Truncation]:
    """Blocks of about BLOCK_BYTES of whole lines, in order; of endless lines `head_bytes` are kept. A Truncation comes last, if at all.

    The stream may begin after some lines of its file: they are counted.
    """
    reader = _BlockReader(head_bytes, lines_before)
    try:
        for piece in _without_bom(decompressed(stream, compression)):
            yield from reader.feed(piece)
    except DamagedStream as damage:
        yield from reader.finish_damaged(str(damage))
    else:
        yield from reader.finish()


def _unix_lines(text: bytes) -> bytes:
    if b"\r" not in text:
        return text
    return text.replace(b"\r\n", b"\n").removesuffix(b"\r")


def _without_bom(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces without a byte order mark before the first; it may be cut over the first pieces."""
    start: bytes | None = b""
    for piece in pieces:
        if start is None:
            yield piece
        elif not _BOM.startswith(start := start + piece):
            yield start.removeprefix(_BOM)
            start = None
    if start:
        yield start.removeprefix(_BOM)
