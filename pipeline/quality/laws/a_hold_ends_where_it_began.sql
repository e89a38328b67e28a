-- A lane ends a hold that it began, once, and no event was applied meanwhile.
-- A violating row is an answer that ends a hold.
SELECT ended.broker, ended.epoch, ended.request, ended.answer, ended.next_seq, held.next_seq AS held_at, ended.ends
FROM (
  SELECT *, count(*) OVER (PARTITION BY broker, epoch, request) AS ends FROM lane_answers WHERE answer IN ('seeded', 'released', 'lapsed')
) AS ended
LEFT JOIN (SELECT * FROM lane_answers WHERE answer = 'held') AS held USING (broker, epoch, request)
WHERE held.next_seq IS NULL OR held.next_seq != ended.next_seq OR ended.ends > 1
