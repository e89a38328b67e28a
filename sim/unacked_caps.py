"""Caps of unacknowledged messages: of each consumer, and of a subscription whose consumers share its entries."""

from sim.backlog import Backlog


class UnackedCaps:
    """The caps of one subscription. `unacked_msgs` and `blocked` are those of all its consumers together."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog, self._process = backlog, backlog.process
        self.reset()

    def reset(self) -> None:
        """Nobody has anything."""
        self.unacked_msgs, self.blocked = 0, False

    def check(self) -> bool:
        """Set or clear the caps; whether one was cleared. Pulsar clears one at half of it."""
        if not self._backlog.cursor.is_shared:
            return False
        brokers, cleared = self._process.brokers, False
        for consumer in self._backlog.consumers:
            cap = brokers.max_unacked_per_consumer
            on = _over(consumer.unacked_msgs, cap, consumer.blocked)
            if on is not consumer.blocked:
                consumer.blocked = on
                cleared |= not on
                self._report(
                    "consumer", on, consumer.unacked_msgs, f',"limit":{cap},"consumer":{consumer.number},"conn":{consumer.connection}'
                )
        on = _over(self.unacked_msgs, brokers.max_unacked_per_subscription, self.blocked)
        if on is not self.blocked:
            self.blocked = on
            cleared |= not on
            self._report("subscription", on, self.unacked_msgs, "")
        return cleared

    def _report(self, cap: str, on: bool, unacked_msgs: int, more: str) -> None:
        if self._process.tells_causes:
            said = "true" if on else "false"
            where = self._backlog.cursor.json
            self._process.log.add(f'"consumer_blocked",{where},"cap":"{cap}","on":{said},"unacked_msgs":{max(0, unacked_msgs)}{more}')


def _over(unacked_msgs: int, cap: int, blocked: bool) -> bool:
    return cap > 0 and (unacked_msgs > cap // 2 if blocked else unacked_msgs >= cap)
