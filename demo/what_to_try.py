"""Commands to try after the demo."""

import shlex
from collections.abc import Sequence
from typing import Any

from pipeline.query.views.status_words import WELL

#: Backlog × time of each subscription in each window, the most first.
WORST_WINDOWS = """
SELECT topic, subscription, window_end, sum(entry_us) AS entry_us FROM subscription_causes
GROUP BY topic, subscription, window_end HAVING sum(entry_us) > 0 ORDER BY entry_us DESC, window_end, topic, subscription
"""


def whom_to_explain(look: Any) -> list[str]:
    """What `explain` is given: the first that is behind, as `why` has it. Topics of Pulsar itself do not count.

    Once the broker has stopped nobody is behind any more. Then the one that was most, and the end of its worst window. Nothing if nobody
    ever was.
    """
    for row in look.rows("SELECT topic, subscription, status FROM why"):
        if row["status"] not in (*WELL, "unknown") and "/__" not in row["topic"]:
            return [row["topic"], row["subscription"]]
    for row in look.rows(WORST_WINDOWS):
        if "/__" not in row["topic"]:
            return [row["topic"], row["subscription"], "--at", row["window_end"].isoformat().replace("+00:00", "Z")]
    return []


def where_to_look(root: str, shown: str, explained: Sequence[str]) -> str:
    """Where the tables are (`root`), and lines to try, with the warehouse as the user named it (`shown`); a test runs each of them.

    `explained`: what `explain` is given, if anything; `why` is asked of the same instant. An operator asks about causes first, so queries
    come later.
    """
    lines = ["serve", shlex.join(["why", *explained[2:]]) if explained else "why --all"]
    if explained:
        lines.append(shlex.join(["explain", *explained]))
    queries = (
        "SELECT topic, subscription, state, held_by, limit_rate, blocked_s, waiting_entries FROM throttled_now",
        "SELECT topic, quota_type, exceeded, breach_at, loses_first, others_losing FROM quota_risk",
        "SELECT conn, remote, state, throttle_types, paused_since, pending_bytes_at_least FROM channels_now",
    )
    lines += [f'sql "{query}"' for query in queries]
    return f"\ntables: {root}\ntry:\n" + "\n".join(f"  ./spark-submit.sh {line} --warehouse {shlex.quote(shown)}" for line in lines)
