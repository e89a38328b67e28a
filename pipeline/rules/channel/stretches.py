"""How long a channel was unwritable, paused, in its cooldown, throttled by each type: charged while it lasts, split at borders.

Invariant: the parts of a stretch add up to it, however many windows, steps of the wall clock or restarts cut it.
"""

from pipeline.rules.channel.layout import COOLDOWN, COOLDOWN_RATE, FIRST_TYPE, PAUSED, STRETCH_COUNT
from pipeline.rules.compiled import compiled_part
from pipeline.rules.integers import INT64_MAX
from pipeline.rules.records import Record


@compiled_part
def begin(channel: Record, stretch: int, ts_us: int, ns: int) -> None:
    """The stretch begins."""
    channel.running[stretch] = 1
    channel.began_ts[stretch], channel.began_ns[stretch] = ts_us, ns


@compiled_part
def charge(channel: Record, stretch: int, ns: int) -> None:
    """Count what has lasted so far; the stretch goes on from there."""
    if channel.running[stretch] == 1:
        lasted = max(0, ns - channel.began_ns[stretch])
        channel.lasted_ns[stretch] += lasted
        channel.began_ns[stretch] += lasted


@compiled_part
def end(channel: Record, stretch: int, ns: int) -> None:
    """The stretch ends, if there is one."""
    charge(channel, stretch, ns)
    channel.running[stretch] = 0


@compiled_part
def end_all(channel: Record, ns: int) -> None:
    """The connection ends."""
    for stretch in range(STRETCH_COUNT):
        end(channel, stretch, ns)


@compiled_part
def pass_border(channel: Record, border_us: int, border_ns: int) -> bool:
    """Charge what runs up to the border; `border_ns` is the monotonic clock at the next event. Returns whether any time was counted."""
    any_time = False
    for stretch in range(STRETCH_COUNT):
        if channel.running[stretch] == 1:
            latest = min(border_ns, _known_end(channel, stretch))
            charge(channel, stretch, place_of_border(channel.began_ts[stretch], channel.began_ns[stretch], border_us, latest))
            channel.began_ts[stretch] = max(border_us, channel.began_ts[stretch])
        any_time = any_time or channel.lasted_ns[stretch] > 0
    return any_time


@compiled_part
def step_clock(channel: Record, ts_us: int, ns: int) -> None:
    """The wall clock was set: what runs is charged up to `ns` and goes on from (`ts_us`, `ns`)."""
    for stretch in range(STRETCH_COUNT):
        if channel.running[stretch] == 1:
            charge(channel, stretch, ns)
            channel.began_ts[stretch] = ts_us


@compiled_part
def place_of_border(began_us: int, began_ns: int, border_us: int, latest_ns: int) -> int:
    """Where the wall-clock border falls on the monotonic clock: never before the beginning, never after `latest_ns`."""
    return max(began_ns, min(began_ns + max(0, border_us - began_us) * 1000, latest_ns))


@compiled_part
def _known_end(channel: Record, stretch: int) -> int:
    """When a timer will end the stretch, if nothing else does."""
    if stretch == COOLDOWN:
        return channel.cooldown_end_ns
    is_by_timer = stretch == FIRST_TYPE + COOLDOWN_RATE or (stretch == PAUSED and channel.throttled == 1)
    return channel.due_ns if channel.by_rule == 1 and is_by_timer else INT64_MAX
