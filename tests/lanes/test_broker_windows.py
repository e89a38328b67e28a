"""How far the log of a broker goes: a row for every window that it reached, heartbeats are enough."""

from lane_rows import lane_rows
from lane_tables import as_tables, drain_row, run_lane, tables_of
from log_builder import START_TS_US, Log

SECOND_US = 1_000_000


def quiet(seconds: tuple[int, ...]) -> list[dict]:
    """A broker that starts at the beginning of a minute, and then gives a heartbeat at these seconds."""
    log = Log().start()
    for at in seconds:
        log.at(at).add("heartbeat", dropped=0)
    return log.events


def shown(rows: list[dict]) -> list[tuple]:
    """(window, up to when the log has it, last event, events, lost), times in seconds from the start."""

    def second(us: int | None) -> float | None:
        return None if us is None else (us - START_TS_US) / SECOND_US

    ordered = sorted(rows, key=lambda row: (row["clock_segment"], row["window_start"]))
    return [
        (second(row["window_start"]), second(row["log_until"]), second(row["last_event_at"]), row["events"], row["lost_events"])
        for row in ordered
    ]


def test_a_quiet_broker_reaches_every_window_in_which_it_gives_a_sign() -> None:
    windows = tables_of(quiet((30, 90, 100, 205)))["broker_windows"]
    assert shown(windows) == [(0, 60, 30, 7, 0), (60, 120, 100, 2, 0), (180, 205, 205, 1, 0)]
    assert {row["completeness"] for row in windows} == {1.0}


def test_a_window_that_is_open_is_told_when_a_later_one_begins() -> None:
    events = quiet((30, 90))
    outcomes, _ = run_lane([[lane_rows(events)]])
    assert shown(as_tables(outcomes, events)["broker_windows"]) == [(0, 60, 30, 7, 0)]


def test_a_stretch_without_any_event_has_rows_only_where_something_lasts() -> None:
    log = Log().start().publish(3)
    events = log.at(185).add("heartbeat", dropped=0).events
    assert shown(tables_of(events)["broker_windows"]) == [
        (0, 60, 0, 9, 0), (60, 120, None, 0, 0), (120, 180, None, 0, 0), (180, 185, 185, 1, 0),
    ]  # fmt: skip


def test_lost_and_rejected_events_are_counted_in_the_window_that_they_may_belong_to() -> None:
    events = quiet((30, 90, 100, 205))
    damaged = [{**event, "tombstone": True} if event["seq"] == 7 else event for event in events if event["seq"] != 9]
    windows = tables_of(damaged)["broker_windows"]
    assert [(row["events"], row["lost_events"]) for row in sorted(windows, key=lambda row: row["window_start"])] == [(6, 1), (1, 1), (1, 1)]
    assert all(row["completeness"] < 1 for row in windows)


def test_a_clock_that_is_set_back_cuts_the_window_short() -> None:
    events = quiet((30, 50, 60, 70))
    for event in events[-2:]:
        event["ts"] -= 55 * SECOND_US
    assert shown(tables_of(events)["broker_windows"]) == [(0, 50, 50, 8, 0), (0, 15, 15, 2, 0)]


def test_windows_do_not_depend_on_how_the_log_was_cut() -> None:
    events = quiet((30, 90, 100, 205, 300))
    cut, _ = run_lane(
        [[lane_rows(events[2:5], 1)], [lane_rows(events[5:8], 2), lane_rows(events[:2], 0)], [lane_rows(events[8:], 3), drain_row()]],
        restart=True,
    )
    assert as_tables(cut, events)["broker_windows"] == tables_of(events)["broker_windows"]
