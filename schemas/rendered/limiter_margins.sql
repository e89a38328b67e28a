CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/limiter_margins` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING NOT NULL COMMENT 'full topic name',
  `subscription` STRING NOT NULL COMMENT 'subscription name',
  `window_start` TIMESTAMP NOT NULL COMMENT 'start of the window, aligned to UTC',
  `window_end` TIMESTAMP NOT NULL COMMENT 'its end, exclusive',
  `clock_segment` INT NOT NULL COMMENT 'steps of the broker\'s wall clock before it in the epoch; 0 unless the host\'s clock was set',
  `level` STRING NOT NULL COMMENT 'whose limiter blocked them',
  `dimension` STRING NOT NULL COMMENT 'the dimension that ran out: of both the messages',
  `next_level` STRING COMMENT 'whose limiter binds without it; null: none, all that waits or was asked for is granted',
  `next_dimension` STRING COMMENT 'the dimension of that limiter that runs out; null: none',
  `reads` BIGINT NOT NULL COMMENT 'blocked reads [reads]',
  `wanted_entries` BIGINT NOT NULL COMMENT 'entries that they asked for [entries]',
  `wanted_bytes` BIGINT NOT NULL COMMENT 'the same [bytes]',
  `granted_entries` BIGINT NOT NULL COMMENT 'entries that they would have got without this limiter, each read by itself: 0 where the next one blocks, too [entries]',
  `granted_bytes` BIGINT NOT NULL COMMENT 'the same [bytes]',
  `complete` BOOLEAN NOT NULL COMMENT 'false: its cursor was met without its beginning, or events of the broker were lost or quarantined since',
  `completeness` DOUBLE NOT NULL COMMENT 'share of the broker\'s events of this window that were seen; < 1 where some were lost or quarantined'
)
USING DELTA
COMMENT 'Entries that reads would have got without the limiter that blocked them. One row per subscription, window, limiter that blocked, and limiter that is next. A read counts only if something waited (cause `throttled`).'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,subscription,window_start,clock_segment,level,dimension,next_level,next_dimension',
  'delta.constraints.level' = 'level IN (\'broker\', \'topic\', \'subscription\')',
  'delta.constraints.dimension' = 'dimension IN (\'msg\', \'bytes\')',
  'delta.constraints.next_level' = 'next_level IS NULL OR (next_level IN (\'broker\', \'topic\', \'subscription\'))',
  'delta.constraints.next_dimension' = 'next_dimension IS NULL OR (next_dimension IN (\'msg\', \'bytes\'))',
  'delta.constraints.reads' = 'reads > 0',
  'delta.constraints.wanted_entries' = 'wanted_entries >= 0',
  'delta.constraints.wanted_bytes' = 'wanted_bytes >= 0',
  'delta.constraints.granted_entries' = 'granted_entries >= 0',
  'delta.constraints.granted_bytes' = 'granted_bytes >= 0',
  'delta.constraints.completeness' = 'completeness >= 0 AND completeness <= 1'
);
