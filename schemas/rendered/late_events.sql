CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/late_events` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `seq` BIGINT NOT NULL COMMENT 'its place in the epoch',
  `event_date` DATE NOT NULL COMMENT 'UTC date of its ts: the date to backfill',
  `ts` TIMESTAMP NOT NULL COMMENT 'its ts',
  `type_code` INT NOT NULL COMMENT 'number of its type',
  `reason` STRING NOT NULL COMMENT 'given_up: its place was lost; quarantined: a damaged copy held its place; epoch_over: its epoch had ended or was drained',
  `ingest_batch` BIGINT NOT NULL COMMENT 'ingest micro-batch that brought it',
  `backfilled_by` STRING COMMENT 'run of `backfill` that computed its date anew with it (backfills.run_id); null: none yet'
)
USING DELTA
COMMENT 'Events that came after their place was given up. They are in dispatch_events; a backfill of their dates counts them.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,seq',
  'delta.constraints.reason' = 'reason IN (\'given_up\', \'quarantined\', \'epoch_over\')'
);
