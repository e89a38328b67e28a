"""The golden cases C1 to C12 through the channel bookkeeper, and the story of PIP-434."""

from typing import Any

import pytest
from bookkeeper.channel_cases import CASES, LIMITER_CASES, Case, LimiterCase
from bookkeeper.channel_limiter import CooldownLimiter
from bookkeeper.channel_story import ANSWER_BYTES, restart_of_many
from bookkeeper.channels import ChannelBooks, keep_channels
from log_builder import START_TS_US


def like(rows: list[dict[str, Any]], expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns of the rows that are asked for."""
    assert len(rows) == len(expected), rows
    return [{name: row[name] for name in wanted} for row, wanted in zip(rows, expected, strict=True)]


def throttles(books: ChannelBooks) -> list[tuple[float, str, str | None, str, int]]:
    """Changes of throttle states, as a case has them."""
    names = ("change", "throttle_type", "cause", "throttle_count")
    rows = [row for row in books.channel_transitions if row["change"] in ("throttled", "unthrottled")]
    return sorted(((row["ts"] - START_TS_US) / 1000, *(row[name] for name in names)) for row in rows)


@pytest.mark.parametrize("case", LIMITER_CASES, ids=[case.id for case in LIMITER_CASES])
def test_the_cooldown_limiter(case: LimiterCase) -> None:
    limiter = CooldownLimiter(case.permits, case.period_ms, last_reset_ms=0)
    for now_ms, step, *numbers in case.steps:
        if step == "open":
            limiter.open(now_ms, numbers[0])
        else:
            wanted, granted, remaining = numbers
            assert limiter.acquire(wanted, now_ms) == granted, (now_ms, wanted)
            assert remaining in (None, limiter.remaining), (now_ms, wanted)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_golden_case(case: Case) -> None:
    books = keep_channels(case.events)
    assert like(books.channel_backpressure, case.rows) == case.rows
    if case.transitions is not None:
        assert throttles(books) == sorted(case.transitions)
    if case.memory is not None:
        assert like(books.channel_memory, case.memory) == case.memory
    if case.pauses is not None:
        assert like(books.topic_publish_pauses, case.pauses) == case.pauses
    assert {row["subscription"]: row["reads_by_unwritable_channel"] for row in books.unwritable_reads} == case.reads


def test_every_case_of_part_c_is_here() -> None:
    assert {case.id.split("-")[0] for case in [*CASES, *LIMITER_CASES] if case.id.startswith("C")} == {f"C{n}" for n in range(1, 13)}


def test_the_story_of_the_pip() -> None:
    """Off: all answers lie in the broker. On: one answer a connection, and the clients wait."""
    consumers, questions = 50, 10
    off, on = (keep_channels(restart_of_many(consumers, questions, feature=feature).events) for feature in (False, True))
    level = {
        name: max(row["write_buf_memory_used_bytes_max"] for row in books.channel_memory) for name, books in (("off", off), ("on", on))
    }
    sent_in_a_second = 100_000_000
    assert level["off"] >= consumers * questions * ANSWER_BYTES - sent_in_a_second
    assert level["on"] <= consumers * ANSWER_BYTES
    assert (off.total("paused_count"), off.total("paused_ns"), off.total("cooldown_ns")) == (0, 0, 0)
    assert off.total("unwritable_count") == consumers
    assert (on.total("paused_count"), on.total("resumed_count")) == (consumers * questions, consumers * questions)
    assert on.total("outbound_buffer_agreed") == 2 * consumers * questions
    assert on.total("unwritable_ns") == on.total("paused_ns") > 0
