CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/cause_transitions` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING NOT NULL COMMENT 'full topic name',
  `subscription` STRING NOT NULL COMMENT 'subscription name',
  `seq` BIGINT NOT NULL COMMENT 'the event before which the change was noticed',
  `noticed_at` TIMESTAMP NOT NULL COMMENT 'time of that event: the row has the state of this instant',
  `cause` STRING COMMENT 'the cause that got most of the latest time; null: no backlog any more',
  `level` STRING COMMENT 'throttled: whose limiter; else null',
  `dimension` STRING COMMENT 'throttled: the dimension that ran out; else null',
  `unknown_reason` STRING COMMENT 'unknown: why; else null',
  `cap` STRING COMMENT 'unacked_limit: which cap is reached; stuck: which cap is on though nothing is unacknowledged; else null',
  `since` TIMESTAMP NOT NULL COMMENT 'since when most of the time went to it',
  `backlog` BIGINT NOT NULL COMMENT 'entries in the backlog at noticed_at [entries]',
  `waiting` BIGINT NOT NULL COMMENT 'of them neither delivered nor held for later delivery [entries]',
  `open` BOOLEAN NOT NULL COMMENT 'whether its cursor is open at noticed_at: false where the topic was unloaded, or the subscription deleted',
  `complete` BOOLEAN NOT NULL COMMENT 'false: its cursor was met without its beginning, or events of the broker were lost or quarantined, and no state of the broker (`state`) was in the log since'
)
USING DELTA
COMMENT 'One row for each new cause that holds a subscription. A short interruption has no row.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,subscription,seq',
  'delta.constraints.cause' = 'cause IS NULL OR (cause IN (\'no_consumer\', \'throttled\', \'channel\', \'unacked_limit\', \'no_permits\', \'no_flow\', \'keys_blocked\', \'transaction\', \'redelivery\', \'in_flight\', \'delayed\', \'reading\', \'catching_up\', \'stuck\', \'unknown\'))',
  'delta.constraints.level' = 'level IS NULL OR (level IN (\'broker\', \'topic\', \'subscription\'))',
  'delta.constraints.dimension' = 'dimension IS NULL OR (dimension IN (\'msg\', \'bytes\'))',
  'delta.constraints.unknown_reason' = 'unknown_reason IS NULL OR (unknown_reason IN (\'events_lost\', \'beginning_not_seen\', \'not_in_this_log\'))',
  'delta.constraints.cap' = 'cap IS NULL OR (cap IN (\'consumer\', \'subscription\', \'broker\'))',
  'delta.constraints.backlog' = 'backlog >= 0',
  'delta.constraints.waiting' = 'waiting >= 0'
);
