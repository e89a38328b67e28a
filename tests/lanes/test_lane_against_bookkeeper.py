"""The production lane and the independent bookkeeper say the same of every log, random or real."""

from pathlib import Path
from typing import Any

import pytest
from bookkeeper.books import keep_books
from bookkeeper.random_log import broken, logs
from capture_events import capture_events
from hypothesis import HealthCheck, given, settings
from lane_tables import tables_of
from suite.examples import examples

Events = list[dict[str, Any]]
TABLES = ("subscription_throttle", "limiter_windows", "log_gaps")
#: The books of channels have the one (test_channel_against_bookkeeper.py); why a row is not complete is in test_completeness.py.
NOT_IN_THE_BOOKS = {"reads_by_unwritable_channel", "incomplete_reason"}
GRAIN = (
    "epoch",
    "level",
    "topic",
    "subscription",
    "dimension",
    "opened_at",
    "created_at",
    "window_start",
    "clock_segment",
    "from_seq",
    "kind",
)


def disagreements(events: Events) -> list[str]:
    """Every row and column in which both minds differ."""
    ours, books = tables_of(events), keep_books(events)
    found = []
    for table in TABLES:
        mine = {tuple(row.get(name) for name in GRAIN): row for row in ours[table]}
        theirs = {tuple(row.get(name) for name in GRAIN): row for row in getattr(books, table)}
        found += [f"{table}: only in {'lane' if key in mine else 'books'}: {key}" for key in mine.keys() ^ theirs.keys()]
        for key in mine.keys() & theirs.keys():
            found += [
                f"{table} {key} {column}: lane {value}, books {theirs[key][column]}"
                for column, value in mine[key].items()
                if column not in NOT_IN_THE_BOOKS and value != theirs[key][column]
            ]
    return found


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(logs())
def test_random_logs(events: Events) -> None:
    assert disagreements(events) == []


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(broken(logs()))
def test_random_logs_with_damage(events: Events) -> None:
    assert disagreements(events) == [] if events else True


@pytest.mark.captures
@pytest.mark.parametrize(
    "modulus",
    [
        pytest.param(0, id="whole"),
        pytest.param(13, id="one in 13 lost"),
        pytest.param(
            97, id="one in 97 lost", marks=pytest.mark.slow(reason="all captures again; by default with more losses, and without")
        ),
    ],
)
def test_real_logs(captures: Path, modulus: int) -> None:
    for capture in sorted(path for path in captures.iterdir() if path.is_dir()):
        events = [e for e in capture_events(capture, until_as_of=False) if not modulus or e["seq"] % modulus or e["seq"] < 5]
        assert disagreements(events) == [], capture.name


@pytest.mark.captures
def test_real_logs_without_answers_or_left(captures: Path) -> None:
    """`left_*` is never copied: without it nothing changes; without answers the model's counters appear."""
    for name in ("c_broker_limit", "r_classic_limiter", "m_unload"):
        events = capture_events(captures / name)
        bare = [{k: v for k, v in e.items() if not k.startswith("left_")} for e in events]
        assert tables_of(events) == tables_of(bare)
        answers = [f"{level}_{dimension}" for level in ("broker", "topic", "sub") for dimension in ("msgs", "bytes")]
        silent = [{k: v for k, v in e.items() if k not in answers} for e in bare]
        assert disagreements(silent) == []
        modelled = tables_of(silent)["subscription_throttle"]
        assert {"modelled"} == {row["source"] for row in modelled if row["reads"]}
        assert (
            sum(row["dispatch_throttled_msg_events_by_broker_limit"] + row["reads_shrunk"] + row["reads_blocked"] for row in modelled) > 0
        )
