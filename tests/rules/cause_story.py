"""Small logs of one subscription, for tests of causes."""

from typing import Any, Self

from log_builder import SUB, TOPIC, Log

WHERE = {"topic": TOPIC, "sub": SUB}


class Story(Log):
    """A subscription with one consumer on connection 1, before anything is published. `version` 1.1 has what happens to deliveries."""

    def __init__(self, version: str | None = "1.1", *, consumer: bool = True, sub_type: str = "Shared") -> None:
        super().__init__()
        told = {} if version is None else {"log_version": version}
        self.add("broker_start", cluster="c", version="4.0.8", settings={}, **told)
        self.add("topic_load", topic=TOPIC).add("ledger_open", topic=TOPIC, ledger=5, snapshot=True)
        self.add("cursor_open", **WHERE, durable=True, ledger=5, entry=-1)
        self.add("dispatcher_open", **WHERE, sub_type=sub_type)
        self.published = 0
        if consumer:
            self.of_sub("consumer_open", consumer=0, conn=1)

    def of_sub(self, event_type: str, **fields: Any) -> Self:
        self.add(event_type, **WHERE, **fields)
        return self

    def puts(self, entries: int) -> Self:
        for _ in range(entries):
            self.add("publish", topic=TOPIC, ledger=5, entry=self.published, msgs=1, bytes=100, publish_ts=1)
            self.published += 1
        return self

    def reads(self, permits: int | None = 1000, **answers: Any) -> Self:
        fields = {} if permits is None else {"permits": permits}
        return self.of_sub("read", sub_type="Shared", want_msgs=100, want_bytes=5_000_000, **fields, **answers)

    def gives(self, entries: int) -> Self:
        return self.of_sub("dispatch", entries=entries, msgs=entries, bytes=100 * entries)

    def acks(self, *entries: int) -> Self:
        for entry in entries:
            self.of_sub("ack", consumer=0, ack_type="individual", ledger=5, entry=entry)
        return self

    def loses(self, second: float) -> Self:
        """What happened then is not in the log."""
        self.events = [event for event in self.events if event["ts"] - self.events[0]["ts"] != round(second * 1_000_000)]
        return self

    def beats(self, *seconds: float) -> Self:
        for second in seconds:
            self.at(second).add("heartbeat", dropped=0)
        return self


def measured(story: Story, turnarounds: int = 16) -> Story:
    """The broker's normal turnaround is known: each read took 1 ms, so normal is 8 · 2^20 ns."""
    for number in range(turnarounds):
        second = number / 100
        story.at(second).puts(1).reads()
        story.at(second, 1_000_000).gives(1).acks(number)
    return story
