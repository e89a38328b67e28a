CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/lane_snapshots` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `milestone` STRING NOT NULL COMMENT 'day: the state before the first event of a later date; settled: all rows of the date and those before it are written; ended, drained: the process is over, its log is',
  `event_date` DATE NOT NULL COMMENT 'UTC date that is over; ended, drained: date of the last event',
  `next_seq` BIGINT NOT NULL COMMENT 'seq of the first event after the milestone',
  `digest` BIGINT NOT NULL COMMENT 'of `state`; 0 without one',
  `began_from` BIGINT NOT NULL COMMENT 'digest of the snapshot before it, 0 if there is none: another one than is there now means that a backfill changed it since, and this date waits for one',
  `state` BINARY NOT NULL COMMENT 'the state of the broker\'s model, in the format of the lanes\' own (docs/design/architecture.md); empty unless milestone is day'
)
USING DELTA
COMMENT 'Milestones of an epoch. A backfill begins at one. Another one shows that a date is finished.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,milestone,next_seq',
  'delta.constraints.milestone' = 'milestone IN (\'day\', \'settled\', \'ended\', \'drained\')'
);
