"""Many clients of one server on the loopback interface, in one event loop: those that ask, and those that only hold a connection."""

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

HOST = "127.0.0.1"
PATIENCE_S = 60


async def asked(port: int, paths: Sequence[str], requests: int, at_once: int) -> Counter[tuple[str, int]]:
    """How often each path got each status: `requests` in all, of `at_once` clients that keep their connections."""
    found: Counter[tuple[str, int]] = Counter()
    numbers = iter(range(requests))

    async def client() -> None:
        kept = await asyncio.open_connection(HOST, port, limit=2**20)
        for number in numbers:
            path = paths[number % len(paths)]
            try:
                status = await _status(*kept, path)
            except (asyncio.IncompleteReadError, ConnectionError):  # hung up on between two requests, as a client must expect
                kept[1].close()
                kept = await asyncio.open_connection(HOST, port, limit=2**20)
                status = await _status(*kept, path)
            found[path, status] += 1
        kept[1].close()

    await asyncio.gather(*(client() for _ in range(at_once)))
    return found


async def _status(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> int:
    """Of a whole answer."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    return await asyncio.wait_for(_read(reader), PATIENCE_S)


async def _read(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    (length,) = (int(line.partition(":")[2]) for line in head.splitlines() if line.startswith("content-length:"))
    await reader.readexactly(length)
    return int(head.split(" ", 2)[1])


@contextmanager
def held(port: int, sent: bytes, count: int) -> Iterator[None]:
    """Meanwhile so many connections stay open that have sent these bytes, and read nothing."""
    connections = [socket.create_connection((HOST, port), timeout=PATIENCE_S) for _ in range(count)]
    try:
        for connection in connections:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(sent)
        yield
    finally:
        for connection in connections:
            connection.close()
