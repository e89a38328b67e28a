"""The log of a broker that has just started."""

from typing import Any

from log_builder import SUB, TOPIC, Log


def unread() -> Log:
    """Nine entries of a topic, of which a subscription reads none."""
    log = Log()
    log.at(0).add("broker_start", cluster="c", version="4.0.8", log_version="1.2", settings={})
    log.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
    log.add("cursor_open", topic=TOPIC, sub=SUB, durable=True, ledger=5, entry=-1)
    for entry in range(9):
        log.add("publish", topic=TOPIC, ledger=5, entry=entry, msgs=1, bytes=100, publish_ts=1)
    return log


def nobody_reads(seconds: int) -> list[dict[str, Any]]:
    """The same for so many seconds."""
    log = unread()
    for second in range(1, seconds + 1):
        log.at(second).add("heartbeat", dropped=0)
    return log.events
