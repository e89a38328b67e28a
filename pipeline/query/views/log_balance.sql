-- Is every line accounted for, from the files to the tables?
-- One row for the warehouse, summed over batch_manifest.
--   bronze, quarantined   where the lines are now: `replayed` of them were put back from quarantine into dispatch_events
--   lines_in = bronze + quarantined                                    (ingest_balanced)
--   rows_in = applied + duplicates + late + tombstones + held          (lanes_balanced; tombstones: rejected lines with a place in the log)
--   lanes_behind   rows in bronze and tombstones that the lanes query has not read yet
--   held           events that wait behind a gap; lost: places that were given up
WITH put_back AS (SELECT count(*) AS replayed FROM quarantine_replays)
SELECT
  *,
  lines_in = bronze + quarantined AS ingest_balanced,
  rows_in = applied + duplicates + late + tombstones + held AS lanes_balanced,
  bronze + tombstones_written - rows_in AS lanes_behind
FROM (
  SELECT
    coalesce(sum(rows_in) FILTER (WHERE query = 'ingest'), 0) AS lines_in,
    coalesce(sum(bronze) FILTER (WHERE query = 'ingest'), 0) + (SELECT replayed FROM put_back) AS bronze,
    coalesce(sum(quarantined) FILTER (WHERE query = 'ingest'), 0) - (SELECT replayed FROM put_back) AS quarantined,
    (SELECT replayed FROM put_back) AS replayed,
    coalesce(sum(rows_in) FILTER (WHERE query = 'lanes'), 0) AS rows_in,
    coalesce(sum(applied) FILTER (WHERE query = 'lanes'), 0) AS applied,
    coalesce(sum(duplicates) FILTER (WHERE query = 'lanes'), 0) AS duplicates,
    coalesce(sum(late) FILTER (WHERE query = 'lanes'), 0) AS late,
    coalesce(sum(quarantined) FILTER (WHERE query = 'lanes'), 0) AS tombstones,
    coalesce(sum(held) FILTER (WHERE query = 'lanes'), 0) AS held,
    coalesce(sum(lost) FILTER (WHERE query = 'lanes'), 0) AS lost,
    max(written_at) AS last_written_at
  FROM batch_manifest
)
CROSS JOIN (SELECT count(*) AS tombstones_written FROM lane_control WHERE kind = 'tombstone')
