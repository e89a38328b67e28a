"""A broker: one process after the other on the same storage, each an epoch of the log."""

from pathlib import Path
from typing import Any

from sim.agenda import NS_PER_MS, NS_PER_S, Agenda, ns
from sim.blocked_keys import BlockedKeys
from sim.chance import stream
from sim.faults import Carrier
from sim.files import LineFiles
from sim.limiters import Limiter
from sim.log import HOST_NS, EventLog, WallClock
from sim.scenario import Restart, Scenario
from sim.states import EVERY_NS, write_states
from sim.storage import StoredTopic
from sim.topic import LiveTopic

#: Topics are loaded from this time on after the start of the process, one after the other.
LOADS_AFTER_NS = NS_PER_S
LOAD_APART_NS = NS_PER_MS
#: Positions that were not persisted at an acknowledgement are persisted once in this time.
FLUSH_NS = 60 * NS_PER_S
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
    """One process of a broker, from `began_ns` on."""

    def __init__(self, host: Host, began_ns: int, carrier: Carrier, truth: LineFiles) -> None:
        self.host, self.name, self.seed = host, host.name, host.seed
        self.scenario, self.brokers, self.clock = host.scenario, host.scenario.brokers, host.clock
        self.epoch_ms = self.clock.us_at(began_ns) // 1000
        self.agenda = Agenda(began_ns)
        self.log = EventLog(self.name, self.epoch_ms, self.agenda, self.clock, carrier)
        self.truth = truth
        self.tells_causes = self.scenario.log_version != "1.0"
        self.tells_states = self.scenario.log_version not in ("1.0", "1.1")
        self.limiter = Limiter(self.brokers.limiter)
        self.topics: dict[str, LiveTopic] = {}
        self.blocked_keys: list[BlockedKeys] = []
        self.normal_read_ns = round(self.brokers.read_ms * NS_PER_MS)
        self._loads = 0
        self._connections = 0
        self._unwritable: set[int] = set()
        self._chance = stream(self.seed, self.name, self.epoch_ms, "storage")
        self._slow = [(ns(slow.from_s), ns(slow.to_s), round(slow.read_ms * NS_PER_MS)) for slow in self.brokers.slow_reads]

    # ---- what topics ask for -------------------------------------------------------------------------------------------------------
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

    def apply_rate(self, limiter: Limiter, level: str, where: str, rates: tuple[int, int, int]) -> None:
        """Apply a policy to a limiter, and write `dispatch_rate`. `where`: the members of its topic and subscription, with a comma."""
        msg_rate, byte_rate, period_s = rates
        source = f',"source":"{SOURCES[level]}"' if self.tells_causes else ""
        at_ns = self.log.add(
            f'"dispatch_rate",{where}"level":"{level}","msg_rate":{msg_rate},"byte_rate":{byte_rate},"period_s":{period_s},'
            f'"relative":false,"limiter":"{limiter.kind}"{source}'
        )
        limiter.apply(msg_rate, byte_rate, period_s, at_ns)

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

    # ---- life ----------------------------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """`broker_start`, the broker's limiter, and everything that comes at fixed times."""
        agenda, brokers = self.agenda, self.brokers
        version = f',"log_version":"{self.scenario.log_version}"' if self.tells_causes else ""
        said = ",".join(f'"{key}":"{value}"' for key, value in self._settings().items())
        self.log.add(f'"broker_start","cluster":"simulated","version":"{brokers.version}","settings":{{{said}}}{version}')
        past = [change for change in brokers.limit_changes if ns(change.at_s) <= agenda.now_ns]
        limit = max(past, key=lambda change: change.at_s) if past else brokers.limit
        self._apply(limit.msg_rate, limit.byte_rate, limit.period_s)
        for change in brokers.limit_changes:
            if ns(change.at_s) > agenda.now_ns:
                agenda.at(ns(change.at_s), self._apply, change.msg_rate, change.byte_rate, change.period_s)
        for place, stored in enumerate(self.host.topics):
            agenda.at(agenda.now_ns + LOADS_AFTER_NS + place * LOAD_APART_NS, self.load, stored)
            for unload_s in stored.declared.unloads_s:
                if ns(unload_s) > agenda.now_ns:
                    agenda.at(ns(unload_s), self._unload, stored)
        agenda.at(agenda.now_ns + NS_PER_S, self._heartbeat)
        agenda.at(agenda.now_ns + FLUSH_NS, self._flush)
        if self.tells_states:
            agenda.at(agenda.now_ns + EVERY_NS, self._write_states)
        agenda.at(agenda.now_ns + brokers.quota_check_s * NS_PER_S, self._check_quotas)

    def _settings(self) -> dict[str, str]:
        brokers = self.brokers
        return {
            "backlogQuotaCheckEnabled": "true",
            "backlogQuotaCheckIntervalInSeconds": str(brokers.quota_check_s),
            "preciseTimeBasedBacklogQuotaCheck": str(brokers.precise_age).lower(),
            "dispatchThrottlingOnBatchMessageEnabled": "false",
            "dispatchThrottlingOnNonBacklogConsumerEnabled": "true",
            "dispatcherMaxReadBatchSize": "100",
            "dispatcherMaxReadSizeBytes": "5242880",
            "maxUnackedMessagesPerConsumer": str(brokers.max_unacked_per_consumer),
            "maxUnackedMessagesPerSubscription": str(brokers.max_unacked_per_subscription),
            "pulsarChannelPauseReceivingRequestsIfUnwritable": str(brokers.pause_if_unwritable).lower(),
            "pulsarChannelPauseReceivingCooldownMs": "0",
        }

    def _apply(self, msg_rate: int, byte_rate: int, period_s: int) -> None:
        self.apply_rate(self.limiter, "broker", "", (msg_rate, byte_rate, period_s))

    def load(self, stored: StoredTopic) -> None:
        """Load a topic."""
        self._loads += 1
        topic = LiveTopic(self, stored, self._loads)
        self.topics[stored.name] = topic
        topic.load()

    def _unload(self, stored: StoredTopic) -> None:
        topic = self.topics.get(stored.name)
        if topic is not None and not topic.closed:
            topic.unload(again=True)

    def _heartbeat(self) -> None:
        for summed in self.blocked_keys:
            summed.heartbeat()
        self.log.add(f'"heartbeat","dropped":{self.log.lost()},"pending_bytes":{len(self._unwritable) * UNWRITABLE_BYTES}')
        self.agenda.at(self.agenda.now_ns + NS_PER_S, self._heartbeat)

    def _write_states(self) -> None:
        write_states(self)
        self.agenda.at(self.agenda.now_ns + EVERY_NS, self._write_states)

    def _flush(self) -> None:
        for topic in self.topics.values():
            if not topic.closed:
                for subscription in topic.subscriptions:
                    subscription.persist()
        self.agenda.at(self.agenda.now_ns + FLUSH_NS, self._flush)

    def _check_quotas(self) -> None:
        self._quota_round()
        self.agenda.at(self.agenda.now_ns + self.brokers.quota_check_s * NS_PER_S, self._check_quotas)

    def _quota_round(self) -> None:
        began_us = self.clock.us_at(self.log.add('"quota_round","phase":"start"'))
        for topic in list(self.topics.values()):
            if not topic.closed:
                topic.check(began_us)
        at_ns = self.log.stamp()
        self.log.write(at_ns, f'"quota_round","phase":"end","duration_us":{max(0, self.clock.us_at(at_ns) - began_us)}')

    def stop(self, ending: Restart | None) -> None:
        """End the process. A crash writes nothing, and positions that were not persisted are lost."""
        crash = ending is not None and not ending.clean
        if not crash:
            self._quota_round()
            for topic in self.topics.values():
                if not topic.closed:
                    for subscription in topic.subscriptions:
                        subscription.persist()
            self.log.add('"broker_stop"')
        for topic in self.topics.values():
            for subscription in topic.subscriptions:
                subscription.closed = True
                subscription.settle()
            for cursor in topic.stored.cursors.values():
                cursor.mark, cursor.position = cursor.persisted_mark, cursor.persisted
                cursor.acked.clear()

    def facts(self, ended_ns: int) -> dict[str, Any]:
        """What the broker itself would show of this process at its end."""
        loaded = self.topics.values()
        return {
            "broker": self.name,
            "epoch": self.epoch_ms,
            "events": self.log.seq,
            "ended_ns": HOST_NS + ended_ns,
            "clock": [
                {"from_ns": HOST_NS + from_ns, "ts_minus_ns_us": self.host.start_us + ahead_us - HOST_NS // 1000}
                for from_ns, ahead_us in self.clock.segments()
            ],
            "topics": [{"topic": topic.name, "backlog_size": topic.checked_bytes, "evictions": topic.evictions} for topic in loaded],
            "subscriptions": [
                {
                    "topic": topic.name,
                    "subscription": one.declared.name,
                    "msg_backlog": one.checked_entries,
                    "delivered_entries": one.delivered_entries,
                    "counters": one.dispatcher.counters if one.dispatcher else None,
                }
                for topic in loaded
                for one in topic.subscriptions
            ],
        }


def run_broker(host: Host, folder: Path, truth: LineFiles) -> list[dict[str, Any]]:
    """Simulate all processes of a broker; what each would show at its end, with its faults."""
    found = []
    for began_ns, end_ns, ending in host.lives():
        name = f"{host.name.replace(':', '-')}-{host.clock.us_at(began_ns) // 1000}"
        with LineFiles(folder, name) as files:
            carrier = Carrier(files, host.scenario.faults, stream(host.seed, host.name, began_ns, "faults"))
            process = Process(host, began_ns, carrier, truth)
            process.start()
            process.agenda.run_until(end_ns)
            process.stop(ending)
            carrier.end()
        faults = {"lost": carrier.lost, "damaged": carrier.damaged, "repeated": carrier.repeated, "late": carrier.late}
        found.append(process.facts(process.log.now_ns()) | {"faults": faults})
    return found
