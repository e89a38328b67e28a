"""A dispatcher under limiters: Pulsar's token bucket, and the reads that it answers (semantics §1.2, §1.4)."""

from incidents.scene import HOST_NS, MAX_READ_BYTES, Sub


class Bucket:
    """The messages of a limiter of a subscription: it is filled only when asked, more than a second after it was filled last."""

    def __init__(self, per_s: int, at: float) -> None:
        self.rate, self.tokens, self.pending = per_s, per_s, 0
        self.filled_ns, self.rest_ns = round(at * 1e9), 0

    def ask(self, at: float) -> int:
        """What it grants."""
        now = round(at * 1e9)
        if now > self.filled_ns + 10**9:
            lasted = now - self.filled_ns + self.rest_ns
            new = lasted * self.rate // 10**9
            self.filled_ns, self.rest_ns = now, lasted - new * 10**9 // self.rate
            self.tokens, self.pending = min(self.tokens + new - self.pending, self.rate), 0
        return max(0, self.tokens - self.pending)


class LimitedSub:
    """The dispatcher of a subscription with a limit of messages of its own; the incident decides when it asks."""

    def __init__(self, sub: Sub, bucket: Bucket, permits: int) -> None:
        self.sub, self.bucket, self.permits, self.next = sub, bucket, permits, 0

    def ask(self, at: float) -> int | None:
        """A read is asked for: the entries that are granted, or None where it is blocked."""
        granted = self.bucket.ask(at)
        left = (min(100, granted), MAX_READ_BYTES) if granted else (-1, -1)
        answers = {"broker_msgs": -1, "broker_bytes": -1, "sub_msgs": granted, "sub_bytes": -1}
        tokens = {"sub_msgs_tokens": self.bucket.tokens - self.bucket.pending, "asked_ns": HOST_NS + round(at * 1e9)}
        asked = {"permits": self.permits, "want_msgs": 100, "want_bytes": MAX_READ_BYTES, "left_msgs": left[0], "left_bytes": left[1]}
        self.sub.add(at, "read", sub_type=self.sub.type, **asked, **answers, **tokens)
        return left[0] if granted else None

    def serve(self, at: float, entries: int, size: int, msgs: int, *, by_entries: bool) -> None:
        """Entries of `size` bytes and `msgs` messages are read at `at`, delivered, and charged by entries or messages."""
        self.sub.done(at, entries, entries * size).deliver(at + 0.0001, entries, entries * size, entries * msgs)
        self.bucket.pending += entries if by_entries else entries * msgs
        self.permits -= entries * msgs
        self.next += entries
