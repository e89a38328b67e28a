CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/lane_answers` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'open epoch that the answer is of; 0: there is none [ms since 1970]',
  `request` BIGINT NOT NULL COMMENT 'number of the request: when the backfill asked [µs since 1970]',
  `answer` STRING NOT NULL COMMENT 'held: rows wait from next_seq on; seeded: the epoch goes on from the new state; released: it goes on from its own, as the backfill ordered; lapsed: it goes on from its own, too much waited; refused: the state is not for where the epoch stands, or of another version',
  `next_seq` BIGINT NOT NULL COMMENT 'seq of the first event that was not applied'
)
USING DELTA
COMMENT 'What a lane answered to a backfill that asked it to hold its rows and to go on from a state that was computed anew.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,request,answer',
  'delta.constraints.answer' = 'answer IN (\'held\', \'seeded\', \'released\', \'lapsed\', \'refused\')'
);
