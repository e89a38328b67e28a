"""The pace of subscriptions and their forecast at their last check before an instant: as `catch_up_forecasts` has it, over few checks."""

from datetime import datetime

from pipeline.query.views.catalog import sql_of
from pipeline.query.views.inlined import with_views_over
from pipeline.warehouse.literals import instant

_FORESEEN = "current_at, current_from, current_to, most_entries_per_s, soonest_at, allowed, outpaced, shut_out"
#: Also read by `catch_up_forecasts`: an engine that reads them for all brokers takes longer than for all the rest.
_OF_BROKER = ("topic_backlog", "limiter_units", "check_intervals", "policy_spans")
_KEY = ("broker", "epoch", "topic", "subscription", "check_number")


def catch_up_at(of_epochs: str, here: str, end: datetime) -> str:
    """SQL: a row of `subscription_rates` for each subscription, the last one until `end`, with columns of `catch_up_forecasts`.

    `of_epochs` (SQL) names brokers and their epochs, `here` (SQL) subscriptions of them. As of `recent_checks`, the ten minutes before the
    earliest of these rows of a broker count, and the check before these, of all its topics: they share its limit. `catch_up_forecasts`
    itself would sort all checks of the epoch.
    """
    foreseen = ", ".join(f"f.{name}" for name in _FORESEEN.split(", "))
    same = " AND ".join(f"f.{name} = r.{name}" for name in _KEY)
    own = ", ".join(f"own_{view} AS (SELECT * FROM {view} WHERE {of_epochs})" for view in _OF_BROKER)
    over = ", ".join(f"{view}, own_{view}" for view in _OF_BROKER)
    return with_views_over(
        f"""WITH newest AS (
  SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY broker, epoch, topic, subscription ORDER BY check_number DESC) AS age
    FROM subscription_rates WHERE {here} AND to_time <= {instant(end)}
  ) WHERE age = 1
),
last_minutes AS (
  SELECT t.broker, t.epoch, min(t.check_number) AS first_number
  FROM topic_backlog t
  JOIN (SELECT broker, epoch, min(unix_micros(to_time)) - 600000000 AS begin_us FROM newest GROUP BY broker, epoch) n
    ON n.broker = t.broker AND n.epoch = t.epoch AND unix_micros(t.check_time) >= n.begin_us
  GROUP BY t.broker, t.epoch
),
counted_checks AS (
  SELECT t.broker, t.epoch, t.topic,
    coalesce(max(CASE WHEN t.check_number < m.first_number THEN t.check_number END), min(t.check_number)) AS first_number
  FROM topic_backlog t
  JOIN last_minutes m ON m.broker = t.broker AND m.epoch = t.epoch
  GROUP BY t.broker, t.epoch, t.topic
),
counted AS (
  SELECT s.* FROM subscription_backlog s
  JOIN counted_checks c ON c.broker = s.broker AND c.epoch = s.epoch AND c.topic = s.topic AND s.check_number >= c.first_number
),
{own}
SELECT r.*, {foreseen}
FROM newest r
LEFT JOIN VIEW_OVER(catch_up_forecasts, subscription_backlog, counted, {over}) f ON {same}""",
        sql_of,
    )
