CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/ingest_files` (
  `source_file` STRING NOT NULL COMMENT 'URI of the file; of a part URI?bytes=FROM-TO; of Kafka kafka:TOPIC/PARTITION?offsets=FIRST-LAST',
  `bytes` BIGINT NOT NULL COMMENT 'its length when it was listed; of a part its length; of Kafka the length of the records\' values [bytes]',
  `lines` BIGINT NOT NULL COMMENT 'lines in it that are not blank, and one for a truncation',
  `fault` STRING NOT NULL COMMENT '\'none\', \'truncated\' (ends inside its compressed stream) or \'grew\' (longer than when it was read)',
  `ingest_batch` BIGINT NOT NULL COMMENT 'micro-batch of the ingest query'
)
USING DELTA
COMMENT 'One row per file that was read. A file that grew after it was read has a second row. A file that was read while a collector wrote it has a row for each part, and one for the rest. A topic of Kafka has a row per partition and micro-batch.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'source_file,fault',
  'delta.constraints.lines' = 'lines >= 0',
  'delta.constraints.fault' = 'fault IN (\'none\', \'truncated\', \'grew\')'
);
