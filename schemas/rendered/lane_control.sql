CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/lane_control` (
  `broker_id` BIGINT NOT NULL COMMENT 'lane',
  `kind` STRING NOT NULL COMMENT 'drain: the log is finite and ends here; tombstone: a rejected line\'s place; hold: let rows wait until a seed or a release comes; seed: part of the state from which an epoch is to go on; release: go on as you are',
  `epoch` BIGINT NOT NULL COMMENT 'tombstone, seed: its epoch, else 0',
  `seq` BIGINT NOT NULL COMMENT 'tombstone: its seq; hold, seed, release: number of the request (lane_answers), else 0',
  `ts` BIGINT NOT NULL COMMENT 'tombstone: its ts (µs); seed: seq of the first event after the state, else 0',
  `ns` BIGINT NOT NULL COMMENT 'tombstone: its ns; seed: number of the part, else 0',
  `ingest_batch` BIGINT NOT NULL COMMENT 'newest ingest micro-batch when the row was written',
  `state` BINARY COMMENT 'seed: 80 bytes of the state, else null',
  `issued_at` TIMESTAMP NOT NULL COMMENT 'when, by the driver\'s clock'
)
USING DELTA
COMMENT 'Second source of the lanes query: wakes idle lanes, reports rejected lines to them, lets them go on from what a backfill computed.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker_id,kind,epoch,seq,ns,issued_at',
  'delta.constraints.kind' = 'kind IN (\'drain\', \'tombstone\', \'hold\', \'seed\', \'release\')'
);
