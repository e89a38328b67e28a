"""Signs of life of a command that works for long: what it does, how far it is. Plain lines, few of them, for people and logs alike."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark import StatusTracker

#: Whoever sees nothing for longer than this wonders what happens; after the first line, one now and then is enough.
FIRST_AFTER_S = 2.0
THEN_EVERY_S = 10.0


def running_tasks(tracker: StatusTracker) -> str:
    """How far Spark is with the stages that run now, as `3 of 8 tasks`; empty if none runs."""
    stages = tracker.getActiveStageIds()
    infos = [info for info in map(tracker.getStageInfo, stages) if info]
    return f"{sum(i.numCompletedTasks for i in infos)} of {sum(i.numTasks for i in infos)} tasks" if infos else ""


class Heartbeat:
    """Prints `what: step; tasks, seconds` when the command was silent for long. `say` prints a line, `tasks` is how far Spark is."""

    def __init__(self, what: str, say: Callable[[str], None], tasks: Callable[[], str] = str) -> None:
        self._what = what
        self._say = say
        self._tasks = tasks
        self._step = "beginning"
        self._began_s = self._due_s = 0.0

    def step(self, text: str) -> None:
        """What is done from here on."""
        self._step = text

    def say(self, line: str) -> None:
        """A line of the command's own: it is a sign of life, too."""
        self._say(line)
        self._due_s = time.monotonic() + FIRST_AFTER_S

    def line(self) -> str:
        """The sign of life."""
        seconds = f"{time.monotonic() - self._began_s:.0f} s"
        return f"{self._what}: {self._step} ({', '.join(filter(None, (self._tasks(), seconds)))})"

    @contextmanager
    def beating(self) -> Iterator["Heartbeat"]:
        """Give signs as long as the block runs. One block after the other."""
        ended = threading.Event()
        self._began_s = time.monotonic()
        self._due_s = self._began_s + FIRST_AFTER_S
        thread = threading.Thread(target=self._beat, args=(ended,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            ended.set()
            thread.join()

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(max(self._due_s - time.monotonic(), 0.05)):
            if time.monotonic() >= self._due_s:
                self._say(self.line())
                self._due_s = time.monotonic() + THEN_EVERY_S
