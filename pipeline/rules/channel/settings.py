"""The settings of channels, in both vocabularies: what the PIP called them, and what brokers read."""

from pipeline.rules.array import Array
from pipeline.rules.channel import fields
from pipeline.rules.channel.layout import DEFAULT, NETTY_LOW_MARK, PIP, SHIPPED
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record
from schemas.lane_columns import PACKED_OFFSET

#: Text that is no number, or no text at all.
_ABSENT = -PACKED_OFFSET


@compiled_part
def take_settings(settings: Record, event: Array) -> None:
    """The settings with which the broker started (§3.1). The PIP's names count where there are none that brokers read."""
    high, low = _pair(event[fields.CHANNEL_MARKS])
    settings.high_mark, settings.low_mark = _or(high, 65_536), _or(low, 32_768)
    is_ordered = 0 <= settings.low_mark <= settings.high_mark
    settings.marks_usable = 1 if is_ordered and settings.high_mark >= NETTY_LOW_MARK else 0
    cooldown_ms, permits = _pair(event[fields.CHANNEL_COOLDOWN])
    period_ms, pause_enabled = _pair(event[fields.CHANNEL_PAUSE])
    settings.pause_enabled = 1 if pause_enabled == 1 else 0
    seconds, rate = _pair(event[fields.CHANNEL_PIP])
    is_shipped = cooldown_ms != _ABSENT or permits != _ABSENT or period_ms != _ABSENT
    if not is_shipped and (seconds != _ABSENT or rate != _ABSENT):
        settings.vocabulary = PIP
        settings.cooldown_ms, settings.permits, settings.period_ms = 1000 * _or(seconds, 5), _or(rate, 1000), 1000
        return
    settings.vocabulary = SHIPPED if is_shipped else DEFAULT
    settings.cooldown_ms, settings.permits, settings.period_ms = _or(cooldown_ms, 5000), _or(permits, 5), _or(period_ms, 10)


@compiled_part
def _pair(packed: int) -> tuple[int, int]:
    """The two settings of a slot (schemas/lane_columns.py)."""
    return (packed >> fields.PACKED_SHIFT) - PACKED_OFFSET, (packed & fields.PACKED_MASK) - PACKED_OFFSET


@compiled_part
def _or(value: int, default: int) -> int:
    return default if value == _ABSENT else value
