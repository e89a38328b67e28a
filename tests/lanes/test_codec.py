"""The state blob of a lane: it opens and goes on; one of another layout is refused with the way out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from busy_log import busy_log, without
from lane_rows import lane_rows
from lane_tables import SETTINGS, as_tables, drain_row

from pipeline.faults import BadWarehouse
from pipeline.lanes.codec import decode, encode
from pipeline.lanes.lane import Lane, LaneTiming
from pipeline.lanes.state_layout import STATE_LAYOUT
from schemas.outcomes import LANE_REPORT

HALF = 400


def half_way() -> Lane:
    """A lane in the middle of the busy log: blocked reads, both limiter models, a late event's range, held rows, an epoch that is over."""
    lane = Lane(SETTINGS)
    events = busy_log()
    lane.offer(lane_rows(busy_log(epoch=events[0]["epoch"] - 100_000, seconds=2)))
    lane.offer(lane_rows(without(events[:HALF], 380)))
    lane.finish()
    return lane


def rest_of_the_log(lane: Lane) -> dict:
    events = busy_log()
    lane.offer(lane_rows([events[379], *events[HALF:]], 1))
    outcomes = lane.finish()
    lane.offer(drain_row())
    return as_tables([rows for rows in [*outcomes, *lane.finish()] if rows.table != LANE_REPORT], events)


def test_a_blob_holds_the_whole_state() -> None:
    lane = half_way()
    again = decode(encode(lane), SETTINGS)
    assert encode(lane) == encode(again)
    assert rest_of_the_log(lane) == rest_of_the_log(again)


def test_rules_in_plain_python_leave_the_same_blob() -> None:
    """What README promises to who debugs: the rules run under NUMBA_DISABLE_JIT=1."""
    tests = Path(__file__).parents[1]
    path = os.pathsep.join(map(str, (tests.parent, tests, tests / "support", tests / "lanes")))
    program = "import sys; from test_codec import encode, half_way; sys.stdout.buffer.write(encode(half_way()))"
    environ = {**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"}
    plain = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, check=False)
    assert plain.returncode == 0, plain.stderr.decode()
    assert plain.stdout == encode(half_way())


def test_a_blob_of_another_layout_is_refused_with_the_command_that_rebuilds() -> None:
    blob = encode(half_way())
    other = blob[:4] + (STATE_LAYOUT ^ 1).to_bytes(4, "little") + blob[8:]
    with pytest.raises(
        BadWarehouse, match=rf"layout {STATE_LAYOUT ^ 1}, this is .* layout {STATE_LAYOUT}: .*spark-submit.sh rebuild lanes"
    ):
        decode(other, SETTINGS)


@pytest.mark.parametrize("blob", [b"", b"DLAN", b"\x80\x04pickle", b"DLAN\x63\x00\x00\x00" + bytes(8)])
def test_any_other_blob_is_refused_with_the_command_that_rebuilds(blob: bytes) -> None:
    with pytest.raises(BadWarehouse, match=r"spark-submit.sh rebuild lanes"):
        decode(blob, SETTINGS)


def test_another_window_length_is_refused() -> None:
    with pytest.raises(BadWarehouse, match="window_ms"):
        decode(encode(half_way()), LaneTiming(10_000, 30_000, 1_000))


def test_state_of_unloaded_topics_does_not_pile_up() -> None:
    lane = Lane(SETTINGS)
    lane.offer(lane_rows(busy_log(seconds=3)))
    lane.finish()
    small = len(encode(lane))
    churn = busy_log(seconds=3)
    for number in range(300):
        topic = f"persistent://shop/eu/gone-{number}"
        for event_type, fields in (("topic_load", {}), ("dispatcher_open", {"sub": "s", "sub_type": "Shared"}), ("topic_unload", {})):
            churn.append({**churn[-1], "seq": len(churn) + 1, "type": event_type, "topic": topic, **fields})
    churn.append({**churn[-1], "seq": len(churn) + 1, "type": "heartbeat", "dropped": 0, "ts": churn[-1]["ts"] + 120_000_000})
    lane.offer(lane_rows(churn))
    lane.finish()
    assert len(encode(lane)) < small + 200
