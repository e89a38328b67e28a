CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/run_ledger` (
  `run_id` STRING NOT NULL COMMENT 'driver run, as in batch_manifest and query_progress',
  `event` STRING NOT NULL COMMENT 'which of the two rows; ended has everything that started has',
  `command` STRING NOT NULL COMMENT 'command that wrote: stream or load',
  `mode` STRING NOT NULL COMMENT 'live; once: read the files that are there; drain: once, and the log ends there, as for load',
  `events` STRING NOT NULL COMMENT 'where the log was read from: --events',
  `host` STRING NOT NULL COMMENT 'where the driver ran',
  `pid` BIGINT NOT NULL COMMENT 'its process',
  `code_version` STRING NOT NULL COMMENT 'version of this project',
  `code_fingerprint` STRING NOT NULL COMMENT 'hash of this project\'s Python files: two runs of one version may be of different code',
  `spark_version` STRING NOT NULL COMMENT 'version of Spark; none: load starts no Spark',
  `settings_fingerprint` STRING NOT NULL COMMENT 'hash of the settings: alike where all settings are alike',
  `settings` MAP<STRING, STRING> NOT NULL COMMENT 'effective settings of the project, by section.key',
  `started_at` TIMESTAMP NOT NULL COMMENT 'when it had the warehouse for itself, by the driver\'s clock',
  `ended_at` TIMESTAMP COMMENT 'when it ended; null in the first row',
  `outcome` STRING COMMENT 'done: read to its end; stopped: on request; failed',
  `error` STRING COMMENT 'of a failed run: its cause in one line',
  `micro_batches` BIGINT COMMENT 'micro-batches of both queries that it finished',
  `unrecorded` BIGINT COMMENT 'of them those that query_progress will lack: too many at once, or it could not be written',
  `lost` STRING COMMENT 'records of the log that Kafka had lost when the run began, in words: the run went on without it (kafka.on_loss=go_on); null: nothing'
)
USING DELTA
COMMENT 'Two rows per run of `stream` or `load`: one when it began, one when it ended. A run that was killed has only the first. See the view `runs`.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'run_id,event',
  'delta.constraints.event' = 'event IN (\'started\', \'ended\')',
  'delta.constraints.mode' = 'mode IN (\'live\', \'once\', \'drain\')',
  'delta.constraints.outcome' = 'outcome IS NULL OR (outcome IN (\'done\', \'stopped\', \'failed\'))',
  'delta.constraints.micro_batches' = 'micro_batches IS NULL OR (micro_batches >= 0)',
  'delta.constraints.unrecorded' = 'unrecorded IS NULL OR (unrecorded >= 0)'
);
