-- Every row that lanes read was applied, a duplicate, late, a tombstone, or is held behind a gap; and never are fewer than none held.
-- A violating row is a micro-batch of lanes. `held` is its change of what is held, `held_in_all` what is held after it.
SELECT batch_id, rows_in, applied, duplicates, late, quarantined AS tombstones, held, held_in_all
FROM (
  SELECT *, sum(held) OVER (PARTITION BY query_id ORDER BY batch_id) AS held_in_all FROM batch_manifest WHERE query = 'lanes'
)
WHERE rows_in <> applied + duplicates + late + quarantined + held OR held_in_all < 0
