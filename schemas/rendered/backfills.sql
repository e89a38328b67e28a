CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/backfills` (
  `run_id` STRING NOT NULL COMMENT 'run of `backfill`',
  `began_at` TIMESTAMP NOT NULL COMMENT 'when the run began, by its clock',
  `finished_at` TIMESTAMP NOT NULL COMMENT 'when these dates were done, by its clock',
  `broker` STRING NOT NULL COMMENT 'broker',
  `first_date` DATE NOT NULL COMMENT 'first UTC date that was computed anew',
  `last_date` DATE NOT NULL COMMENT 'last one',
  `reason` STRING NOT NULL COMMENT 'asked: by --from and --to; late: events had come late; carried: the state from which they begin had been changed; live: a version before computed them though they were not over',
  `table_name` STRING NOT NULL COMMENT 'table that was compared',
  `rows_found` BIGINT NOT NULL COMMENT 'rows of the dates that were there [rows]',
  `rows_computed` BIGINT NOT NULL COMMENT 'rows of the dates now [rows]',
  `added` BIGINT NOT NULL COMMENT 'rows whose key was not there [rows]',
  `removed` BIGINT NOT NULL COMMENT 'rows whose key is there no more [rows]',
  `changed` BIGINT NOT NULL COMMENT 'rows of a key that differ [rows]',
  `based_on` BIGINT NOT NULL COMMENT 'version of the table that was compared',
  `dry_run` BOOLEAN NOT NULL COMMENT 'the run reported the differences, and changed nothing',
  `swapped` BOOLEAN NOT NULL COMMENT 'rows were replaced; false: nothing differed, or dry_run',
  `ingest_batch` BIGINT NOT NULL COMMENT 'newest micro-batch of ingest whose events counted',
  `code_version` STRING NOT NULL COMMENT 'version of this project',
  `rules` STRING NOT NULL COMMENT 'fingerprint of the rules\' sources',
  `settings` MAP<STRING, STRING> NOT NULL COMMENT 'the settings of lanes'
)
USING DELTA
COMMENT 'One row per run of `backfill`, broker, range of dates and table: the difference between the computed rows and the rows that were there.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'run_id,broker,first_date,table_name',
  'delta.constraints.reason' = 'reason IN (\'asked\', \'late\', \'carried\', \'live\')',
  'delta.constraints.rows_found' = 'rows_found >= 0',
  'delta.constraints.rows_computed' = 'rows_computed >= 0',
  'delta.constraints.added' = 'added >= 0',
  'delta.constraints.removed' = 'removed >= 0',
  'delta.constraints.changed' = 'changed >= 0'
);
