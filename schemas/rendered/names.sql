CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/names` (
  `id` BIGINT NOT NULL COMMENT 'broker_id, topic_id or sub_id',
  `level` STRING NOT NULL COMMENT 'the kind of thing that the id names',
  `broker` STRING COMMENT 'broker; null unless level is broker',
  `topic` STRING COMMENT 'topic; null if level is broker',
  `subscription` STRING COMMENT 'subscription; null unless level is subscription'
)
USING DELTA
COMMENT 'Text of every id. Two texts with one id stop ingest.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'id',
  'delta.constraints.level' = 'level IN (\'broker\', \'topic\', \'subscription\')'
);
