CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/subscription_status` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING NOT NULL COMMENT 'full topic name',
  `subscription` STRING NOT NULL COMMENT 'subscription name',
  `window_start` TIMESTAMP NOT NULL COMMENT 'start of the window at whose end the run was found to be over, aligned to UTC',
  `clock_segment` INT NOT NULL COMMENT 'steps of the broker\'s wall clock before it in the epoch; 0 unless the host\'s clock was set',
  `cause` STRING NOT NULL COMMENT 'the cause that held it back',
  `level` STRING COMMENT 'throttled: whose limiter; else null',
  `dimension` STRING COMMENT 'throttled: the dimension that ran out; else null',
  `unknown_reason` STRING COMMENT 'unknown: why; else null',
  `cap` STRING COMMENT 'unacked_limit: which cap is reached; stuck: which cap is on though nothing is unacknowledged; else null',
  `since` TIMESTAMP NOT NULL COMMENT 'when the cause was first charged in the first window of the run',
  `until` TIMESTAMP NOT NULL COMMENT 'when the next main cause was first charged, or when the backlog was last seen',
  `windows` BIGINT NOT NULL COMMENT 'windows of the run [windows]',
  `ns` BIGINT NOT NULL COMMENT 'time charged to the cause in the run [ns]',
  `backlog_ns` BIGINT NOT NULL COMMENT 'time in the run in which the subscription had a backlog [ns]'
)
USING DELTA
COMMENT 'One row per run of windows with the same main cause, written when the run is over: another cause is the main one, the backlog or the epoch is over.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,subscription,window_start,clock_segment,since',
  'delta.constraints.cause' = 'cause IN (\'no_consumer\', \'throttled\', \'channel\', \'unacked_limit\', \'no_permits\', \'no_flow\', \'keys_blocked\', \'transaction\', \'redelivery\', \'in_flight\', \'delayed\', \'reading\', \'catching_up\', \'stuck\', \'unknown\')',
  'delta.constraints.level' = 'level IS NULL OR (level IN (\'broker\', \'topic\', \'subscription\'))',
  'delta.constraints.dimension' = 'dimension IS NULL OR (dimension IN (\'msg\', \'bytes\'))',
  'delta.constraints.unknown_reason' = 'unknown_reason IS NULL OR (unknown_reason IN (\'events_lost\', \'beginning_not_seen\', \'not_in_this_log\'))',
  'delta.constraints.cap' = 'cap IS NULL OR (cap IN (\'consumer\', \'subscription\', \'broker\'))',
  'delta.constraints.windows' = 'windows >= 0',
  'delta.constraints.ns' = 'ns > 0',
  'delta.constraints.backlog_ns' = 'backlog_ns >= 0'
);
