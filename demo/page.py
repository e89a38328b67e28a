"""The page of the demo's warehouse: a server on a thread of this process, on this machine alone."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from console.address import address, is_loopback, shown_url
from pipeline.faults import BadConfig


class Page:
    """Where it will be. Made before anything else starts: an address that somebody else has is told at once."""

    def __init__(self, listen: str) -> None:
        """Raises BadConfig for a place that cannot be listened at, or that other machines reach."""
        from driver.http_server import listening_socket

        host, port = address(listen)
        if not is_loopback(host):
            raise BadConfig(f"--listen {listen}: other machines reach it; the command serve can do that")
        self._at: socket.socket = listening_socket(host, port)
        self.url = f"{shown_url('http', host, self._at.getsockname()[1])}/"

    @contextmanager
    def served(self, warehouse: Any) -> Iterator[None]:
        """Within it the page answers; without a log of requests, which would push the demo's answers off the screen."""
        from driver.http_server import served_beside
        from driver.serving import app_of

        with served_beside(app_of(warehouse, lambda _: None), self._at):
            yield

    def wait(self, screen: Callable[[str], None]) -> None:
        """Until Ctrl-C or SIGTERM."""
        from driver.http_server import wait_for_stop

        screen(f"\nthe page stays at {self.url} until Ctrl-C")
        wait_for_stop()
