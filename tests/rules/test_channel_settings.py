"""Settings of channels in both vocabularies (§3.1): what is absent has the shipped default."""

from dataclasses import dataclass

import numpy as np
import pytest

from pipeline.rules.array import Array
from pipeline.rules.channel import fields
from pipeline.rules.channel import settings as invariants
from pipeline.rules.channel.layout import CHANNEL_SETTINGS_ROW, DEFAULT, PIP, SHIPPED
from pipeline.rules.compiled import compiled
from pipeline.rules.records import Record, empty_rows
from schemas.lane_columns import LANE_COLUMNS

NO = None
Pair = tuple[int | None, int | None]


@compiled
def take(settings: Record, event: Array) -> None:
    invariants.take_settings(settings, event)


@dataclass
class Given:
    """Two settings to a slot; None: it is not there."""

    marks: Pair = (NO, NO)
    cooldown_ms_and_permits: Pair = (NO, NO)
    period_ms_and_pause: Pair = (NO, NO)
    seconds_and_rate: Pair = (NO, NO)


def packed(pair: Pair) -> int:
    """(first + 2) · 2^31 + (second + 2), 0 for an absent one (schemas/lane_columns.py)."""
    first, second = (0 if value is None else value + 2 for value in pair)
    return first * 2**31 + second


def taken(given: Given) -> Record:
    event = np.zeros(len(LANE_COLUMNS), dtype=np.int64)
    event[fields.CHANNEL_MARKS], event[fields.CHANNEL_COOLDOWN] = packed(given.marks), packed(given.cooldown_ms_and_permits)
    event[fields.CHANNEL_PAUSE], event[fields.CHANNEL_PIP] = packed(given.period_ms_and_pause), packed(given.seconds_and_rate)
    row = empty_rows(CHANNEL_SETTINGS_ROW, 1)[0]
    take(row, event)
    return row


@pytest.mark.parametrize(
    ("given", "limiter"),
    [
        (Given(), (DEFAULT, 5_000, 5, 10)),
        (Given(cooldown_ms_and_permits=(NO, 7)), (SHIPPED, 5_000, 7, 10)),
        (Given(cooldown_ms_and_permits=(-1, NO)), (SHIPPED, -1, 5, 10)),  # C12: no limiter
        (Given(cooldown_ms_and_permits=(0, 0)), (SHIPPED, 0, 0, 10)),
        (Given(period_ms_and_pause=(20, 1)), (SHIPPED, 5_000, 5, 20)),
        (Given(period_ms_and_pause=(NO, 1)), (DEFAULT, 5_000, 5, 10)),
        (Given(seconds_and_rate=(3, NO)), (PIP, 3_000, 1_000, 1_000)),
        (Given(seconds_and_rate=(NO, 50)), (PIP, 5_000, 50, 1_000)),
        (Given(seconds_and_rate=(3, 50), period_ms_and_pause=(20, NO)), (SHIPPED, 5_000, 5, 20)),
        (Given(cooldown_ms_and_permits=(2**31 - 3, 2**31 - 3)), (SHIPPED, 2**31 - 3, 2**31 - 3, 10)),
    ],
)
def test_the_names_that_brokers_read_count_before_the_pips(given: Given, limiter: tuple[int, ...]) -> None:
    row = taken(given)
    assert (row.vocabulary, row.cooldown_ms, row.permits, row.period_ms) == limiter


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((NO, NO), (65_536, 32_768, 1)),
        ((16_384, NO), (16_384, 32_768, 0)),  # C2: below the low mark
        ((40_000, 40_000), (40_000, 40_000, 1)),
        ((32_768, 0), (32_768, 0, 1)),
        ((32_767, 0), (32_767, 0, 0)),  # below Netty's own low mark, which is set first
        ((NO, 65_537), (65_536, 65_537, 0)),
        ((NO, -1), (65_536, -1, 0)),
    ],
)
def test_marks_are_usable_if_a_channel_can_be_opened_with_them(marks: Pair, expected: tuple[int, ...]) -> None:
    row = taken(Given(marks))
    assert (row.high_mark, row.low_mark, row.marks_usable) == expected


@pytest.mark.parametrize(("value", "enabled"), [(NO, 0), (0, 0), (1, 1)])
def test_the_pause_is_off_unless_it_is_set(value: int | None, enabled: int) -> None:
    assert taken(Given(period_ms_and_pause=(10, value))).pause_enabled == enabled
