"""Small logs of partitioned topics, each scenario in a cluster of its own: what happens is said at each function. Seconds as in a Log."""

from typing import Any

from bookkeeper.quota_script import AGE, EVICTION, SIZE, Log

Events = list[dict[str, Any]]
ORDERS = "persistent://shop/eu/orders"
CHECKS = (60, 120, 180, 240)


def partition(number: int, topic: str = ORDERS) -> str:
    """The topic of partition `number`."""
    return f"{topic}-partition-{number}"


def of_broker(log: Log, cluster: str, broker: str) -> Events:
    """The log's events as `broker` of `cluster` writes them."""
    return [event | {"broker": f"{cluster}-{broker}"} | ({"cluster": cluster} if "cluster" in event else {}) for event in log.events]


def filled(log: Log, topic: str, entries: int, *, subs: tuple[str, ...] = ("billing",), size: int = -1, age: int = -1) -> None:
    """Load `topic` with `entries` entries of 1024 bytes that none of `subs` has acknowledged, and these limits."""
    log.topic = topic
    log.load(size=size, size_policy=EVICTION, age=age)
    log.open(1)
    for sub in subs:
        log.sub(sub, (1, -1))
    for entry in range(entries):
        log.publish(1, entry)


def check(log: Log, *topics: str) -> None:
    """One round over `topics`, in which the broker does nothing."""
    log.add("quota_round", phase="start")
    for topic in topics:
        log.add("quota_check", topic=topic, duration_us=0)
    log.add("quota_round", phase="end", duration_us=0)


def ages(cluster: str, subs: tuple[str | None, ...]) -> Events:
    """B26: partitions with limits 10, 20, 30 (s, and KiB); one with a subscription in `subs` waits for 7 s when it is checked."""
    log = Log()
    for number, sub in enumerate(subs):
        filled(log.at(1), partition(number), 0 if sub is None else 1, subs=() if sub is None else (sub,),
               size=10 * 1024 * (number + 1), age=10 * (number + 1))  # fmt: skip
    check(log.at(8), *map(partition, range(len(subs))))
    return of_broker(log, cluster, "b1")


def one_behind(cluster: str) -> list[Events]:
    """Partitions 0 and 1 on one broker, 3 and 4 on another (2 is loaded nowhere): one entry each, partition 3 has 47. Limit 64 KiB.

    Beside them a topic without partitions by the name of the partitioned one, and a system topic that is only checked.
    """
    first, second = Log(), Log(epoch=2)
    for number in (0, 1):
        filled(first.at(1), partition(number), 1, size=65536)
    filled(first, ORDERS, 100)
    for number, entries in ((3, 47), (4, 1)):
        filled(second.at(2), partition(number), entries, subs=("billing", "audit"), size=65536)
    for second_ in CHECKS:
        check(first.at(second_), partition(0), partition(1), ORDERS, "persistent://shop/eu/__change_events")
        check(second.at(second_ + 1), partition(3), partition(4))
    return [of_broker(first, cluster, "b1"), of_broker(second, cluster, "b2")]


def moved(cluster: str) -> list[Events]:
    """Partition 0 (2 entries) moves from one broker to another after the third check, and gets a third entry; partition 1 stays."""
    old, new = Log(), Log(epoch=2)
    filled(old.at(1), partition(0), 2)
    filled(old, partition(1), 5)
    for second in CHECKS[:3]:
        check(old.at(second), partition(0), partition(1))
        check(new.at(second + 1))
    old.at(190).topic = partition(0)
    old.unload()
    new.at(191).topic = partition(0)
    new.load().close(1, 2, 2048, snapshot=True, close_s=191).open(2).sub("billing", (1, -1), snapshot=True).publish(2, 0)
    check(old.at(240), partition(1))
    check(new.at(241), partition(0))
    return [of_broker(old, cluster, "b1"), of_broker(new, cluster, "b2")]


def died(cluster: str) -> list[Events]:
    """A broker with both partitions (3 entries each) is killed after its second check. Partition 0 comes up elsewhere, with 1 entry left.

    Its new process, minutes later, has partition 1, with 2 entries left; nobody unloaded anything.
    """
    killed, other, again = Log(epoch=1), Log(epoch=2), Log(epoch=200_000)
    for number in (0, 1):
        filled(killed.at(1), partition(number), 3)
    filled(other.at(150), partition(0), 1)
    filled(again.at(200), partition(1), 2)
    for second in CHECKS[:2]:
        check(killed.at(second), partition(0), partition(1))
    for second in CHECKS[2:]:
        check(other.at(second), partition(0))
        check(again.at(second + 30), partition(1))
    return [of_broker(killed, cluster, "b1"), of_broker(other, cluster, "b2"), of_broker(again, cluster, "b1")]


def evicting(cluster: str) -> Events:
    """Partition 0 is over its 2 KiB at two checks and evicted, partition 1 over its 5 s at one, then partition 0 is unloaded."""
    log = Log()
    filled(log.at(1), partition(0), 4, size=2048)
    filled(log.at(58), partition(1), 1, age=5)
    log.topic = partition(0)
    log.at(60).check(SIZE, EVICTION, 2048, [("billing", (1, 1))])
    for entry in range(4, 8):
        log.publish(1, entry)
    log.at(120).check(SIZE, EVICTION, 2048, [("billing", (1, 5))])
    log.topic = partition(1)
    log.quota(AGE, 5, EVICTION).at(120.5).check(AGE, EVICTION, 5, [("billing", (1, 0))])
    log.at(130).topic = partition(0)
    log.unload()
    for second in (180, 240, 300):
        check(log.at(second), partition(1))
    return of_broker(log, cluster, "b1")


def dispatcher(log: Log, topic: str, sub: str, blocked: int, shrunk: int = 0) -> None:
    """Open a dispatcher with a read a second: `blocked` get nothing from the topic's limiter, `shrunk` one message, the last one all.

    Then one entry is delivered.
    """
    log.topic = topic
    log.of_topic("dispatcher_open", sub=sub, sub_type="Shared")
    log.of_topic("consumer_open", sub=sub, consumer=1, conn=1)
    begin = log.us / 1e6 - 1_700_000_000
    for second, left in enumerate([0] * blocked + [1] * shrunk + [100]):
        limits = {"topic_msgs": left, "topic_bytes": -1, "left_msgs": left or -1, "left_bytes": 5_242_880 if left else -1}
        log.at(begin + second).of_topic("read", sub=sub, sub_type="Shared", want_msgs=100, want_bytes=5_242_880, **limits)
    log.of_topic("dispatch", sub=sub, entries=1, msgs=2, bytes=1024)


def throttled(cluster: str) -> list[Events]:
    """Three partitions of orders on two brokers; `billing` is blocked 4 times in partition 2, shrunk once in 0, free in 1.

    `audit` reads partition 0 only, and a topic of another tenant, shrunk twice there. A dispatcher of partition 1 was opened anew.
    """
    first, second = Log(), Log(epoch=2)
    for number in (0, 1):
        filled(first.at(1), partition(number), 3)
    dispatcher(first.at(2), partition(0), "billing", 0, shrunk=1)
    dispatcher(first.at(5), partition(1), "billing", 9)
    first.of_topic("dispatcher_close", sub="billing")
    dispatcher(first.at(20), partition(1), "billing", 0)
    dispatcher(first.at(25), partition(0), "audit", 0)
    filled(first.at(30), "persistent://bank/eu/payments", 1, subs=("audit",))
    dispatcher(first.at(31), "persistent://bank/eu/payments", "audit", 0, shrunk=2)
    filled(second.at(1), partition(2), 9)
    dispatcher(second.at(2), partition(2), "billing", 4)
    return [of_broker(first, cluster, "b1"), of_broker(second, cluster, "b2")]


def throttle_moved(cluster: str) -> list[Events]:
    """Partition 0's dispatcher counts 5 on a broker that dies, then 1 on the next one; partition 1's was unloaded there and is nowhere."""
    dead, alive = Log(), Log(epoch=2)
    for number in (0, 1):
        filled(dead.at(1), partition(number), 1)
        dispatcher(dead.at(2 + 10 * number), partition(number), "billing", 5)
    dead.unload()
    filled(alive.at(100), partition(0), 1)
    dispatcher(alive.at(101), partition(0), "billing", 1)
    return [of_broker(dead, cluster, "b1"), of_broker(alive, cluster, "b2")]


def every_scenario() -> list[Events]:
    """Each in a cluster of its own."""
    return [
        ages("B26", (None, "x", "y")),
        ages("B26-none", (None, None, None)),
        *one_behind("one_behind"),
        *moved("moved"),
        *died("died"),
        evicting("evicting"),
        *throttled("throttled"),
        *throttle_moved("throttle_moved"),
    ]
