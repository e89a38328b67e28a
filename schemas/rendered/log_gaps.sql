CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/log_gaps` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `kind` STRING NOT NULL COMMENT 'lost: no event came; clock_step: ts jumped against ns',
  `from_seq` BIGINT NOT NULL COMMENT 'first seq lost; clock_step: first event after the step',
  `to_seq` BIGINT NOT NULL COMMENT 'last seq lost; clock_step: as from_seq',
  `events` BIGINT NOT NULL COMMENT 'events lost; 0 for a clock step',
  `ts_before` TIMESTAMP COMMENT 'last event applied before it; null at the start of an epoch',
  `ts_after` TIMESTAMP COMMENT 'first event after it',
  `step_us` BIGINT NOT NULL COMMENT 'how far the clock jumped, negative: back; 0 for lost events [µs]'
)
USING DELTA
COMMENT 'Ranges of seq that were given up, and steps of a broker\'s wall clock.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,kind,from_seq',
  'delta.constraints.kind' = 'kind IN (\'lost\', \'clock_step\')',
  'delta.constraints.events' = 'events >= 0'
);
