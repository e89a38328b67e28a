"""Backpressure on connections (PIP-434): what is paused and why, who waits for it, how much memory write buffers hold."""

from schemas.events import THROTTLE_TYPES
from schemas.packages.channel.tables import (
    CHANNEL_BACKPRESSURE,
    CHANNEL_CHANGES,
    CHANNEL_MEMORY,
    CHANNEL_TRANSITIONS,
    LEVEL_SOURCES,
    SETTINGS_VOCABULARIES,
    TOPIC_PUBLISH_PAUSES,
    TRANSITION_CAUSES,
)
from schemas.packages.declaration import Declaration

#: Commands that keep a connection alive: no limiter counts them.
KEEP_ALIVE = ("PING", "PONG")

PACKAGE = Declaration(
    "channel",
    "Which connections are paused?",
    tables=(CHANNEL_BACKPRESSURE, CHANNEL_TRANSITIONS, TOPIC_PUBLISH_PAUSES, CHANNEL_MEMORY),
    slots={"heartbeat": ("pending_bytes",), "request": ("keeps_alive",)},
    computed={"keeps_alive": ("command",)},
    start_settings={
        "channel_marks": {"pulsarChannelWriteBufferHighWaterMark": "integer", "pulsarChannelWriteBufferLowWaterMark": "integer"},
        "channel_cooldown": {
            "pulsarChannelPauseReceivingCooldownMs": "integer",
            "pulsarChannelPauseReceivingCooldownRateLimitPermits": "integer",
        },
        "channel_pause": {
            "pulsarChannelPauseReceivingCooldownRateLimitPeriodMs": "integer",
            "pulsarChannelPauseReceivingRequestsIfUnwritable": "flag",
        },
        # What the PIP called them. No broker ever read these.
        "channel_pip": {
            "pulsarChannelRateLimitingSecondsAfterResumeFromUnreadable": "integer",
            "pulsarChannelRateLimitingRateAfterResumeFromUnreadable": "integer",
        },
    },
    enumerations={
        "settings_vocabulary": SETTINGS_VOCABULARIES,
        "change": CHANNEL_CHANGES,
        "throttle_type": THROTTLE_TYPES,
        "cause": TRANSITION_CAUSES,
        "known_from": LEVEL_SOURCES,
    },
    needs={
        CHANNEL_BACKPRESSURE.name: (
            *("conn_open", "conn_close", "writability", "throttle", "request"),
            *("producer_open", "producer_close", "consumer_open", "consumer_close"),
        ),
    },
    invariants=(
        "pauses_and_resumes_alternate",
        "transitions_are_counted",
        "paused_time_has_its_reasons",
        "a_full_buffer_pauses_only_if_it_may",
        "topics_wait_for_paused_connections",
        "write_buffers_hold_what_channels_show",
    ),
    views=("channels_now", "paused_connections", "channel_memory_now", "oom_risk"),
)
