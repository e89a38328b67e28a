"""Brokers that live at an instant, by the newest event until then."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.faults import BadConfig
from schemas.events import CODES
from schemas.render.ddl import quoted

if TYPE_CHECKING:
    from pipeline.warehouse.look import Look

START = datetime(1970, 1, 1, tzinfo=UTC)


def text_of(us: int) -> str:
    """An instant as --at takes it, in UTC."""
    return (START + timedelta(microseconds=us)).isoformat(timespec="microseconds").replace("+00:00", "Z")


class LivingBroker(NamedTuple):
    """The last epoch of a broker that began until the instant: its newest event until then (`last_us`, `last_seq`)."""

    broker: str
    broker_id: int
    epoch: int
    last_seq: int
    last_us: int
    stopped: bool


def brokers_at(look: "Look", at_us: int, broker: str | None, topic: str | None) -> list[LivingBroker]:
    """Per broker its last epoch that began until the instant. With `topic` only where its log knows that topic."""
    from schemas.render.ddl import quoted

    of_topic = "true" if topic is None else f"coalesce(max(topic = {quoted(topic)}), false)"
    epochs = _epochs_until(look, at_us, of_topic, "" if broker is None else _of_broker(look, broker))
    if not epochs:
        raise BadConfig(_why_none(look, at_us, broker))
    last = {row["broker"]: row for row in epochs}
    chosen = [row for row in last.values() if row["of_topic"]]
    if not chosen:
        raise BadConfig(f"--topic {topic}: no event of it until {text_of(at_us)} in the last epoch of {', '.join(last)}")
    return [
        LivingBroker(
            row["broker"], row["broker_id"], row["epoch"], row["last_seq"], row["last_us"], row["last_type"] == CODES["broker_stop"]
        )
        for row in chosen
    ]


def _epochs_until(look: "Look", at_us: int, of_topic: str, of_broker: str = "") -> list[dict[str, Any]]:
    """Per epoch the last event until the instant, in order."""
    return look.rows(
        "SELECT broker, broker_id, epoch, max(seq) AS last_seq, max_by(ts, seq) AS last_us, max_by(type_code, seq) AS last_type,"
        f" {of_topic} AS of_topic FROM dispatch_events WHERE ts <= {at_us}{of_broker}"
        " GROUP BY broker, broker_id, epoch ORDER BY broker, epoch"
    )


def _of_broker(look: "Look", broker: str) -> str:
    """A condition on its events. By its id files are skipped, which its name does not do."""

    ids = look.rows(f"SELECT id FROM names WHERE level = 'broker' AND broker = {quoted(broker)}")
    return f" AND broker = {quoted(broker)}" + "".join(f" AND broker_id = {row['id']}" for row in ids)


def _why_none(look: "Look", at_us: int, broker: str | None) -> str:
    """Why no event was found."""
    others = sorted({row["broker"] for row in _epochs_until(look, at_us, "true")})
    if others:
        return f"--broker {broker}: no event of it until {text_of(at_us)}, only of {', '.join(others)}"
    begin_us = look.rows("SELECT min(ts) AS begin FROM dispatch_events")[0]["begin"]
    begin = f"the first event is of {text_of(begin_us)}" if begin_us is not None else "the warehouse has no events"
    return f"--at {text_of(at_us)}: no event until then, {begin}"
