"""The state of a warehouse as one document: who writes, how far, what is missing, how large. Reads only; beside a running job, too.

Its keys are a promise to schedulers and dashboards (docs/reference/json.md): new ones may come, none may change its meaning.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from pipeline.store.address import local_path
from pipeline.upkeep.backfills import last_backfill, waiting_late_events
from pipeline.upkeep.progress import ingest_batch_read, query_progress
from pipeline.warehouse.commit_tag import foreign
from pipeline.warehouse.guard import newest_batches
from pipeline.warehouse.layout import QUERIES
from pipeline.warehouse.lock_file import Driver, is_gone, read_lock
from pipeline.warehouse.look import Look
from schemas.tables import JOB_TABLES
from schemas.tables.backfills import BACKFILLS
from schemas.tables.bronze import SEQ_TAKEN
from schemas.tables.watch import QUERY_PROGRESS, RUN_LEDGER

Document = dict[str, Any]
#: How long ago, by the reader's clock, is never negative: clocks of two machines differ.
_NOW_S = 0.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: A log keeps a month of versions, a live job makes thousands a day. The newest are judged.
JUDGED_VERSIONS = 1000
#: Of each table in a store, which is asked once for each version.
JUDGED_IN_STORE = 50
_OF_RUN = (
    "run_id", "mode", "started_at", "ended_at", "outcome", "error", "micro_batches", "unrecorded", "code_version", "code_fingerprint",
    "settings_fingerprint",
)  # fmt: skip
_OF_PROGRESS = ("batch_id", "ended_at", "trigger_execution_ms", "add_batch_ms", "rows_in", "rows_per_s", "event_lag_ms")


def status(look: Look, now: datetime, host: str, is_alive: Callable[[Driver], bool], small_below: int) -> Document:
    """Everything at `now` (with its zone), as JSON-ready values but for datetimes, which have a zone.

    `is_alive` is whether a driver on `host`, where we are, runs. Files below `small_below` bytes are small. The tables batch_manifest and
    lane_control must exist.
    """
    facts = look.facts(small_below)
    there = {fact.name for fact in facts}
    missing = [table.name for table in JOB_TABLES if table.name not in there]
    document: Document = {
        "warehouse": look.warehouse.root,
        "at": now,
        "problems": [],
        "writer": writer(look, now, host, is_alive),
        "stop_requested": look.files.exists(look.warehouse.stop_file),
        "run": None if RUN_LEDGER.name not in there else _last_run(look),
        "queries": {
            query: {
                **query_progress(look, query),
                "last_progress": None if QUERY_PROGRESS.name not in there else _last_progress(look, query),
            }
            for query in QUERIES
        },
        "events": _events(look),
        "event_time": _event_time(look, now),
        "gaps": {} if "log_gaps" in missing else _gaps(look),
        "late": {} if "late_events" in missing else _by_reason(look, "late_events"),
        "backfill": {
            "last": None if BACKFILLS.name not in there else last_backfill(look),
            "waiting": {} if "late_events" in missing else waiting_late_events(look),
        },
        "quarantine": {} if "quarantine" in missing else _by_reason(look, "quarantine"),
        "tables": {fact.name: {key: value for key, value in fact._asdict().items() if key != "name"} for fact in facts},
        "missing_tables": missing,
        "foreign_versions": foreign_versions(look, [fact.name for fact in facts]),
    }
    document["problems"] = problems(document)
    return document


def foreign_versions(look: Look, tables: Sequence[str]) -> list[Document]:
    """Versions of these tables that no commit of ours wrote, newest first in each.

    The newest JUDGED_VERSIONS of each table are judged, JUDGED_IN_STORE where the warehouse is in a store.
    """
    most = JUDGED_IN_STORE if local_path(look.warehouse.root) is None else JUDGED_VERSIONS
    return [
        {"table": table, "version": commit.version, "operation": commit.operation, "at": commit.at}
        for table, commits in look.commits(tables, most).items()
        for commit in foreign(commits)
    ]


def writer(look: Look, now: datetime, host: str, is_alive: Callable[[Driver], bool]) -> Document:
    """Who holds the warehouse's lock: state `nobody`, `running`, `gone` (left behind by a driver that died) or `unreadable`."""
    lock_file = look.warehouse.lock_file
    if not look.files.exists(lock_file):
        return {"state": "nobody"}
    holder = read_lock(look.files, lock_file)
    if holder is None:
        return {"state": "unreadable" if look.files.exists(lock_file) else "nobody"}
    gone = is_gone(holder, now, host, is_alive)
    driver = {"run_id": holder.driver.run_id, "host": holder.driver.host, "pid": holder.driver.pid}
    return {"state": "gone" if gone else "running", **driver, "started_at": holder.started_at, "heartbeat_at": holder.heartbeat_at}


def problems(document: Document) -> list[str]:
    """What somebody must do something about, the worst first; empty if nothing."""
    found = [words["refused"] for words in document["queries"].values() if words["refused"]]
    events, holder = document["events"], document["writer"]
    if document["missing_tables"]:
        found.append(f"tables are missing: {', '.join(document['missing_tables'])}; the next `stream` makes new ones, or refuses")
    found += [_foreign_words(table, list(versions)) for table, versions in groupby(document["foreign_versions"], itemgetter("table"))]
    if not (events["ingest_balanced"] and events["lanes_balanced"]):
        found.append("the books do not balance: see SELECT * FROM log_balance; this is a fault of this program, please report it")
    if taken := document["quarantine"].get(SEQ_TAKEN):
        found.append(
            f"two logs claim one broker and epoch: {taken:,} events have a seq that another event has taken, and count nowhere; "
            "see quarantine, reason seq_taken, and log_health"
        )
    if holder["state"] == "gone":
        found.append(f"the driver died (host {holder['host']}, pid {holder['pid']}): start the same `stream` command again")
    if holder["state"] == "unreadable":
        found.append("the lock file cannot be read: if no `stream` runs, start it again, it takes the warehouse over")
    if holder["state"] == "nobody" and events["lanes_behind"]:
        found.append(f"nobody writes, and lanes have {events['lanes_behind']:,} rows still to read: start `stream` again")
    return found


def _foreign_words(table: str, versions: Sequence[Document]) -> str:
    newest, earlier = versions[0], len(versions) - 1
    more = f" and {earlier:,} before it" if earlier else ""
    when = newest["at"].isoformat(timespec="seconds")
    return (
        f"table {table}: somebody else wrote version {newest['version']} ({newest['operation']}, {when}){more}; "
        'its rows may be wrong: docs/guide/runbook.md, "Somebody else wrote a table"'
    )


def _last_run(look: Look) -> Document | None:
    """The run that was started last, as far as run_ledger has it. Without an end it runs, or was killed: the writer's state shows which."""
    # Of the two rows of a run the one with its end, if it is there.
    newest = f"SELECT {', '.join(_OF_RUN)} FROM run_ledger ORDER BY started_at DESC, ended_at DESC NULLS LAST LIMIT 1"
    return next(iter(look.rows(newest)), None)


def _last_progress(look: Look, query: str) -> Document | None:
    """The newest micro-batch of the query that query_progress has: a minute may pass until it is there."""
    newest = f"SELECT {', '.join(_OF_PROGRESS)} FROM query_progress WHERE query = '{query}' ORDER BY ended_at DESC LIMIT 1"
    return next(iter(look.rows(newest)), None)


def _events(look: Look) -> Document:
    """The row of the view log_balance. Lanes may be quicker than ingest's books: then they are not behind."""
    row = look.rows("SELECT * FROM log_balance")[0]
    del row["last_written_at"]
    return {**row, "lanes_behind": max(0, row["lanes_behind"])}


def _event_time(look: Look, now: datetime) -> Document:
    batches = newest_batches(look, "lanes")
    read_batch = ingest_batch_read(look, batches[0]["source_offsets"]) if batches else None
    newest, read = look.newest_event_times(read_batch)
    return {
        "newest": _instant(newest),
        "newest_age_s": None if newest is None else max(_NOW_S, (now - _EPOCH).total_seconds() - newest / 1e6),
        "newest_read": _instant(read),
        "lanes_behind_s": None if newest is None or read is None else (newest - read) / 1e6,
    }


def _instant(us: int | None) -> datetime | None:
    return None if us is None else _EPOCH + timedelta(microseconds=us)


def _gaps(look: Look) -> Document:
    (row,) = look.rows(
        "SELECT count_if(kind = 'lost') AS lost_ranges, CAST(coalesce(sum(events), 0) AS BIGINT) AS lost_events,"
        " count_if(kind = 'clock_step') AS clock_steps,"
        " unix_micros(max(CASE WHEN kind = 'lost' THEN coalesce(ts_after, ts_before) END)) AS newest FROM log_gaps"
    )
    return {**row, "newest": _instant(row["newest"])}


def _by_reason(look: Look, table: str) -> dict[str, int]:
    rows = look.rows(f"SELECT reason, count(*) AS how_many FROM {table} GROUP BY reason ORDER BY how_many DESC, reason")
    return {row["reason"]: row["how_many"] for row in rows}
