"""Where lines go: compressed files of a bounded number of lines. The same lines give the same bytes."""

import io
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import zstandard

#: Lines that wait until they are compressed together.
BATCH_LINES = 4096
#: A file is closed after so many lines, so that several readers share a large log.
LINES_PER_FILE = 1_000_000


class LineFiles:
    """Lines into NAME-0001.jsonl.zst, NAME-0002.jsonl.zst … of a folder. `numbered=False`: one file, NAME.jsonl.zst."""

    def __init__(self, folder: Path, name: str, numbered: bool = True) -> None:
        self.lines = 0
        self._folder, self._name, self._numbered = folder, name, numbered
        self._waiting: list[str] = []
        self._files = 0
        self._left = 0
        self._open: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def write(self, line: str) -> None:
        """One line, without its end."""
        self._waiting.append(line)
        if len(self._waiting) >= BATCH_LINES:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        if self._open is None or (self._numbered and self._left <= 0):
            self._next_file()
        self._waiting.append("")
        self._open.write("\n".join(self._waiting).encode())
        count = len(self._waiting) - 1
        self.lines += count
        self._left -= count
        self._waiting = []

    def _next_file(self) -> None:
        if self._open is not None:
            self._open.close()
        self._files += 1
        self._left = LINES_PER_FILE
        name = f"{self._name}-{self._files:04}" if self._numbered else self._name
        target = (self._folder / f"{name}.jsonl.zst").open("wb")
        self._open = zstandard.ZstdCompressor(level=1).stream_writer(target)

    def close(self) -> None:
        """Everything is written. Without a line there is still one (empty) file, if it is not numbered."""
        self._flush()
        if self._open is None and not self._numbered:
            self._next_file()
        if self._open is not None:
            self._open.close()
            self._open = None


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a compressed file."""
    with path.open("rb") as stream, zstandard.ZstdDecompressor().stream_reader(stream) as plain:
        yield from io.TextIOWrapper(plain, encoding="utf-8")
