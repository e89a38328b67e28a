"""Dispatchers are opened, met without their opening, and closed (§1.1, §1.3)."""

from pipeline.rules.broker.layout import NO_DISPATCHER, NO_LIMITER, NONE
from pipeline.rules.compiled import compiled_part
from pipeline.rules.records import Record, Records


@compiled_part
def open_dispatcher(dispatcher: Record, subscription: Record, settings: Record, ts_us: int, sub_type: int, complete: bool) -> None:
    """A new dispatcher object: batch mode frozen as it is now."""
    dispatcher.id, dispatcher.topic = subscription.id, subscription.owner
    dispatcher.open, dispatcher.opened_at, dispatcher.closed_at = 1, ts_us, NONE
    dispatcher.sub_type = sub_type
    dispatcher.began_complete, dispatcher.losses_at_open = 1 if complete else 0, settings.losses
    dispatcher.batch_mode = settings.batch_mode


@compiled_part
def ensure_open(dispatcher: Record, subscription: Record, settings: Record, ts_us: int) -> None:
    """A dispatcher met without its `dispatcher_open` is followed from here on, incomplete."""
    if dispatcher.open == 0:
        open_dispatcher(dispatcher, subscription, settings, ts_us, NONE, False)


@compiled_part
def close_dispatcher(dispatchers: Records, subscription_limiters: Records, s: int) -> None:
    """The dispatcher object ends, and its limiter with it."""
    if dispatchers[s].open == 1:
        dispatchers[s] = NO_DISPATCHER[0]
        subscription_limiters[s] = NO_LIMITER[0]
