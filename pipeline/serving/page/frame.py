"""Around every page: the instant that it is about, up to when the log is known, and whether it is whole."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from pipeline.faults import BadConfig
from pipeline.query.room import ReadingRoom
from pipeline.times import USUAL_WINDOW, span_of

#: Names that every page takes.
OF_TIME = frozenset({"at", "from", "to", "when"})


class Moment(NamedTuple):
    """What a page is about: `at` null is now. `window`: how far its charts look back."""

    at: datetime | None
    window: timedelta
    is_range: bool

    @property
    def query(self) -> dict[str, str]:
        """The same moment in a link."""
        if self.at is None:
            return {}
        if self.is_range:
            return {"from": _text(self.at - self.window), "to": _text(self.at)}
        return {"at": _text(self.at)}

    def link(self, path: str, **asked: str) -> str:
        """A path with what it is asked about, as of this moment."""
        query = urlencode({**asked, **self.query})
        return f"{path}?{query}" if query else path


class Frame(NamedTuple):
    """`as_of`: of the brokers that run all is known up to here at least; null: nothing is. `lost_events`: of the brokers' epochs of then.
    `ended_at`: the newest run of the job has ended by itself or by request: nothing reads the log on."""

    moment: Moment
    cluster: str
    brokers: list[dict[str, Any]]
    as_of: datetime | None
    lost_events: int
    ended_at: datetime | None

    @property
    def is_past(self) -> bool:
        """Whether a moment was asked for: nothing on the page moves then."""
        return self.moment.at is not None


def moment_of(asked: Mapping[str, str]) -> Moment:
    """`at`, or `from` and `to`; a time without a zone is UTC, as a browser's form without a script sends it. Raises BadConfig."""
    usual = span_of("window", USUAL_WINDOW)
    # A browser without a script sends all fields of the form, and which of them counts.
    chosen = {"now": (), "at": ("at",), "range": ("from", "to")}.get(asked.get("when", ""), ("at", "from", "to"))
    asked = {name: asked[name] for name in chosen if asked.get(name)}
    if "from" in asked and "to" in asked:
        start, end = _instant("from", asked["from"]), _instant("to", asked["to"])
        if end <= start:
            raise BadConfig("to: expected a time after from")
        return Moment(end, end - start, True)
    if "at" in asked:
        return Moment(_instant("at", asked["at"]), usual, False)
    return Moment(None, usual, False)


def frame_of(room: ReadingRoom, moment: Moment) -> Frame:
    """The frame of a page."""
    windows = (
        "SELECT broker, epoch, as_of FROM newest_events"
        if moment.at is None
        else "SELECT broker, at.epoch AS epoch, at.log_until AS as_of FROM (SELECT broker, max(struct(epoch, clock_segment, window_start,"
        f" log_until)) AS at FROM broker_windows WHERE unix_micros(window_start) < {_micros(moment.at)} GROUP BY broker)"
    )
    brokers = room.rows(
        f"SELECT w.*, b.cluster, b.version, e.broker IS NOT NULL AS has_stopped FROM ({windows}) w LEFT JOIN brokers b USING (broker)"
        " LEFT JOIN (SELECT DISTINCT broker, epoch FROM lane_snapshots WHERE milestone = 'ended') e"
        " ON e.broker = w.broker AND e.epoch = w.epoch"
        " ORDER BY broker"
    )
    clusters = sorted({row["cluster"] for row in brokers if row["cluster"]})
    before = "" if moment.at is None else f" AND unix_micros(coalesce(g.ts_before, g.ts_after)) < {_micros(moment.at)}"
    (lost,) = room.rows(
        f"SELECT coalesce(sum(g.events), 0) AS events FROM log_gaps g JOIN ({windows}) w ON w.broker = g.broker AND w.epoch = g.epoch"
        f" WHERE g.kind = 'lost'{before}"
    )
    runs = room.rows("SELECT ended_at FROM runs ORDER BY started_at DESC LIMIT 1")
    return Frame(
        moment=moment,
        cluster=", ".join(clusters),
        brokers=brokers,
        as_of=newest_known(brokers),
        lost_events=int(lost["events"]),
        ended_at=runs[0]["ended_at"] if runs else None,
    )


def newest_known(brokers: list[dict[str, Any]]) -> datetime | None:
    """The oldest instant of the brokers that run: a silent one must not look as new as the others. Where all have stopped, the newest."""
    running = [row["as_of"] for row in brokers if not row["has_stopped"]]
    return min(running) if running else max((row["as_of"] for row in brokers), default=None)


def _instant(name: str, text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise BadConfig(f"{name} {text}: expected an ISO 8601 time, as 2026-11-21T11:30:05Z") from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _micros(at: datetime) -> int:
    return round((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def _text(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
