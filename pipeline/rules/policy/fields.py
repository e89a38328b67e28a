"""Where the fields that only this package reads lie in a lane row."""

from pipeline.rules.fields import columns
from schemas.lane_columns import SLOT_FIELDS

SOURCE, KIND, SET_NAMESPACE, MSG_RATE, BYTE_RATE, PERIOD_S, RELATIVE, QUOTA_TYPE, LIMIT, POLICY = columns(
    "policy_set", *SLOT_FIELDS["policy_set"]
)
RATE_SOURCE, RATE_NAMESPACE = columns("dispatch_rate", "source", "namespace_id")
QUOTA_SOURCE, QUOTA_NAMESPACE = columns("backlog_quota", "source", "namespace_id")
(LOAD_NAMESPACE,) = columns("topic_load", "namespace_id")
