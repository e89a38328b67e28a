"""A broker: one process after the other on the same storage, each an epoch of the log."""

from pathlib import Path
from typing import Any

from sim.agenda import NS_PER_MS, NS_PER_S, ns
from sim.chance import stream
from sim.faults import Carrier
from sim.files import LineFiles
from sim.log import HOST_NS
from sim.process import Host, Process
from sim.scenario import Limit, Restart
from sim.states import EVERY_NS, write_states
from sim.storage import StoredTopic
from sim.topic import LiveTopic

#: Topics are loaded from this time on after the start of the process, one after the other.
LOADS_AFTER_NS = NS_PER_S
LOAD_APART_NS = NS_PER_MS
#: An unloaded topic is loaded again after this time.
LOADED_AGAIN_NS = NS_PER_S
#: Positions that were not persisted at an acknowledgement are persisted once in this time.
FLUSH_NS = 60 * NS_PER_S


class Life:
    """The life of one process: it loads topics, does what comes at fixed times, and ends."""

    def __init__(self, process: Process) -> None:
        self.process, self.host, self.brokers = process, process.host, process.brokers
        self.agenda, self.log = process.agenda, process.log
        self.topics: dict[str, LiveTopic] = {}
        self._loads = 0

    def start(self) -> None:
        """`broker_start`, the broker's limiter, and everything that comes at fixed times."""
        agenda, brokers = self.agenda, self.brokers
        version = f',"log_version":"{self.host.scenario.log_version}"' if self.process.tells_causes else ""
        said = ",".join(f'"{key}":"{value}"' for key, value in self._settings().items())
        self.log.add(f'"broker_start","cluster":"simulated","version":"{brokers.version}","settings":{{{said}}}{version}')
        self._apply(self.process.limit_now(brokers.limit, brokers.limit_changes))
        self.process.plan_changes(brokers.limit_changes, self._apply)
        for place, stored in enumerate(self.host.topics):
            agenda.at(agenda.now_ns + LOADS_AFTER_NS + place * LOAD_APART_NS, self._load, stored)
            for unload_s in stored.declared.unloads_s:
                if ns(unload_s) > agenda.now_ns:
                    agenda.at(ns(unload_s), self._unload, stored)
        agenda.at(agenda.now_ns + NS_PER_S, self._heartbeat)
        agenda.at(agenda.now_ns + FLUSH_NS, self._flush)
        if self.process.tells_states:
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

    def _apply(self, limit: Limit) -> None:
        self.process.apply_limit(self.process.limiter, "broker", "", limit)

    def _load(self, stored: StoredTopic) -> None:
        self._loads += 1
        topic = LiveTopic(self.process, stored, self._loads)
        self.topics[stored.name] = topic
        topic.load()

    def _unload(self, stored: StoredTopic) -> None:
        topic = self.topics.get(stored.name)
        if topic is not None and not topic.closed:
            topic.unload()
            self.agenda.at(self.agenda.now_ns + LOADED_AGAIN_NS, self._load, stored)

    def _open_topics(self) -> list[LiveTopic]:
        return [topic for topic in self.topics.values() if not topic.closed]

    # ---- what comes at fixed times -------------------------------------------------------------------------------------------------
    def _heartbeat(self) -> None:
        for act in self.process.at_heartbeat:
            act()
        self.log.add(f'"heartbeat","dropped":{self.log.lost()},"pending_bytes":{self.process.pending_bytes()}')
        self.agenda.at(self.agenda.now_ns + NS_PER_S, self._heartbeat)

    def _write_states(self) -> None:
        write_states(self.process, self._open_topics())
        self.agenda.at(self.agenda.now_ns + EVERY_NS, self._write_states)

    def _flush(self) -> None:
        self._persist()
        self.agenda.at(self.agenda.now_ns + FLUSH_NS, self._flush)

    def _persist(self) -> None:
        for topic in self._open_topics():
            for subscription in topic.subscriptions:
                subscription.cursor.persist()

    def _check_quotas(self) -> None:
        self._quota_round()
        self.agenda.at(self.agenda.now_ns + self.brokers.quota_check_s * NS_PER_S, self._check_quotas)

    def _quota_round(self) -> None:
        clock = self.process.clock
        began_us = clock.us_at(self.log.add('"quota_round","phase":"start"'))
        for topic in self._open_topics():
            topic.check(began_us)
        at_ns = self.log.stamp()
        self.log.write(at_ns, f'"quota_round","phase":"end","duration_us":{max(0, clock.us_at(at_ns) - began_us)}')

    # ---- the end -------------------------------------------------------------------------------------------------------------------
    def stop(self, ending: Restart | None) -> None:
        """End the process. A crash writes nothing, and positions that were not persisted are lost."""
        crash = ending is not None and not ending.clean
        if not crash:
            self._quota_round()
            self._persist()
            self.log.add('"broker_stop"')
        for topic in self.topics.values():
            for subscription in topic.subscriptions:
                subscription.end()
            for cursor in topic.stored.cursors.values():
                cursor.mark, cursor.position = cursor.persisted_mark, cursor.persisted
                cursor.acked.clear()

    def facts(self) -> dict[str, Any]:
        """What the broker itself would show of this process now, at its end."""
        loaded = self.topics.values()
        return {
            "broker": self.process.name,
            "epoch": self.process.epoch_ms,
            "events": self.log.seq,
            "ended_ns": HOST_NS + self.log.now_ns(),
            "clock": [
                {"from_ns": HOST_NS + from_ns, "ts_minus_ns_us": self.host.start_us + ahead_us - HOST_NS // 1000}
                for from_ns, ahead_us in self.process.clock.segments()
            ],
            "topics": [{"topic": topic.name, "backlog_size": topic.checked_bytes, "evictions": topic.evictions} for topic in loaded],
            "subscriptions": [
                {
                    "topic": topic.name,
                    "subscription": one.declared.name,
                    "msg_backlog": one.checked_entries,
                    "evicted_entries": one.evicted_entries,
                    "delivered_entries": one.dispatcher.delivered_entries if one.dispatcher else 0,
                    "counters": one.dispatcher.limits.counters if one.dispatcher else None,
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
            life = Life(Process(host, began_ns, carrier, truth))
            life.start()
            life.agenda.run_until(end_ns)
            life.stop(ending)
            carrier.end()
        faults = {"lost": carrier.lost, "damaged": carrier.damaged, "repeated": carrier.repeated, "late": carrier.late}
        found.append(life.facts() | {"faults": faults})
    return found
