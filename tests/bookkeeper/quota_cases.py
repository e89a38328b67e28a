"""Golden cases B1 to B27 of the semantics reference (section 5) as event logs, with what a check finds and does.

The cases X are ours: rules that no case of section 5 shows. Independent of any implementation: a case is a log of one broker, and
expected values by the names that `quota_books` gives them (the product's tables call most of them the same). Only the fields named in
an expectation are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bookkeeper.quota_script import AGE, EVICTION, EXCEPTION, HOLD, SIZE, Event, Log, Place, ms

Expected = dict[str, Any]

#: Cases of part B that no log can show, with the reason.
OUTSIDE_THE_LOG = {
    "B25": "the log carries effective limits in bytes; from which configuration key one came is not in it",
    "B26": "an aggregate over partitions, nothing that a broker decides: tests/views/test_partition_views.py asks the view for it",
}


@dataclass(frozen=True)
class Case:
    """`checks` and `evictions`: expectations in order, one per check and per action. `subs` in a check: by subscription.

    `probes`: (how many events are applied, at which ms, what the broker then shows). `histogram`: buckets, sum (s), count.
    """

    id: str
    events: list[Event]
    checks: list[Expected]
    evictions: list[Expected] = field(default_factory=list)
    probes: list[tuple[int, int, Expected]] = field(default_factory=list)
    histogram: tuple[dict[str, int], int, int] | None = None


def kib(count: int) -> list[int]:
    return [1024] * count


def moved(*steps: tuple[str, tuple[int, int], int]) -> list[Expected]:
    """Steps of an eviction: subscription, where it comes to, entries that it loses."""
    return [{"sub": sub, "to_position": place, "entries": entries} for sub, place, entries in steps]


def sizes() -> Iterator[Case]:
    log = Log().load().fill(1, kib(5)).sub("c1", (1, -1)).check().acked_to("c1", (1, 1)).check().acked_to("c1", (1, 4)).check()
    yield Case("B1", log.events, [{"backlog_size": 5120}, {"backlog_size": 3072}, {"backlog_size": 0}])

    log = Log().load()
    for ledger in range(1, 6):
        log.fill(ledger, [1, 1], close=ledger < 5)
    log.sub("c1", (1, -1)).check().acked_to("c1", (1, 1)).check().acked_to("c1", (5, 1)).check()
    yield Case("B2", log.events, [{"backlog_size": 10}, {"backlog_size": 8}, {"backlog_size": 0}])

    log = Log().load().fill(1, [100, 200, 400], close=True).open(2).sub("c1", (1, -1)).check()
    for entry in range(3):
        log.acked_to("c1", (1, entry)).check()
    yield Case("B3", log.events, [{"backlog_size": size} for size in (700, 467, 234, 0)])

    log = Log().load().fill(1, kib(5), close=True).fill(2, kib(5), close=True).fill(3, kib(4)).sub("c1", (0, 3)).check()
    for place in ((1, 4), (2, 1), (3, -1)):
        log.acked_to("c1", place).check()
    yield Case("B4", log.events, [{"backlog_size": size} for size in (14336, 9216, 7168, 4096)])

    log = Log().load(size=10240, size_policy=HOLD).producers(1).fill(1, kib(20)).sub("reader", (1, -1), durable=False).check()
    yield Case("B11", log.events, [{"backlog_size": 0, "decision": None, "subs": {"reader": {"msg_backlog": 20}}}])


def four_ledgers(log: Log) -> Log:
    for ledger in range(1, 5):
        log.fill(ledger, kib(5), close=ledger < 4)
    return log


def evictions_by_size() -> Iterator[Case]:
    log = four_ledgers(Log().load(size=10240, size_policy=EVICTION)).sub("c1", (1, -1)).sub("c2", (1, -1))
    log.check(SIZE, EVICTION, 10240, [("c1", (3, 0)), ("c2", (3, 0))]).check()
    after = {"backlog_size": 9216, "decision": None, "evictions_size": 1, "subs": {"c1": {"msg_backlog": 9}, "c2": {"msg_backlog": 9}}}
    steps = moved(("c1", (3, 0), 11), ("c2", (3, 0), 11))
    checks: list[Expected] = [{"decision": "size"}, after]
    yield Case("B5", log.events, checks, [{"target": 9216, "exceeded_by": 10240, "moves": steps, "agrees": True}])

    for version in ("4.0.8", "4.2.2"):
        log = four_ledgers(Log(version).load(size=10240, size_policy=EVICTION)).sub("c1", (1, -1))
        log.check(SIZE, EVICTION, 10240, [("c1", (3, 0))]).check()
        one = [{"moves": moved(("c1", (3, 0), 11)), "agrees": True}]
        yield Case(f"B6-{version}", log.events, [{"decision": "size"}, {"subs": {"c1": {"msg_backlog": 9}}}], one)

    log = (
        Log().load(size=10240, size_policy=EVICTION).fill(1, kib(20)).sub("c1", (1, -1)).ack("c1", *[(1, entry) for entry in range(5, 10)])
    )
    log.check(SIZE, EVICTION, 10240, [("c1", (1, 9))]).check(SIZE, EVICTION, 10240, [("c1", (1, 10))]).check()
    checks = [
        {"backlog_size": 20480, "decision": "size", "evictions_size": 1, "subs": {"c1": {"msg_backlog": 15, "msgs": 15}}},
        {"backlog_size": 10240, "decision": "size", "evictions_size": 2, "subs": {"c1": {"msg_backlog": 10}}},
        {"backlog_size": 9216, "decision": None, "evictions_size": 2},
    ]
    actions: list[Expected] = [{"moves": moved(("c1", (1, 9), 5)), "agrees": True}, {"moves": moved(("c1", (1, 10), 1)), "agrees": True}]
    yield Case("B7", log.events, checks, actions)

    log = Log().load(size=10240, size_policy=EVICTION).fill(1, kib(20)).sub("A", (1, -1)).sub("B", (1, -1)).acked_to("B", (1, 4))
    log.check(SIZE, EVICTION, 10240, [("A", (1, 10)), ("B", (1, 10))]).check()
    actions = [{"moves": moved(("A", (1, 10), 11), ("B", (1, 10), 6)), "agrees": True}]
    yield Case("B8", log.events, [{"backlog_size": 20480}, {"backlog_size": 9216, "evictions_size": 1}], actions)


def rounds_that_evict_nothing() -> Iterator[Case]:
    for variant, limit, entries in (("one-entry", 100, [100]), ("five-entries", 10, [3, 2, 2, 2, 2])):
        log = Log().load(size=limit, size_policy=EVICTION).fill(1, entries).sub("c1", (1, -1))
        log.check(SIZE, EVICTION, limit).check(SIZE, EVICTION, limit)
        checks: list[Expected] = [{"decision": "size", "evictions_size": count} for count in (1, 2)]
        yield Case(f"B9-{variant}", log.events, checks, [{"moves": [], "agrees": True}] * 2)

    log = Log().load(size=0, size_policy=EVICTION).fill(1, kib(2)).check(SIZE, EVICTION, 0).check(SIZE, EVICTION, 0).quota(SIZE, -1).check()
    checks = [
        {"backlog_size": 0, "decision": decision, "evictions_size": count} for decision, count in (("size", 1), ("size", 2), (None, 2))
    ]
    yield Case("B10", log.events, checks, [{"moves": [], "agrees": True}] * 2)

    log = Log().load(size=100, size_policy=EVICTION).fill(1, [100]).sub("c1", (1, -1))
    for _ in range(3):
        log.check(SIZE, EVICTION, 100)
    log.unload().load().close(1, 1, 100, snapshot=True).open(2, snapshot=True).sub("c1", (1, -1), snapshot=True).check()
    log.quota(SIZE, 100).check(SIZE, EVICTION, 100)
    yield Case("B27", log.events, [{"evictions_size": count} for count in (1, 2, 3, 0, 1)], [{"moves": [], "agrees": True}] * 4)


def oldest_by_entries() -> Iterator[Case]:
    log = Log().load().open(1).sub("c1", (1, -1)).sub("c2", (1, -1))
    for entry in range(4):
        log.at(3 * entry).publish(1, entry)
    log.at(10).acked_to("c1", (1, 0)).check()
    log.at(11).acked_to("c2", (1, 0)).mark("c1", (1, -1), reset=True).check()
    log.at(12).acked_to("c1", (1, 2)).check().at(13).check()
    log.at(14).acked_to("c1", (1, 3)).acked_to("c2", (1, 3)).check()
    named = [("c2", 10, 0), ("c1", 11, 0), ("c2", 9, 3), ("c2", 10, 3)]
    checks: list[Expected] = [{"oldest_name": name, "age_s": age, "oldest_ts_ms": ms(ts)} for name, age, ts in named]
    yield Case("B12", log.events, [*checks, {"oldest_name": None, "age_s": -1, "backlog_size": 0}])

    log = Log().at(1000).load().fill(1, kib(3)).sub("c1", (1, -1)).check().at(1050).acked_to("c1", (1, 2))
    seen = (len(log.events), ms(1055), {"age_s": 55, "oldest_name": "c1", "backlog_size": 0})
    log.at(1060).check()
    yield Case("B20", log.events, [{"age_s": 0}, {"age_s": -1, "oldest_name": None, "oldest_ts_ms": None}], probes=[seen])

    log = Log().load().fill(1, kib(3)).sub("A", (1, -1)).sub("B", (1, -1)).sub("C", (1, -1)).check()
    for name in "ACB":
        log.acked_to(name, (1, 0)).check()
    yield Case("B21", log.events, [{"oldest_name": name} for name in "ACBB"])


def oldest_by_ledgers() -> Iterator[Case]:
    log = Log(precise=False).load().fill(1, kib(5)).sub("c1", (1, -1)).sub("c2", (1, -1)).acked_to("c1", (1, 0)).at(5).check()
    log.at(20).unload().load().close(1, 5, 5120, snapshot=True).open(2, snapshot=True)
    log.sub("c2", (1, -1), snapshot=True).sub("c1", (1, 0), snapshot=True).at(27).check()
    log.acked_to("c1", (1, 4)).acked_to("c2", (1, 3)).at(29).check().unsubscribe("c1").unsubscribe("c2").check()
    checks: list[Expected] = [{"oldest_name": name, "age_s": age} for name, age in ((None, -1), ("c2", 7), ("c2", 9), (None, -1))]
    yield Case("B13", log.events, checks)

    log = Log(precise=False).load().open(1).sub("c1", (1, -1))
    for entry in range(5):
        log.at(entry + 1).publish(1, entry)
    log.close(1, 5, 5120).open(2).at(6).publish(2, 0).at(7).publish(2, 1)
    log.acked_to("c1", (1, 0)).at(8).check().acked_to("c1", (2, 0)).check()
    open_one = {"age_s": -1, "oldest_name": None, "subs": {"c1": {"msg_backlog": 1, "true_oldest_publish_ts_ms": ms(7)}}}
    yield Case("B14", log.events, [{"age_s": 3, "oldest_name": "c1", "oldest_ts_ms": ms(5)}, open_one])

    log = Log(precise=False).load().fill(1, kib(2), close=True).fill(2, kib(2)).sub("c1", (1, -1)).acked_to("c1", (1, 1)).check()
    log.at(9).close(2, 2, 2048).open(3).at(12).check()
    yield Case("B23", log.events, [{"oldest_ts_ms": None, "age_s": -1}, {"oldest_ts_ms": ms(9), "age_s": 3}])

    # Seen on a real broker: a check in the 50 ms between the close of a ledger and the opening of the next: the closed one is the last.
    log = Log(precise=False).load().fill(1, kib(2)).sub("c1", (1, -1)).at(5).close(1, 2, 2048).check().open(2).at(8).check()
    yield Case("B23-last", log.events, [{"oldest_ts_ms": None, "age_s": -1}, {"oldest_ts_ms": ms(5), "age_s": 3}])


def evictions_by_age() -> Iterator[Case]:
    log = Log().load(age=10, age_policy=EVICTION).fill(1, []).sub("c1", (1, -1))
    for entry, second in enumerate((100, 101, 101.001)):
        log.at(second).publish(1, entry)
    log.at(110).check().at(110.001).check(AGE, EVICTION, 10, [("c1", (1, 1))])
    action = {"target": 9, "exceeded_by": 1, "moves": moved(("c1", (1, 1), 2)), "agrees": True}
    yield Case("B15", log.events, [{"decision": None, "age_s": 10}, {"decision": "time", "evictions_time": 1}], [action])

    log = Log().load(age=2, age_policy=EVICTION).fill(1, kib(9)).sub("c1", (1, -1)).sub("c2", (1, -1))
    log.at(4).check(AGE, EVICTION, 2, [("c1", (1, 8)), ("c2", (1, 8))]).check()
    after: Expected = {"decision": None, "evictions_time": 1, "subs": {"c1": {"msg_backlog": 0}, "c2": {"msg_backlog": 0}}}
    steps = moved(("c1", (1, 8), 9), ("c2", (1, 8), 9))
    yield Case("B16", log.events, [{"decision": "time"}, after], [{"target": 1, "moves": steps, "agrees": True}])

    for variant, second, place, left in (("all", 13, (3, -1), 4), ("part", 11.5, (2, -1), 9)):
        log = Log(precise=False).load(age=2, age_policy=EVICTION).sub("c1", (1, -1)).sub("c2", (1, -1))
        log.at(5).fill(1, kib(5), close=True).at(10).fill(2, kib(5), close=True).fill(3, kib(4))
        passed = [(2, -1), (3, -1)] if variant == "all" else [(2, -1)]
        log.at(second).check(AGE, EVICTION, 2, [(name, step) for step in passed for name in ("c1", "c2")]).at(12).at(second).check()
        after = {
            "decision": None,
            "evictions_time": 1,
            "subs": {name: {"msg_backlog": left, "mark_delete": place} for name in ("c1", "c2")},
        }
        steps = moved(("c1", place, 14 - left), ("c2", place, 14 - left))
        yield Case(f"B17-{variant}", log.events, [{"decision": "time"}, after], [{"target": 2, "moves": steps, "agrees": True}])

    places: list[tuple[str, Place]] = [("c1", (1, 2)), ("c2", (1, 2))]
    for version, gone in (("4.0.8", places[:0]), ("4.1.0", places)):
        log = Log(version).load(age=1, age_policy=EVICTION).fill(1, kib(2)).sub("c1", (1, -1)).sub("c2", (1, -1)).at(1.999).publish(1, 2)
        log.at(2).check(AGE, EVICTION, 1, gone)
        action = {"target": 0, "moves": moved(*[(name, place, 3) for name, place in gone]), "agrees": True}
        yield Case(f"B18-{version}", log.events, [{"decision": "time", "evictions_time": 1}], [action])

    log = Log().load(size=10240, size_policy=EVICTION, age=10, age_policy=EVICTION).fill(1, kib(20)).sub("c1", (1, -1)).at(100)
    log.check(SIZE, EVICTION, 10240, [("c1", (1, 10))])
    found = {"age_s": 100, "decision": "size", "evictions_size": 1, "evictions_time": 0}
    yield Case("B19", log.events, [found], [{"quota_type": "size", "agrees": True}])


def rounds_and_deduplication() -> Iterator[Case]:
    log = Log().at(100).add("quota_round", phase="start")
    for number, second in enumerate((0.2, 0.4, 6.7)):
        log.at(100 + second).add("quota_check", topic=f"persistent://t/n/{number}", duration_us=round(second * 1_000_000))
    log.add("quota_round", phase="end", duration_us=6_700_000)
    buckets = {"5.0": 2, "10.0": 3, "30.0": 3, "60.0": 3, "300.0": 3, "+Inf": 3}
    yield Case("B22", log.events, [], histogram=(buckets, 6, 3))

    skipped: list[tuple[str, Place]] = [("pulsar.dedup", (1, 10))]
    for policy, steps in ((EXCEPTION, skipped[:0]), (EVICTION, skipped)):
        log = Log().load(size=10240, size_policy=policy).producers(2).fill(1, kib(20)).sub("c1", (1, -1)).sub("pulsar.dedup", (1, -1))
        log.acked_to("c1", (1, 19)).check(SIZE, policy, 10240, steps)
        action = {"policy": policy, "producers_cut_off": 0, "moves": moved(*[(*step, 11) for step in steps]), "agrees": True}
        found = {"backlog_size": 20480, "age_s": -1, "decision": "size", "evictions_size": len(steps)}
        yield Case(f"B24-{policy}", log.events, [found], [action])


def positions_beside_the_cases() -> Iterator[Case]:
    """Rules of 2.1 to 2.5 that no case of section 5 shows."""
    log = Log().load(size=0, size_policy=EVICTION).fill(1, kib(3)).sub("c1", (1, 2)).sub("reader", (1, -1), durable=False).check()
    unreadable = {"decision": None, "oldest_name": None, "age_s": -1, "subs": {"reader": {"msg_backlog": 3, "durable": False}}}
    yield Case("X1-unreadable-entry-no-decision", log.events, [unreadable])

    log = Log().load().fill(1, kib(5)).sub("A", (1, -1)).sub("B", (1, 1)).mark("A", (1, 3), persisted=False).check()
    lagging = {"oldest_name": "A", "backlog_size": 1024, "oldest_ts_ms": ms(0)}
    yield Case("X2-root-by-persisted-size-by-memory", log.events, [lagging])

    log = Log().load().fill(1, kib(5)).sub("A", (1, -1)).at(7).check_by_producer()
    asked = (len(log.events), ms(9), {"oldest_name": "A", "age_s": 9})
    yield Case("X3-oldest-looked-up-for-a-producer", log.events, [], probes=[asked])

    log = Log().load().open(1).sub("c1", (1, -1))
    for entry in range(4):
        log.at(entry).publish(1, entry, msgs=10)
    log.ack("c1", (1, 0), batch_index=3).ack("c1", (1, 1), (1, 2)).check()
    log.mark("c1", (1, 3)).mark("c1", (1, -1), reset=True).check().ack("c1", (1, 0)).mark("c1", (1, 0)).check()
    counts = ((2, 20, 0), (4, 40, 0), (3, 30, 1))
    checks: list[Expected] = [
        {"subs": {"c1": {"msg_backlog": entries, "msgs": msgs, "true_oldest_publish_ts_ms": ms(ts)}}} for entries, msgs, ts in counts
    ]
    yield Case("X4-parts-of-batches-and-a-seek-back", log.events, checks)

    for version, size in (("4.0.8", 900), ("4.0.14", 500)):
        log = Log(version).load().fill(1, [100] * 10).sub("c1", (1, 0)).ack("c1", *[(1, entry) for entry in range(3, 7)]).check()
        holes = {"backlog_size": 900, "subs": {"c1": {"backlog_size": size, "msg_backlog": 5}}}
        yield Case(f"X5-size-of-a-subscription-with-holes-{version}", log.events, [holes])


def actions_beside_the_cases() -> Iterator[Case]:
    """Rules of 2.5 and 2.6 that no case of section 5 shows."""
    for version, target, place in (("4.0.8", 9.9, (1, 9)), ("4.0.11", 9, (1, 10)), ("4.1.4", 9.9, (1, 9)), ("4.2.2", 9, (1, 10))):
        log = (
            Log(version).load(size=11, size_policy=EVICTION).fill(1, [1] * 20).sub("c1", (1, -1)).check(SIZE, EVICTION, 11, [("c1", place)])
        )
        action = {"target": target, "moves": moved(("c1", place, place[1] + 1)), "agrees": True}
        yield Case(f"X6-target-{version}", log.events, [{"decision": "size"}], [action])

    for variant in ("rolled", "loaded"):
        log = Log(precise=False).load(age=2, age_policy=EVICTION).sub("c1", (1, 1)).fill(1, kib(5), close=True).open(2)
        if variant == "loaded":
            log.unload().load(age=2, age_policy=EVICTION).close(1, 5, 5120, snapshot=True).open(2, snapshot=True)
            log.sub("c1", (1, 1), snapshot=True)
        jump: list[tuple[str, Place]] = [("c1", (2, -1))] if variant == "loaded" else []
        log.at(5).check(AGE, EVICTION, 2, jump)
        action = {"moves": moved(*[(*step, 3) for step in jump]), "agrees": True}
        yield Case(f"X7-before-an-open-ledger-without-entries-{variant}", log.events, [{"decision": "time"}], [action])

    log = Log().load(size=10240, size_policy=EVICTION).fill(1, kib(20)).sub("c1", (1, -1)).at(10).add("quota_round", phase="start")
    log.of_topic("quota_exceeded", quota_type=SIZE, policy=EVICTION, limit=10240).at(15).add("quota_round", phase="start")
    log.at(40).mark("c1", (1, 10)).of_topic("quota_check", duration_us=30_000_000).add("quota_round", phase="end", duration_us=30_000_000)
    log.of_topic("quota_check", duration_us=25_000_000).add("quota_round", phase="end", duration_us=25_000_000)
    checks: list[Expected] = [{"decision": "size", "check_time_us": ms(10) * 1000}, {"decision": None, "check_time_us": ms(40) * 1000}]
    buckets = {"5.0": 0, "10.0": 0, "30.0": 2, "60.0": 2, "300.0": 2, "+Inf": 2}
    yield Case(
        "X8-overlapping-rounds", log.events, checks, [{"moves": moved(("c1", (1, 10), 11)), "agrees": True}], histogram=(buckets, 55, 2)
    )

    log = Log().load(size=1, size_policy=HOLD, age=3, age_policy=EXCEPTION).producers(3).fill(1, kib(1)).sub("c1", (1, -1)).at(9)
    log.check(SIZE, HOLD, 1).quota(SIZE, -1, HOLD).check(AGE, EXCEPTION, 3)
    checks = [{"decision": kind, "policy": policy, "evictions_size": 0} for kind, policy in (("size", HOLD), ("time", EXCEPTION))]
    cut: Expected = {"producers_cut_off": 3, "moves": [], "target": None, "agrees": True}
    yield Case("X9-producers-cut-off", log.events, checks, [cut | {"exceeded_by": 1023}, cut | {"exceeded_by": 6000}])

    log = Log().load(size=10240, size_policy=EVICTION).fill(1, kib(20)).sub("c1", (1, -1)).check(SIZE, EVICTION, 10240, [("c1", (1, 9))])
    log.check(AGE, EVICTION, 5).quota(SIZE, -1).check(SIZE, EVICTION, 10240)
    wrong: list[Expected] = [{"quota_type": kind, "agrees": False} for kind in ("size", "size", None)]
    yield Case("X10-a-broker-that-does-something-else", log.events, [{"decision": kind} for kind in ("size", "size", None)], wrong)


CASES = [
    *sizes(),
    *evictions_by_size(),
    *rounds_that_evict_nothing(),
    *oldest_by_entries(),
    *oldest_by_ledgers(),
    *evictions_by_age(),
    *rounds_and_deduplication(),
    *positions_beside_the_cases(),
    *actions_beside_the_cases(),
]
