"""The page of a broker: its limiters and how much of each is used, connections that it does not read from, its quota checks."""

from collections.abc import Mapping
from typing import Any

from pipeline.diagnosis.evidence import NoAnswer
from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.serving.page.frame import Frame, frame_of, moment_of
from pipeline.serving.page.html import rendered
from pipeline.warehouse.literals import instant
from schemas.render.ddl import quoted

#: The most used first; more are not read by anybody.
MOST_ROWS = 200


def broker_page(room: ReadingRoom, asked: Mapping[str, str]) -> str:
    """`/broker`. Of a broker that has just started the page says that its first window is not over.

    Raises NoAnswer where the log does not have the broker then, BadConfig for a question with a fault.
    """
    if not asked.get("broker"):
        raise BadConfig("broker: name one")
    moment = moment_of(asked)
    broker = quoted(asked["broker"])
    before = "" if moment.at is None else f" AND window_start < {instant(moment.at)}"
    newest = room.rows(
        f"SELECT * FROM broker_windows WHERE broker = {broker}{before} ORDER BY epoch DESC, clock_segment DESC, window_start DESC LIMIT 1"
    )
    frame = frame_of(room, moment)
    if not newest:
        return _before_its_first_window(frame, asked["broker"])
    window: dict[str, Any] = newest[0]
    here = f"broker = {broker} AND epoch = {window['epoch']}"
    in_window = f"{here} AND clock_segment = {window['clock_segment']} AND window_start = {instant(window['window_start'])}"
    limiters = room.rows(f"SELECT * FROM limiter_use WHERE {in_window} ORDER BY used_share DESC NULLS LAST, level, topic LIMIT {MOST_ROWS}")
    return rendered(
        "broker.html",
        frame=frame,
        broker=asked["broker"],
        window=window,
        limiters=limiters,
        holding=sum(one["asks_binding"] > 0 for one in limiters),
        channels=room.rows(
            f"SELECT * FROM channel_backpressure WHERE {in_window} AND (paused_ns > 0 OR unwritable_ns > 0)"
            f" ORDER BY paused_ns DESC, unwritable_ns DESC LIMIT {MOST_ROWS}"
        ),
        users=room.rows(
            f"SELECT * FROM noisy_neighbours WHERE {in_window} ORDER BY level, limiter_topic, dimension, rank LIMIT {MOST_ROWS}"
        ),
        checks=room.rows(f"SELECT * FROM check_durations WHERE {here} AND window_start = {instant(window['window_start'])}"),
    )


def _before_its_first_window(frame: Frame, broker: str) -> str:
    known = next((one for one in frame.brokers if one["broker"] == broker), None)
    if known is None:
        raise NoAnswer(f"the log has no broker {broker}, or no window of it was finished at that time")
    return rendered("broker_begins.html", frame=frame, broker=broker, as_of=known["as_of"])
