"""Long random lives of brokers about one kind of trouble each: what most random examples are too short for."""

from collections.abc import Callable
from random import Random

from bookkeeper.cause_broker import CauseBroker

Step = Callable[[CauseBroker, Random], None]
#: Of subscription types: the first subscription's, the second's.
Theme = tuple[tuple[str, str], tuple[Step, ...]]

WAITS_US = (0, 300, 1_000, 3_000, 20_000, 700_000, 2_000_000, 4_000_000, 30_000_000)


def _read(broker: CauseBroker, chance: Random) -> None:
    broker.read(chance.choice((0, 0, 0, 1)), chance.choice((99, 99, 99, 1)), None)


def _deliver(broker: CauseBroker, chance: Random) -> None:
    broker.deliver(chance.choice((0, 0, 1)), chance.choice((1, 2, 99)))


def _other_reads(broker: CauseBroker, chance: Random) -> None:
    """The other subscription reads a new entry in no time."""
    broker.publish(1)
    broker.read(1, 99, None)
    broker.wait(500)
    broker.deliver(1, 99)
    broker.acknowledge(1, 99, 0)


def _slow(broker: CauseBroker, chance: Random) -> None:
    """A read comes back late, and brings something."""
    broker.read(0, 99, None)
    broker.wait(chance.choice((2_000_000, 9_000_000)))
    broker.deliver(0, 1)


def _long(broker: CauseBroker, chance: Random) -> None:
    broker.wait(chance.choice((6_000_000, 59_000_000, 90_000_000)))


def _in_vain(broker: CauseBroker, chance: Random) -> None:
    """Reads come back with nothing."""
    for _ in range(chance.randint(1, 4)):
        broker.read(0, 99, None)
        broker.wait(1_000)
        broker.answer(0, "nothing")
        broker.wait(chance.choice((10_000, 2_000_000)))


def _put_aside(broker: CauseBroker, chance: Random) -> None:
    """Storage gives an entry that nobody takes; then the dispatcher asks and does not read."""
    broker.read(0, 99, None)
    broker.wait(1_000)
    broker.answer(0, chance.choice(("entries", "entries", "replay")))
    for _ in range(chance.randint(0, 6)):
        broker.read(0, 99, None)
        broker.wait(chance.choice((1_000, 10_000)))


def _storm(broker: CauseBroker, chance: Random) -> None:
    """All that was delivered is given back, and delivered again."""
    for _ in range(chance.randint(1, 4)):
        broker.give_back(0, 99)
        broker.read(0, 99, None)
        broker.wait(chance.choice((1_000, 1_000_000)))
        broker.deliver(0, 99)


def _leave(broker: CauseBroker, chance: Random) -> None:
    broker.leave(0)
    broker.wait(chance.choice(WAITS_US))
    broker.come(0)


def _cap(broker: CauseBroker, chance: Random) -> None:
    broker.cap(0, chance.choice(("subscription", "broker")), chance.random() < 0.5)


def _cap_consumer(broker: CauseBroker, chance: Random) -> None:
    """One of several consumers reaches its cap, or leaves, or all of them grant."""
    broker.cap_consumer(0, chance.random() < 0.7)
    chance.choice((broker.come, broker.leave, lambda number: broker.grant(number, 9)))(0)


def _others(broker: CauseBroker, chance: Random) -> None:
    """Consumers come and go, and grant permits that the dispatcher may not look at."""
    for _ in range(chance.randint(1, 3)):
        chance.choice((broker.come, broker.leave, lambda number: broker.grant(number, 9)))(0)
        broker.wait(chance.choice((0, 1_000)))
    broker.come(0)


def _few_permits(broker: CauseBroker, chance: Random) -> None:
    """A read with few permits, which are used up."""
    broker.read(0, chance.choice((1, 2)), None)
    broker.deliver(0, 2)


def _publish(broker: CauseBroker, chance: Random) -> None:
    broker.publish(chance.randint(1, 3))


def _acknowledge(broker: CauseBroker, chance: Random) -> None:
    broker.acknowledge(chance.choice((0, 0, 1)), chance.choice((1, 2, 99)), chance.choice((0, 0, 1)))


def _hold(broker: CauseBroker, chance: Random) -> None:
    broker.hold(0, chance.choice((0, 0, 2)))


def _transact(broker: CauseBroker, chance: Random) -> None:
    broker.transact(chance.choice(("publish", "publish", "commit", "ack")))


_ALWAYS = (_publish, _publish, _read, _read, _deliver, _deliver, _acknowledge)
THEMES: dict[str, Theme] = {
    "storage": (("Shared", "Exclusive"), (*_ALWAYS, _slow, _other_reads, _other_reads, _long, _read)),
    "transactions": (("Shared", "Shared"), (*_ALWAYS, _in_vain, _in_vain, _transact, _long)),
    "keys": (("Key_Shared", "Shared"), (*_ALWAYS, _put_aside, _put_aside, _put_aside, _hold, _transact, _long, _slow)),
    "storms": (("Shared", "Shared"), (*_ALWAYS, _storm, _storm, _leave, _in_vain, _long)),
    "caps": (("Shared", "Shared"), (*_ALWAYS, _cap, _cap, _acknowledge, _hold, _long)),
    "caps of consumers": (("Shared", "Shared"), (*_ALWAYS, _cap_consumer, _cap_consumer, _others, _few_permits, _long)),
    "an active one of several": (("Failover", "Exclusive"), (*_ALWAYS, _others, _others, _few_permits, _few_permits, _long)),
}


def broker_about(theme: str, seed: int, steps: int = 60) -> CauseBroker:
    """A broker after so many steps; its normal turnaround is known before."""
    types, actions = THEMES[theme]
    chance = Random(seed)
    broker = CauseBroker("1.1", types)
    broker.come(0)
    broker.come(1)
    for _ in range(17):
        _other_reads(broker, chance)
    for _ in range(steps):
        broker.wait(chance.choice(WAITS_US))
        chance.choice(actions)(broker, chance)
    broker.wait(chance.choice(WAITS_US))
    broker.beat()
    return broker
