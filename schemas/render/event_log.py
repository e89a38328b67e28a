"""The declared log as docs/reference/event-log.md: what those who write logs must know."""

from collections.abc import Iterator

from schemas.events import (
    ENVELOPE,
    ENVELOPE_REQUIRED,
    EVENT_TYPES,
    FIELDS,
    GROUPS,
    LOG_VERSIONS,
    LONG_MAX,
    LONG_MIN,
    PAYLOAD,
    SOURCES,
    EventField,
    EventType,
    since,
)
from schemas.packages import PACKAGES
from schemas.packages.declaration import Declaration
from schemas.render.words import code, grid

HEAD = f"""# The dispatch-event log

Generated from `schemas/events/` by `python -m generators`: do not edit, a test compares.

This page is the contract between those who write logs (the [collector](../guide/collector.md), or a program of yours)
and this project. This is version {LOG_VERSIONS[-1]}. The same contract for programs, as a JSON Schema (draft 2020-12) of one event:
[event-log.schema.json](event-log.schema.json). `./spark-submit.sh validate FILE` checks a log.

One event is one JSON object on one line (`.jsonl`, also `.gz` or `.zst`), or one Parquet row. The fields are flat. A
field that does not apply is left out, or null. A number is an integer without a fraction or an exponent.

## Versions

Every version after {LOG_VERSIONS[0]} only adds: event types, and fields that may be absent. So `v` stays 1. An old reader
ignores unknown types and fields, and an old log gives the tables that it gave before. `broker_start.log_version` names
the version. A `broker_start` without it is of version {LOG_VERSIONS[0]}. An unknown type is kept in bronze. It only moves time.
An unknown field is kept in `extra`.

## Order

* The order of a broker is (`epoch`, `seq`), in any order of arrival. Brokers have no order between them.
* (`broker`, `epoch`, `seq`) is the key of an event. A line may be delivered twice.
* Numbers in `seq` that are missing are events that were lost.
* An epoch ends at its `broker_stop`. After a crash it ends when a newer epoch has begun.
* `ts` reports when: for tables, windows, ages, quotas. It may step when the host's clock is set. `ns` reports how
  long: for limiters and durations. It never steps. Only differences inside of one epoch mean anything.
* An event is written by the thread that makes the change. Two threads that share a limiter may write in another order
  than they were served. The order of one dispatcher, one cursor and one ledger is exact.

## System topics

Topics `__…` and those of the tenant `pulsar` have no events of their life. Their `read` and `dispatch` are written
where a limiter with a rate was asked. Their `dispatch_rate`, `quota_check` and `quota_exceeded` are written as well.

## A log that begins in the middle

A collector that is attached to a running broker begins a new epoch: `broker_start` with `seq` 1. Then come, for every
topic, `topic_load`, the `ledger_*` and `cursor_open` events with `snapshot`, `dispatcher_open`, and the policies. A
reader that misses the beginning of an epoch computes with `complete` = false until the next `topic_load`.

## The state that the broker holds

From version {LOG_VERSIONS[2]} on the collector writes the state of the broker, by default every ten seconds and near the start of a
file: `limiter_state`, and for each topic `state` of its cursors, `consumer_state`, `topic_state`. So a reader that has
lost events, or comes late, knows again:

* of a topic: its last confirmed position, entries, bytes, producers, open transactions and maxReadPosition
* of a cursor: backlog, mark-delete position, entries that are acknowledged behind it, read position
* of a dispatcher: its type, permits, unacknowledged messages, its reads that are out, delayed entries and the
  replay queue, whether a cap stops it, its active consumer
* of a consumer: name, connection, permits, unacknowledged messages, messages sent, sent again and acknowledged
* of a limiter: its rate and its balance

**When.** `state` is written for a cursor with a backlog or a connected consumer, and for one that has changed since its
last `state`. `consumer_state` is written where it has changed. Near the start of a file all of them are written, also
those of idle cursors. `topic_state` and `limiter_state` come with the `state` of a cursor of the topic.

**As of when.** A thread of its own asks the broker, without the broker's locks, until two answers agree. With `moving`
they never did, and the numbers are of different instants. The numbers are those of an instant between the event
`as_of_seq` and the event itself. If the log has no event of the subscription and its topic between the two, they are
exact there. A cursor that was closed between the two may still get a `state`: ignore one whose `as_of_seq` is before
the `cursor_close`.

**Missing from it.** The entries that are acknowledged behind the mark-delete position (it has only their number), ages
of messages, the ledgers of a topic (only their number), tokens that a limiter gets between its updates. A limiter
without a rate, and a topic without `state`, are not in it.

## Thinned events

`keys_blocked` and `producer_refused` are written at once, then at most once a second with the sum since.
`flow`, `redeliver` and `transaction` may be frequent. A writer may sum several into one event. The numbers of the
event are then sums, and `commands` is how many it sums. `delayed` reports a level: a writer may leave levels out, but
never the last one before a second without a change.

## Where a policy is set

`source` has these values, weakest first:

{chr(10).join(f"{number}. `{source}`" for number, source in enumerate(SOURCES, 1))}

The strongest one that has a value is in force, as a whole. Values of several sources never mix. A dispatch rate
without a limit in both dimensions (≤ 0) counts as not set, but for the two of the broker. Values for one subscription
exist for `subscription_dispatch_rate` only.

## Readers of a field

The tables below name the packages of rules that read a field. `lanes`: the field travels with every event. A field
that nobody reads is kept in [`dispatch_events`](tables.md#dispatch_events), for queries. The last table,
[Fields](#fields), has the values that a field may have.
"""
KINDS = {"map": "map of strings", "longs": "list of long", "strings": "list of strings"}


#: As ids, whatever the type.
_WITH_EVERY_EVENT = ("topic", "sub")


def users(kind: EventType, name: str) -> tuple[str, ...]:
    """Packages of rules that read the field `name` of this type; the lanes, where it travels with every event."""
    if name in _WITH_EVERY_EVENT:
        return ("lanes",)
    return tuple(package.name for package in PACKAGES if name in _read_by(package, kind.name))


def _read_by(package: Declaration, kind: str) -> set[str]:
    """Fields that the package reads of events of a type: its slots, what they are computed of, and what is asked."""
    of_slots = [package.computed.get(slot, (slot.partition(".")[0],)) for slot in package.slots.get(kind, ())]
    read = {name for names in (*of_slots, *package.questions.get(kind, {}).values()) for name in names}
    if kind == "broker_start" and package.start_settings:
        read.add("settings")
    return read | {"key", "value"} if kind == "setting" and read else read


def event_log_page() -> str:
    """The whole of docs/reference/event-log.md."""
    return "\n".join((HEAD, _contents(), _envelope(), *(_group(title, kinds) for title, kinds in GROUPS.items()), _all_fields()))


def _contents() -> str:
    rows = ((f"[`{kind.name}`](#{kind.name})", str(kind.code), kind.since, kind.meaning) for kind in EVENT_TYPES)
    return "## Event types\n\n" + grid(("type", "code", "since", "meaning"), rows)


def _envelope() -> str:
    rows = (
        (code(f.name), KINDS.get(f.kind, f.kind), f.unit, allowed(f), "yes" if f.name in ENVELOPE_REQUIRED else "", f.meaning)
        for f in ENVELOPE
    )
    return "## On every event\n\n" + grid(("field", "type", "unit", "allowed", "must", "meaning"), rows)


def _group(title: str, kinds: tuple[EventType, ...]) -> str:
    return f"## {title}\n\n" + "\n".join(map(_section, kinds))


def _section(kind: EventType) -> str:
    rows = list(_rows(kind))
    columns = ("field", "type", "unit", "since", "must", "read by", "meaning")
    needs = f"{_needs(kind)}\n\n" if kind.needs else ""
    table = grid(columns, rows) if rows else "No fields.\n"
    return f"### {kind.name}\n\n{_lines(kind.meaning)}\n\n{needs}{table}"


def _lines(text: str) -> str:
    """`text` as a sentence in lines that fit a screen."""
    lines, line = [], ""
    for word in f"{text}.".split():
        if line and len(line) + len(word) >= 118:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def _rows(kind: EventType) -> Iterator[tuple[str, ...]]:
    for name in kind.fields:
        f = FIELDS[name]
        must = "yes" if name in kind.required else ""
        yield code(name), KINDS.get(f.kind, f.kind), f.unit, since(kind, name), must, ", ".join(users(kind, name)), f.meaning


def _needs(kind: EventType) -> str:
    """In words, what the type requires by the value of a field."""
    if kind.needs is None:
        return ""
    cases = [f"* `{value}`: {', '.join(map(code, names))}" for value, names in kind.needs.fields.items() if names]
    return f"By the value of `{kind.needs.by}` it must also carry:\n\n" + "\n".join(cases)


def _all_fields() -> str:
    rows = ((code(f.name), KINDS.get(f.kind, f.kind), f.unit, allowed(f), f.since, f.meaning, _carried_by(f.name)) for f in PAYLOAD)
    columns = ("field", "type", "unit", "allowed", "since", "meaning", "carried by")
    return "## Fields\n\n" + grid(columns, rows)


def allowed(field: EventField) -> str:
    """What its values are limited to, in words."""
    if field.one_of:
        return ", ".join(code(value) for value in field.one_of)
    low = field.minimum if field.minimum != LONG_MIN else None
    high = field.maximum if field.maximum != LONG_MAX else None
    if low is not None and low == high:
        return str(low)
    return ", ".join(f"{sign} {bound}" for sign, bound in (("≥", low), ("≤", high)) if bound is not None)


def _carried_by(name: str) -> str:
    return ", ".join(t.name for t in EVENT_TYPES if name in t.fields)
