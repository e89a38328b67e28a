CREATE TABLE IF NOT EXISTS delta.`WAREHOUSE/topic_publish_pauses` (
  `broker` STRING NOT NULL COMMENT 'broker',
  `epoch` BIGINT NOT NULL COMMENT 'epoch of the broker [ms since 1970]',
  `topic` STRING NOT NULL COMMENT 'full topic name',
  `window_start` TIMESTAMP NOT NULL COMMENT 'start of the window, aligned to UTC',
  `window_end` TIMESTAMP NOT NULL COMMENT 'its end, exclusive',
  `clock_segment` INT NOT NULL COMMENT 'steps of the broker\'s wall clock before it in the epoch; 0 unless the host\'s clock was set',
  `completeness` DOUBLE NOT NULL COMMENT 'share of the broker\'s events of this window that were seen; < 1 where some were lost or quarantined',
  `producers_paused_ns` BIGINT NOT NULL COMMENT 'time in which at least one connection with an open producer of the topic was paused [ns]',
  `publish_limited_times` BIGINT NOT NULL COMMENT 'pauses, counted once for each producer of the topic on the connection; Pulsar: pulsar_publish_rate_limit_times',
  `connections_paused_max` BIGINT NOT NULL COMMENT 'most connections with producers of the topic that were paused at once [connections]'
)
USING DELTA
COMMENT 'One row per topic and window in which a connection with producers of the topic was paused.'
TBLPROPERTIES (
  'delta.checkpointInterval' = '50',
  'delta.dataSkippingStatsColumns' = 'broker,epoch,topic,window_start,clock_segment',
  'delta.constraints.completeness' = 'completeness >= 0 AND completeness <= 1',
  'delta.constraints.producers_paused_ns' = 'producers_paused_ns >= 0',
  'delta.constraints.publish_limited_times' = 'publish_limited_times >= 0',
  'delta.constraints.connections_paused_max' = 'connections_paused_max >= 0'
);
