CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/batch_manifest` (
  `query` STRING NOT NULL COMMENT 'which query',
  `query_id` STRING NOT NULL COMMENT 'Spark\'s id of the query, as in its checkpoint',
  `batch_id` BIGINT NOT NULL COMMENT 'Spark\'s number of the micro-batch',
  `source_offsets` STRING NOT NULL COMMENT 'the checkpoint\'s offset log entry of the batch, whole',
  `rows_in` BIGINT NOT NULL COMMENT 'ingest: lines that are not blank; lanes: bronze rows and tombstones handed to lanes',
  `bronze` BIGINT NOT NULL COMMENT 'ingest: rows written to dispatch_events',
  `quarantined` BIGINT NOT NULL COMMENT 'ingest: rows written to quarantine; lanes: tombstones applied',
  `applied` BIGINT NOT NULL COMMENT 'lanes: events applied in order',
  `duplicates` BIGINT NOT NULL COMMENT 'lanes: repeats of events already applied, late or quarantined',
  `late` BIGINT NOT NULL COMMENT 'lanes: events that came after their place was given up',
  `held` BIGINT NOT NULL COMMENT 'lanes: change in the number of events held behind a gap; summed over batches it is the number of held events',
  `lost` BIGINT NOT NULL COMMENT 'lanes: events given up as lost',
  `state_bytes` BIGINT NOT NULL COMMENT 'lanes: size of the state blobs written [bytes]',
  `table_versions` MAP<STRING, STRING> NOT NULL COMMENT 'version of every table after the batch: a consistent cut',
  `newest_events` ARRAY<STRUCT<broker_id: BIGINT, epoch: BIGINT, at: TIMESTAMP>> COMMENT 'lanes: the newest applied event of each broker, of this and all earlier micro-batches. Null: ingest, or an earlier version',
  `run_id` STRING NOT NULL COMMENT 'driver run that wrote the row',
  `code_version` STRING NOT NULL COMMENT 'version of this project',
  `written_at` TIMESTAMP NOT NULL COMMENT 'when, by the driver\'s clock'
)
USING DELTA
COMMENT 'One row per micro-batch that wrote anything, written after its tables: counts of input and output, and the version of every table.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'query,query_id,batch_id',
  'delta.constraints.query' = 'query IN (\'ingest\', \'lanes\')',
  'delta.constraints.bronze' = 'bronze >= 0'
);
