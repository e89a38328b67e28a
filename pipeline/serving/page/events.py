"""`/events`: one line when the state of the tables changes, to as many listeners as are allowed at once (server-sent events)."""

import asyncio
from collections.abc import AsyncIterator

from pipeline.serving.answers import Answers, Overloaded

PATH = "/events"
MOST_LISTENERS = 400
#: A connection on which nothing comes for longer is taken for dead by proxies.
HEARTBEAT_S = 15.0
_CHANGED = b"event: changed\ndata: \n\n"
_HEARTBEAT = b": still here\n\n"


class Listeners:
    """Who waits for news of one warehouse. Used from one event loop."""

    def __init__(self, answers: Answers, most: int, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._answers, self._most, self._heartbeat_s = answers, most, heartbeat_s
        self.count = 0

    def admit(self) -> None:
        """Raise Overloaded where too many listen already."""
        if self.count >= self._most:
            raise Overloaded("too many pages are open at once")

    async def news(self) -> AsyncIterator[bytes]:
        """Lines for one listener, until it leaves."""
        self.count += 1
        try:
            yield _HEARTBEAT
            while True:
                changed = self._answers.changed
                try:
                    await asyncio.wait_for(changed.wait(), self._heartbeat_s)
                except TimeoutError:
                    yield _HEARTBEAT
                else:
                    yield _CHANGED
        finally:
            self.count -= 1
