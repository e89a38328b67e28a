"""What a broker holds, written every ten seconds as the collector does it: `state` and those beside it (version 1.2 of the log)."""

from collections.abc import Iterable

from sim.agenda import NS_PER_S
from sim.consumer import Consumer
from sim.dispatcher import HELD_BACK, OUT, WAITING
from sim.limiters import Limiter
from sim.process import Process
from sim.subscription import LiveSubscription
from sim.topic import LiveTopic

EVERY_NS = 10 * NS_PER_S


def write_states(process: Process, topics: Iterable[LiveTopic]) -> None:
    """All limiters with a rate, all topics, and every subscription with a backlog or a consumer."""
    _limiter(process, process.limiter, "broker", "")
    for topic in topics:
        for subscription in topic.subscriptions:
            if subscription.backlog.consumers or subscription.cursor.backlog():
                _subscription(subscription)
        _topic(topic)


def _limiter(process: Process, limiter: Limiter, level: str, where: str) -> None:
    if limiter.msgs is None and limiter.bytes is None:
        return
    books = ((f'"{name}_tokens"', books) for name, books in (("msgs", limiter.msgs), ("bytes", limiter.bytes)))
    tokens = "".join(f",{name}:{one.balance()}" for name, one in books if one is not None)
    rates = [one.rate if one is not None else -1 for one in (limiter.msgs, limiter.bytes)]
    period_s = next(one.period_ns for one in (limiter.msgs, limiter.bytes) if one is not None) // NS_PER_S
    process.log.add(
        f'"limiter_state",{where}"level":"{level}","as_of_seq":{process.log.seq},"msg_rate":{rates[0]},"byte_rate":{rates[1]},'
        f'"period_s":{period_s},"relative":false,"limiter":"{limiter.kind}"{tokens}'
    )


def _topic(topic: LiveTopic) -> None:
    stored, log = topic.stored, topic.process.log
    ledger, entry = stored.position_of(stored.end - 1)
    log.add(
        f'"topic_state",{topic.json},"as_of_seq":{log.seq},"ledger":{ledger},"entry":{entry},'
        f'"entries":{stored.end - stored.ledgers[0].first},"bytes":{stored.bytes},"ledgers":{len(stored.ledgers)}'
        + topic.transactions.state()
    )
    _limiter(topic.process, topic.limiter, "topic", f"{topic.json},")


def _subscription(one: LiveSubscription) -> None:
    stored, cursor, log = one.cursor.ledger.stored, one.cursor.stored, one.process.log
    ledger, entry = cursor.position
    read_ledger, read_entry = _next_position(one)
    log.add(
        f'"state",{one.cursor.json},"as_of_seq":{log.seq},"ledger":{ledger},"entry":{entry},"read_ledger":{read_ledger},"read_entry":{read_entry},'
        f'"backlog_entries":{stored.backlog(cursor)},"deleted_entries":{len(cursor.acked)},"durable":true,"cursor_kind":"subscription"'
        + _dispatcher(one)
    )
    for consumer in one.backlog.consumers:
        _consumer(consumer)
    if one.dispatcher is not None:
        _limiter(one.process, one.dispatcher.limits.own, "subscription", f"{one.cursor.json},")


def _next_position(one: LiveSubscription) -> tuple[int, int]:
    """Of the entry that is read next, or the one that will be written next."""
    stored, index = one.cursor.ledger.stored, one.cursor.read_index
    if index < stored.end:
        return stored.position_of(max(index, stored.ledgers[0].first))
    return stored.ledgers[-1].id, len(stored.ledgers[-1])


def _dispatcher(one: LiveSubscription) -> str:
    dispatcher = one.dispatcher
    if dispatcher is None:
        return ""
    backlog, consumers = one.backlog, one.backlog.consumers
    permits = sum(consumer.permits for consumer in (consumers if dispatcher.shared else consumers[:1]))
    unacked = dispatcher.caps.unacked_msgs if dispatcher.shared else 0
    active = "" if dispatcher.shared or not consumers else f',"conn":{consumers[0].connection},"consumer":{consumers[0].number}'
    return (
        f',"sub_type":"{one.declared.type}","permits":{permits},"unacked_msgs":{max(0, unacked)},"consumers":{len(consumers)},'
        f'"delayed_entries":{len(backlog.delayed)},"replay_entries":{len(backlog.replay)}'
        f',"read_out":{_json(dispatcher.read in (OUT, WAITING, HELD_BACK))}'
        f',"read_waits":{_json(dispatcher.read in (WAITING, HELD_BACK))}'
        f',"replay_out":{_json(dispatcher.replay_read)},"blocked":{_json(dispatcher.caps.blocked)}{active}'
    )


def _consumer(one: Consumer) -> None:
    log = one.process.log
    log.add(
        f'"consumer_state",{one.json},"as_of_seq":{log.seq},"permits":{one.permits},"unacked_msgs":{max(0, one.unacked_msgs)},'
        f'"blocked":{_json(one.blocked)},"consumer_name":"{one.name}","priority_level":0'
    )


def _json(flag: bool) -> str:
    return "true" if flag else "false"
