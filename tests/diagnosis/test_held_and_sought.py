"""What a pace says of entries that are held for a later delivery, that a seek moved, or that are delivered and not acknowledged."""

from typing import Any

import pytest
from charges import NOON, minute
from test_foreseen import document

from pipeline.diagnosis.recovery import current_line, foreseen, pace_line, with_unacknowledged


def held(*, behind: bool = False, unacknowledged: int | None = 0, last: str = "delayed", **rates: Any) -> dict[str, Any]:
    """1,777 entries, of which none waits."""
    found = document(0, behind=behind, unacknowledged_entries=unacknowledged, **rates)
    return found | {"backlog": 1777, "causes": [{"cause": "no_consumer"}, {"cause": "delayed"}], "last_cause": {"cause": last}}


@pytest.mark.parametrize("rates", [{"caught_up_in_s": None, "growth_rate": 5.3}, {"caught_up_in_s": 17_280.0, "growth_rate": -0.1}])
@pytest.mark.parametrize(("behind", "last"), [(False, "delayed"), (True, "no_consumer")])
def test_no_pace_of_consumers_tells_when_entries_go_that_are_held(rates: dict[str, Any], behind: bool, last: str) -> None:
    asked = held(behind=behind, last=last, **rates)
    assert pace_line(asked).endswith("before the last check): most of its backlog is held for a later delivery")
    words = "now: nothing is due, its backlog is held for a later delivery; no limit is in the way"
    assert current_line({**asked, "catch_up": foreseen(asked)}) == words


def test_of_those_that_are_held_and_delivered_the_check_has_the_number() -> None:
    words = "now: all that is due is delivered, and 5 entries were not acknowledged at the last check; no limit is in the way"
    assert current_line(held(unacknowledged=5)) == words
    assert current_line(held(unacknowledged=1)).startswith(
        "now: all that is due is delivered, and 1 entry was not acknowledged at the last"
    )


@pytest.mark.parametrize(("unacknowledged", "last"), [(None, "delayed"), (0, "in_flight")])
def test_where_it_is_not_known_that_they_are_held_they_are_delivered(unacknowledged: int | None, last: str) -> None:
    asked = held(unacknowledged=unacknowledged, last=last, caught_up_in_s=None, growth_rate=3.0)
    assert pace_line(asked).endswith(": more come than go; if that goes on, it is behind")
    assert "1,777 entries are not acknowledged" in current_line(asked)


def test_nothing_due_over_thousands_that_are_not_acknowledged_is_no_all_clear() -> None:
    asked = document(0, behind=False) | {"backlog": 4000}
    assert current_line(asked) == "now: all that is due is delivered, and 4,000 entries are not acknowledged; no limit is in the way"
    assert current_line(asked | {"backlog": 0}) == "now: all that is due is delivered; no limit is in the way"


@pytest.mark.parametrize(
    ("acked", "sought", "words"),
    [
        (14.8, 3090, "a seek brought 3,090 entries back in that time, and without that its backlog became less"),
        (10.0, 3000, "a seek brought 3,000 entries back in that time, but without that its backlog did not become less"),
        (10.0, -1200, "a seek passed over 1,200 entries in that time, but without that its backlog did not become less"),
    ],
)
def test_what_a_seek_moved_neither_grew_nor_went(acked: float, sought: int, words: str) -> None:
    growth = 10.0 - acked + sought / 60
    rates = {"publish_rate": 10.0, "ack_rate": acked, "growth_rate": growth, "caught_up_in_s": 90.0 if growth < 0 else None,
             "sought_entries": sought}  # fmt: skip
    asked = document(5, **rates)
    assert pace_line(asked).endswith(f"before the last check): {words}")
    found = foreseen(asked)
    assert found is not None
    assert found["current_at"] is None
    assert current_line({**asked, "catch_up": found}).startswith("not known: a seek moved its entries, and no check since then has a pace")


def test_what_a_quota_took_made_a_backlog_less_beside_a_seek() -> None:
    rates = {"publish_rate": 10.0, "ack_rate": 5.0, "removed_rate": 20.0, "growth_rate": -13.0, "caught_up_in_s": 90.0,
             "sought_entries": 120}  # fmt: skip
    assert pace_line(document(5, **rates)).endswith("and without that its backlog became less")


def test_a_remainder_is_no_seek() -> None:
    """Books that do not add up are no reason for a story."""
    assert "seek" not in pace_line(document(5, ack_rate=9.0, growth_rate=46.0, caught_up_in_s=None))


def test_what_is_not_acknowledged_is_of_the_same_check() -> None:
    rates = document()["catch_up"]
    of_check = {"check_time": minute(10), "in_flight_entries": 7}
    assert (with_unacknowledged(rates, of_check) or {})["unacknowledged_entries"] == 7
    for other in (None, of_check | {"check_time": NOON}):
        assert (with_unacknowledged(rates, other) or {})["unacknowledged_entries"] is None
    assert with_unacknowledged(None, of_check) is None
