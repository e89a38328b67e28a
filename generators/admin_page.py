"""Renders docs/reference/admin-api.md from the declarations of the admin API.

`python -m generators` writes it anew; a test compares it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from generators.metrics_page import table
from pipeline.serving.admin import left_out
from pipeline.serving.admin.asked_rows import MOST_ROWS
from pipeline.serving.admin.fields import SUBSCRIPTION_FIELDS, TOPIC_FIELDS, Field
from pipeline.serving.admin.paths import NOT_ANSWERED, PATHS

DOCUMENT = Path(__file__).resolve().parents[1] / "docs/reference/admin-api.md"
_HEAD = f"""# Admin API

Generated from `pipeline/serving/admin` by `python -m generators`: do not edit, a test compares.

The GETs of Pulsar 4.0.8's `/admin/v2` that the tables know. Stock clients work with them: `pulsar-admin`, Pulsar's Java
client, pulsarctl, the Pulsar scaler of KEDA. JSON has the broker's keys, nesting and numbers.

```bash
pulsar-admin --admin-url http://127.0.0.1:8480 topics stats persistent://shop/eu/orders
curl http://127.0.0.1:8480/admin/v2/persistent/shop/eu/orders/stats
curl http://127.0.0.1:8480/at/2026-11-21T11:48:00Z/admin/v2/persistent/shop/eu/orders/stats
```

* A value that is not known is left out: never null, never 0. [Below](#left-out) are these values, with the reason. A
  client shows its own default in their place, mostly 0, and a scaler takes it for a backlog of 0. In the JSON they are
  not there.
* Names are those that a broker has now: a topic that no broker has loaded is not found.
* Entries are of the newest quota check of the topic, or of the end of the newest finished window if that is later.
  Bytes, limits, times and producers are of the check, after the actions of the broker at it.
* Options that ask a broker for more (`getPreciseBacklog`, `subscriptionBacklogSize`, …) change nothing.
* `/at/TIME/admin/v2/…` answers as of an instant: TIME is ISO 8601 with its zone. The answer is from the rows of then:
  of finished windows, of checks, of actions that were over. Before the first finished window and after the newest event
  the answer is 404.
* An answer has at most {MOST_ROWS:,} names or subscriptions.

| status | meaning |
|---|---|
| 204 | no such limit is set |
| 400 | the instant is none |
| 404 | the name is not there, or nothing is known of it. `reason` has which |
| 405 | another method than GET |
| 412 | a name that no broker would take |
| 422 | the answer would be too long |
| 503 | not now ([serve.md](../guide/serve.md)) |
"""


def render() -> str:
    """The whole page."""
    paths = [(f"`/{path.pattern}`", path.meaning) for path in PATHS]
    others = [(f"`/{pattern}`", reason) for pattern, reason in NOT_ANSWERED.items()]
    return "".join((
        _HEAD, "\n## Paths\n\nAfter `/admin/v2`. Others are answered with 404.\n\n",
        table(("path", "answer"), [*paths, *((path, f"404: {reason}") for path, reason in others)]),
        "\n## Fields of a topic\n\n", _fields(TOPIC_FIELDS, _OTHERS), "\n## Fields of a subscription\n\n", _fields(SUBSCRIPTION_FIELDS),
        "\n## Left out\n\n", _reasons("value", left_out.VALUES),
        "\n", _reasons("field of a topic", _named(left_out.OF_TOPICS)),
        "\n", _reasons("field of a subscription", _named(left_out.OF_SUBSCRIPTIONS)),
    ))  # fmt: skip


#: Made of several rows.
_OTHERS = (
    ("`publishers`", "the longest list", "an object for each connected producer, without fields"),
    ("`earliestMsgPublishTimeInBacklogs`", "the least, where 0 is none", "the least time of its subscriptions, 0 = no backlog"),
    ("`subscriptions`", "all", "an object for each, under its name"),
    ("`partitions`", "", "of `partitioned-stats` with `perPartition=true`: the statistics of each, under its full name"),
)


def _fields(fields: Sequence[Field], others: Sequence[tuple[str, str, str]] = ()) -> str:
    rows = [(f"`{field.name}`", field.partitions, field.meaning) for field in fields]
    return table(("field", "of a partitioned topic", "meaning"), [*rows, *others])


def _named(reasons: Mapping[str, str]) -> dict[str, str]:
    return {f"`{name}`": why for name, why in reasons.items()}


def _reasons(what: str, reasons: Mapping[str, str]) -> str:
    return table((what, "why not"), list(reasons.items()))
