-- Which runs of `stream` or `load` wrote the warehouse, with which code and settings, and how did each end?
-- One row per run_id, newest first where you order by started_at.
--   outcome        done, stopped (on request), failed (see error); null: it still runs, or it was killed (`status` shows which)
--   wall_s         how long it ran; null without an end
--   same_code, same_settings   as in the run that was started before it; null for the first run
--   lost           records that Kafka had lost when the run went on without them (kafka.on_loss = go_on); null: nothing
--   micro_batches  that it finished; unrecorded: of them those that query_progress lacks
SELECT
  run_id, command, mode, outcome, started_at, ended_at,
  timestampdiff(MILLISECOND, started_at, ended_at) / 1e3 AS wall_s,
  micro_batches, unrecorded, error, lost,
  code_version, code_fingerprint, code_fingerprint = lag(code_fingerprint) OVER by_start AS same_code,
  settings_fingerprint, settings_fingerprint = lag(settings_fingerprint) OVER by_start AS same_settings,
  settings, spark_version, events, host, pid
FROM (
  SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY event) AS nth -- 'ended' is before 'started'
  FROM run_ledger
)
WHERE nth = 1
WINDOW by_start AS (ORDER BY started_at, run_id)
