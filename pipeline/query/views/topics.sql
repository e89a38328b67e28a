-- To which tenant, namespace and partitioned topic does each topic belong?
-- One row per topic that the log names. Join it to any table that has a topic: LEFT JOIN topics USING (topic).
-- A name is read as the broker reads it (Pulsar 4.x: TopicName, NamespaceName, NamedEntity, TopicDomain).
--   domain              persistent or non-persistent
--   tenant, namespace   shop and shop/eu. A fourth part makes it a name of version 1 (until 5.0, PIP-457), tenant/cluster/namespace/name:
--                       then the namespace has three parts, and all further slashes belong to the local name
--   local_name          with its -partition-N
--   partitioned_topic   the full name without -partition-N; the topic itself if it is no partition
--   partition           N; −1: none. N has the digits 0 to 9, no zero before it, and fits into an int: -partition-01 and -partition-x
--                       are parts of a name
-- Where the broker would refuse the name, domain, tenant, namespace and local_name are null and partition is −1.
WITH cut AS (
  -- At the first :// only; without one the whole text is no domain.
  SELECT id AS topic_id, topic,
    lower(substring_index(topic, '://', 1)) AS domain,
    substring(topic, locate('://', topic) + 3) AS rest
  FROM names
  WHERE level = 'topic'
),
parts AS (
  SELECT *, split(rest, '/', 4) AS part FROM cut
),
judged AS (
  SELECT *,
    domain IN ('persistent', 'non-persistent')
      AND size(part) >= 3
      AND forall(slice(part, 1, size(part) - 1), name -> name RLIKE r'\A[-=:.\w]+\z')
      AND element_at(part, -1) <> '' AS valid,
    -- At the very end (\z: a line feed after it is part of the name), and null where an int does not hold it.
    coalesce(try_cast(regexp_extract(rest, r'-partition-(0|[1-9][0-9]*)\z', 1) AS INT), -1) AS number
  FROM parts
)
SELECT
  topic_id, topic,
  CASE WHEN valid THEN domain END AS domain,
  CASE WHEN valid THEN part[0] END AS tenant,
  CASE WHEN valid THEN array_join(slice(part, 1, size(part) - 1), '/') END AS namespace,
  CASE WHEN valid THEN element_at(part, -1) END AS local_name,
  CASE WHEN valid AND number >= 0 THEN regexp_replace(concat(domain, '://', rest), r'-partition-[0-9]+\z', '') ELSE topic END
    AS partitioned_topic,
  CASE WHEN valid THEN number ELSE -1 END AS partition
FROM judged
