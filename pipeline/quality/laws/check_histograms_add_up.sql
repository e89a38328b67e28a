-- The histogram of check durations is one: buckets grow to all checks of their window, and since the broker's start they are windows' sums.
-- A violating row is a window; `differ` names the buckets that are not the sums.
SELECT broker, epoch, window_start, clock_segment, checks, le_inf, differ
FROM (
  SELECT *, array_compact(array(
    if(sum(le_5) OVER so_far <> le_5_since_start, 'le_5_since_start', NULL),
    if(sum(le_10) OVER so_far <> le_10_since_start, 'le_10_since_start', NULL),
    if(sum(le_30) OVER so_far <> le_30_since_start, 'le_30_since_start', NULL),
    if(sum(le_60) OVER so_far <> le_60_since_start, 'le_60_since_start', NULL),
    if(sum(le_300) OVER so_far <> le_300_since_start, 'le_300_since_start', NULL),
    if(sum(le_inf) OVER so_far <> le_inf_since_start, 'le_inf_since_start', NULL)
  )) AS differ
  FROM quota_checks
  WINDOW so_far AS (PARTITION BY broker, epoch ORDER BY clock_segment, window_start)
)
WHERE size(differ) > 0
  OR NOT (le_5 <= le_10 AND le_10 <= le_30 AND le_30 <= le_60 AND le_60 <= le_300 AND le_300 <= le_inf AND le_inf = checks)
