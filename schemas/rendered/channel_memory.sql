CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/channel_memory` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `window_start` TIMESTAMP NOT NULL COMMENT 'start of the window, aligned to UTC',
  `window_end` TIMESTAMP NOT NULL COMMENT 'its end, exclusive',
  `clock_segment` INT NOT NULL COMMENT 'steps of the broker\'s wall clock before it in the epoch; 0 unless the host\'s clock was set',
  `completeness` DOUBLE NOT NULL COMMENT 'share of the broker\'s events of this window that were seen; < 1 where some were lost or quarantined',
  `write_buf_memory_used_bytes` BIGINT NOT NULL COMMENT 'bytes in the write buffers of all connections, as last known in the window; Netty\'s count, 96 bytes for each queued buffer included [bytes]; Pulsar: pulsar_server_channel_write_buf_memory_used_bytes',
  `exact` BOOLEAN NOT NULL COMMENT 'true: a heartbeat reported it; false: it was at least this',
  `known_from` STRING NOT NULL COMMENT 'heartbeat: its sum; writability: the bytes of that channel and the low mark for each other unwritable one; marks: the low mark for each unwritable one',
  `known_at` TIMESTAMP NOT NULL COMMENT 'ts of that event; where it follows from the water marks alone, of the last event of the window, or its start',
  `write_buf_memory_used_bytes_max` BIGINT NOT NULL COMMENT 'greatest level that is known in the window; it was at least this [bytes]',
  `max_exact` BOOLEAN NOT NULL COMMENT 'whether a heartbeat reported that',
  `connections_open` BIGINT NOT NULL COMMENT 'open connections at the end of the window [connections]',
  `connections_unwritable` BIGINT NOT NULL COMMENT 'of them with an unwritable channel [connections]',
  `connections_paused` BIGINT NOT NULL COMMENT 'of them paused [connections]'
)
USING DELTA
COMMENT 'One row per broker and window in which anything is known of the level of all write buffers together. Between two heartbeats nobody knows more than a bound.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,window_start,clock_segment',
  'delta.constraints.completeness' = 'completeness >= 0 AND completeness <= 1',
  'delta.constraints.write_buf_memory_used_bytes' = 'write_buf_memory_used_bytes >= 0',
  'delta.constraints.known_from' = 'known_from IN (\'heartbeat\', \'writability\', \'marks\')',
  'delta.constraints.write_buf_memory_used_bytes_max' = 'write_buf_memory_used_bytes_max >= 0',
  'delta.constraints.connections_open' = 'connections_open >= 0',
  'delta.constraints.connections_unwritable' = 'connections_unwritable >= 0',
  'delta.constraints.connections_paused' = 'connections_paused >= 0'
);
