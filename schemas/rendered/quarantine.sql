CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/quarantine` (
  `reason` STRING NOT NULL COMMENT 'reason code',
  `detail` STRING NOT NULL COMMENT 'the details: field, value found, value expected',
  `raw` STRING NOT NULL COMMENT 'the line, cut at the limit; bytes that are not UTF-8 as U+FFFD',
  `raw_bytes` BIGINT NOT NULL COMMENT 'length of the whole line [bytes]',
  `raw_sha256` STRING NOT NULL COMMENT 'SHA-256 of the whole line, hex',
  `broker` STRING COMMENT 'broker, where the envelope could be read',
  `epoch` BIGINT COMMENT 'epoch, where the envelope could be read',
  `seq` BIGINT COMMENT 'seq, where the envelope could be read',
  `ts` BIGINT COMMENT 'ts, where the envelope could be read [µs]',
  `ns` BIGINT COMMENT 'ns, where the envelope could be read [ns]',
  `source_file` STRING COMMENT 'URI of its file; of Kafka kafka:TOPIC/PARTITION; empty for tables',
  `source_line` BIGINT NOT NULL COMMENT 'its line in the file, from 1; of Kafka its offset, from 0; 0 for tables',
  `ingest_batch` BIGINT NOT NULL COMMENT 'micro-batch of the ingest query that wrote the row',
  `quarantined_at` TIMESTAMP NOT NULL COMMENT 'when, by the driver\'s clock'
)
USING DELTA
COMMENT 'Lines that are not events, each with the reason. quarantine_replays has the lines that moved since.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'source_file,source_line,ingest_batch,reason,raw_sha256',
  'delta.constraints.reason' = 'reason IN (\'not_json\', \'not_an_object\', \'missing_envelope_field\', \'unknown_version\', \'wrong_type\', \'out_of_range\', \'missing_field\', \'bad_enum\', \'text_too_long\', \'invalid_utf8\', \'truncated_file\', \'seq_taken\')',
  'delta.constraints.raw_bytes' = 'raw_bytes >= 0'
);
