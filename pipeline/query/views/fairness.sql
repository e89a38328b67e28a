-- Did subscriptions share a limiter fairly while it was binding?
-- One row per limiter of a broker or a topic, dimension and window in which it was binding.
--   limiter_topic      null for the broker's
--   subscriptions      that drew on it or were held back by it
--   jain               Jain's index of their shares: (Σx)² / (n · Σx²). 1 = all got the same, 1/n = one got everything; null: none got any
--   largest_topic, largest_subscription, largest_share   who got most, and its share
--   smallest_share     of who got least
--   held_back          subscriptions that the limiter left with nothing at least once
SELECT broker, epoch, level, limiter_topic, dimension, window_start, window_end, clock_segment,
  count(*) AS subscriptions,
  try_divide(power(sum(CAST(used AS DOUBLE)), 2), count(*) * sum(power(CAST(used AS DOUBLE), 2))) AS jain,
  max_by(topic, struct(used, topic, subscription)) AS largest_topic,
  max_by(subscription, struct(used, topic, subscription)) AS largest_subscription,
  max(used_share) AS largest_share,
  min(used_share) AS smallest_share,
  count_if(own_reads_blocked > 0) AS held_back
FROM noisy_neighbours
GROUP BY broker, epoch, level, limiter_topic, dimension, window_start, window_end, clock_segment
