"""What was lost, and what came too late."""

from schemas.field import Field, Table

_LANE = (
    Field("broker", "string", "broker"),
    Field("epoch", "long", "epoch of the broker", "ms since 1970"),
)

LOG_GAPS = Table(
    "log_gaps",
    "Ranges of seq that were given up, and steps of a broker's wall clock.",
    grain=("broker", "epoch", "kind", "from_seq"),
    fields=(
        *_LANE,
        Field("kind", "string", "lost: no event came; clock_step: ts jumped against ns", check="kind IN ('lost', 'clock_step')"),
        Field("from_seq", "long", "first seq lost; clock_step: first event after the step"),
        Field("to_seq", "long", "last seq lost; clock_step: as from_seq"),
        Field("events", "long", "events lost; 0 for a clock step", check="events >= 0"),
        Field("ts_before", "timestamp", "last event applied before it; null at the start of an epoch", nullable=True),
        Field("ts_after", "timestamp", "first event after it", nullable=True),
        Field("step_us", "long", "how far the clock jumped, negative: back; 0 for lost events", "µs"),
    ),
)

LATE_EVENTS = Table(
    "late_events",
    "Events that came after their place was given up. They are in dispatch_events; a backfill of their dates counts them.",
    grain=("broker", "epoch", "seq"),
    fields=(
        *_LANE,
        Field("seq", "long", "its place in the epoch"),
        Field("event_date", "date", "UTC date of its ts: the date to backfill"),
        Field("ts", "timestamp", "its ts"),
        Field("type_code", "int", "number of its type"),
        Field("reason", "string", "given_up: its place was lost; quarantined: a damaged copy held its place; epoch_over: its epoch had ended or was drained",
              check="reason IN ('given_up', 'quarantined', 'epoch_over')"),
        Field("ingest_batch", "long", "ingest micro-batch that brought it"),
        Field("backfilled_by", "string", "run of `backfill` that computed its date anew with it (backfills.run_id); null: none yet",
              nullable=True),
    ),
)  # fmt: skip
