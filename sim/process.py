"""A process of a broker as all in it see it: its log and its clocks, its numbers, its limiter, and how long a read takes."""

from collections.abc import Callable, Sequence

from sim.agenda import NS_PER_MS, Agenda, ns
from sim.chance import stream
from sim.faults import Carrier
from sim.files import LineFiles
from sim.limiters import Limiter
from sim.log import EventLog, WallClock
from sim.scenario import Limit, LimitChange, Restart, Scenario
from sim.storage import StoredTopic

#: A channel above its high water mark (65,536 bytes) has about this in its buffer.
UNWRITABLE_BYTES = 70_000
SOURCES = {"broker": "broker_config", "topic": "topic", "subscription": "topic"}


class Host:
    """What lasts over the processes of a broker: its name, its storage, the numbers of its ledgers."""

    def __init__(self, scenario: Scenario, seed: int, number: int) -> None:
        self.scenario, self.seed = scenario, seed
        self.name = f"broker-{number}:8080"
        self.start_us = round(scenario.start.timestamp() * 1_000_000)
        self.clock = WallClock(self.start_us, scenario.brokers.clock_steps)
        self.topics = [
            StoredTopic(declared, declared.name.replace("{n}", str(copy)))
            for place, declared in enumerate(scenario.topics)
            for copy in range(declared.count)
            if (place + copy) % scenario.brokers.count == number
        ]
        self.last_ledger = 4

    def lives(self) -> list[tuple[int, int, Restart | None]]:
        """(begin, end, how it ends) of each process, ns of the scenario; None: the scenario ends, and the broker stops."""
        found, began_ns = [], 0
        for restart in sorted(self.scenario.brokers.restarts, key=lambda one: one.at_s):
            found.append((began_ns, ns(restart.at_s), restart))
            began_ns = ns(restart.at_s + restart.down_s)
        return [*found, (began_ns, ns(self.scenario.duration_s), None)]


class Process:
    """One process of a broker, from `began_ns` on. It knows of no topic: topics ask it for what they need."""

    def __init__(self, host: Host, began_ns: int, carrier: Carrier, truth: LineFiles) -> None:
        self.host, self.name, self.seed = host, host.name, host.seed
        self.brokers, self.clock = host.scenario.brokers, host.clock
        self.epoch_ms = self.clock.us_at(began_ns) // 1000
        self.agenda = Agenda(began_ns)
        self.log = EventLog(self.name, self.epoch_ms, self.agenda, self.clock, carrier)
        self.truth = truth
        self.tells_causes = host.scenario.log_version != "1.0"
        self.tells_states = host.scenario.log_version not in ("1.0", "1.1")
        self.limiter = Limiter(self.brokers.limiter)
        #: What is done at each heartbeat, before it is written.
        self.at_heartbeat: list[Callable[[], None]] = []
        self.normal_read_ns = round(self.brokers.read_ms * NS_PER_MS)
        self._connections = 0
        self._unwritable: set[int] = set()
        self._chance = stream(self.seed, self.name, self.epoch_ms, "storage")
        self._slow = [(ns(slow.from_s), ns(slow.to_s), round(slow.read_ms * NS_PER_MS)) for slow in self.brokers.slow_reads]

    # ---- numbers and clocks --------------------------------------------------------------------------------------------------------
    def next_connection(self) -> int:
        """A number for a connection."""
        self._connections += 1
        return self._connections

    def next_ledger(self) -> int:
        """A number for a ledger."""
        self.host.last_ledger += 1
        return self.host.last_ledger

    def wall_ms(self) -> int:
        """What the broker's clock shows, in ms since 1970."""
        return self.log.now_us() // 1000

    def true_ms(self) -> int:
        """What the clients' clocks show, in ms since 1970: nobody sets them."""
        return (self.host.start_us + self.log.now_ns() // 1000) // 1000

    # ---- storage -------------------------------------------------------------------------------------------------------------------
    def cached_read_ns(self) -> int:
        """How long it takes to read what was just published."""
        return round(self.normal_read_ns * (0.2 + 0.3 * self._chance.random()))

    def storage_read_ns(self) -> int:
        """How long it takes to read what may not be in the cache."""
        now_ns = self.agenda.now_ns
        for from_ns, to_ns, takes_ns in self._slow:
            if from_ns <= now_ns < to_ns:
                return round(takes_ns * (0.8 + 0.4 * self._chance.random()))
        return round(self.normal_read_ns * (0.3 + 0.6 * self._chance.random()))

    # ---- limits --------------------------------------------------------------------------------------------------------------------
    def limit_now(self, limit: Limit, changes: Sequence[LimitChange]) -> Limit:
        """The rates in force: the latest change before now, or the first ones."""
        past = [change for change in changes if ns(change.at_s) <= self.agenda.now_ns]
        return max(past, key=lambda change: change.at_s) if past else limit

    def plan_changes(self, changes: Sequence[LimitChange], apply: Callable[[Limit], None]) -> None:
        """Apply each change at its time."""
        for change in changes:
            if ns(change.at_s) > self.agenda.now_ns:
                self.agenda.at(ns(change.at_s), apply, change)

    def apply_limit(self, limiter: Limiter, level: str, where: str, limit: Limit) -> None:
        """Apply a policy to a limiter, and write `dispatch_rate`. `where`: the members of its topic and subscription, with a comma."""
        source = f',"source":"{SOURCES[level]}"' if self.tells_causes else ""
        at_ns = self.log.add(
            f'"dispatch_rate",{where}"level":"{level}","msg_rate":{limit.msg_rate},"byte_rate":{limit.byte_rate},'
            f'"period_s":{limit.period_s},"relative":false,"limiter":"{limiter.kind}"{source}'
        )
        limiter.apply(limit.msg_rate, limit.byte_rate, limit.period_s, at_ns)

    # ---- connections ---------------------------------------------------------------------------------------------------------------
    def channel_changed(self, connection: int, writable: bool) -> None:
        """A channel crossed a water mark; with the feature on, the broker reads from it no more, or again."""
        (self._unwritable.discard if writable else self._unwritable.add)(connection)
        said = "true" if writable else "false"
        pending = 0 if writable else UNWRITABLE_BYTES
        self.log.add(f'"writability","conn":{connection},"writable":{said},"pending_bytes":{pending}')
        if self.brokers.pause_if_unwritable:
            paused = "false" if writable else "true"
            self.log.add(f'"throttle","conn":{connection},"throttle_type":"ConnectionOutboundBufferFull","on":{paused}')

    def connection_closed(self, connection: int) -> None:
        """Its buffer is gone with it."""
        self._unwritable.discard(connection)

    def pending_bytes(self) -> int:
        """What waits in the buffers of all channels."""
        return len(self._unwritable) * UNWRITABLE_BYTES
