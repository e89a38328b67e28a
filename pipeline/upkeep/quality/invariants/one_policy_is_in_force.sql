-- Of the places that set a limit one is in force, and it shadows the others; or the limit has ended.
-- A violating row is a limit, and how many places rule it.
SELECT broker, epoch, topic, subscription, limit_kind, seen_seq, count(*) AS places, sum(CASE WHEN in_force THEN 1 ELSE 0 END) AS ruling
FROM policies
GROUP BY broker, epoch, topic, subscription, limit_kind, seen_seq
HAVING (sum(CASE WHEN in_force THEN 1 ELSE 0 END) <> 1 AND NOT (count(*) = 1 AND max(set_by) IS NULL))
  OR sum(CASE WHEN in_force AND shadowed_by IS NOT NULL THEN 1 ELSE 0 END) > 0
  OR sum(CASE WHEN NOT in_force AND set_by IS NOT NULL AND shadowed_by IS NULL THEN 1 ELSE 0 END) > 0
