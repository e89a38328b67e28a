"""What came in: the events that keep the contract, and the lines that do not."""

from collections.abc import Iterable

from schemas.events import CONTRACT_VERSION, ENVELOPE, ENVELOPE_REQUIRED, LOG_VERSIONS, PAYLOAD, EventField
from schemas.field import Field, Table

_SPARK_TYPES = {
    "long": "long",
    "string": "string",
    "boolean": "boolean",
    "map": "map<string,string>",
    "longs": "array<bigint>",
    "strings": "array<string>",
}


def _column(declared: EventField) -> Field:
    nullable = declared.name not in ENVELOPE_REQUIRED
    added = declared.since != LOG_VERSIONS[0]
    return Field(declared.name, _SPARK_TYPES[declared.kind], declared.meaning, declared.unit, nullable=nullable, added=added)


#: Where a line came from, in every table that has its place (pipeline/sources writes it).
SOURCE_FILE = "URI of its file; of Kafka kafka:TOPIC/PARTITION; empty for tables"
SOURCE_LINE = "its line in the file, from 1; of Kafka its offset, from 0; 0 for tables"

#: Columns that the parser makes beside the contract's fields.
_BESIDE = (
    Field("type_code", "int", "number of the type in docs/reference/event-log.md, 0 = unknown to this version"),
    Field("extra", "string", "fields that the contract does not know, as one JSON object", nullable=True),
    Field("source_file", "string", SOURCE_FILE, nullable=True),
    Field("source_line", "long", SOURCE_LINE),
)
#: Columns that ingest computes.
_IDS = (
    Field("event_date", "date", "UTC date of ts"),
    Field("broker_id", "long", "hash of broker"),
    Field("topic_id", "long", "hash of topic; 0 where the event has none"),
    Field("sub_id", "long", "hash of topic and subscription; 0 where the event has none"),
    Field(
        "ingest_batch",
        "long",
        "micro-batch of the ingest query that wrote the row; of a line that was put back from quarantine the newest whole one then",
    ),
)

#: Columns by which events reach their lanes.
LANE_LAYOUT, LANE_PACKET = "lane_layout", "lane_packet"
_PACKETS = (
    Field(
        LANE_LAYOUT,
        "int",
        "layout of the packet that the event is in, a number that follows from the columns of a lane row; null: in no packet",
        nullable=True,
        added=True,
    ),
    Field(
        LANE_PACKET,
        "binary",
        "in the first row of a packet: the events of the packet (one broker and epoch, one file) as lanes read them, packed; null elsewhere",
        nullable=True,
        added=True,
    ),
)

#: Rows of Parquet files and Delta tables have no line number that would distinguish a repeated one from the first. Offsets begin at 0.
_HAS_A_LINE = "source_line > 0 OR source_file LIKE 'kafka:%'"

#: What the parser returns for a good line, in order.
PARSED_FIELDS: tuple[Field, ...] = (*(_column(f) for f in (*ENVELOPE, *PAYLOAD)), *_BESIDE)

DISPATCH_EVENTS = Table(
    "dispatch_events",
    "Bronze: every event of the log that keeps the contract, as it came. Duplicates are kept; lanes recognise them.",
    # A topic of Kafka that was made anew has the same offsets again. That a file is read once is the key of ingest_files.
    grain=("source_file", "source_line", "broker", "epoch", "seq", "ingest_batch"),
    grain_where=_HAS_A_LINE,
    age_by="event_date",
    fields=(*PARSED_FIELDS, *_IDS, *_PACKETS),
    partition_by=("event_date",),
    properties={"delta.dataSkippingStatsColumns": "ingest_batch,ts,epoch,seq,broker_id"},
)

#: The reason of a row that is an event: its place in the log was another event's.
SEQ_TAKEN = "seq_taken"
#: Why a line is no event.
_OF_LINES = {
    "not_json": "the line is not JSON, or has more than one value, a repeated key, NaN or Infinity",
    "not_an_object": "JSON, but not an object",
    "missing_envelope_field": "one of v, broker, epoch, seq, ts, type is absent or null",
    "unknown_version": f"v is not {CONTRACT_VERSION}",
    "wrong_type": "a field of the contract has another JSON type (numbers as text, fractions, lists …)",
    "out_of_range": "a number outside of its declared range (negative sizes, year 1970 or 9999, above 64 bits)",
    "missing_field": "a field that its type requires is absent or null",
    "bad_enum": "a text outside of its declared values",
    "text_too_long": "the line, or one text in it, is longer than the limit; the raw text is kept cut",
    "invalid_utf8": "bytes that are not UTF-8, or an escaped half of a surrogate pair",
    "truncated_file": "the file ends inside its compressed stream; the part before was read",
}
REASONS = {
    **_OF_LINES,
    SEQ_TAKEN: (
        "an event whose broker, epoch and seq another event has, which arrived before it: two logs claim one broker and epoch. It is in "
        "dispatch_events, too, and counts nowhere; raw is the event as JSON. Which one arrived before: the one of the earlier ingest_batch, "
        "in one ingest_batch by a hash of source_file, then by source_line"
    ),
}


def _one_of(reasons: Iterable[str]) -> str:
    return "reason IN (" + ", ".join(f"'{reason}'" for reason in reasons) + ")"


QUARANTINE = Table(
    "quarantine",
    "Lines that are not events, each with the reason. quarantine_replays has the lines that moved since.",
    grain=("source_file", "source_line", "ingest_batch", "reason", "raw_sha256"),
    grain_where=_HAS_A_LINE,
    age_by="quarantined_at",
    fields=(
        Field("reason", "string", "reason code", check=_one_of(REASONS), checks_before=(_one_of(_OF_LINES),)),
        Field("detail", "string", "the details: field, value found, value expected"),
        Field("raw", "string", "the line, cut at the limit; bytes that are not UTF-8 as U+FFFD"),
        Field("raw_bytes", "long", "length of the whole line", "bytes", check="raw_bytes >= 0"),
        Field("raw_sha256", "string", "SHA-256 of the whole line, hex"),
        Field("broker", "string", "broker, where the envelope could be read", nullable=True),
        Field("epoch", "long", "epoch, where the envelope could be read", nullable=True),
        Field("seq", "long", "seq, where the envelope could be read", nullable=True),
        Field("ts", "long", "ts, where the envelope could be read", "µs", nullable=True),
        Field("ns", "long", "ns, where the envelope could be read", "ns", nullable=True),
        Field("source_file", "string", SOURCE_FILE, nullable=True),
        Field("source_line", "long", SOURCE_LINE),
        Field("ingest_batch", "long", "micro-batch of the ingest query that wrote the row"),
        Field("quarantined_at", "timestamp", "when, by the driver's clock"),
    ),
)

QUARANTINE_REPLAYS = Table(
    "quarantine_replays",
    "One row per line that `quarantine replay` moved to dispatch_events. It has the old line and the new event.",
    grain=("source_file", "source_line", "rejected_batch", "raw_sha256"),
    grain_where=_HAS_A_LINE,
    fields=(
        Field("replay", "long", "number of the replay, from 1", check="replay >= 1"),
        Field("source_file", "string", SOURCE_FILE, nullable=True),
        Field("source_line", "long", SOURCE_LINE),
        Field("rejected_batch", "long", "ingest_batch of its row in quarantine"),
        Field("reason", "string", "why it lay in quarantine", check=_one_of(_OF_LINES)),
        Field("raw", "string", "the line as quarantine had it"),
        Field("raw_sha256", "string", "SHA-256 of the whole line as it was rejected, hex"),
        Field("repaired", "boolean", "somebody gave another text for it (--from); false: the parser accepts the line as it is"),
        Field("tombstone", "boolean", "its place was in lane_control since it was rejected: lanes make a late event of it"),
        Field("broker", "string", "broker of the event"),
        Field("epoch", "long", "epoch of the event", "ms since 1970"),
        Field("seq", "long", "its place in the epoch"),
        Field("ts", "long", "ts of the event", "µs"),
        Field("event_date", "date", "UTC date of ts: the date to backfill"),
        Field("ingest_batch", "long", "ingest_batch of its row in dispatch_events"),
        Field("bronze_version", "long", "version of dispatch_events in which it appeared"),
        Field("run_id", "string", "run of the replay"),
        Field("code_version", "string", "version of this project"),
        Field("replayed_at", "timestamp", "when, by the command's clock"),
    ),
)
