CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/subscription_causes` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING NOT NULL COMMENT 'full topic name',
  `subscription` STRING NOT NULL COMMENT 'subscription name',
  `window_start` TIMESTAMP NOT NULL COMMENT 'start of the window, aligned to UTC',
  `window_end` TIMESTAMP NOT NULL COMMENT 'its end, exclusive',
  `clock_segment` INT NOT NULL COMMENT 'steps of the broker\'s wall clock before it in the epoch; 0 unless the host\'s clock was set',
  `cause` STRING NOT NULL COMMENT 'the cause that held it back',
  `level` STRING COMMENT 'throttled: whose limiter; else null',
  `dimension` STRING COMMENT 'throttled: the dimension that ran out; else null',
  `unknown_reason` STRING COMMENT 'unknown: why; else null',
  `cap` STRING COMMENT 'unacked_limit: which cap is reached; stuck: which cap is on though nothing is unacknowledged; else null',
  `ns` BIGINT NOT NULL COMMENT 'time charged to this cause [ns]',
  `backlog_ns` BIGINT NOT NULL COMMENT 'time in the window in which the subscription had a backlog: the sum of `ns` over its causes [ns]',
  `entry_us` BIGINT NOT NULL COMMENT 'entries in the backlog × time charged to this cause; entries that are acknowledged between two charges are assumed to go at an even rate [entry-µs]',
  `first_at` TIMESTAMP NOT NULL COMMENT 'when this cause was first charged in the window',
  `is_main` BOOLEAN NOT NULL COMMENT 'whether more entries × time of the window were charged to it than to any other cause',
  `main_since` TIMESTAMP NOT NULL COMMENT 'since when the cause with is_main is the main one, through windows that touch',
  `backlog_end` BIGINT NOT NULL COMMENT 'entries in the backlog at the end of the window [entries]',
  `waiting_end` BIGINT NOT NULL COMMENT 'of them neither delivered nor held for later delivery [entries]',
  `complete` BOOLEAN NOT NULL COMMENT 'false: its cursor was met without its beginning, or events of the broker were lost or quarantined since. True again in a window without a loss, once the log has the state of the broker (`state`)',
  `completeness` DOUBLE NOT NULL COMMENT 'share of the broker\'s events of this window that were seen; < 1 where some were lost or quarantined'
)
USING DELTA
COMMENT 'One row per subscription, window and cause that held it back: all time in which it had a backlog, charged to exactly one cause.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,subscription,window_start,clock_segment,cause,level,dimension,unknown_reason,cap',
  'delta.constraints.cause' = 'cause IN (\'no_consumer\', \'throttled\', \'channel\', \'unacked_limit\', \'no_permits\', \'no_flow\', \'keys_blocked\', \'transaction\', \'redelivery\', \'in_flight\', \'delayed\', \'reading\', \'catching_up\', \'stuck\', \'unknown\')',
  'delta.constraints.level' = 'level IS NULL OR (level IN (\'broker\', \'topic\', \'subscription\'))',
  'delta.constraints.dimension' = 'dimension IS NULL OR (dimension IN (\'msg\', \'bytes\'))',
  'delta.constraints.unknown_reason' = 'unknown_reason IS NULL OR (unknown_reason IN (\'events_lost\', \'beginning_not_seen\', \'not_in_this_log\'))',
  'delta.constraints.cap' = 'cap IS NULL OR (cap IN (\'consumer\', \'subscription\', \'broker\'))',
  'delta.constraints.ns' = 'ns > 0',
  'delta.constraints.backlog_ns' = 'backlog_ns >= 0',
  'delta.constraints.entry_us' = 'entry_us >= 0',
  'delta.constraints.backlog_end' = 'backlog_end >= 0',
  'delta.constraints.waiting_end' = 'waiting_end >= 0',
  'delta.constraints.completeness' = 'completeness >= 0 AND completeness <= 1'
);
