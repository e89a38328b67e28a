"""Where the fields that only this package reads lie in a lane row."""

from pipeline.rules.fields import columns
from schemas.lane_columns import PACKED_BITS, START_SETTINGS

#: Two settings in one column each: PACKED_SHIFT and PACKED_MASK take them apart (schemas/lane_columns.py).
CHANNEL_MARKS, CHANNEL_COOLDOWN, CHANNEL_PAUSE, CHANNEL_PIP = columns("broker_start", *START_SETTINGS)
PACKED_SHIFT, PACKED_MASK = PACKED_BITS, 2**PACKED_BITS - 1
(HEARTBEAT_BYTES,) = columns("heartbeat", "pending_bytes")
(KEEPS_ALIVE,) = columns("request", "keeps_alive")
