"""A client of `serve` for many connections that stay open, in one event loop. This machine alone."""

import asyncio
import time
from collections.abc import Sequence

HOST = "127.0.0.1"
#: A whole answer must come within it.
PATIENCE_S = 60.0
#: What asyncio reads ahead of one answer.
_AHEAD_BYTES = 2**20


class Connection:
    """One connection that stays open, as Prometheus and browsers keep theirs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> "Connection":
        """A new connection."""
        return cls(*await asyncio.open_connection(HOST, port, limit=_AHEAD_BYTES))

    async def get(self, path: str, *, gzipped: bool = True) -> bytes:
        """The body of an answer, as it came. Raises SystemExit where it is not 200."""
        await self.ask(path, gzipped=gzipped)
        return await asyncio.wait_for(self._reader.readexactly(await self.head()), PATIENCE_S)

    async def ask(self, path: str, *, gzipped: bool = True) -> None:
        """Send the request alone."""
        accepted = "Accept-Encoding: gzip\r\n" if gzipped else ""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{accepted}\r\n".encode())
        await self._writer.drain()

    async def head(self) -> int:
        """Read the head of an answer; the bytes of its body, 0 where it has no end."""
        head = (await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), PATIENCE_S)).decode("latin-1").lower()
        if " 200 " not in head.splitlines()[0]:
            raise SystemExit(f"an answer is not 200: {head}")
        lengths = [int(line.partition(":")[2]) for line in head.splitlines() if line.startswith("content-length:")]
        return lengths[0] if lengths else 0

    async def until(self, words: bytes) -> None:
        """Read on until these words of an answer without an end."""
        await asyncio.wait_for(self._reader.readuntil(words), PATIENCE_S)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


async def one_after_the_other(port: int, path: str, count: int, *, gzipped: bool = True) -> list[float]:
    """Seconds of each of `count` answers on one connection."""
    connection, found = await Connection.to(port), list[float]()
    for _ in range(count):
        began = time.perf_counter()
        await connection.get(path, gzipped=gzipped)
        found.append(time.perf_counter() - began)
    connection.close()
    return found


async def scraped(port: int, path: str, per_s: int, seconds: int) -> list[float]:
    """Seconds of each scrape: `per_s` connections ask once a second, evenly spread.

    A scrape begins when it is due: one that has to wait for its own connection is the slower for it.
    """
    begin = time.perf_counter() + 0.5
    found: Sequence[list[float]] = await asyncio.gather(
        *(_each_second(port, path, begin + number / per_s, seconds) for number in range(per_s))
    )
    return [one for some in found for one in some]


async def _each_second(port: int, path: str, first: float, seconds: int) -> list[float]:
    connection, found = await Connection.to(port), list[float]()
    for number in range(seconds):
        due = first + number
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await connection.get(path)
        found.append(time.perf_counter() - due)
    connection.close()
    return found
