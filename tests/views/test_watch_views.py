"""What the job told of itself, as views: runs and micro-batches."""

from typing import Any

import pytest
from docs_pages import DOCS, OPERATIONS, RUNBOOK, queries, text_of

from pipeline.query.room import ReadingRoom


def asked(room: ReadingRoom, sql: str) -> list[tuple[Any, ...]]:
    return room.ask(sql).rows


def test_a_run_is_one_row_with_its_end_and_what_changed_since_the_run_before(room: ReadingRoom) -> None:
    found = asked(room, "SELECT run_id, outcome, wall_s, micro_batches, same_code, same_settings, lost FROM runs ORDER BY started_at")
    assert found == [("run-1", "stopped", 90.0, 3, None, None, None), ("run-2", None, None, None, True, False, "topic t: …")]
    assert asked(room, "SELECT settings['lanes.lateness_ms'] FROM runs ORDER BY started_at") == [("10000",), ("30000",)]


def test_the_time_of_a_micro_batch_is_the_sum_of_its_parts(room: ReadingRoom) -> None:
    parts = "list_s, plan_s, work_s, checkpoint_s, other_s"
    ((took, *found),) = asked(room, f"SELECT took_s, {parts} FROM micro_batches WHERE batch_id = 812")
    assert found == pytest.approx([0.06, 0.14, 7.2, 0.2, 0.4])
    assert took == pytest.approx(sum(found)) == 8.0


def test_waiting_is_counted_within_a_run_and_a_query(room: ReadingRoom) -> None:
    found = asked(room, "SELECT query, batch_id, waited_s FROM micro_batches ORDER BY batch_id")
    assert found == [("ingest", 0, None), ("lanes", 810, None), ("lanes", 811, 2.4), ("lanes", 812, None), ("lanes", 813, 0.5)]


def test_a_micro_batch_that_wrote_nothing_has_no_rate_and_its_slowest_part_all_the_same(room: ReadingRoom) -> None:
    sql = "SELECT rows_in, ms_per_krow, event_lag_s, slowest, settings_fingerprint FROM micro_batches WHERE batch_id = 811"
    assert asked(room, sql) == [(None, None, None, "other", "s1")]


PAGES = {page.stem: queries(text_of(page)) for page in (OPERATIONS, RUNBOOK, DOCS / "guide" / "collector.md")}


def test_the_pages_have_queries() -> None:
    assert len(PAGES["operations"]) >= 3
    assert len(PAGES["runbook"]) >= 25
    assert PAGES["collector"]


@pytest.mark.parametrize(("page", "sql"), [(page, sql) for page, found in PAGES.items() for sql in found])
def test_a_query_of_a_page_for_operators_runs(room: ReadingRoom, page: str, sql: str) -> None:
    room.ask(sql)
