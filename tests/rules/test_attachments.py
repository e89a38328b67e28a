"""Who hangs on which connection against dicts of sets: every chain has whom it should, whoever came and went."""

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from suite.examples import examples

from pipeline.rules.array import Array
from pipeline.rules.broker import attachments as invariants
from pipeline.rules.broker.attachments import LinkIndexes, Links
from pipeline.rules.broker.layout import (
    ATTACHMENT_ROW,
    CONNECTIVITY_ROW,
    CONSUMING,
    ENDPOINT_ROW,
    NEW_SUBSCRIPTION,
    NEW_TOPIC,
    NO_CONNECTION,
    NONE,
    PRODUCING,
)
from pipeline.rules.compiled import compiled
from pipeline.rules.index import EMPTY, find, new_index
from pipeline.rules.records import Record, Records, empty_rows, record

COUNTS = record("attachments", "endpoints")
CONNECTIONS, TOPICS, SUBSCRIPTIONS = 3, 2, 4
ATTACH, DETACH, END_CONNECTION, END_TOPIC, WRITABLE = range(5)
#: (kind, connection, endpoint's id): ids of producers and of consumers are two things.
Endpoint = tuple[int, int, int]


@compiled
def attach(links: Links, indexes: LinkIndexes, c: int, kind: int, target: int, target_id: int, number: int) -> None:
    invariants.attach(links, indexes, c, kind, target, target_id, number)


@compiled
def leave(links: Links, endpoints_index: Array, what: int, row: int, kind: int, number: int) -> None:
    if what == END_CONNECTION:
        invariants.detach_all_of_connection(links, row)
    elif what == END_TOPIC:
        invariants.detach_all_of_topic(links, row)
    else:
        e = find(endpoints_index, links.endpoints, number, invariants.owner_of(kind, links.connections[row].id))
        if e != EMPTY:
            invariants.detach(links, kind, e)


@compiled
def is_unwritable(subscription: Record, connectivity: Record, attachments: Records, connections: Records) -> bool:
    return invariants.is_unwritable(subscription, connectivity, attachments, connections)


def blank_rows(kind: Records, count: int) -> Records:
    rows = empty_rows(kind.dtype, count)
    rows[:] = kind[0]
    return rows


class Broker:
    """The rows, and in `on` which target each open endpoint has. Subscription s is of topic s % TOPICS."""

    def __init__(self) -> None:
        self.connectivity = empty_rows(CONNECTIVITY_ROW, 1)[0]
        self.links = Links(
            self.connectivity, blank_rows(NO_CONNECTION, CONNECTIONS), blank_rows(NEW_TOPIC, TOPICS),
            blank_rows(NEW_SUBSCRIPTION, SUBSCRIPTIONS), empty_rows(ATTACHMENT_ROW, 64), empty_rows(ENDPOINT_ROW, 64),
        )  # fmt: skip
        self.links.connections["id"] = [0, 5, 9]
        for s in range(SUBSCRIPTIONS):
            self.links.subscriptions["next_of_topic"][s] = self.links.topics["first_subscription"][s % TOPICS]
            self.links.topics["first_subscription"][s % TOPICS] = s
        self.indexes = LinkIndexes(new_index(64), new_index(64), empty_rows(COUNTS, 1)[0])
        self.on: dict[Endpoint, int] = {}

    def attach(self, kind: int, c: int, number: int, target: int) -> None:
        self.on[kind, c, number] = target
        attach(self.links, self.indexes, c, kind, target, 1_000 + target, number)

    def leave(self, what: int, kind: int, row: int, number: int) -> None:
        if what == END_CONNECTION:
            self.on = {each: target for each, target in self.on.items() if each[1] != row}
        elif what == END_TOPIC:
            self.on = {each: t for each, t in self.on.items() if (t if each[0] == PRODUCING else t % TOPICS) != row}
        else:
            self.on.pop((kind, row, number), None)
        leave(self.links, self.indexes[1], what, row, kind, number)

    def flip(self, c: int) -> None:
        """The connection becomes unwritable, or writable again."""
        self.links.connections["writable"][c] ^= 1
        self.connectivity.changes += self.links.connections["writable"][c]

    def chain(self, first: int, following: str, previous: str = "") -> list[int]:
        """Attachments (or endpoints) from the head on; each knows who stands before it."""
        rows = self.links.attachments if "_of_" in following else self.links.endpoints
        found, before = [], NONE
        while first != NONE:
            found.append(int(first))
            assert not previous or rows[previous][first] == before
            before, first = first, rows[following][first]
        return found


def assert_hangs(broker: Broker) -> None:
    by_pair: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    for (kind, c, number), target in broker.on.items():
        by_pair[kind, c, target].add(number)
    links, seen = broker.links, dict[tuple[int, int, int], set[int]]()
    for c in range(CONNECTIONS):
        for kind in (PRODUCING, CONSUMING):
            chain = broker.chain(links.connections["first_attachment"][c, kind], "next_of_connection", "previous_of_connection")
            for a in chain:
                attachment = links.attachments[a]
                held = broker.chain(attachment.first_endpoint, "next", "previous")
                assert attachment.endpoints == len(held)
                assert (attachment.connection, attachment.id) == (c, 1_000 + attachment.target)
                seen[kind, c, int(attachment.target)] = {int(links.endpoints["id"][e]) for e in held}
            assert links.connections["targets"][c, kind] == len(chain)
            assert links.connections["endpoints"][c, kind] == sum(each[:2] == (kind, c) for each in broker.on)
    assert seen == by_pair
    for kind, targets in ((PRODUCING, links.topics), (CONSUMING, links.subscriptions)):
        for target, first in enumerate(targets["first_attachment"]):
            found = [links.attachments["connection"][a] for a in broker.chain(first, "next_of_target", "previous_of_target")]
            assert sorted(found) == sorted(c for each, c, t in by_pair if (each, t) == (kind, target))


steps = st.tuples(
    st.sampled_from([ATTACH] * 8 + [DETACH] * 4 + [END_CONNECTION, END_TOPIC, WRITABLE, WRITABLE]),
    st.sampled_from([PRODUCING, CONSUMING]),
    st.integers(0, CONNECTIONS - 1),
    st.integers(0, 3),
    st.integers(0, SUBSCRIPTIONS - 1),
)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(steps, max_size=60))
def test_chains_have_who_hangs_on_them(todo: list[tuple[int, int, int, int, int]]) -> None:
    broker = Broker()
    for what, kind, c, number, target in todo:
        if what == ATTACH:
            broker.attach(kind, c, number, target % TOPICS if kind == PRODUCING else target)
        elif what == WRITABLE:
            broker.flip(c)
        else:
            broker.leave(what, kind, c % TOPICS if what == END_TOPIC else c, number)
        for s in range(SUBSCRIPTIONS):
            theirs = {each[1] for each, on in broker.on.items() if each[0] == CONSUMING and on == s}
            expected = all(broker.links.connections["writable"][each] == 0 for each in theirs)
            if theirs:  # it is asked only when there are consumers
                found = is_unwritable(
                    broker.links.subscriptions[s], broker.connectivity, broker.links.attachments, broker.links.connections
                )  # fmt: skip
                assert found == expected
    assert_hangs(broker)


def test_an_id_that_is_open_elsewhere_ends_there() -> None:
    broker = Broker()
    broker.attach(PRODUCING, 1, 7, 0)
    broker.attach(PRODUCING, 1, 7, 1)
    assert broker.links.connections["endpoints"][1].tolist() == [1, 0]
    assert broker.links.topics["first_attachment"][0] == NONE
    assert_hangs(broker)


def test_a_producer_and_a_consumer_may_have_one_id_and_so_may_connections() -> None:
    broker = Broker()
    for c in range(CONNECTIONS):
        broker.attach(PRODUCING, c, 7, 0)
        broker.attach(CONSUMING, c, 7, 2)
    broker.leave(DETACH, CONSUMING, 0, 7)
    assert broker.links.connections["endpoints"].tolist() == [[1, 0], [1, 1], [1, 1]]
    assert_hangs(broker)


def test_ending_what_is_not_there_changes_nothing() -> None:
    broker = Broker()
    broker.attach(PRODUCING, 0, 1, 0)
    for _ in range(2):
        broker.leave(DETACH, PRODUCING, 0, 1)
        broker.leave(DETACH, CONSUMING, 0, 1)
        broker.leave(END_CONNECTION, 0, 1, 0)
        broker.leave(END_TOPIC, 0, 1, 0)
    assert_hangs(broker)
    broker.attach(PRODUCING, 0, 1, 0)
    assert (broker.indexes.counts.attachments, broker.indexes.counts.endpoints) == (1, 1), "who comes back has its row"
