CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/quality_results` (
  `run_id` STRING NOT NULL COMMENT 'run of the quality job',
  `run_at` TIMESTAMP NOT NULL COMMENT 'when it began, by its clock',
  `table_name` STRING NOT NULL COMMENT 'table that was judged; of an invariant the tables that it reads, with commas between',
  `kind` STRING NOT NULL COMMENT 'kind of demand',
  `columns` STRING NOT NULL COMMENT 'column, or the key\'s columns with commas between; empty for invariants',
  `invariant` STRING NOT NULL COMMENT 'name of the invariant; empty for others',
  `expectation` STRING NOT NULL COMMENT 'name of the expectation in Great Expectations',
  `demand` STRING NOT NULL COMMENT 'the demand, in words or SQL',
  `success` BOOLEAN NOT NULL COMMENT 'it holds',
  `unexpected` BIGINT NOT NULL COMMENT 'rows that break it; of a key: rows that share theirs with another [rows]',
  `example` STRING COMMENT 'one of them, as JSON: its key and the columns in question; null: none',
  `table_versions` MAP<STRING, STRING> NOT NULL COMMENT 'Delta version of every table that was read; of batch_manifest the newest micro-batches read, as \'ingest 7, lanes 9\'',
  `code_version` STRING NOT NULL COMMENT 'version of this project'
)
USING DELTA
COMMENT 'One row per run of the quality job and expectation: the demand on a table, or on several by an invariant, and whether it holds.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'run_id,table_name,kind,columns,invariant',
  'delta.constraints.kind' = 'kind IN (\'not_null\', \'range\', \'set\', \'key\', \'invariant\')',
  'delta.constraints.unexpected' = 'unexpected >= 0'
);
