CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/channel_transitions` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `seq` BIGINT NOT NULL COMMENT 'the event that made the change; for a timer, the event before which it was found due',
  `conn` BIGINT NOT NULL COMMENT 'connection id, unique in an epoch',
  `ts` TIMESTAMP NOT NULL COMMENT 'when; for a timer, estimated from when it was set',
  `ns` BIGINT NOT NULL COMMENT 'when, on the broker\'s monotonic clock [ns]',
  `change` STRING NOT NULL COMMENT 'the kind of change',
  `throttle_type` STRING COMMENT 'the reason that was set (throttled) or cleared (unthrottled); else null',
  `cause` STRING NOT NULL COMMENT 'cause of the change: a writability event, a request that was refused, the timer of that pause, a throttle event of the log, the end of the cooldown',
  `auto_read` BOOLEAN NOT NULL COMMENT 'whether the broker reads from the connection afterwards',
  `throttle_count` BIGINT NOT NULL COMMENT 'reasons to pause that are set afterwards',
  `changed_connection` BOOLEAN NOT NULL COMMENT 'this change paused the connection, or let it go on',
  `pending_bytes` BIGINT COMMENT 'bytes in its write buffer, where it became writable or unwritable; else null [bytes]'
)
USING DELTA
COMMENT 'One row per change of a channel: of its writability, of a reason to pause, of its cooldown. That a connection ends is no change.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,seq,conn,change,throttle_type',
  'delta.constraints.change' = 'change IN (\'unwritable\', \'writable\', \'throttled\', \'unthrottled\', \'cooldown_opened\', \'cooldown_restarted\', \'cooldown_closed\')',
  'delta.constraints.throttle_type' = 'throttle_type IS NULL OR (throttle_type IN (\'ConnectionMaxPendingPublishRequestsExceeded\', \'IOThreadMaxPendingPublishBytesExceeded\', \'TopicPublishRate\', \'ResourceGroupPublishRate\', \'BrokerPublishRate\', \'ConnectionOutboundBufferFull\', \'ConnectionPauseReceivingCooldownRateLimit\'))',
  'delta.constraints.cause' = 'cause IN (\'writability\', \'request_refused\', \'cooldown_timer\', \'logged\', \'cooldown_over\')',
  'delta.constraints.throttle_count' = 'throttle_count >= 0',
  'delta.constraints.pending_bytes' = 'pending_bytes IS NULL OR (pending_bytes >= 0)'
);
