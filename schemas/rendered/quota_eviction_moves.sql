CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/quota_eviction_moves` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING NOT NULL COMMENT 'full topic name',
  `subscription` STRING NOT NULL COMMENT 'subscription (cursor) name',
  `decided_at` TIMESTAMP NOT NULL COMMENT 'as in quota_evictions',
  `check_number` BIGINT NOT NULL COMMENT 'as in topic_backlog',
  `from_ledger` BIGINT NOT NULL COMMENT 'mark-delete position before',
  `from_entry` BIGINT NOT NULL COMMENT 'mark-delete position before',
  `planned_ledger` BIGINT COMMENT 'mark-delete position by the rule; null: it should not move',
  `planned_entry` BIGINT COMMENT 'mark-delete position by the rule',
  `entries_planned` BIGINT NOT NULL COMMENT 'unacknowledged entries that are lost by the rule [entries]',
  `reached_ledger` BIGINT COMMENT 'mark-delete position that the eviction reached; null: it did not move',
  `reached_entry` BIGINT COMMENT 'mark-delete position that the eviction reached',
  `entries_evicted` BIGINT NOT NULL COMMENT 'unacknowledged entries that were lost [entries]',
  `agrees` BOOLEAN NOT NULL COMMENT 'it moved to where the rule moves it'
)
USING DELTA
COMMENT 'One row per cursor that a decision to evict moves, by the rule or in the log.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,subscription,decided_at,check_number',
  'delta.constraints.check_number' = 'check_number >= 0',
  'delta.constraints.entries_planned' = 'entries_planned >= 0',
  'delta.constraints.entries_evicted' = 'entries_evicted >= 0'
);
