CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/lane_control` (
  `broker_id` BIGINT NOT NULL COMMENT 'lane',
  `kind` STRING NOT NULL COMMENT 'drain: the log is finite and ends here; tombstone: a rejected line\'s place',
  `epoch` BIGINT NOT NULL COMMENT 'tombstone: its epoch, else 0',
  `seq` BIGINT NOT NULL COMMENT 'tombstone: its seq, else 0',
  `ts` BIGINT NOT NULL COMMENT 'tombstone: its ts (µs), else 0',
  `ns` BIGINT NOT NULL COMMENT 'tombstone: its ns, else 0',
  `ingest_batch` BIGINT NOT NULL COMMENT 'newest ingest micro-batch when the row was written',
  `issued_at` TIMESTAMP NOT NULL COMMENT 'when, by the driver\'s clock'
)
USING DELTA
COMMENT 'Second source of the lanes query: wakes idle lanes, reports rejected lines to them.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker_id,kind,epoch,seq,ns,issued_at',
  'delta.constraints.kind' = 'kind IN (\'drain\', \'tombstone\')'
);
