"""Answers of one warehouse to many readers: each is computed once for a state of the tables, by few threads, within bounds."""

import asyncio
import gzip
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import local
from typing import NamedTuple

from pipeline.faults import BadWarehouse
from pipeline.query.room import Interrupted, ReadingRoom
from pipeline.store.faults import store_fault
from pipeline.store.table_log import newest_version_at
from pipeline.warehouse.answerable import OF_CAUSES, refuse_half_written, refuse_missing
from pipeline.warehouse.layout import Warehouse

#: From a room to the text of an answer.
Work = Callable[[ReadingRoom], str]
_INTERRUPTED_EVERY_S = 0.05
#: Views that the metrics and the page ask for, some of their queries twice: each is computed once for a state of its tables.
KEPT_VIEWS = ("topics", "topic_backlog_now", "subscription_throttle_now", "recent_checks", "why")
#: Shorter ones fit into a packet or two.
WORTH_GZIP_BYTES = 2_000
#: Metrics become 30 times shorter by it; a higher level takes twice as long for a few per cent.
_GZIP_LEVEL = 1
#: Tables whose versions tell that an answer may have changed: both queries write batch_manifest last, a backfill the table backfills.
_TELL_CHANGES = ("batch_manifest", "backfills")


class Overloaded(Exception):
    """There is too much to do: ask again later."""


class TooLong(Exception):
    """The answer took longer than it may."""


class Answer(NamedTuple):
    """The bytes of an answer, gzipped once: to gzip 60,000 series takes 40 ms, and all other answers would wait for each."""

    body: bytes
    #: None: too short to be worth it.
    gzipped: bytes | None

    @property
    def kept_bytes(self) -> int:
        """Of memory."""
        return len(self.body) + len(self.gzipped or b"")


def answer_of(text: str) -> Answer:
    """The text in UTF-8."""
    body = text.encode()
    return Answer(body, gzip.compress(body, _GZIP_LEVEL, mtime=0) if len(body) >= WORTH_GZIP_BYTES else None)


@dataclass(frozen=True)
class Bounds:
    """What all answers together may take."""

    threads: int = 2
    #: Answers that are computed or wait for a thread; one that is asked for twice counts once.
    most_at_once: int = 64
    most_s: float = 15.0
    #: Of DuckDB, in each thread.
    most_memory: str = "1GB"
    #: Of a table of many small files, which each thread then holds in DuckDB's memory: mostly some hundred bytes each.
    most_held_rows: int = 50_000
    #: Of answers that are kept while the tables stay as they are.
    most_kept_bytes: int = 64_000_000
    #: How often the tables are looked at. An answer is at most that much older than the newest commit.
    look_every_s: float = 0.25


class Answers:
    """Asks the reading room of a thread; one room for each thread, since a room is not for several. Used from one event loop."""

    def __init__(self, warehouse: Warehouse, bounds: Bounds) -> None:
        self.warehouse, self.bounds = warehouse, bounds
        self._threads = ThreadPoolExecutor(bounds.threads, "answers")
        self._own = local()
        self._fault: Exception | None = None
        self._state: tuple[int, ...] = ()
        #: Set when the state of the tables changes; then another one takes its place.
        self.changed = asyncio.Event()
        self._at_work: dict[str, asyncio.Task[Answer]] = {}
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._kept_bytes = 0

    async def watch(self) -> None:
        """Look at the tables for ever, and forget answers of an earlier state of them."""
        while True:
            try:
                state = await asyncio.to_thread(self._look)
                self._fault = None
            except Exception as fault:  # noqa: BLE001  # each answer raises it, until a look succeeds: none is older than it seems
                self._fault = fault
            else:
                if state != self._state:
                    self._state = state
                    self._kept.clear()
                    self._kept_bytes = 0
                    self.changed.set()
                    self.changed = asyncio.Event()
            await asyncio.sleep(self.bounds.look_every_s)

    async def of(self, key: str, work: Work) -> Answer:
        """The answer called `key`, kept or computed.

        Raises Overloaded and TooLong, BadWarehouse if the tables cannot be read now, and as `work` does.
        """
        if self._fault is not None:
            raise told(self._fault)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        key_of_state = f"{self._state} {key}"
        task = self._at_work.get(key_of_state)
        if task is None:
            if len(self._at_work) >= self.bounds.most_at_once:
                raise Overloaded("too many answers are asked for at once")
            task = self._at_work[key_of_state] = asyncio.create_task(self._computed(key, self._state, work))
            task.add_done_callback(lambda _: self._at_work.pop(key_of_state))
        # Whoever hangs up does not end what others wait for.
        return await asyncio.shield(task)

    @property
    def at_work(self) -> int:
        """Answers that are computed, or wait for a thread."""
        return len(self._at_work)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _computed(self, key: str, state: tuple[int, ...], work: Work) -> Answer:
        begun: list[ReadingRoom] = []
        computing = self._threads.submit(self._work, state, work, begun)
        waiting = asyncio.wrap_future(computing)
        try:
            answer = await asyncio.wait_for(asyncio.shield(waiting), self.bounds.most_s)
        except TimeoutError:
            await _ended(computing, begun)
            await asyncio.gather(waiting, return_exceptions=True)  # an interrupted query, which was asked for
            raise TooLong(f"the answer took more than {self.bounds.most_s:.0f} s") from None
        except Interrupted:  # by the end of an answer before it in the same thread
            raise Overloaded("the answer was interrupted") from None
        except Exception as fault:
            raise told(fault) from fault
        self._keep(key, state, answer)
        return answer

    def _work(self, state: tuple[int, ...], work: Work, begun: list[ReadingRoom]) -> Answer:
        """In a thread: the answer by its own room, with the tables of that state or newer ones."""
        if not hasattr(self._own, "room"):
            bounds = self.bounds
            self._own.room = ReadingRoom(
                self.warehouse, consistent=True, most_memory=bounds.most_memory, kept=KEPT_VIEWS, most_held_rows=bounds.most_held_rows
            )
        elif self._own.state != state:
            self._own.room.refresh()
        self._own.state = state
        room: ReadingRoom = self._own.room
        begun.append(room)
        try:
            return self._answered(room, work)
        except BadWarehouse:
            # `maintain` or `rebuild` may have taken a file away that the room had still open.
            if not room.refresh():
                raise
            return self._answered(room, work)

    def _answered(self, room: ReadingRoom, work: Work) -> Answer:
        """Raises BadWarehouse where nobody can answer now: tables are gone, or half of the first micro-batch is there."""
        refuse_missing(room.warehouse, room.files, OF_CAUSES)
        refuse_half_written(room, room.cut)
        return answer_of(work(room))

    def _keep(self, key: str, state: tuple[int, ...], answer: Answer) -> None:
        if state != self._state or answer.kept_bytes > self.bounds.most_kept_bytes:
            return
        self._kept[key] = answer
        self._kept_bytes += answer.kept_bytes
        while self._kept_bytes > self.bounds.most_kept_bytes:
            self._kept_bytes -= self._kept.popitem(last=False)[1].kept_bytes

    def _look(self) -> tuple[int, ...]:
        return tuple(newest_version_at(self.warehouse.table(table)) for table in _TELL_CHANGES)


def told(fault: Exception) -> Exception:
    """The fault, or BadWarehouse in one line where a store refused."""
    words = store_fault(fault)
    return fault if words is None else BadWarehouse(words)


async def _ended(computing: Future[Answer], begun: list[ReadingRoom]) -> None:
    """Wait until the thread is free: it is interrupted in one query after the other."""
    while not (computing.cancel() or computing.done()):
        for room in begun:
            room.interrupt()
        await asyncio.sleep(_INTERRUPTED_EVERY_S)
