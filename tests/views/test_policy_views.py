"""Which limits rule now, and who set them: answers by hand over the small warehouse, and the queries of the docs."""

from datetime import timedelta
from typing import Any

import pytest
from docs_pages import DOCS, queries, text_of
from policy_rows import ORDERS, THREE

from pipeline.query.room import ReadingRoom
from pipeline.upkeep.quality.invariants import Invariant


def answers(room: ReadingRoom, sql: str) -> list[tuple[Any, ...]]:
    return room.ask(sql).rows


def test_what_rules_now(room: ReadingRoom) -> None:
    sql = "SELECT broker, topic, limit_kind, set_by, msg_rate, msg_limit, byte_limit, quota_limit, policy_disagreement FROM limits_in_force"
    assert set(answers(room, sql)) == {
        ("b1:8080", ORDERS, "topic_dispatch_rate", "topic", 10, 40, None, None, "none"),
        ("b1:8080", ORDERS, "size_quota", "broker_config", None, None, None, 10**9, "other_value"),
        ("b2:8080", None, "broker_dispatch_rate", "not in this log", 1000, 1000, None, None, None),
    }


def test_from_when_to_when_a_place_ruled(room: ReadingRoom) -> None:
    sql = "SELECT set_by, in_force, since, until FROM policy_spans WHERE limit_kind = 'topic_dispatch_rate' AND set_by = 'namespace'"
    later = THREE + timedelta(minutes=2)
    assert set(answers(room, sql)) == {("namespace", True, THREE, later), ("namespace", False, later, None)}


def test_a_limit_that_ended_rules_no_more(room: ReadingRoom) -> None:
    assert answers(room, "SELECT * FROM limits_in_force WHERE subscription = 'billing'") == []
    assert answers(room, "SELECT * FROM policy_spans WHERE subscription = 'billing'") == []


@pytest.mark.parametrize("query", queries(text_of(DOCS / "design" / "policies.md")))
def test_the_queries_of_the_docs_have_rows(room: ReadingRoom, query: str) -> None:
    assert room.ask(query).rows


def test_the_invariant_holds_and_finds_two_places_that_rule(room: ReadingRoom) -> None:
    invariant = Invariant("one_policy_is_in_force").sql
    assert answers(room, invariant) == []
    broken = invariant.replace("FROM policies", "FROM (SELECT * EXCEPT (in_force), true AS in_force FROM policies)")
    assert len(answers(room, broken)) == 1
