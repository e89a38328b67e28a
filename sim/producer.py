"""A producer: publishes at a steady rate, in a daily wave, or in bursts; it comes back when a quota cut it off."""

from collections.abc import Callable
from math import pi, sin

from sim.agenda import NS_PER_S, ns
from sim.chance import stream
from sim.managed_ledger import ManagedLedger
from sim.quotas import refuses_producers
from sim.scenario import Publish

#: A producer that was refused asks again after this time.
RETRY_NS = 5 * NS_PER_S
#: The rate of a wave counts as steady for this share of its period.
WAVE_STEPS = 200


def rate_at(publish: Publish, at_s: float) -> tuple[float, float]:
    """(entries per s, s of the scenario until which that rate holds)."""
    if at_s < publish.from_s:
        return 0.0, publish.from_s
    if at_s >= publish.to_s:
        return 0.0, float("inf")
    if publish.shape == "wave":
        step_s = publish.period_s / WAVE_STEPS
        rate = publish.entries_per_s * (1 + publish.depth * sin(2 * pi * at_s / publish.period_s))
        return rate, min((at_s // step_s + 1) * step_s, publish.to_s)
    if publish.shape == "bursts":
        began_s = at_s // publish.every_s * publish.every_s
        if at_s < began_s + publish.burst_s:
            return publish.burst_entries_per_s, min(began_s + publish.burst_s, publish.to_s)
        return publish.entries_per_s, min(began_s + publish.every_s, publish.to_s)
    return publish.entries_per_s, publish.to_s


class Producer:
    """The producer of a topic, while the topic is loaded. `appended` is called after each entry."""

    def __init__(self, ledger: ManagedLedger, appended: Callable[[], None]) -> None:
        self.ledger, self.process, self.publish = ledger, ledger.process, ledger.declared.publish
        self.connection = self.process.next_connection()
        self.open = False
        self._chance = stream(self.process.seed, self.process.name, self.process.epoch_ms, ledger.name, ledger.loads)
        self._appended = appended
        self._json = f'{ledger.json},"producer":0,"conn":{self.connection}'

    def connect(self) -> None:
        """Connect and ask to be opened."""
        self.process.log.add(f'"conn_open","conn":{self.connection}')
        self._ask()

    def _ask(self) -> None:
        if self.ledger.closed:
            return
        if self.ledger.declared.quotas.age_policy != "consumer_backlog_eviction":
            self.process.log.add(f'"quota_check",{self.ledger.json},"cause":"producer"')
        if refuses_producers(self.ledger):
            self.process.agenda.at(self.process.agenda.now_ns + RETRY_NS, self._ask)
            return
        self.process.log.add(f'"producer_open",{self._json}')
        self.open = True
        self._plan()

    def cut_off(self) -> None:
        """The broker closes it; it asks again later."""
        if self.open:
            self.open = False
            self.process.log.add(f'"producer_close",{self._json}')
            self.process.agenda.at(self.process.agenda.now_ns + RETRY_NS, self._ask)

    def close(self) -> None:
        """Its topic is unloaded."""
        if self.open:
            self.process.log.add(f'"producer_close",{self._json}')
        self.open = False
        self.process.log.add(f'"conn_close","conn":{self.connection}')

    def _plan(self) -> None:
        """Draw when the next entry comes. A draw that passes a change of the rate is drawn again from there."""
        at_s = self.process.agenda.now_ns / NS_PER_S
        while True:
            rate, until_s = rate_at(self.publish, at_s)
            next_s = at_s + self._chance.expovariate(rate) if rate > 0 else until_s
            if rate > 0 and next_s <= until_s:
                break
            if until_s == float("inf"):
                return
            at_s = until_s
        self.process.agenda.at(ns(next_s), self._publish)

    def _publish(self) -> None:
        if not self.open:
            return
        publish, chance = self.publish, self._chance
        due_ns = 0
        if publish.delayed_share and chance.random() < publish.delayed_share:
            due_ns = self.process.agenda.now_ns + ns(chance.uniform(*publish.delay_s))
        self.ledger.append(chance.randint(*publish.entry_bytes), publish.msgs_per_entry, due_ns)
        self._appended()
        self._plan()
