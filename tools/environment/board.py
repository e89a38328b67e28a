"""What set-up does and how far it is, in one line on stderr. On a terminal the line is renewed, elsewhere it is printed now and then."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

#: How often the line is shown: where it replaces itself, and where every line stays (a log).
EVERY_S = {True: 0.5, False: 10.0}
#: Something that takes longer than this is shown for the first time.
FIRST_AFTER_S = 2.0


class Board:
    """Parts that are being made, each with its progress in words. Any thread may write to it."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._renews = self._out.isatty()
        self._parts: dict[str, str] = {}
        self._changed = threading.Lock()
        self._ended = threading.Event()
        self._began_s = time.monotonic()
        self._width = 0

    @contextmanager
    def shown(self) -> Iterator["Board"]:
        """Show it as long as the block runs."""
        ticker = threading.Thread(target=self._tick, daemon=True)
        ticker.start()
        try:
            yield self
        finally:
            self._ended.set()
            ticker.join()
            self._clear()

    def at(self, part: str, progress: str) -> None:
        """How far a part is."""
        with self._changed:
            self._parts[part] = progress

    def done(self, part: str) -> None:
        """A part is complete: it leaves the line."""
        with self._changed:
            self._parts.pop(part, None)

    def say(self, line: str) -> None:
        """A line that stays."""
        self._clear()
        print(line, file=self._out, flush=True)

    def line(self) -> str:
        """All parts in work, with the seconds since the beginning."""
        with self._changed:
            parts = [f"{part} {progress}" for part, progress in self._parts.items()]
        return " | ".join([f"{time.monotonic() - self._began_s:3.0f} s", *parts])

    def _tick(self) -> None:
        wait_s = FIRST_AFTER_S
        while not self._ended.wait(wait_s):
            wait_s = EVERY_S[self._renews]
            self._show(self.line())

    def _show(self, line: str) -> None:
        if not self._renews:
            print(line, file=self._out, flush=True)
            return
        self._out.write("\r" + line.ljust(self._width))
        self._out.flush()
        self._width = len(line)

    def _clear(self) -> None:
        if self._renews and self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()
            self._width = 0
