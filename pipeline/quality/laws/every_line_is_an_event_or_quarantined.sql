-- Every line that came in is in dispatch_events or in quarantine, batch by batch: lines = bronze + quarantine, in the books and counted.
-- A violating row is a micro-batch of ingest. `lines_of_files` is null where the log is a table: it has no files.
WITH booked AS (
  SELECT batch_id AS ingest_batch, rows_in AS lines, bronze, quarantined FROM batch_manifest WHERE query = 'ingest'
),
events AS (SELECT ingest_batch, count(*) AS events_found FROM dispatch_events GROUP BY ingest_batch),
rejected AS (SELECT ingest_batch, count(*) AS quarantined_found FROM quarantine GROUP BY ingest_batch),
files AS (SELECT ingest_batch, sum(lines) AS lines_of_files FROM ingest_files WHERE fault <> 'grew' GROUP BY ingest_batch)
SELECT ingest_batch, lines, lines_of_files, bronze, coalesce(events_found, 0) AS events_found,
  quarantined, coalesce(quarantined_found, 0) AS quarantined_found
FROM booked FULL JOIN events USING (ingest_batch) FULL JOIN rejected USING (ingest_batch) FULL JOIN files USING (ingest_batch)
WHERE lines IS NULL
  OR lines <> bronze + quarantined
  OR bronze <> coalesce(events_found, 0)
  OR quarantined <> coalesce(quarantined_found, 0)
  OR lines <> coalesce(lines_of_files, lines)
