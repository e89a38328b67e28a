-- Lanes read every row of dispatch_events and every tombstone once: never more, and not fewer once they stand where ingest stands.
-- One row for the warehouse, if it is violated. Where lanes stand is in the offsets of their newest micro-batch: a line per source, bronze
-- first, each with the version that is read next; a negative index: nothing of it yet.
WITH lanes AS (
  SELECT sum(rows_in) AS rows_read, max_by(split(source_offsets, '\n'), batch_id) AS offsets FROM batch_manifest WHERE query = 'lanes'
),
ingest AS (
  SELECT CAST(max_by(table_versions, batch_id)['dispatch_events'] AS BIGINT) AS bronze_version,
    CAST(max_by(table_versions, batch_id)['lane_control'] AS BIGINT) AS control_version
  FROM batch_manifest WHERE query = 'ingest'
),
read_next AS (
  SELECT coalesce(rows_read, 0) AS rows_read,
    CAST(get_json_object(offsets[2], '$.reservoirVersion') AS BIGINT) AS of_bronze,
    CAST(get_json_object(offsets[2], '$.index') AS BIGINT) AS index_in_bronze,
    CAST(get_json_object(offsets[3], '$.reservoirVersion') AS BIGINT) AS of_control,
    CAST(get_json_object(offsets[3], '$.index') AS BIGINT) AS index_in_control
  FROM lanes
),
positions AS (
  SELECT rows_read,
    index_in_bronze < 0 AND of_bronze > bronze_version AND index_in_control < 0 AND of_control > control_version AS caught_up
  FROM read_next CROSS JOIN ingest
),
there AS (
  SELECT (SELECT count(*) FROM dispatch_events) AS bronze, (SELECT count(*) FROM lane_control WHERE kind = 'tombstone') AS tombstones
)
SELECT rows_read, bronze, tombstones, coalesce(caught_up, false) AS caught_up
FROM positions CROSS JOIN there
WHERE rows_read > bronze + tombstones OR (caught_up AND rows_read < bronze + tombstones)
