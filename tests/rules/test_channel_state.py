"""The channel package's state: no table depends on where it was cut, and what is gone is not kept."""

import random
from typing import Any

import numpy as np
from bookkeeper.channel_random import channel_logs
from bookkeeper.random_log import broken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables, drain_row, run_lane, tables_of
from log_builder import Log
from suite.examples import examples

from pipeline.lanes.lane import Lane
from pipeline.rules.channel.ends import ChannelEnds
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.model import BrokerModel

Events = list[dict[str, Any]]
EXAMPLES = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
ON = {"pulsarChannelPauseReceivingRequestsIfUnwritable": "true"}


@EXAMPLES
@given(channel_logs(), st.integers(0, 2**32))
def test_tables_do_not_depend_on_cuts_or_restarts(events: Events, seed: int) -> None:
    """Every micro-batch ends in a blob from which the next one goes on."""
    rng, rows = random.Random(seed), lane_rows(events)
    cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(rng.randrange(1, 8)))
    micro_batches = [[rows[begin:end]] for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    outcomes, _ = run_lane([*micro_batches, [drain_row()]], restart=True)
    assert as_tables(outcomes, events) == tables_of(events)


@EXAMPLES
@given(broken(channel_logs()), st.integers(0, 2**32))
def test_tables_do_not_depend_on_the_order_of_rows_within_a_micro_batch(events: Events, seed: int) -> None:
    shuffled = random.Random(seed).sample(events, len(events))
    assert not events or tables_of(shuffled) == tables_of(events)


def busy_connection(log: Log, conn: int) -> Log:
    """A connection with a producer and two consumers that is full, refused, and gone."""
    log.add("conn_open", conn=conn)
    log.add("producer_open", topic="persistent://a/b/c", producer=1, conn=conn)
    for consumer in (1, 2):
        log.add("consumer_open", topic="persistent://a/b/c", sub="s", consumer=consumer, conn=conn)
    log.add("writability", conn=conn, writable=False, pending_bytes=70_000).add("writability", conn=conn, writable=True, pending_bytes=0)
    for _ in range(7):
        log.add("request", conn=conn, command="SEND")
    return log.add("conn_close", conn=conn)


def test_nothing_is_kept_of_connections_that_are_gone() -> None:
    """Their rows of the open window wait for its end; after it and a save nothing is left, timers included."""
    log = Log().add("broker_start", cluster="c", version="4.0.8", settings=ON).add("topic_load", topic="persistent://a/b/c")
    for conn in range(1, 50):
        busy_connection(log.at(conn / 100), conn)
    log.at(70).add("heartbeat", dropped=0)
    lane = Lane(SETTINGS)
    lane.offer(lane_rows(log.events))
    lane.finish()
    (epoch,) = lane.epochs.values()
    assert epoch.time is not None
    arrays = epoch.time.model.arrays()
    sizes = {name: len(arrays[name]) for name in ("connections", "attachments", "endpoints", "channels", "timers", "closed_connections")}
    assert sizes == dict.fromkeys(sizes, 0)
    assert (arrays["connectivity"][0, :3] == 0).all()


def test_a_broker_whose_last_timer_is_gone_has_no_time_at_which_one_is_due() -> None:
    """Its connection is gone, and rows got new numbers: the next event looks at no timer."""
    model = BrokerModel()
    channel = model.state.group("channel")
    channel.channel_clock[0].next_due_ns = 5
    model.state.counts.timers = 1
    channel.timers[0] = (5, 77, 0, -1)
    ChannelEnds().renumber(model.state, {"connections": np.array([-1])})
    assert (model.state.counts.timers, int(channel.channel_clock[0].next_due_ns)) == (0, INT64_MAX)
