-- Every line that came in is in dispatch_events or in quarantine, batch by batch: lines = bronze + quarantine, in the books and counted.
-- A violating row is a micro-batch of ingest. `lines_of_files` is null where the log is a table: it has no files. The books are of when the
-- lines came in; what `quarantine replay` moved since is in quarantine_replays: `taken_out` of quarantine, `put_back` into dispatch_events
-- under the number of another micro-batch. Rows of the reason seq_taken are events: lanes found them in dispatch_events.
WITH booked AS (
  SELECT batch_id AS ingest_batch, rows_in AS lines, bronze, quarantined FROM batch_manifest WHERE query = 'ingest'
),
events AS (SELECT ingest_batch, count(*) AS events_found FROM dispatch_events GROUP BY ingest_batch),
rejected AS (SELECT ingest_batch, count(*) AS quarantined_found FROM quarantine WHERE reason <> 'seq_taken' GROUP BY ingest_batch),
files AS (SELECT ingest_batch, sum(lines) AS lines_of_files FROM ingest_files WHERE fault <> 'grew' GROUP BY ingest_batch),
moved AS (
  SELECT ingest_batch, sum(taken_out) AS taken_out, sum(put_back) AS put_back
  FROM (
    SELECT rejected_batch AS ingest_batch, 1 AS taken_out, 0 AS put_back FROM quarantine_replays
    UNION ALL SELECT ingest_batch, 0, 1 FROM quarantine_replays
  )
  GROUP BY ingest_batch
)
SELECT ingest_batch, lines, lines_of_files, bronze, coalesce(events_found, 0) AS events_found,
  quarantined, coalesce(quarantined_found, 0) AS quarantined_found, coalesce(taken_out, 0) AS taken_out, coalesce(put_back, 0) AS put_back
FROM booked FULL JOIN events USING (ingest_batch) FULL JOIN rejected USING (ingest_batch) FULL JOIN files USING (ingest_batch)
  FULL JOIN moved USING (ingest_batch)
WHERE lines IS NULL
  OR lines <> bronze + quarantined
  OR bronze + coalesce(put_back, 0) <> coalesce(events_found, 0)
  OR quarantined - coalesce(taken_out, 0) <> coalesce(quarantined_found, 0)
  OR lines <> coalesce(lines_of_files, lines)
