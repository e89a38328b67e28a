"""Where a lane stood when a day ended: what a backfill begins from, and how it knows where it may end."""

from schemas.field import Field, Table

MILESTONES = ("day", "settled", "ended", "drained")

LANE_SNAPSHOTS = Table(
    "lane_snapshots",
    "Milestones of an epoch. A backfill begins at one. Another one shows that a date is finished.",
    grain=("broker", "epoch", "milestone", "next_seq"),
    fields=(
        Field("broker", "string", "broker"),
        Field("epoch", "long", "epoch of the broker", "ms since 1970"),
        Field("milestone", "string", "day: the state before the first event of a later date; settled: all rows of the date and those before it are written; "
              "ended, drained: the process is over, its log is",
              check="milestone IN (" + ", ".join(f"'{milestone}'" for milestone in MILESTONES) + ")"),
        Field("event_date", "date", "UTC date that is over; ended, drained: date of the last event"),
        Field("next_seq", "long", "seq of the first event after the milestone"),
        Field("digest", "long", "of `state`; 0 without one"),
        Field("began_from", "long", "digest of the snapshot before it, 0 if there is none: another one than is there now means that a backfill "
              "changed it since, and this date waits for one"),
        Field("state", "binary", "the state of the broker's model, in the format of the lanes' own (docs/design/architecture.md); empty unless milestone is day"),
    ),
    age_by="event_date",
)  # fmt: skip
