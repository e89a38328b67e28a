CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/quarantine_replays` (
  `replay` BIGINT NOT NULL COMMENT 'number of the replay, from 1',
  `source_file` STRING COMMENT 'URI of its file; of Kafka kafka:TOPIC/PARTITION; empty for tables',
  `source_line` BIGINT NOT NULL COMMENT 'its line in the file, from 1; of Kafka its offset, from 0; 0 for tables',
  `rejected_batch` BIGINT NOT NULL COMMENT 'ingest_batch of its row in quarantine',
  `reason` STRING NOT NULL COMMENT 'why it lay in quarantine',
  `raw` STRING NOT NULL COMMENT 'the line as quarantine had it',
  `raw_sha256` STRING NOT NULL COMMENT 'SHA-256 of the whole line as it was rejected, hex',
  `repaired` BOOLEAN NOT NULL COMMENT 'somebody gave another text for it (--from); false: the parser accepts the line as it is',
  `tombstone` BOOLEAN NOT NULL COMMENT 'its place was in lane_control since it was rejected: lanes make a late event of it',
  `broker` STRING NOT NULL COMMENT 'broker of the event',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the event [ms since 1970]',
  `seq` BIGINT NOT NULL COMMENT 'its place in the epoch',
  `ts` BIGINT NOT NULL COMMENT 'ts of the event [µs]',
  `event_date` DATE NOT NULL COMMENT 'UTC date of ts: the date to backfill',
  `ingest_batch` BIGINT NOT NULL COMMENT 'ingest_batch of its row in dispatch_events',
  `bronze_version` BIGINT NOT NULL COMMENT 'version of dispatch_events in which it appeared',
  `run_id` STRING NOT NULL COMMENT 'run of the replay',
  `code_version` STRING NOT NULL COMMENT 'version of this project',
  `replayed_at` TIMESTAMP NOT NULL COMMENT 'when, by the command\'s clock'
)
USING DELTA
COMMENT 'One row per line that `quarantine replay` moved to dispatch_events. It has the old line and the new event.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'source_file,source_line,rejected_batch,raw_sha256',
  'delta.constraints.replay' = 'replay >= 1',
  'delta.constraints.reason' = 'reason IN (\'not_json\', \'not_an_object\', \'missing_envelope_field\', \'unknown_version\', \'wrong_type\', \'out_of_range\', \'missing_field\', \'bad_enum\', \'text_too_long\', \'invalid_utf8\', \'truncated_file\')'
);
