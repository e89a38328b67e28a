-- How long did each micro-batch take, where did its time go, and which run wrote it?
-- One row per micro-batch that a run finished: query_progress in seconds, with the run's code and settings.
--   took_s         all of it; its parts: list_s (new files), plan_s (planning), work_s (read, compute, write the tables),
--                  checkpoint_s (recording the offsets and the end), other_s (the rest, without a name in Spark)
--   slowest        the part that took longest
--   rows_in        null: it wrote nothing; ms_per_krow: work_s for a thousand rows, high in a slow job, not in a busy one
--   event_lag_s    age of its newest event when it was finished
--   waited_s       since the micro-batch before it of the same run and query: near 0 for long means that the job cannot keep up
SELECT
  *,
  array_max(array(
    struct(work_s AS s, 'work' AS part), struct(list_s AS s, 'list' AS part), struct(plan_s AS s, 'plan' AS part),
    struct(checkpoint_s AS s, 'checkpoint' AS part), struct(other_s AS s, 'other' AS part)
  )).part AS slowest,
  IF(rows_in > 0, 1e6 * work_s / rows_in, NULL) AS ms_per_krow
FROM (
  SELECT
    p.query, p.batch_id, p.began_at, p.ended_at,
    p.trigger_execution_ms / 1e3 AS took_s,
    (p.latest_offset_ms + p.get_batch_ms) / 1e3 AS list_s,
    p.query_planning_ms / 1e3 AS plan_s,
    p.add_batch_ms / 1e3 AS work_s,
    (p.wal_commit_ms + p.commit_offsets_ms) / 1e3 AS checkpoint_s,
    (p.trigger_execution_ms - p.latest_offset_ms - p.get_batch_ms - p.query_planning_ms - p.add_batch_ms - p.wal_commit_ms
      - p.commit_offsets_ms) / 1e3 AS other_s,
    timestampdiff(MILLISECOND, lag(p.ended_at) OVER (PARTITION BY p.run_id, p.query ORDER BY p.batch_id), p.began_at) / 1e3 AS waited_s,
    p.rows_in, p.rows_per_s, p.quarantined, p.late, p.held, p.lost,
    p.newest_event_at, p.event_lag_ms / 1e3 AS event_lag_s, p.files_behind, p.bytes_behind,
    p.state_bytes, p.state_rows_updated, p.state_memory_bytes, p.state_commit_ms,
    p.run_id, r.code_version, r.code_fingerprint, r.settings_fingerprint
  FROM query_progress p
  LEFT JOIN runs r ON r.run_id = p.run_id
)
