CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/policies` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING COMMENT 'full topic name; null for the broker\'s own limiter',
  `subscription` STRING COMMENT 'subscription name; null unless the limit is one subscription\'s',
  `limit_kind` STRING NOT NULL COMMENT 'the kind of limit',
  `seen_at` TIMESTAMP NOT NULL COMMENT 'ts of the event at which all rows of this `seen_seq` held. They hold until the next `seen_at` of the same limit',
  `seen_seq` BIGINT NOT NULL COMMENT 'seq of that event',
  `set_by` STRING COMMENT 'where it is set; null: nowhere that the log has (a log of version 1.0 has no places)',
  `set_at` TIMESTAMP COMMENT 'since when it is set there with these values; null: as set_by',
  `in_force` BOOLEAN NOT NULL COMMENT 'no stronger place sets it. False in the only row of a `seen_seq`, without set_by: the limit ended with its topic or dispatcher',
  `shadowed_by` STRING COMMENT 'the place whose values are in force instead; null: these are in force',
  `msg_rate` BIGINT COMMENT 'as set: messages per period, ≤ 0 = no limit; null: a quota [messages]',
  `byte_rate` BIGINT COMMENT 'as set: bytes per period, ≤ 0 = no limit; null: a quota [bytes]',
  `period_s` BIGINT COMMENT 'as set: period of the rate [s]',
  `relative` BOOLEAN COMMENT 'as set: the rate is added to the publish rate',
  `quota_limit` BIGINT COMMENT 'as set: limit of the quota, < 0 = none; null: a rate [bytes or s]',
  `quota_policy` STRING COMMENT 'as set: action of the broker at the limit of the quota',
  `applied_set_by` STRING COMMENT 'where the applied values are set, as the broker reports; in rows in force',
  `applied_msg_rate` BIGINT COMMENT 'as the broker applied it last, in rows in force: messages per period, ≤ 0 = no limit; null: a quota [messages]',
  `applied_byte_rate` BIGINT COMMENT 'as the broker applied it last, in rows in force: bytes per period, ≤ 0 = no limit; null: a quota [bytes]',
  `applied_period_s` BIGINT COMMENT 'as the broker applied it last, in rows in force: period of the rate [s]',
  `applied_relative` BOOLEAN COMMENT 'as the broker applied it last, in rows in force: the rate is added to the publish rate',
  `applied_limit` BIGINT COMMENT 'as the broker applied it last, in rows in force: limit of the quota, < 0 = none; null: a rate [bytes or s]',
  `applied_policy` STRING COMMENT 'as the broker applied it last, in rows in force: action of the broker at the limit of the quota',
  `publish_msgs_per_s` BIGINT COMMENT 'publish average that a relative rate is added to; null: the log has none, or the rate is not relative [messages/s]',
  `publish_bytes_per_s` BIGINT COMMENT 'publish average that a relative rate is added to [bytes/s]',
  `policy_disagreement` STRING COMMENT 'how the applied values differ from those in force by the rules; null: the log does not tell, or the row is shadowed',
  `complete` BOOLEAN NOT NULL COMMENT 'false: the topic\'s load was not in the log, or events of the broker were lost or quarantined since',
  `incomplete_reason` STRING COMMENT 'why `complete` is false, the first that holds of points_missing, beginning_not_seen, events_lost, deletions_unknown; null: it is true'
)
USING DELTA
COMMENT 'The settings of each limit of a broker, a topic or a subscription, whenever a set or applied value has changed: one row for each place that sets the limit; one of the rows is in force.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,subscription,limit_kind,seen_seq,set_by',
  'delta.constraints.limit_kind' = 'limit_kind IN (\'broker_dispatch_rate\', \'topic_dispatch_rate\', \'subscription_dispatch_rate\', \'replicator_dispatch_rate\', \'size_quota\', \'age_quota\')',
  'delta.constraints.set_by' = 'set_by IS NULL OR (set_by IN (\'broker_config\', \'dynamic_config\', \'namespace_legacy\', \'namespace\', \'topic_global\', \'topic\', \'subscription_global\', \'subscription\'))',
  'delta.constraints.shadowed_by' = 'shadowed_by IS NULL OR (shadowed_by IN (\'broker_config\', \'dynamic_config\', \'namespace_legacy\', \'namespace\', \'topic_global\', \'topic\', \'subscription_global\', \'subscription\'))',
  'delta.constraints.quota_policy' = 'quota_policy IS NULL OR (quota_policy IN (\'producer_request_hold\', \'producer_exception\', \'consumer_backlog_eviction\'))',
  'delta.constraints.applied_set_by' = 'applied_set_by IS NULL OR (applied_set_by IN (\'broker_config\', \'dynamic_config\', \'namespace_legacy\', \'namespace\', \'topic_global\', \'topic\', \'subscription_global\', \'subscription\'))',
  'delta.constraints.applied_policy' = 'applied_policy IS NULL OR (applied_policy IN (\'producer_request_hold\', \'producer_exception\', \'consumer_backlog_eviction\'))',
  'delta.constraints.policy_disagreement' = 'policy_disagreement IS NULL OR (policy_disagreement IN (\'none\', \'not_applied\', \'other_value\', \'other_source\'))'
);
