CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/broker_windows` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `window_start` TIMESTAMP NOT NULL COMMENT 'start of the window, aligned to UTC',
  `window_end` TIMESTAMP NOT NULL COMMENT 'its end, exclusive',
  `clock_segment` INT NOT NULL COMMENT 'steps of the broker\'s wall clock before it in the epoch; 0 unless the host\'s clock was set',
  `log_until` TIMESTAMP NOT NULL COMMENT 'up to when the log has the window: its end, if an event came later; else ts of its newest event',
  `last_event_at` TIMESTAMP COMMENT 'greatest ts of its events; null: it has none',
  `events` BIGINT NOT NULL COMMENT 'events of the broker seen in it [events]',
  `lost_events` BIGINT NOT NULL COMMENT 'events of the broker lost or rejected in it, or since the window before [events]',
  `completeness` DOUBLE NOT NULL COMMENT 'share of the broker\'s events of this window that were seen; < 1 where some were lost or quarantined'
)
USING DELTA
COMMENT 'How far the log of a broker goes: one row per window with an event (a heartbeat is enough), or in which something lasted.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,window_start,clock_segment',
  'delta.constraints.events' = 'events >= 0',
  'delta.constraints.lost_events' = 'lost_events >= 0',
  'delta.constraints.completeness' = 'completeness >= 0 AND completeness <= 1'
);
