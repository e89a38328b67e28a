"""At the end of each UTC date a lane tells where it stands: the same however its log was cut, and whoever begins there goes on alike."""

import random

import pytest
from busy_log import busy_log, cut, without
from capture_events import capture_events
from day_logs import DAY_US, around_midnight, moved
from lane_rows import lane_rows
from lane_tables import SETTINGS, drain_row, run_lane, tables_of
from real_captures import CAPTURES, EVERY_CAPTURE, NEEDS_CAPTURES

from pipeline.lanes import windows
from pipeline.lanes.snapshot import opened_snapshot, snapshot
from pipeline.rules.outcome import Rows
from schemas.outcomes import ENUMS

MILESTONES = ENUMS["milestone"]


def snapshots_of(outcomes: list[Rows]) -> list[tuple]:
    """Every milestone with its state."""
    milestones = [(*rows.columns.values(), rows.payload) for rows in outcomes if rows.table == "lane_snapshots"]
    return sorted(milestones)


def milestones_of(tables: dict) -> list[tuple]:
    return [(row["milestone"], row["event_date"], row["next_seq"]) for row in tables["lane_snapshots"]]


def test_a_day_ends_with_its_state_and_is_settled_when_nothing_of_it_is_to_come() -> None:
    events = around_midnight(busy_log())
    tables = tables_of(events)
    day = events[0]["ts"] // DAY_US
    first_of_next = next(event["seq"] for event in events if event["ts"] // DAY_US > day)
    assert sorted(milestones_of(tables)) == [
        ("day", day, first_of_next), ("drained", day + 1, len(events) + 1), ("settled", day, first_of_next)
    ]  # fmt: skip
    end, drained = (next(row for row in tables["lane_snapshots"] if row["milestone"] == milestone) for milestone in ("day", "drained"))
    assert end["state"]
    assert end["digest"]
    assert end["began_from"] == 0
    assert (drained["state"], drained["digest"], drained["began_from"]) == (b"", 0, end["digest"])


@pytest.mark.parametrize("seed", range(20))
def test_snapshots_do_not_depend_on_how_the_log_was_cut(seed: int) -> None:
    rng = random.Random(seed)
    events = around_midnight(busy_log(), rng.random())
    whole, _ = run_lane([[lane_rows(events)], [drain_row()]])
    outcomes, _ = run_lane([*cut(events, rng, rng.randint(2, 12)), [drain_row()]], restart=bool(seed % 2))
    assert snapshots_of(whole) == snapshots_of(outcomes), f"repeat: pytest {__file__} -k 'cut and {seed}'"


@EVERY_CAPTURE
def test_snapshots_of_real_brokers_do_not_depend_on_how_the_log_was_cut(name: str) -> None:
    events = around_midnight(capture_events(CAPTURES / name))
    whole, _ = run_lane([[lane_rows(events)], [drain_row()]])
    outcomes, _ = run_lane([*cut(events, random.Random(name), 7), [drain_row()]], restart=True)
    assert snapshots_of(whole) == snapshots_of(outcomes)
    assert windows.DAY in {rows.columns["milestone"] for rows in whole if rows.table == "lane_snapshots"}


def test_a_snapshot_that_was_opened_is_the_same() -> None:
    events = around_midnight(busy_log())
    (state,) = [row["state"] for row in tables_of(events)["lane_snapshots"] if row["milestone"] == "day"]
    assert snapshot(*opened_snapshot(state, SETTINGS.window_us), SETTINGS.window_us) == state


def test_a_loss_changes_the_snapshot_and_so_the_link_of_the_next() -> None:
    events = around_midnight(busy_log())
    sound, holed = tables_of(events), tables_of(without(events, 100))
    digests = [{row["milestone"]: row for row in tables["lane_snapshots"]} for tables in (sound, holed)]
    assert digests[0]["day"]["digest"] != digests[1]["day"]["digest"]
    assert digests[1]["drained"]["began_from"] == digests[1]["day"]["digest"]


def test_every_milestone_has_its_number() -> None:
    assert [MILESTONES[number] for number in (windows.DAY, windows.SETTLED, windows.ENDED, windows.DRAINED)] == [
        "day",
        "settled",
        "ended",
        "drained",
    ]


@NEEDS_CAPTURES
@pytest.mark.parametrize("name", ["h_size_quota_eviction", "i_age_quota_precise"])
def test_no_row_of_a_date_comes_after_it_was_settled(name: str) -> None:
    """Midnight comes while a decision waits for what the broker does about it."""
    events = capture_events(CAPTURES / name)
    acts = next(event["ts"] for event in events if event["type"] == "quota_exceeded")
    events = moved(events, (-(acts + 1000) % DAY_US) // 1000 * 1000)
    day = events[0]["ts"] // DAY_US
    outcomes, _ = run_lane([[lane_rows(events)], [drain_row()]])
    settled = [n for n, rows in enumerate(outcomes) if rows.table == "lane_snapshots" and rows.columns["milestone"] == windows.SETTLED]
    decided = [
        n for n, rows in enumerate(outcomes) if rows.table == "quota_evictions" and (rows.columns["decided_at"] // DAY_US == day).any()
    ]
    assert decided
    assert max(decided) < min(settled, default=len(outcomes))
