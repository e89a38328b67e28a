"""One delivery of a dispatcher: what each consumer gets of it, and the events that report it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sim.storage import Position


@dataclass
class Share:
    """What one consumer gets, or all of them: how much, and from which position to which."""

    consumer: int
    connection: int
    entries: int = 0
    msgs: int = 0
    bytes: int = 0
    first: Position | None = None
    last: Position | None = None

    def add(self, position: Position, entries: int, msgs: int, size_bytes: int) -> None:
        """Something more, at `position`."""
        self.entries, self.msgs, self.bytes = self.entries + entries, self.msgs + msgs, self.bytes + size_bytes
        self.first = position if self.first is None else min(self.first, position)
        self.last = position if self.last is None else max(self.last, position)

    def json(self) -> str:
        """How much it is, as members of an event."""
        return f'"entries":{self.entries},"msgs":{self.msgs},"bytes":{self.bytes}'

    def where(self) -> str:
        """From where to where."""
        assert self.first is not None
        assert self.last is not None
        return f',"first_ledger":{self.first[0]},"first_entry":{self.first[1]},"last_ledger":{self.last[0]},"last_entry":{self.last[1]}'

    def to(self) -> str:
        """To whom."""
        return f',"conn":{self.connection},"consumer":{self.consumer}'


@dataclass
class Delivery:
    """Shares by the consumer's number, in the order in which consumers were taken. `of`: the members of topic and subscription."""

    of: str
    shares: dict[int, Share] = field(default_factory=dict)

    def add(self, consumer: int, connection: int, position: Position, msgs: int, size_bytes: int) -> None:
        """One entry for a consumer."""
        self.shares.setdefault(consumer, Share(consumer, connection)).add(position, 1, msgs, size_bytes)

    def whole(self) -> Share:
        """All shares as one; to the consumer of the first."""
        shares = list(self.shares.values())
        whole = Share(shares[0].consumer, shares[0].connection)
        for one in shares:
            assert one.first is not None
            assert one.last is not None
            whole.add(one.first, one.entries, one.msgs, one.bytes)
            whole.add(one.last, 0, 0, 0)
        return whole

    def events(self, *, tells_shares: bool) -> Iterator[str]:
        """The shares, where several consumers got something, then `dispatch`: it is the last one."""
        whole = self.whole()
        if not tells_shares:
            yield f'"dispatch",{self.of},{whole.json()}'
        elif len(self.shares) == 1:
            yield f'"dispatch",{self.of},{whole.json()}{whole.to()}{whole.where()}'
        else:
            for one in self.shares.values():
                yield f'"dispatch_share",{self.of},{one.json()}{one.to()}{one.where()}'
            yield f'"dispatch",{self.of},{whole.json()},"consumers":{len(self.shares)}{whole.where()}'
